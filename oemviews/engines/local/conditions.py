"""Tests over binding tables: which rows pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, singledispatch
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lorel.like import like
from lorel.normal import Compare, Const, Match, OneOf, Test, Truth, ValueOf
from lorel.regex import portable
from oemviews.engines.local.coerce import compare, compare_with, one_of
from oemviews.engines.local.scalars import ValuesAt, column_of, scalar_values, text_of
from oemviews.engines.rows import Rows
from oemviews.store.values import Bools, Values, values_of

_DIGITS: Final = {
    char: digit for digit, chars in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for char in chars
}


def passing(test: Test, rows: Rows, values_at: ValuesAt) -> Bools:
    """Which rows pass one test."""
    return _passing(test, rows, values_at)


@singledispatch
def _passing(test: Test, rows: Rows, values_at: ValuesAt) -> Bools:
    raise TypeError(f"found {test!r}, wanted a test of lorel.normal")


@_passing.register
def _(test: Truth, rows: Rows, values_at: ValuesAt) -> Bools:
    return np.full(len(rows), test.value)


@_passing.register
def _(test: Compare, rows: Rows, values_at: ValuesAt) -> Bools:
    if test.op == "==":
        result = _identical(test, rows)
    else:
        left = scalar_values(test.left, rows, values_at)
        if isinstance(test.right, Const):
            result = compare_with(test.op, left, test.right.value)
        else:
            result = compare(test.op, left, scalar_values(test.right, rows, values_at))
    return result ^ test.negated


def _identical(test: Compare, rows: Rows) -> Bools:
    if isinstance(test.left, ValueOf) and isinstance(test.right, ValueOf):
        left, right = column_of(test.left.var, rows), column_of(test.right.var, rows)
        if not isinstance(left, Values) and not isinstance(right, Values):
            return np.asarray(left == right)
    return np.zeros(len(rows), bool)


@_passing.register
def _(test: OneOf, rows: Rows, values_at: ValuesAt) -> Bools:
    values = scalar_values(test.scalar, rows, values_at)
    return one_of(values, values_of(constant.value for constant in test.values)) ^ test.negated


@_passing.register
def _(test: Match, rows: Rows, values_at: ValuesAt) -> Bools:
    texts = text_of(scalar_values(test.scalar, rows, values_at)).tolist()
    if test.kind == "soundex":
        wanted = soundex(test.pattern)
        found = [wanted is not None and text is not None and soundex(text) == wanted for text in texts]
    elif test.kind == "grep":
        found = _grep(test.pattern, texts)
    else:
        fits = like(test.pattern)
        found = [text is not None and fits(text) for text in texts]
    return np.array(found, bool) ^ test.negated


def _grep(pattern: str, texts: Sequence[str | None]) -> list[bool]:
    """Which texts have a match, in time that grows with their length only: RE2 never tries anything again.

    `$` also stands before a newline at the end, which RE2 does not know: such texts are tried without it too.
    """
    words = portable(pattern)

    def found(some: Sequence[str | None]) -> list[bool]:
        hits = pc.match_substring_regex(pa.array(some, pa.string()), words)
        return [bool(hit) for hit in hits.to_pylist()]

    hits = found(texts)
    if "$" not in words:
        return hits
    shorter = found([text[:-1] if text is not None and text.endswith("\n") else None for text in texts])
    return [hit or other for hit, other in zip(hits, shorter, strict=True)]


@lru_cache(maxsize=4096)
def soundex(text: str) -> str | None:
    """The American code: a letter and three digits; None without letters.

    >>> soundex("Robert"), soundex("Ashcraft"), soundex("12")
    ('R163', 'A261', None)
    """
    letters = [char for char in text.lower() if "a" <= char <= "z"]
    if not letters:
        return None
    code, last = letters[0].upper(), _DIGITS.get(letters[0])
    for char in letters[1:]:
        digit = _DIGITS.get(char)
        if digit is not None and digit != last:
            code += str(digit)
        if char not in "hw":
            last = digit
    return (code + "000")[:4]
