"""Values in columns: arrays of type codes, integers, doubles and texts.

A code is the place of a type in `model.TYPES`. Two more codes exist only here: `BIG`, an integer
beyond 64 bits (its digits are the text), and `MISSING`, no value at all. A complex object keeps
its oid in `integer`, because it compares by it.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from oemviews.model import COMPLEX, TYPES, Value, as_number, type_of

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
Strings: TypeAlias = NDArray[np.object_]
"""Objects that are `str` or None."""

CODE: Final = {name: code for code, name in enumerate(TYPES)}
C_COMPLEX, INTEGER, REAL, STRING, BOOLEAN, NULL, BINARY = range(7)
BIG: Final = 7
MISSING: Final = 255
NAMES: Final = (*TYPES, "integer")
NAN: Final = float("nan")

_INT64: Final = range(-(2**63), 2**63)
_FEW: Final = 48
"""Up to so many rows a loop in Python beats the fixed cost of calls into Arrow."""

_SOME: Final = 192
"""The same where it takes ten such calls."""


def strings(items: Iterable[str | None]) -> Strings:
    """
    >>> strings(["a", None]).tolist()
    ['a', None]
    """
    listed = list(items)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


class Texts:
    """Many texts in one run of bytes: text i is `blob[offsets[i]:offsets[i + 1]]`."""

    __slots__ = ("_arrow", "_view", "blob", "offsets")

    def __init__(self, offsets: NDArray[Any], blob: Codes) -> None:
        self.offsets, self.blob = offsets, blob
        self._view = memoryview(blob)  # type: ignore[arg-type]
        self._arrow: Any = None

    @classmethod
    def of(cls, array: Any) -> Texts:
        """From an Arrow string array; nulls become empty."""
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        array = array.cast(pa.large_string())
        if len(array) == 0:
            return cls(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        if array.null_count:
            array = array.fill_null("")
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8)
        blob = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data else np.zeros(0, np.uint8)
        ends = ends - ends[0]
        return cls(ends.astype(np.int32) if len(blob) < 2**31 else ends, blob)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def arrow(self) -> Any:
        """The same as an Arrow array, without a copy."""
        if self._arrow is None:
            kind = pa.string() if self.offsets.dtype == np.int32 else pa.large_string()
            buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.blob)]
            self._arrow = pa.Array.from_buffers(kind, len(self), buffers)
        return self._arrow

    def gather(self, at: Ints) -> Strings:
        """The texts at these places."""
        if len(at) <= _FEW:
            view, starts, ends = self._view, self.offsets[at].tolist(), self.offsets[at + 1].tolist()
            return strings(str(view[a:b], "utf-8") for a, b in zip(starts, ends, strict=True))
        taken: Strings = self.arrow.take(pa.array(at)).to_numpy(zero_copy_only=False)
        return taken


TextSource: TypeAlias = Callable[[Ints], Strings]


class Values:
    """A column of values. Texts are fetched when first asked for, because most tests need none."""

    __slots__ = ("_refs", "_source", "_text", "integer", "kind", "number")

    def __init__(
        self,
        kind: Codes,
        integer: Ints,
        number: Floats,
        text: Strings | None = None,
        source: TextSource | None = None,
        refs: Ints | None = None,
    ) -> None:
        self.kind, self.integer, self.number = kind, integer, number
        self._text, self._source, self._refs = text, source, refs

    @property
    def text(self) -> Strings:
        if self._text is None:
            if self._source is None or self._refs is None:
                self._text = np.empty(len(self.kind), dtype=object)
            else:
                self._text = self._source(self._refs)
        return self._text

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, at: NDArray[Any]) -> Values:
        """The rows at these places, or where a mask is true."""
        text = None if self._text is None else self._text[at]
        refs = None if self._refs is None else self._refs[at]
        return Values(self.kind[at], self.integer[at], self.number[at], text, self._source, refs)

    def item(self, i: int) -> Value:
        """One value; what is missing reads as null."""
        kind = self.kind.item(i)
        if kind == STRING:
            return str(self.text[i])
        if kind == INTEGER:
            return int(self.integer.item(i))
        if kind == REAL:
            return float(self.number.item(i))
        if kind == BOOLEAN:
            return bool(self.integer.item(i))
        if kind == BIG:
            return int(self.text[i])
        if kind == BINARY:
            return b64decode(self.text[i])
        return COMPLEX if kind == C_COMPLEX else None

    def items(self) -> list[Value]:
        return [self.item(i) for i in range(len(self))]

    @property
    def missing(self) -> Bools:
        return np.asarray(self.kind == MISSING)


def concat_values(parts: Sequence[Values]) -> Values:
    if len(parts) == 1:
        return parts[0]
    return Values(
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.integer for part in parts]),
        np.concatenate([part.number for part in parts]),
        np.concatenate([part.text for part in parts]),
    )


def parts_of(value: Value) -> tuple[int, str | None, int, float]:
    """(code, text, integer, number) of one value.

    >>> parts_of("4.0"), parts_of(4)
    ((3, '4.0', 0, 4.0), (1, None, 4, 4.0))
    """
    number = as_number(value)
    double = NAN if number is None else number
    if isinstance(value, str):
        return STRING, value, 0, double
    if isinstance(value, bool):
        return BOOLEAN, None, int(value), NAN
    if isinstance(value, int):
        return (INTEGER, None, value, double) if value in _INT64 else (BIG, str(value), 0, double)
    if isinstance(value, bytes):
        return BINARY, b64encode(value).decode("ascii"), 0, NAN
    return CODE[type_of(value)], None, 0, double


def values_of(items: Iterable[Value]) -> Values:
    """A column from Python values.

    >>> values_of(["4.0", 4, None]).kind.tolist()
    [3, 1, 5]
    """
    listed = [parts_of(item) for item in items]
    return Values(
        np.array([row[0] for row in listed], np.uint8),
        np.array([row[2] for row in listed], np.int64),
        np.array([row[3] for row in listed], np.float64),
        strings(row[1] for row in listed),
    )


def string_values(text: Strings) -> Values:
    """A column of strings that are labels or paths, or MISSING where the text is None."""
    none = np.array([item is None for item in text.tolist()], bool)
    numbers = [as_number(item) if item is not None else None for item in text.tolist()]
    return Values(
        np.where(none, MISSING, STRING).astype(np.uint8),
        np.zeros(len(text), np.int64),
        np.array([NAN if number is None else number for number in numbers], np.float64),
        text,
    )


def missing_values(count: int) -> Values:
    """A column without any value."""
    return Values(np.full(count, MISSING, np.uint8), np.zeros(count, np.int64), np.full(count, NAN))


def from_columns(kind: Any, text: Any, integer: Any, number: Any) -> Values:
    """From the four columns of a table, as Arrow arrays (chunked or not)."""
    if len(kind) <= _SOME:
        names, texts, wholes, doubles = (c.to_pylist() for c in (kind, text, integer, number))
        codes = [
            BIG if name == "integer" and whole is None else CODE[name]
            for name, whole in zip(names, wholes, strict=True)
        ]
        return Values(
            np.array(codes, np.uint8),
            np.array([whole or 0 for whole in wholes], np.int64),
            np.array([NAN if double is None else double for double in doubles], np.float64),
            strings(texts),
        )
    codes_, wholes_, doubles_ = numeric_columns(kind, integer, number)
    return Values(codes_, wholes_, doubles_, column_numpy(text))


def numeric_columns(kind: Any, integer: Any, number: Any) -> tuple[Codes, Ints, Floats]:
    """Codes, integers (0 where there is none) and doubles (NaN where there is none) of table columns."""
    encoded = kind.combine_chunks() if isinstance(kind, pa.ChunkedArray) else kind
    encoded = encoded.dictionary_encode()
    table = np.array([CODE[name] for name in encoded.dictionary.to_pylist()] or [0], np.uint8)
    codes = table[column_numpy(encoded.indices)]
    wholes = column_numpy(integer.fill_null(0)).astype(np.int64, copy=False)
    if integer.null_count:
        codes[(codes == INTEGER) & column_numpy(integer.is_null())] = BIG
    doubles = column_numpy(number.fill_null(NAN)).astype(np.float64, copy=False)
    return codes, wholes, doubles


def column_numpy(column: Any) -> NDArray[Any]:
    """An Arrow column as a numpy array, copied only if it must be."""
    if isinstance(column, pa.ChunkedArray):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))
