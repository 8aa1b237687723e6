"""Oids, atomic values, and when two values compare.

An object is complex, or atomic with one value of a Python type:

    integer int | real float | string str | boolean bool | null None | binary bytes

Comparison follows Lorel's coercion table (docs/lorel.md): a pair that does not convert makes
*every* operator false, also `!=`, so `not (a < b)` is not `a >= b`. Coerced equality is not
transitive: 4 = "4" and 4 = "4.0", yet "4" != "4.0".
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Oid: TypeAlias = int

ROOT: Final[Oid] = 0
"""The virtual root: a name is an edge `(ROOT, name, oid)`."""

COLLECTION: Final[Oid] = 1 << 38
"""In the graph of a view: the collection object, above every oid that a store hands out."""


class Complex:
    """The value of every complex object: it has none of its own, only edges."""

    _only: Complex | None = None

    def __new__(cls) -> Complex:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "COMPLEX"

    def __reduce__(self) -> tuple[type[Complex], tuple[()]]:
        return (Complex, ())


COMPLEX: Final = Complex()

_TOO_LONG: Final = 10**4300
"""Python writes and reads integers of at most 4300 digits; more would be a way to keep a reader busy."""

Atom: TypeAlias = int | float | str | bool | bytes | None
Value: TypeAlias = Atom | Complex

TYPES: Final = ("complex", "integer", "real", "string", "boolean", "null", "binary")
"""Type names as they stand in tables and JSON; the position is the code used in arrays."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)


def type_of(value: Value) -> str:
    """
    >>> [type_of(v) for v in (COMPLEX, 1, 1.0, "1", True, None, b"1")]
    ['complex', 'integer', 'real', 'string', 'boolean', 'null', 'binary']
    """
    match value:
        case Complex():
            return "complex"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "real"
        case str():
            return "string"
        case bytes():
            return "binary"
        case None:
            return "null"


def is_storable(number: int | float) -> bool:
    """Whether tables can hold a number and give it back: finite, and of at most 4300 digits.

    >>> is_storable(2**70), is_storable(10**4300), is_storable(float("inf"))
    (True, False, False)
    """
    return math.isfinite(number) if isinstance(number, float) else -_TOO_LONG < number < _TOO_LONG


def same_value(a: Value, b: Value) -> bool:
    """Identity of typed values: `1`, `1.0`, `True` and `"1"` are four values."""
    return type_of(a) == type_of(b) and a == b


def as_number(value: Value) -> float | None:
    """The finite double a value converts to, or None. A string converts if it reads as a JSON number.

    >>> as_number("92310"), as_number(" 1"), as_number("1e999"), as_number(True)
    (92310.0, None, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    if not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the doubles
        return None
    return number if math.isfinite(number) else None


OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Of values, and alike of arrays and of columns in Spark."""


def compare(op: str, a: Value, b: Value) -> bool:
    """Compare two atomic values under coercion; complex objects compare by oid, not here.

    >>> compare("=", 4, "4.0"), compare("=", "4", "4.0"), compare("!=", "cheap", 20)
    (True, False, False)
    """
    kinds = (type_of(a), type_of(b))
    if "complex" in kinds:
        return False
    if kinds in (("string", "string"), ("integer", "integer")):
        return bool(OPERATORS[op](a, b))
    if all(kind in ("string", "integer", "real") for kind in kinds):
        x, y = as_number(a), as_number(b)
        return x is not None and y is not None and bool(OPERATORS[op](x, y))
    return kinds[0] == kinds[1] and op in ("=", "!=") and bool(OPERATORS[op](a, b))
