"""A batch of edits to its net change: checked, applied in order, final state minus initial state.

All oids and edges that a batch mentions are looked up in two calls; then the edits run over what was found.
An edit that cannot be refuses the whole batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from oemviews.edits import UNKNOWN, Change, Delete, Edit, Insert, Name, NetChange, New, Ref, Unname
from oemviews.errors import EditError
from oemviews.model import COMPLEX, ROOT, Complex, Oid, Value, is_storable, same_value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS, columns_of
from oemviews.store.values import C_COMPLEX, MISSING, Bools, Ints, Strings, Values

Edge: TypeAlias = tuple[Oid, str, Oid]
Placed: TypeAlias = tuple[object, Edit]
"""An edit, and what to call its place in a message."""

_SHOWN: Final = 40


class Lookup(Protocol):
    """What a batch asks of the graph it is applied to; all rows of a call are answered at once."""

    def values(self, oids: Ints) -> Values:
        """The values of objects; MISSING where there is no such object."""

    def has(self, src: Ints, labels: Sequence[str], dst: Ints) -> Bools:
        """Which edges exist."""

    def details(self, src: Ints, labels: Sequence[str], dst: Ints) -> tuple[Ints, Strings]:
        """The pos and the shape of edges that exist."""

    def names(self) -> Mapping[str, Oid]:
        """The names of the database."""


@dataclass(frozen=True, slots=True)
class Netted:
    """What a batch comes to; `new` are the oids of the log's own names that it made."""

    change: NetChange
    new: Mapping[str, Oid]
    edits: int
    noops: int
    next_oid: Oid
    next_pos: int


def net_change(
    edits: Iterable[Placed], graph: Lookup, names: Mapping[str, Oid], next_oid: Oid, next_pos: int
) -> Netted:
    """Apply a batch, in order, to `graph`.

    `names` are the log's own names of earlier batches; `next_oid` and `next_pos` the first free ones.

    Raises:
        EditError: an edit cannot be; with its place, what was found and what was wanted.
    """
    resolved, own, fault = _resolved(edits, names, next_oid)
    state = _State(graph, resolved, next_oid)
    for place, edit in resolved:
        state.apply(place, edit)
    if fault is not None:
        raise fault
    return Netted(
        change=state.net(next_pos),
        new=own,
        edits=len(resolved),
        noops=state.noops,
        next_oid=next_oid + len(state.created),
        next_pos=next_pos + state.inserted,
    )


def _resolved(
    edits: Iterable[Placed], names: Mapping[str, Oid], next_oid: Oid
) -> tuple[list[Placed], dict[str, Oid], EditError | None]:
    """The edits with oids in place of the log's own names, up to the first name that nobody made."""
    made: dict[str, Oid] = {}
    resolved: list[Placed] = []
    free = next_oid

    def oid_of(ref: Ref) -> Oid:
        if not isinstance(ref, str):
            return int(ref)
        oid = made.get(ref)
        return names[ref] if oid is None else oid

    for place, edit in edits:
        try:
            match edit:
                case Insert(src, label, dst):
                    if isinstance(src, str) or isinstance(dst, str):
                        edit = Insert(oid_of(src), label, oid_of(dst))
                case Delete(src, label, dst):
                    if isinstance(src, str) or isinstance(dst, str):
                        edit = Delete(oid_of(src), label, oid_of(dst))
                case Change(oid, new, old):
                    edit = Change(oid_of(oid), new, old) if isinstance(oid, str) else edit
                case Name(name, oid):
                    edit = Name(name, oid_of(oid)) if isinstance(oid, str) else edit
                case New(name):
                    made[name] = free
                    free += 1
        except KeyError as unknown:
            wanted = 'an oid, or a name that {"op": "new"} made earlier in this log'
            fault = EditError(f"{place}: found the name {unknown.args[0]!r}, wanted {wanted}")
            return resolved, made, fault
        resolved.append((place, edit))
    return resolved, made, None


class _State:
    """The part of a graph that a batch mentions: as it was, and what has come and gone since."""

    def __init__(self, graph: Lookup, edits: Sequence[Placed], first_new: Oid) -> None:
        self._graph, self._first_new = graph, first_new
        self.noops = 0
        self.created: list[Value] = []
        self._came: dict[Edge, None] = {}
        self._went: dict[Edge, None] = {}
        self._changed: dict[Oid, tuple[Value, Value]] = {}  # the value before the batch, and the one now
        self._names: dict[str, Oid] | None = None
        self._look_up(edits)

    def _look_up(self, edits: Sequence[Placed]) -> None:
        oids: set[Oid] = set()
        edges: dict[Edge, None] = {}
        for _, edit in edits:
            if isinstance(edit, Insert | Delete):
                src, dst = int(edit.src), int(edit.dst)
                oids.update((src, dst))
                edges[src, edit.label, dst] = None
            elif isinstance(edit, Change | Name):
                oids.add(int(edit.oid))
        known = [oid for oid in oids if ROOT < oid < self._first_new]
        self._rows = {oid: row for row, oid in enumerate(known)}
        self._values = self._graph.values(np.array(known, np.int64))
        self._kinds: list[int] = self._values.kind.tolist()
        old = [edge for edge in edges if edge[0] in self._rows and edge[2] in self._rows]
        self._here: set[Edge] = set()
        if old:
            src_, labels, dst_ = zip(*old, strict=True)
            there = self._graph.has(np.array(src_, np.int64), labels, np.array(dst_, np.int64))
            self._here.update(edge for edge, is_there in zip(old, there.tolist(), strict=True) if is_there)

    # ---- edits, one after the other ----

    def apply(self, place: object, edit: Edit) -> None:
        match edit:
            case Insert(src, label, dst):
                if not self._is_complex(place, src):
                    found = f"an edge out of the atomic object &{src} ({_shown(self._value(int(src)))})"
                    raise _fault(place, found, "a complex object")
                self._is_complex(place, dst)
                self._insert((int(src), label, int(dst)))
            case Delete(src, label, dst):
                self._is_complex(place, src)
                self._is_complex(place, dst)
                self._delete((int(src), label, int(dst)))
            case Change():
                self._change(place, edit)
            case New(_, value):
                self.created.append(_storable(place, value))
            case Name(name, oid):
                self._is_complex(place, oid)
                self._name(name, int(oid))
            case Unname(name):
                self._name(name, None)

    def _is_complex(self, place: object, ref: Ref) -> bool:
        """Whether an object is complex; there must be one."""
        oid = int(ref)
        if oid >= self._first_new and oid - self._first_new < len(self.created):
            return self.created[oid - self._first_new] is COMPLEX
        if oid == ROOT:
            raise _fault(place, "&0, the root", "another object; names come and go with `name` and `unname`")
        row = self._rows.get(oid)
        if row is None or self._kinds[row] == MISSING:
            raise _fault(place, f"no object &{oid}", "an object of this database")
        return self._kinds[row] == C_COMPLEX

    def _value(self, oid: Oid) -> Value:
        if oid >= self._first_new:
            return self.created[oid - self._first_new]
        changed = self._changed.get(oid)
        return self._values.item(self._rows[oid]) if changed is None else changed[1]

    def _insert(self, edge: Edge) -> None:
        if edge in self._came or (edge in self._here and edge not in self._went):
            self.noops += 1
        elif edge in self._went:
            del self._went[edge]
        else:
            self._came[edge] = None

    def _delete(self, edge: Edge) -> None:
        if edge in self._came:
            del self._came[edge]
        elif edge in self._here and edge not in self._went:
            self._went[edge] = None
        else:
            self.noops += 1

    def _change(self, place: object, edit: Change) -> None:
        oid = int(edit.oid)
        if self._is_complex(place, oid):
            raise _fault(place, f"a change of the complex object &{oid}", "an atomic object")
        now, new = self._value(oid), _storable(place, edit.new)
        if new is COMPLEX:
            raise _fault(place, f"a change of &{oid} into a complex object", "an atomic value")
        if edit.old is not UNKNOWN and not same_value(now, edit.old):  # type: ignore[arg-type]
            raise _fault(place, f"&{oid} with the value {_shown(now)}", f"the old value {_shown(edit.old)}")
        if same_value(now, new):
            self.noops += 1
        elif oid >= self._first_new:
            self.created[oid - self._first_new] = new
        else:
            self._changed[oid] = (self._changed.get(oid, (now,))[0], new)

    def _name(self, name: str, oid: Oid | None) -> None:
        """Let a name stand for an object, or for none."""
        if self._names is None:
            self._names = dict(self._graph.names())
            self._here.update((ROOT, known, target) for known, target in self._names.items())
        now = self._names.pop(name, None)
        if oid is not None:
            self._names[name] = oid
        if now == oid:
            self.noops += 1
            return
        if now is not None:
            self._delete((ROOT, name, now))
        if oid is not None:
            self._insert((ROOT, name, oid))

    # ---- what it comes to ----

    @property
    def inserted(self) -> int:
        return len(self._came)

    def net(self, next_pos: int) -> NetChange:
        """Final state minus initial state; new edges stand in the order they were inserted."""
        tables = {}
        if self.created:
            oids = range(self._first_new, self._first_new + len(self.created))
            columns = [list(oids), *_columns(self.created), [None] * len(oids)]
            tables["created"] = _table(columns, OBJECTS)
        if self._came:
            pos = range(next_pos, next_pos + len(self._came))
            tables["plus"] = _table([*zip(*self._came, strict=True), list(pos), [None] * len(pos)], EDGES)
        if self._went:
            src, labels, dst = zip(*self._went, strict=True)
            at, shapes = self._graph.details(np.array(src, np.int64), labels, np.array(dst, np.int64))
            tables["minus"] = _table([src, labels, dst, at, shapes], EDGES)
        kept = {oid: both for oid, both in self._changed.items() if not same_value(*both)}
        if kept:
            old_values, new_values = zip(*kept.values(), strict=True)
            columns = [list(kept), *_columns(old_values), *_columns(new_values)]
            tables["changed"] = _table(columns, CHANGES_OF_VALUE)
        return NetChange(**tables)


def _columns(values: Iterable[Value]) -> list[list[object]]:
    return [list(column) for column in zip(*map(columns_of, values), strict=True)]


def _table(columns: Sequence[object], schema: pa.Schema) -> pa.Table:
    try:
        arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    except UnicodeEncodeError as error:
        raise EditError(
            f"found half a surrogate pair in {ascii(error.object)[:_SHOWN]}, wanted whole characters"
        ) from error
    return pa.Table.from_arrays(arrays, schema=schema)


def _storable(place: object, value: Value) -> Value:
    """`value`, if tables can hold it."""
    if isinstance(value, int | float) and not is_storable(value):
        found = f"the number {value}" if isinstance(value, float) else "an integer of more than 4300 digits"
        raise _fault(
            place, found, "a finite one" if isinstance(value, float) else "a shorter one, or a string"
        )
    if not isinstance(value, str | int | float | bytes | type(COMPLEX) | None):
        raise _fault(place, f"a value of the Python type {type(value).__name__}", "an atomic value")
    return value


def _shown(value: object) -> str:
    """A value as an edit writes it."""
    text = repr(value) if isinstance(value, bytes | Complex) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _fault(place: object, found: str, wanted: str) -> EditError:
    return EditError(f"{place}: found {found}, wanted {wanted}")
