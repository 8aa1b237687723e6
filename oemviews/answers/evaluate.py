"""From a canonical query to columns of cells: plan, run, construct, put in order.

A query inside a constructed object takes variables from around it. It is not run row by row: the
bindings of those variables are handed in as rows, and one plan gives the members of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from lorel.normal import (
    Block,
    Branch,
    GroupItem,
    Item,
    NewItem,
    Normal,
    ObjectItem,
    SetOf,
    ValueItem,
    blocks,
    free,
    is_constant,
    is_mixed,
    item_variables,
    object_variable,
)
from lorel.plan import Given, Plan
from lorel.planner import Planner, graph_of, order_column, output
from oemviews.answers.cells import Cell, Column, NewColumn, ObjectColumn, ValueColumn
from oemviews.answers.ordering import first_of_equals, identity, in_order, sort_key
from oemviews.engines.engine import Engine
from oemviews.engines.rows import NO_ROWS, Rows
from oemviews.model import COMPLEX
from oemviews.store.values import Ints, Values, concat_values, missing_values, values_of

_OUTER: Final = "outer"


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of a query: the variables taken from outside, and one column an item."""

    keys: Mapping[str, Column]
    columns: tuple[Column, ...]

    def take(self, at: Ints) -> Found:
        keys = {name: column.take(at) for name, column in self.keys.items()}
        return Found(keys, tuple(column.take(at) for column in self.columns))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One query on one engine. `plans` and `actual` are what was run, for `explain`.

    In one process the rows of each operator come for nothing; on Spark they are counted only if `counting`.
    """

    engine: Engine
    plans: list[Plan] = field(default_factory=list)
    actual: dict[int, int] = field(default_factory=dict)
    counting: bool = False

    def columns(self, query: Normal) -> tuple[Column, ...]:
        """The answer, one column an item, rows in order."""
        return self._found(query, None).columns

    def plan(self, query: Normal) -> Plan:
        """The plan of the outermost query."""
        return Planner(self.engine.statistics).query(_planned(query))

    def _found(self, query: Normal, outer: Rows | None) -> Found:
        if isinstance(query, SetOf) and (is_mixed(query) or any(map(constructs, blocks(query)))):
            return self._set_of_cells(query, outer)
        rows = self._run(_planned(query), outer)
        keys = {name: _bare(rows.columns[name]) for name in (outer.columns if outer is not None else ())}
        if isinstance(query, SetOf):
            return _sorted(Found(keys, self._items(query, rows)))
        found = Found(keys, self._with_new(query, rows))
        if not query.order_by and not constructs(query):
            return _sorted(found)
        at = in_order(self._order_keys(query, rows), (*keys.values(), *found.columns))
        found = found.take(at)
        repeated = (*found.keys.values(), *found.columns)
        return found.take(first_of_equals(repeated, by_value=query.distinct))

    def _run(self, query: Normal, outer: Rows | None) -> Rows:
        if outer is None:
            plan, given = Planner(self.engine.statistics).query(query), NO_ROWS
        else:
            size = float(len(outer))
            handed = Given(_OUTER, tuple(outer.columns), estimate=size)
            plan = Planner(self.engine.statistics, {_OUTER: size}).query(query, handed)
            given = {_OUTER: outer}
        self.plans.append(plan)
        counted = self.counting or self.engine.name == "local"
        return self.engine.run(plan, given, self.actual if counted else None)

    def _items(self, query: Normal, rows: Rows) -> tuple[Column, ...]:
        """The columns of the select items, objects with their values."""
        width = len(next(blocks(query)).select)
        return tuple(self._valued(rows.columns[output(i)], graphs_of_item(query, i)) for i in range(width))

    def _valued(self, column: Ints | Values, graphs: Sequence[str]) -> Column:
        if isinstance(column, Values):
            return ValueColumn(column)
        values = self.engine.values(column, graphs[0])
        for graph in graphs[1:]:
            if not values.missing.any():
                break
            values = _filled(values, self.engine.values(column, graph))
        return ObjectColumn(column, values)

    def _order_keys(self, query: Block, rows: Rows) -> list[Ints]:
        keys = []
        for i, order in enumerate(query.order_by):
            column = self._valued(rows.columns[order_column(i)], ("",))
            assert not isinstance(column, NewColumn)
            keys.append(sort_key(column.values, descending=order.descending))
        return keys

    # ---- constructed objects ----

    def _with_new(self, query: Block, rows: Rows) -> tuple[Column, ...]:
        layout = _layout(query)
        carried = {
            name: self._valued(rows.columns[output(i)], (graph_of(query, name), ""))
            for i, name in enumerate(layout.carried)
        }
        made: list[Column] = []
        for i, item in enumerate(query.select):
            if isinstance(item, NewItem):
                made.append(NewColumn(tuple(self._new(item, carried, len(rows)))))
            else:
                made.append(self._valued(rows.columns[output(layout.plain[i])], graphs_of_item(query, i)))
        return tuple(made)

    def _new(self, item: NewItem, columns: Mapping[str, Column], size: int) -> Iterator[Cell]:
        """One new object a row: each field an item, or all members of a query."""
        parts = [(label, list(self._field(part, columns, size))) for label, part in item.fields]
        for row in range(size):
            members = [(label, cell) for label, cells in parts for cell in cells[row]]
            yield Cell(COMPLEX, None, tuple(members))

    def _field(
        self, part: Item | Normal, columns: Mapping[str, Column], size: int
    ) -> Iterator[Sequence[Cell]]:
        match part:
            case Block() | SetOf():
                yield from self._members(part, columns, size)
            case ObjectItem(var=var):
                yield from ((columns[var].cell(row),) for row in range(size))
            case NewItem():
                yield from ((cell,) for cell in self._new(part, columns, size))
            case ValueItem() | GroupItem():
                yield from self._members(Block((part,), Branch()), columns, size)

    def _members(self, query: Normal, columns: Mapping[str, Column], size: int) -> Iterator[Sequence[Cell]]:
        """For each row the members of a query that takes variables from it."""
        names = sorted(free(query))
        bindings = [tuple(identity(columns[name].cell(row)) for name in names) for row in range(size)]
        first = {binding: row for row, binding in reversed(list(enumerate(bindings)))}
        at = np.array(sorted(first.values()), np.int64)
        outer = Rows({name: _raw(columns[name].take(at)) for name in names}, np.ones(len(at), np.int64))
        found = self._found(query, outer if names else None)
        labels = [item.label for item in next(blocks(query)).select]
        members: dict[tuple[object, ...], list[Cell]] = {}
        for row in range(len(found.columns[0])):
            key = tuple(identity(found.keys[name].cell(row)) for name in names)
            members.setdefault(key, []).append(_member(labels, [c.cell(row) for c in found.columns]))
        yield from (members.get(binding, ()) for binding in bindings)

    def _set_of_cells(self, query: SetOf, outer: Rows | None) -> Found:
        """A set operator cell by cell: new objects are equal if their contents are, no object is a value."""
        left, right = self._found(query.left, outer), self._found(query.right, outer)
        mine, theirs = (
            {
                tuple(identity(cell) for cell in row): row
                for row in _cells((*side.keys.values(), *side.columns))
            }
            for side in (left, right)
        )
        if query.op == "union":
            rows = list({**theirs, **mine}.values())
        else:
            rows = [row for key, row in mine.items() if (key in theirs) == (query.op == "intersect")]
        width = len(left.keys) + len(left.columns)
        columns = [NewColumn(tuple(row[i] for row in rows)) for i in range(width)]
        keys: dict[str, Column] = dict(zip(left.keys, columns, strict=False))
        return _sorted(Found(keys, tuple(columns[len(keys) :])))


# ---- what the planner is given ----


@dataclass(frozen=True, slots=True)
class _Layout:
    """A block as the planner takes it: what it constructs is left out, what that needs is carried along."""

    block: Block
    carried: tuple[str, ...]
    plain: Mapping[int, int]  # place of a select item -> place in the planned block


def _layout(block: Block) -> _Layout:
    new = [item for item in block.select if isinstance(item, NewItem)]
    carried = tuple(sorted({name for item in new for name in item_variables(item) if not is_constant(name)}))
    plain = [(i, item) for i, item in enumerate(block.select) if not isinstance(item, NewItem)]
    select: list[Item] = [*(ObjectItem(name, name) for name in carried), *(item for _, item in plain)]
    places = {i: len(carried) + at for at, (i, _) in enumerate(plain)}
    distinct = block.distinct and not new and not block.order_by
    return _Layout(replace(block, select=tuple(select), distinct=distinct), carried, places)


def _planned(query: Normal) -> Normal:
    return query if isinstance(query, SetOf) else _layout(query).block


def constructs(block: Block) -> bool:
    return any(isinstance(item, NewItem) for item in block.select)


def graphs_of_item(query: Normal, i: int) -> tuple[str, ...]:
    """The graphs that the objects of the i-th item may belong to."""
    found = []
    for block in blocks(query):
        item = block.select[i]
        variable = object_variable(item)
        if variable is not None:
            more = item.over if isinstance(item, GroupItem) else ()
            found.append(graph_of(replace(block, where=(*block.where, *more)), variable))
    return tuple(dict.fromkeys([*found, ""]))


# ---- columns ----


def _raw(column: Column) -> Ints | Values:
    """A column as rows handed to an engine hold it."""
    if isinstance(column, ObjectColumn):
        return column.oids
    return values_of(cell.value for cell in column.cells) if isinstance(column, NewColumn) else column.values


def _bare(column: Ints | Values) -> Column:
    """A column of keys: nobody asks for the values of its objects."""
    return (
        ValueColumn(column)
        if isinstance(column, Values)
        else ObjectColumn(column, missing_values(len(column)))
    )


def _filled(values: Values, others: Values) -> Values:
    """`values`, with those of `others` where there are none."""
    at = np.where(values.missing, len(values) + np.arange(len(values)), np.arange(len(values)))
    return concat_values([values, others]).take(at)


def _sorted(found: Found) -> Found:
    return found.take(in_order([], (*found.keys.values(), *found.columns)))


def _cells(columns: Sequence[Column]) -> list[tuple[Cell, ...]]:
    return [tuple(column.cell(i) for column in columns) for i in range(len(columns[0]))]


def _member(labels: Sequence[str], cells: Sequence[Cell]) -> Cell:
    """A row inside a constructed object: its one item, or a new object with the items under their labels."""
    return cells[0] if len(cells) == 1 else Cell(COMPLEX, None, tuple(zip(labels, cells, strict=True)))
