"""The change of a view: what a batch adds to it and takes from it, and how it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from lorel.normal import Labels
from oemviews.edits import NetChange
from oemviews.engines.engine import Engine
from oemviews.maintain.levels import Level
from oemviews.maintain.report import ViewReport
from oemviews.model import COLLECTION
from oemviews.store.schema import CHANGES_OF_VALUE, OBJECTS
from oemviews.store.values import Values
from oemviews.views import tables
from oemviews.views.definition import Definition, WithStep
from oemviews.views.ports import Sets
from oemviews.views.state import Edge, Row, ViewState, accepted
from oemviews.views.walks import Edges, array_of

_NOTHING: Final = Level()


@dataclass(eq=False)
class ViewDelta:
    """Everything that a batch changes in one view. Nothing is changed yet: `install` does that.

    `rows` are signed numbers of derivations; `columns` per column the signed numbers of rows that hold an
    object.
    """

    definition: Definition
    before: ViewState = field(repr=False)
    engine: Engine = field(repr=False)
    rows: dict[Row, int]
    columns: dict[int, dict[int, int]]
    levels: dict[str, Level]
    relevant: Sets = field(repr=False)
    shown: frozenset[int]  # objects that stay in the view, with another value
    report: ViewReport
    surplus: Sets = field(default_factory=dict, repr=False)  # what RelevantOids loses, of gains too

    def __bool__(self) -> bool:
        """Whether anything that is stored changes."""
        return bool(self.rows or self.levels or self.relevant or self.surplus or self.shown)

    def install(self, state: ViewState | None = None) -> ViewState:
        """Put the change into the state it was computed from, which is then the state after the batch."""
        state = self.before if state is None else state
        _ = (
            self.appeared,
            self.vanished,
            self.objects,
            self.edges,
            self.primaries,
        )  # they read the state before
        for row, n in self.rows.items():
            number = state.rows.get(row, 0) + n
            if number:
                state.rows[row] = number
            else:
                state.rows.pop(row, None)
        for i, changes in self.columns.items():
            state.columns[i].change(changes)
        for variable, level in self.levels.items():
            if variable in state.reached:
                state.reached[variable].change(level.targets)
                continue
            for oid, q in level.went:
                state.walked[variable][q].discard(oid)
            for oid, q in level.came:
                state.walked[variable][q].add(oid)
        for key, oids in self.relevant.items():
            state.relevant.setdefault(key, BitMap64()).update(oids)
        for key, oids in self.surplus.items():
            state.relevant[key] -= oids
        return state

    # ---- what comes and goes ----

    @cached_property
    def appeared(self) -> list[Row]:
        return [row for row, n in self.rows.items() if n > 0 and row not in self.before.rows]

    @cached_property
    def vanished(self) -> list[Row]:
        return [row for row, n in self.rows.items() if self.before.rows.get(row, 0) + n == 0]

    @cached_property
    def column_changes(self) -> dict[int, tuple[frozenset[int], frozenset[int]]]:
        """What came to each column of the rows, and what left it."""
        found = {}
        for i, changes in self.columns.items():
            gain, loss = self.before.columns[i].preview(changes)
            found[i] = frozenset(gain), frozenset(loss)
        return found

    @cached_property
    def objects(self) -> tuple[list[int], list[int]]:
        """Objects that come into view, and those that go out of it."""
        parts = list(self._sets())
        touched = BitMap64().union(*(oids for _, gain, loss in parts for oids in (gain, loss)))
        if not touched:
            return [], []
        before, after = BitMap64(), BitMap64()
        for known, gain, loss in parts:
            here = known & touched
            before |= here
            after |= (here - loss) | gain
        return list(after - before), list(before - after)

    def _sets(self) -> Iterator[tuple[BitMap64, BitMap64, BitMap64]]:
        """The sets of which the view consists: what each held, and what came to it and left it."""
        for i, column in enumerate(self.before.columns):
            gain, loss = self.column_changes.get(i, _NO_CHANGE)
            yield column.oids, BitMap64(gain), BitMap64(loss)
        for variable, targets in self.before.reached.items():
            level = self.levels.get(variable, _NOTHING)
            yield targets.oids, BitMap64(level.gain), BitMap64(level.loss)
        for variable, states in self.before.walked.items():
            level = self.levels.get(variable, _NOTHING)
            for q, at in enumerate(states):
                pairs = (BitMap64(oid for oid, p in moved if p == q) for moved in (level.came, level.went))
                yield at, next(pairs), next(pairs)

    @cached_property
    def edges(self) -> tuple[list[Edge], list[Edge]]:
        """With edges that come into view and that go out of it; an edge may be held by several variables."""
        levels = self.levels.values()
        added, removed, plus, minus = (
            set[Edge]().union(*(getattr(level, part) for level in levels))
            for part in ("added", "removed", "plus", "minus")
        )
        if self.definition.one_holder:
            return sorted(added - removed), sorted(removed - added)
        came, went = [], []
        for edge in sorted(added | removed):
            before = edge not in plus and any(held for held, _ in self._held(edge))
            after = edge not in minus and any(held for _, held in self._held(edge))
            if after and not before:
                came.append(edge)
            elif before and not after:
                went.append(edge)
        return came, went

    def _held(self, edge: Edge) -> Iterator[tuple[bool, bool]]:
        """For each with variable that fits an edge: whether its source was held, and whether it is now."""
        src, label, _ = edge
        for step in self.definition.with_steps:
            path = step.step.path
            if isinstance(path, Labels):
                if path.matches(label):
                    yield self._starts(step, src)
                continue
            level = self.levels.get(step.variable, _NOTHING)
            for p, labels, _ in path.moves:
                if labels.matches(label):
                    here = src in self.before.walked[step.variable][p]
                    yield here, (src, p) in level.came or (here and (src, p) not in level.went)

    def _starts(self, step: WithStep, oid: int) -> tuple[bool, bool]:
        state, source = self.before, step.step.src
        if step.column is not None:
            gain, loss = self.column_changes.get(step.column, _NO_CHANGE)
            here = oid in state.columns[step.column]
        else:
            level = self.levels.get(source, _NOTHING)
            gain, loss = frozenset(level.gain), frozenset(level.loss)
            if source in state.reached:
                here = oid in state.reached[source]
            else:
                here = any(oid in state.walked[source][q] for q in accepted(self.definition, source))
        return here, oid in gain or (here and oid not in loss)

    # ---- as tables ----

    def values(self, oids: Iterable[int], when: str) -> Values:
        """Values of objects before (`old`) or after (`new`) the batch."""
        return self.engine.values(
            array_of(oids), self.definition.item_graph, "old" if when == "old" else "new"
        )

    @cached_property
    def table(self) -> pa.Table:
        """The change as signed rows of the view, for the store."""
        came, went = self.objects
        shown = sorted(self.shown)
        parts = [tables.primary_rows(self.rows, self.definition.width)] if self.rows else []
        for variable, level in self.levels.items():
            for edges, n in ((level.added, 1), (level.removed, -1)):
                if edges:
                    parts.append(tables.with_rows(variable, _columns(edges), n))
        for oids, when, n in ((went + shown, "old", -1), (came + shown, "new", 1)):
            if oids:
                parts.append(tables.object_rows(array_of(oids), self.values(oids, when), n))
        for sets, n in ((self.relevant, 1), (self.surplus, -1)):
            parts += [tables.relevant_rows(key, array_of(members), n) for key, members in sets.items()]
        return pa.concat_tables(parts) if parts else tables.no_rows()

    @cached_property
    def net(self) -> NetChange:
        """The change of the view's own graph, for views on it: of what is visible, not of derivations."""
        came, went = self.edges
        label = self.definition.collection
        inward, outward = self.primaries
        plus = [*((COLLECTION, label, oid) for oid in inward), *came]
        minus = [*((COLLECTION, label, oid) for oid in outward), *went]
        new, shown = self.objects[0], sorted(self.shown)
        return NetChange(
            created=self._created(new) if new else OBJECTS.empty_table(),
            plus=_edge_table(plus),
            minus=_edge_table(minus),
            changed=self._changed(shown) if shown else CHANGES_OF_VALUE.empty_table(),
        )

    @cached_property
    def primaries(self) -> tuple[list[int], list[int]]:
        """Objects that become primaries, and that stop being so; an object may stand in several columns."""
        touched = {oid for gain, loss in self.column_changes.values() for oid in (*gain, *loss)}
        inward, outward = [], []
        for oid in sorted(touched):
            before = any(oid in column for column in self.before.columns)
            after = False
            for i, column in enumerate(self.before.columns):
                gain, loss = self.column_changes.get(i, _NO_CHANGE)
                after = after or oid in gain or (oid in column and oid not in loss)
            if after and not before:
                inward.append(oid)
            elif before and not after:
                outward.append(oid)
        return inward, outward

    def _created(self, oids: list[int]) -> pa.Table:
        values = tables.value_columns(self.values(oids, "new"))
        return pa.table(
            [pa.array(oids, pa.int64()), *values.values(), pa.nulls(len(oids), pa.string())], schema=OBJECTS
        )

    def _changed(self, oids: list[int]) -> pa.Table:
        old, new = (tables.value_columns(self.values(oids, when)) for when in ("old", "new"))
        return pa.table([pa.array(oids, pa.int64()), *old.values(), *new.values()], schema=CHANGES_OF_VALUE)


_NO_CHANGE: Final[tuple[frozenset[int], frozenset[int]]] = (frozenset(), frozenset())


def _columns(edges: Iterable[Edge]) -> Edges:
    src, label, dst = zip(*edges, strict=True)
    return Edges(np.array(src, np.int64), np.array(label, dtype=object), np.array(dst, np.int64))


def _edge_table(edges: list[Edge]) -> pa.Table:
    src, label, dst = zip(*edges, strict=True) if edges else ((), (), ())
    return tables.edge_table(np.array(src, np.int64), label, np.array(dst, np.int64))
