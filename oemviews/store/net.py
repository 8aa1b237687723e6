"""The net change between two batches, from rows of the log; and a net change laid over a table.

Net is final state minus initial state, per edge and per object, decided by the first and the last row
that name it (the log holds effective changes only, so the rows of one edge alternate):

    first   last    before     after
    ins     ins     absent     present     plus
    del     del     present    absent      minus, with the pos and shape it had before
    ins     del     absent     absent      -
    del     ins     present    present     a move: the same edge at another pos
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.store.batch import change_in
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_VALUE: Final = ("type", "text", "integer", "number")
_OLD: Final = tuple(f"old_{name}" for name in _VALUE)


def net_of(rows: pa.Table, *, moves: bool = False) -> NetChange:
    """The net change that rows of the log, in order of (batch, seq), come to.

    An edge taken away and put back is no change of the graph. With `moves` it stands in `minus` and in
    `plus`, as the tables need it: laid over a table in that order it gets its new place.
    """
    first_and_last = rows["batch"].combine_chunks() if len(rows) else rows["batch"]
    if not len(rows) or first_and_last[0] == first_and_last[-1]:
        return change_in(rows)
    op = rows["op"]
    plus, minus = _net_edges(rows.filter(pc.is_in(op, pa.array(["ins", "del"]))), moves=moves)
    created = rows.filter(pc.equal(op, "new")).select(OBJECTS.names)
    changed = _net_values(rows.filter(pc.equal(op, "chg")).select(CHANGES_OF_VALUE.names))
    gone = rows.filter(pc.equal(op, "gone")).select(OBJECTS.names)
    created, changed = _with_values_of(created, changed)
    if len(gone):  # as they were before their first change
        gone, old = _with_values_of(gone, _swapped(changed))
        changed = _swapped(old)
        created, gone = _without(created, gone), _without(gone, created)
    return NetChange(created=created, plus=plus, minus=minus, changed=_effective(changed), gone=gone)


def backwards(change: NetChange) -> NetChange:
    """The change that undoes `change`, but for the objects it created."""
    return NetChange(
        created=change.gone, plus=change.minus, minus=change.plus, changed=_swapped(change.changed)
    )


def _swapped(changed: pa.Table) -> pa.Table:
    """Old values for new ones and new for old."""
    return changed.select(["oid", *_VALUE, *_OLD]).rename_columns(CHANGES_OF_VALUE.names)


def _with_values_of(objects: pa.Table, changed: pa.Table) -> tuple[pa.Table, pa.Table]:
    """`objects` with the new values that `changed` has for them, and the rest of `changed`."""
    theirs = pc.is_in(changed["oid"], objects["oid"].combine_chunks())
    return with_values(objects, changed.filter(theirs)), changed.filter(pc.invert(theirs))


def _without(objects: pa.Table, others: pa.Table) -> pa.Table:
    """The objects that do not stand in `others`."""
    return objects.filter(pc.invert(pc.is_in(objects["oid"], others["oid"].combine_chunks())))


def _net_edges(rows: pa.Table, *, moves: bool) -> tuple[pa.Table, pa.Table]:
    if not len(rows):
        return EDGES.empty_table(), EDGES.empty_table()
    rows = rows.combine_chunks()
    order, starts = _grouped(ints(rows["src"]), codes(rows["label"]), ints(rows["dst"]))
    ends = np.append(starts[1:], len(order)) - 1
    first, last = order[starts], order[ends]
    came = np.asarray(pc.equal(rows["op"], "ins").to_numpy())
    absent, present = came[first], came[last]
    moved = ~absent & present if moves else np.zeros(len(first), np.bool_)
    plus = np.sort(last[(absent & present) | moved])
    minus = np.sort(first[(~absent & ~present) | moved])
    edges = rows.select(EDGES.names)
    return edges.take(places(plus)), edges.take(places(minus))


def _net_values(changed: pa.Table) -> pa.Table:
    """One row an object: the value before its first change and the value after its last."""
    if not len(changed):
        return changed
    changed = changed.combine_chunks()
    order, starts = _grouped(ints(changed["oid"]))
    ends = np.append(starts[1:], len(order)) - 1
    old, new = changed.take(places(order[starts])), changed.take(places(order[ends]))
    columns = [old.column("oid"), *(old.column(n) for n in _OLD), *(new.column(n) for n in _VALUE)]
    return pa.table(columns, schema=CHANGES_OF_VALUE)


def _effective(changed: pa.Table) -> pa.Table:
    """Without the objects that have their old value again."""
    if not len(changed):
        return changed
    same: Any = np.ones(len(changed), np.bool_)
    for old, new in zip(_OLD, _VALUE, strict=True):
        equal = pc.fill_null(pc.equal(changed[old], changed[new]), False)
        both_null = pc.and_(pc.is_null(changed[old]), pc.is_null(changed[new]))
        same &= np.asarray(pc.or_(equal, both_null).to_numpy())
    return changed.filter(pa.array(~same))


def with_values(objects: pa.Table, changed: pa.Table) -> pa.Table:
    """`objects` with the new values of `changed`; every oid of `changed` stands in `objects`."""
    if not len(changed):
        return objects
    oids = ints(objects["oid"])
    order = np.argsort(oids, kind="stable")
    at = order[np.searchsorted(oids, ints(changed["oid"]), sorter=order)]
    source = np.arange(len(objects))
    source[at] = len(objects) + np.arange(len(changed))
    for name in _VALUE:
        both = pa.chunked_array([*objects[name].chunks, *changed[name].chunks], OBJECTS.field(name).type)
        objects = objects.set_column(OBJECTS.get_field_index(name), OBJECTS.field(name), both.take(source))
    return objects


def edges_in(edges: pa.Table, others: pa.Table) -> Flags:
    """Which rows of `edges` are edges of `others` too, by (src, label, dst)."""
    found = np.zeros(len(edges), np.bool_)
    if not len(edges) or not len(others):
        return found
    others = others.combine_chunks()
    near = np.flatnonzero(
        np.asarray(pc.is_in(edges["src"], others["src"].combine_chunks()).to_numpy())
        & np.asarray(pc.is_in(edges["dst"], others["dst"].combine_chunks()).to_numpy())
    )
    if not len(near):
        return found
    close = edges.select(["src", "label", "dst"]).take(near)
    labels = pa.chunked_array([*close["label"].chunks, *others["label"].chunks], pa.string())
    order, starts = _grouped(
        np.concatenate([ints(close["src"]), ints(others["src"])]),
        codes(labels),
        np.concatenate([ints(close["dst"]), ints(others["dst"])]),
    )
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(np.bincount(starts, minlength=len(order)).astype(np.int64))
    found[near] = np.isin(group[: len(near)], group[len(near) :])
    return found


def _grouped(*keys: Ints) -> tuple[Ints, Ints]:
    """Rows in order of their keys, equal ones in their own order; and where each group starts."""
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for key in keys:
        sorted_key = key[order]
        new[1:] |= sorted_key[1:] != sorted_key[:-1]
    return order, np.flatnonzero(new)


def ints(column: pa.ChunkedArray) -> Ints:
    """A column without nulls as an array."""
    return np.asarray(column.to_numpy(), dtype=np.int64)


def places(rows: Ints) -> pa.Array:
    """Numbers of rows for Arrow, as they are: `pa.array` would import a part of numpy that is not needed."""
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])


def codes(labels: pa.ChunkedArray) -> Ints:
    """Labels as small numbers; equal labels have equal ones."""
    encoded = labels.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
