"""Rows gathered in lists, given out as Arrow columns.

A tree edge and the object it leads to are one row here: the objects of a document are numbered in the
order they are written, so `dst` and `pos` of most edges need not be kept. What does not fit (edges
between objects that exist, values decided later than their place) stands in lists of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.model import COMPLEX, TYPES, Complex, Oid, Value
from oemviews.store.schema import EDGES, OBJECTS, columns_of

CHUNK: Final = 200_000
"""Rows after which a chunk is given out."""

NOWHERE: Final = -1
"""The src of an object that no edge of its own row leads to."""


class Unstorable(Exception):
    """A value that tables cannot hold: an infinite number, half a surrogate pair."""


class _Held(Complex):
    """The value of an object whose row is given out later."""

    def __new__(cls) -> _Held:
        return object.__new__(cls)


_HELD: Final = _Held()
_HELD_CODE: Final = len(TYPES)
_CODES: Final[Mapping[type, int]] = {
    Complex: 0,
    int: 1,
    float: 2,
    str: 3,
    bool: 4,
    type(None): 5,
    bytes: 6,
    _Held: _HELD_CODE,
}
_COMPLEX, _INTEGER, _REAL, _STRING, _BOOLEAN, _NULL, _BINARY = range(len(TYPES))
_NUMBER: Final = r"\A-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\z"

Ints = npt.NDArray[np.int64]


class Rows:
    """Objects and edges in the making; `flush` gives out what has gathered and goes on counting."""

    def __init__(self, first_oid: Oid, first_pos: int) -> None:
        self._oid, self._pos = first_oid, first_pos
        self.objects = self.edges = 0
        self._clear()

    def _clear(self) -> None:
        self.values: list[Value] = []
        self.srcs: list[Oid] = []
        self.labels: list[str] = []
        self.shapes: list[str | None] = []
        self.object_shapes: dict[int, str] = {}
        self._gaps: list[int] = []
        self._moved: dict[int, int] = {}
        self._released: list[tuple[Oid, str | None]] = []
        self._links: list[tuple[Oid, str, Oid, int, str | None]] = []

    @property
    def next_oid(self) -> Oid:
        return self._oid + len(self.values)

    @property
    def next_pos(self) -> int:
        return self._pos + len(self.values) + len(self._gaps) - len(self._moved)

    @property
    def full(self) -> bool:
        return len(self.values) + len(self._links) >= CHUNK

    def add(self, value: Value, src: Oid, label: str, shape: str | None = None) -> Oid:
        """A new object and the edge that leads to it."""
        self.values.append(value)
        self.srcs.append(src)
        self.labels.append(label)
        self.shapes.append(shape)
        return self._oid + len(self.values) - 1

    def hold(self, src: Oid, label: str, shape: str | None = None) -> Oid:
        """Like `add` of a complex object whose own shape is not known yet; `release` says it."""
        return self.add(_HELD, src, label, shape)

    def release(self, oid: Oid, shape: str | None) -> None:
        row = oid - self._oid
        if row < 0:
            self._released.append((oid, shape))
            return
        self.values[row] = COMPLEX
        if shape is not None:
            self.object_shapes[row] = shape

    def set_shape(self, oid: Oid, shape: str) -> None:
        """The shape of an object that is still in the making."""
        self.object_shapes[oid - self._oid] = shape

    def reserve(self) -> int:
        """A place in the order of edges, to be filled later or never."""
        pos = self.next_pos
        self._gaps.append(len(self.values))
        return pos

    def add_at(self, pos: int, value: Value, src: Oid, label: str, shape: str | None = None) -> Oid:
        """Like `add`, at a place reserved before."""
        self._moved[len(self.values)] = pos
        return self.add(value, src, label, shape)

    def link(self, src: Oid, label: str, dst: Oid, pos: int, shape: str | None = None) -> None:
        """An edge to an object that has its own row."""
        self._links.append((src, label, dst, pos, shape))

    def flush(self) -> NetChange:
        """What has gathered since the last flush."""
        n = len(self.values)
        oids = np.arange(self._oid, self._oid + n, dtype=np.int64)
        pos = self._positions(n)
        created = objects_table(oids, self.values, self.object_shapes)
        if self._released:
            held, shapes = zip(*self._released, strict=True)
            named = {row: shape for row, shape in enumerate(shapes) if shape is not None}
            late = objects_table(np.array(held, np.int64), [COMPLEX] * len(held), named)
            created = pa.concat_tables([created, late])
        plus = edges_table(np.array(self.srcs, np.int64), self.labels, oids, pos, self.shapes)
        if NOWHERE in self.srcs:
            plus = plus.filter(pc.not_equal(plus["src"], NOWHERE))
        if self._links:
            src, label, dst, at, shape = zip(*self._links, strict=True)
            linked = edges_table(
                np.array(src, np.int64), label, np.array(dst, np.int64), np.array(at, np.int64), shape
            )
            plus = pa.concat_tables([plus, linked])
        self._oid, self._pos = self.next_oid, self.next_pos
        self._clear()
        self.objects += len(created)
        self.edges += len(plus)
        return NetChange(created=created, plus=plus)

    def count(self, change: NetChange) -> NetChange:
        """Rows made elsewhere, while none gather here: of the next oids in any order, and the next places."""
        self._oid += len(change.created)
        self._pos += len(change.plus)
        self.objects += len(change.created)
        self.edges += len(change.plus)
        return change

    def _positions(self, n: int) -> Ints:
        rows = np.arange(n, dtype=np.int64)
        pos = self._pos + rows
        if self._gaps:
            pos += np.searchsorted(np.array(self._gaps, np.int64), rows, side="right")
        if self._moved:
            moved = np.fromiter(self._moved, np.int64, len(self._moved))
            pos -= np.searchsorted(moved, rows, side="left")
            pos[moved] = np.fromiter(self._moved.values(), np.int64, len(moved))
        return pos


def objects_table(oids: Ints, values: Sequence[Value], shapes: Mapping[int, str]) -> pa.Table:
    """Schema OBJECTS; `shapes` by row. The same rows as `columns_of` gives, a thousand at a time."""
    n = len(values)
    codes = np.fromiter(map(_CODES.__getitem__, map(type, values)), np.int8, n)
    cells = np.empty(n, dtype=object)
    cells[:] = values
    shape = _sparse(n, shapes)
    if _HELD_CODE in codes:
        kept = codes != _HELD_CODE
        oids, codes, cells, shape = oids[kept], codes[kept], cells[kept], shape.filter(pa.array(kept))
    text, integer, number = _value_columns(codes, cells)
    kinds = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(TYPES)).cast(pa.string())
    return pa.Table.from_arrays([pa.array(oids), kinds, text, integer, number, shape], schema=OBJECTS)


def _value_columns(
    codes: npt.NDArray[np.int8], cells: npt.NDArray[np.object_]
) -> tuple[pa.Array, pa.Array, pa.Array]:
    n = len(codes)
    integers, integer_at = np.zeros(n, np.int64), codes == _BOOLEAN
    integers[integer_at] = cells[integer_at].astype(np.int64)
    numbers, number_at = np.zeros(n, np.float64), codes == _REAL
    numbers[number_at] = cells[number_at].astype(np.float64)
    if not np.isfinite(numbers).all():
        raise Unstorable("an infinite number")
    whole = codes == _INTEGER
    strings = np.where(codes == _STRING, cells, np.array(None))
    try:
        integers[whole] = cells[whole].astype(np.int64)
    except OverflowError:
        for row in np.flatnonzero(whole):
            _, strings[row], integer, number = columns_of(cells[row])
            integers[row], integer_at[row] = integer or 0, integer is not None
            numbers[row], number_at[row] = number or 0.0, number is not None
    else:
        integer_at |= whole
        numbers[whole] = integers[whole]
        number_at |= whole
    for row in np.flatnonzero(codes == _BINARY):
        strings[row] = columns_of(cells[row])[1]
    text = _strings(strings)
    _read_numbers(text, codes == _STRING, numbers, number_at)
    return text, pa.array(integers, mask=~integer_at), pa.array(numbers, mask=~number_at)


def _read_numbers(
    text: pa.Array,
    strings: npt.NDArray[np.bool_],
    numbers: npt.NDArray[np.float64],
    at: npt.NDArray[np.bool_],
) -> None:
    """Fill `number` for the strings that read as one."""
    reads = pc.match_substring_regex(text, _NUMBER).fill_null(False).to_numpy(zero_copy_only=False) & strings
    if not reads.any():
        return
    read = pc.cast(text.filter(pa.array(reads)), pa.float64()).to_numpy()
    rows, finite = np.flatnonzero(reads), np.isfinite(read)
    numbers[rows[finite]] = read[finite]
    at[rows[finite]] = True


def edges_table(
    src: Ints, labels: Sequence[str], dst: Ints, pos: Ints, shapes: Sequence[str | None]
) -> pa.Table:
    """Schema EDGES."""
    columns = [pa.array(src), _strings(labels), pa.array(dst), pa.array(pos), _strings(shapes)]
    return pa.Table.from_arrays(columns, schema=EDGES)


def _sparse(n: int, cells: Mapping[int, str]) -> pa.Array:
    if not cells:
        return cast(pa.Array, pa.nulls(n, pa.string()))
    column: list[str | None] = [None] * n
    for row, cell in cells.items():
        column[row] = cell
    return _strings(column)


def _strings(cells: Sequence[str | None] | npt.NDArray[np.object_]) -> pa.Array:
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError as error:
        raise Unstorable("half a surrogate pair") from error
