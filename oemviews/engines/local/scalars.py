"""Scalars over binding tables: a column of values for each, MISSING where there is none."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import singledispatch
from typing import Any, Final

import numpy as np

from lorel.normal import (
    Apply,
    Arith,
    Const,
    MeasureOf,
    OidOf,
    Scalar,
    State,
    TextOf,
    ValueOf,
    is_constant,
    oid_of,
)
from oemviews.engines.local.coerce import constant_values, repeated
from oemviews.engines.rows import Column, Rows
from oemviews.model import TYPES, Value, as_number, is_storable
from oemviews.store.values import (
    BIG,
    BOOLEAN,
    C_COMPLEX,
    INTEGER,
    MISSING,
    NAN,
    REAL,
    STRING,
    Ints,
    Strings,
    Values,
    missing_values,
    string_values,
    strings,
    values_of,
)

ValuesAt = Callable[[Ints, str, State], Values]
"""The values of objects in a graph and a state."""

_WHOLE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_REALS: Final = {**_WHOLE, "/": operator.truediv}
"""Of numbers and alike of arrays; only `mod` is not."""

_SAFE: Final = 1 << 31
"""Integers below it neither leave 64 bits nor lose digits when added or multiplied."""


def column_of(name: str, rows: Rows) -> Column:
    """The column of a variable; a constant has the same oid in every row."""
    if name not in rows.columns and is_constant(name):
        return np.full(len(rows), oid_of(name), np.int64)
    return rows.columns[name]


def scalar_values(scalar: Scalar, rows: Rows, values_at: ValuesAt) -> Values:
    """The value of a scalar in each row."""
    return _scalar(scalar, rows, values_at)


@singledispatch
def _scalar(scalar: Scalar, rows: Rows, values_at: ValuesAt) -> Values:
    raise TypeError(f"found {scalar!r}, wanted a scalar of lorel.normal")


@_scalar.register
def _(scalar: Const, rows: Rows, values_at: ValuesAt) -> Values:
    return repeated(constant_values(type(scalar.value).__name__, scalar.value), len(rows))


@_scalar.register
def _(scalar: ValueOf, rows: Rows, values_at: ValuesAt) -> Values:
    column = column_of(scalar.var, rows)
    return column if isinstance(column, Values) else values_at(column, scalar.graph, scalar.state)


@_scalar.register
def _(scalar: OidOf, rows: Rows, values_at: ValuesAt) -> Values:
    column = column_of(scalar.var, rows)
    return missing_values(len(rows)) if isinstance(column, Values) else whole_values(column)


@_scalar.register
def _(scalar: TextOf, rows: Rows, values_at: ValuesAt) -> Values:
    return rows.values(scalar.var)


@_scalar.register
def _(scalar: MeasureOf, rows: Rows, values_at: ValuesAt) -> Values:
    return rows.values(scalar.name)


@_scalar.register
def _(scalar: Apply, rows: Rows, values_at: ValuesAt) -> Values:
    values = _scalar(scalar.arg, rows, values_at)
    if scalar.name == "type-of":
        names = strings([*TYPES, "integer"])
        shown = np.where(values.missing, 0, values.kind)
        texts = names[shown]
        texts[values.missing] = None
        return string_values(texts)
    atomic = (values.kind != C_COMPLEX).astype(np.int64)
    kind = np.where(values.missing, MISSING, BOOLEAN).astype(np.uint8)
    return Values(kind, atomic, np.full(len(values), NAN))


@_scalar.register
def _(scalar: Arith, rows: Rows, values_at: ValuesAt) -> Values:
    left, right = _scalar(scalar.left, rows, values_at), _scalar(scalar.right, rows, values_at)
    if scalar.op == "||":
        return _joined(left, right)
    if scalar.op != "/" and len(left) and _small(left) and _small(right):
        return _small_integers(scalar.op, left, right)
    if len(left) and ((left.kind == REAL) | (left.kind == INTEGER)).all() and (right.kind == REAL).all():
        return _reals(scalar.op, left, right)
    pairs = zip(_numbers(left), _numbers(right), strict=True)
    return optional_values(
        [None if a is None or b is None else arithmetic(scalar.op, a, b) for a, b in pairs]
    )


# ---- arithmetic ----


def arithmetic(op: str, a: int | float, b: int | float) -> int | float | None:
    """Two integers exactly, else both as doubles; None where the result is not finite, or too long.

    >>> arithmetic("mod", -7, 3), arithmetic("/", 1, 0), arithmetic("+", 2**70, 1)
    (-1, None, 1180591620717411303425)
    """
    if op != "/" and isinstance(a, int) and isinstance(b, int):
        return _whole(op, a, b)
    x, y = as_number(a), as_number(b)
    if x is None or y is None or (op in ("/", "mod") and y == 0):
        return None
    result: float = _REALS[op](x, y) if op in _REALS else math.fmod(x, y)
    return result if math.isfinite(result) else None


def _whole(op: str, a: int, b: int) -> int | None:
    if op == "mod":
        if b == 0:
            return None
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest
    result: int = _WHOLE[op](a, b)
    return result if is_storable(result) else None


def _numbers(values: Values) -> list[int | float | None]:
    """What each value is in arithmetic: integers as they are, else the double it converts to."""
    whole = (values.kind == INTEGER) | (values.kind == BIG)
    doubles = values.number.tolist()
    return [
        values.item(i) if exact else None if number != number else number  # type: ignore[misc]  # an int
        for i, (exact, number) in enumerate(zip(whole.tolist(), doubles, strict=True))
    ]


def _small(values: Values) -> bool:
    return (
        bool((values.kind == INTEGER).all())
        and -_SAFE < int(values.integer.min()) <= int(values.integer.max()) < _SAFE
    )


def _small_integers(op: str, left: Values, right: Values) -> Values:
    a, b = left.integer, right.integer
    if op in _WHOLE:
        return whole_values(_WHOLE[op](a, b))
    result = whole_values(np.fmod(a, np.where(b == 0, 1, b)))
    result.kind[b == 0] = MISSING
    return result


def _reals(op: str, left: Values, right: Values) -> Values:
    a, b = left.number, right.number
    with np.errstate(all="ignore"):
        result = _REALS[op](a, b) if op in _REALS else np.fmod(a, b)
    finite = np.isfinite(result)
    kind = np.where(finite, REAL, MISSING).astype(np.uint8)
    return Values(kind, np.zeros(len(a), np.int64), np.where(finite, result, NAN))


def whole_values(numbers: Ints) -> Values:
    """A column of integers of 64 bits."""
    return Values(np.full(len(numbers), INTEGER, np.uint8), numbers, numbers.astype(np.float64))


def optional_values(items: list[Value]) -> Values:
    """A column from Python values; None is a missing one."""
    values = values_of(items)
    values.kind[[item is None for item in items]] = MISSING
    return values


# ---- texts ----


def text_of(values: Values) -> Strings:
    """The text that `like`, `grep` and `||` see; None for what has none."""
    plain = values.kind == STRING
    if plain.all():
        return values.text
    out = np.empty(len(values), object)
    if plain.any():
        out[plain] = values.take(plain).text
    numbers = np.flatnonzero((values.kind == INTEGER) | (values.kind == REAL) | (values.kind == BIG))
    for i in numbers.tolist():
        out[i] = repr(values.item(i))
    return out


def _joined(left: Values, right: Values) -> Values:
    pairs = zip(text_of(left).tolist(), text_of(right).tolist(), strict=True)
    return string_values(strings(None if a is None or b is None else a + b for a, b in pairs))
