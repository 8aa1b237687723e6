"""What an answer holds: cells, one a row and select item, kept in columns until somebody looks at them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import orjson
import pyarrow as pa

from oemviews.documents.exportable import ARRAY, Exportable
from oemviews.model import Complex, Oid, Value, type_of
from oemviews.store.schema import columns_of
from oemviews.store.values import BIG, BINARY, BOOLEAN, INTEGER, NAMES, STRING, Ints, Values

JSON: TypeAlias = Any

CELL: Final = pa.struct(
    [
        ("oid", pa.int64()),
        ("type", pa.string()),
        ("text", pa.string()),
        ("integer", pa.int64()),
        ("number", pa.float64()),
    ]
)
"""A cell in Arrow and Spark: the columns of an object, so that its type never depends on the data."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One item of one row: an object, a value with no object behind it, or an object made for the answer.

    >>> Cell("Stuffed Caps", 14)
    &14 "Stuffed Caps"
    """

    value: Value
    oid: Oid | None = None
    fields: tuple[tuple[str, Cell], ...] | None = None

    @property
    def type(self) -> str:
        return type_of(self.value)

    def __repr__(self) -> str:
        shown = "" if isinstance(self.value, Complex) else plain_json(self.value).decode()
        if self.fields is not None:
            return "{" + ", ".join(f"{label}: {cell!r}" for label, cell in self.fields) + "}"
        return shown if self.oid is None else f"&{self.oid} {shown}".rstrip()


def plain_json(value: JSON) -> bytes:
    """A value as JSON text; integers of any size keep their digits."""
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, TypeError):
        import json

        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def atom_json(value: Value) -> JSON:
    """An atomic value as a member of JSON; bytes in base64."""
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else value


@dataclass(frozen=True, slots=True)
class ObjectColumn:
    """Objects of a graph with their values."""

    oids: Ints
    values: Values

    def __len__(self) -> int:
        return len(self.oids)

    def cell(self, i: int) -> Cell:
        return Cell(self.values.item(i), int(self.oids[i]))

    def take(self, at: Ints) -> ObjectColumn:
        return ObjectColumn(self.oids[at], self.values.take(at))


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """Values with no objects behind them."""

    values: Values

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, i: int) -> Cell:
        return Cell(self.values.item(i))

    def take(self, at: Ints) -> ValueColumn:
        return ValueColumn(self.values.take(at))


@dataclass(frozen=True, slots=True)
class NewColumn:
    """Cells of any kind: objects made for the answer, or objects and values together."""

    cells: tuple[Cell, ...]

    def __len__(self) -> int:
        return len(self.cells)

    def cell(self, i: int) -> Cell:
        return self.cells[i]

    def take(self, at: Ints) -> NewColumn:
        return NewColumn(tuple(self.cells[i] for i in at.tolist()))


Column: TypeAlias = ObjectColumn | ValueColumn | NewColumn


def arrow_of(column: Column) -> pa.Array:
    """A column as an Arrow array of CELL; an object made for the answer is its JSON text."""
    if isinstance(column, NewColumn):
        return pa.array([_cell_columns(cell) for cell in column.cells], CELL)
    values = column.values
    kind = values.kind
    has_text = np.isin(kind, (STRING, BIG, BINARY))
    has_integer = np.isin(kind, (INTEGER, BOOLEAN))
    text = pa.array(
        values.text.tolist() if has_text.any() else [None] * len(kind), pa.string(), mask=~has_text
    )
    parts = [
        pa.array(column.oids, pa.int64())
        if isinstance(column, ObjectColumn)
        else pa.nulls(len(kind), pa.int64()),
        pa.array(np.array([*NAMES, "null"], object)[np.minimum(kind, len(NAMES))], pa.string()),
        text,
        pa.array(values.integer, pa.int64(), mask=~has_integer),
        pa.array(values.number, pa.float64(), mask=np.isnan(values.number)),
    ]
    return pa.StructArray.from_arrays(parts, fields=list(CELL))


def _cell_columns(cell: Cell) -> dict[str, JSON]:
    kind, text, integer, number = columns_of(cell.value)
    if cell.fields is not None:
        text = plain_json(nested(cell, None, 0)).decode()
    return {"oid": cell.oid, "type": kind, "text": text, "integer": integer, "number": number}


def cell_json(cell: Cell, graph: Exportable | None, depth: int) -> dict[str, JSON]:
    """A cell as `query --format json` shows it.

    >>> cell_json(Cell("Beef", 17), None, 0)
    {'oid': 17, 'type': 'string', 'value': 'Beef'}
    """
    shown: dict[str, JSON] = {} if cell.oid is None else {"oid": cell.oid}
    shown["type"] = cell.type
    if not isinstance(cell.value, Complex):
        shown["value"] = atom_json(cell.value)
    elif cell.fields is not None or depth > 0:
        shown["value"] = nested(cell, graph, depth)
    return shown


def nested(cell: Cell, graph: Exportable | None, depth: int) -> JSON:
    """A cell as nested JSON: objects down to `depth` levels, deeper ones as references."""
    if cell.fields is not None:
        members = [(label, nested(field, graph, depth), False) for label, field in cell.fields]
        return members_json(members)
    if not isinstance(cell.value, Complex):
        return atom_json(cell.value)
    assert cell.oid is not None
    return object_json(cell.oid, graph, depth) if graph is not None else {"$oid": cell.oid}


def object_json(oid: Oid, graph: Exportable, depth: int) -> JSON:
    """The nested JSON of an object down to `depth` levels; below them, and on the way round, a reference."""
    on_the_way: set[Oid] = set()

    def visit(oid: Oid, left: int) -> JSON:
        value = graph.value(oid)
        if not isinstance(value, Complex):
            return atom_json(value)
        if left == 0 or oid in on_the_way:
            return {"$oid": oid}
        on_the_way.add(oid)
        children = graph.children(oid)
        members = [
            (label, visit(dst, left - 1), bool(shape) and str(shape).startswith(ARRAY))
            for label, dst, _, shape in children
        ]
        on_the_way.discard(oid)
        shape = graph.shape(oid)
        if shape == ARRAY:
            return [member for _, member, _ in members]
        return with_empties(members_json(members), shape)

    return visit(oid, depth)


def with_empties(members: dict[str, JSON], shape: str | None) -> dict[str, JSON]:
    """An object with its empty arrays, which have no edges: each after the key listed before it in the shape.

    >>> with_empties({"a": 1, "b": 2}, '{"a":0,"c":[]}')
    {'a': 1, 'c': [], 'b': 2}
    """
    if not shape or not shape.startswith("{"):
        return members
    before = None
    for key, kind in orjson.loads(shape).items():
        if kind == [] and key not in members:
            keys = list(members)
            at = 0 if before is None or before not in members else keys.index(before) + 1
            members = {each: members.get(each, []) for each in (*keys[:at], key, *keys[at:])}
        before = key
    return members


def members_json(members: Sequence[tuple[str, JSON, bool]]) -> dict[str, JSON]:
    """Members by label: several with one label, or one written as an array, are a list.

    >>> members_json([("a", 1, False), ("b", 2, True), ("a", 3, False)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[str, list[JSON]] = {}
    arrays = {label for label, _, array in members if array}
    for label, member, _ in members:
        found.setdefault(label, []).append(member)
    return {label: each if len(each) > 1 or label in arrays else each[0] for label, each in found.items()}


def unique(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels as keys: one that repeats gets a number.

    >>> unique(["Name", "Name", "e"])
    ('Name', 'Name2', 'e')
    """
    taken: dict[str, None] = {}
    for label in labels:
        key, number = label, 1
        while key in taken:
            number += 1
            key = f"{label}{number}"
        taken[key] = None
    return tuple(taken)


def rows_of(labels: Sequence[str], columns: Sequence[Column]) -> list[Mapping[str, Cell]]:
    """The rows, one mapping of label to cell each."""
    size = len(columns[0]) if columns else 0
    return [dict(zip(labels, (column.cell(i) for column in columns), strict=True)) for i in range(size)]
