"""Coercion, arithmetic, text and order of values, written apart from `oemviews.model`.

A typed value is a pair (type, value); a complex object is ("complex", oid), which compares by oid.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, TypeAlias

from oemviews.model import COMPLEX
from tests.oracle.graph import Item, OracleGraph

Typed: TypeAlias = tuple[str, Any]

_TYPES: Final[dict[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "real",
    str: "string",
    bytes: "binary",
    type(None): "null",
}
_NUMERIC: Final = frozenset({"string", "integer", "real"})
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def value_item(value: Any) -> Item:
    """
    >>> value_item(4.0)
    ('value', 'real', 4.0)
    """
    return ("value", _TYPES[type(value)], value)


def typed(graph: OracleGraph, item: Item) -> Typed:
    """What an item is worth in a comparison."""
    if item[0] == "value":
        return item[1], item[2]
    if item[0] == "new":
        return "new", None
    value = graph.values[item[1]]
    return ("complex", item[1]) if value is COMPLEX else (_TYPES[type(value)], value)


@lru_cache(maxsize=4096)
def _text_to_real(text: str) -> float | None:
    if text != text.strip() or text in ("NaN", "Infinity", "-Infinity"):
        return None
    try:
        number = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return None
    return number if isinstance(number, float) and math.isfinite(number) else None


def real_of(value: Typed) -> float | None:
    """The finite double that a value converts to.

    >>> real_of(("string", "4.0")), real_of(("string", " 4")), real_of(("integer", 10**400))
    (4.0, None, None)
    >>> real_of(("string", "1e999"))
    """
    kind, content = value
    if kind == "string":
        return _text_to_real(content)
    if kind not in _NUMERIC:
        return None
    try:
        number = float(content)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def compare(op: str, a: Typed, b: Typed) -> bool:
    """The coercion table, row by row; what does not convert is false under every operator."""
    left, right = a[0], b[0]
    if left == right and left in _NUMERIC:
        return _OPERATORS[op](a[1], b[1])
    if left in _NUMERIC and right in _NUMERIC:
        x, y = real_of(a), real_of(b)
        return x is not None and y is not None and _OPERATORS[op](x, y)
    if left == right and left in ("boolean", "null", "binary", "complex"):
        return op in ("=", "!=") and _OPERATORS[op](a[1], b[1])
    return False


def _number(value: Typed) -> int | float | None:
    return value[1] if value[0] == "integer" else real_of(value)


def arithmetic(op: str, a: Typed, b: Typed) -> Typed | None:
    """`a op b`, or None for missing.

    >>> arithmetic("mod", ("integer", -7), ("integer", 3)), arithmetic("/", ("integer", 1), ("integer", 0))
    (('integer', -1), None)
    """
    if op == "||":
        left, right = text_of(a), text_of(b)
        return None if left is None or right is None else ("string", left + right)
    if op != "/" and a[0] == b[0] == "integer":
        return _integers(op, a[1], b[1])
    x, y = real_of(a), real_of(b)
    if x is None or y is None or (op in ("/", "mod") and y == 0):
        return None
    try:
        result = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}.get(
            op, math.fmod
        )(x, y)
    except OverflowError:
        return None
    return ("real", result) if math.isfinite(result) else None


def _integers(op: str, x: int, y: int) -> Typed | None:
    if op == "mod":
        if y == 0:
            return None
        rest = abs(x) % abs(y)
        return "integer", -rest if x < 0 else rest
    result = {"+": x + y, "-": x - y, "*": x * y}[op]
    return ("integer", result) if abs(result) < 10**4300 else None


def negative(value: Typed) -> Typed | None:
    number = _number(value)
    return None if number is None else (_TYPES[type(number)], -number)


def text_of(value: Typed) -> str | None:
    """The text that `like`, `grep` and `||` see; only strings and numbers have one."""
    kind, content = value
    return content if kind == "string" else repr(content) if kind in ("integer", "real") else None


def matches(kind: str, value: Typed, pattern: str) -> bool:
    text = text_of(value)
    if text is None:
        return False
    if kind == "grep":
        return re.search(pattern, text) is not None
    if kind == "soundex":
        return soundex(text) is not None and soundex(text) == soundex(pattern)
    parts = ({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def soundex(text: str) -> str | None:
    """
    >>> soundex("Robert"), soundex("Rupert"), soundex("Ashcraft"), soundex("Tymczak"), soundex("12")
    ('R163', 'R163', 'A261', 'T522', None)
    """
    digits = {c: d for d, chars in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for c in chars}
    letters = [c for c in text.lower() if "a" <= c <= "z"]
    if not letters:
        return None
    code, last = "", digits.get(letters[0])
    for char in letters[1:]:
        digit = digits.get(char)
        if digit is not None and digit != last:
            code += str(digit)
        if char not in "hw":
            last = digit
    return letters[0].upper() + (code + "000")[:3]


def aggregate(func: str, members: Iterable[Typed]) -> Typed | None:
    """sum, avg, min or max of the members that convert to a number."""
    numbers = [
        n for n in map(_number, members) if n is not None and real_of((_TYPES[type(n)], n)) is not None
    ]
    if not numbers:
        return ("integer", 0) if func == "sum" else None
    if func in ("min", "max"):
        pick = min if func == "min" else max
        best = pick(numbers)
        best = next((n for n in numbers if n == best and isinstance(n, int)), best)
        return _TYPES[type(best)], best
    exact = all(isinstance(n, int) for n in numbers)
    total = sum(numbers) if exact else math.fsum(numbers)
    if func == "sum":
        return ("integer" if exact else "real"), total
    return "real", total / len(numbers)


def order_key(value: Typed) -> tuple[Any, ...]:
    """The place of a value in `order by`."""
    number = real_of(value)
    if number is not None:
        return (0, number)
    kind, content = value
    if kind == "string":
        return (1, content)
    return (3, content) if kind == "complex" else (2, kind, 0 if content is None else content)
