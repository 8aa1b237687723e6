"""Lorel's coercion table over whole columns; `model.compare` is the same for one pair.

The cases are disjoint: string with string by text, integer with integer exactly, other pairs of what
reads as a number by finite double, other atomic values by type and value, complex objects by oid.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from oemviews.model import OPERATORS, Atom, Value
from oemviews.model import compare as compare_one
from oemviews.store.values import (
    BIG,
    BINARY,
    BOOLEAN,
    C_COMPLEX,
    INTEGER,
    MISSING,
    NULL,
    REAL,
    STRING,
    Bools,
    Codes,
    Strings,
    Values,
    values_of,
)

_FEW: Final = 8
"""Up to so many pairs are compared one by one: less work than a dozen calls on short arrays."""


def repeated(value: Values, count: int) -> Values:
    """A column that holds one value `count` times."""
    return value.take(np.zeros(count, np.int64))


def compare(op: str, a: Values, b: Values) -> Bools:
    """Which rows of two columns of the same length compare true."""
    if len(a) <= _FEW:
        return np.array([_pair(op, a, b, i) for i in range(len(a))], bool)
    kinds = a.kind.item(0), b.kind.item(0)
    if (a.kind == kinds[0]).all() and (b.kind == kinds[1]).all():
        if kinds == (STRING, STRING):
            return _texts(op, a.text, b.text)
        if kinds == (INTEGER, INTEGER):
            return np.asarray(OPERATORS[op](a.integer, b.integer))
    out = np.zeros(len(a), bool)
    both_texts = (a.kind == STRING) & (b.kind == STRING)
    if both_texts.any():
        at = np.flatnonzero(both_texts)
        out[at] = _texts(op, a.take(at).text, b.take(at).text)
    both_whole = _whole(a.kind) & _whole(b.kind)
    out |= _wholes(op, a, b, both_whole)
    rest = _numeric(a.kind) & _numeric(b.kind) & ~both_texts & ~both_whole
    if rest.any():
        finite = ~np.isnan(a.number) & ~np.isnan(b.number)
        out |= rest & finite & OPERATORS[op](a.number, b.number)
    if op in ("=", "!="):
        out |= _others(op, a, b)
    return out


def compare_with(op: str, values: Values, constant: Atom) -> Bools:
    """Which rows compare true with one atomic value."""
    if len(values) > _FEW:
        return compare(op, values, repeated(constant_values(type(constant).__name__, constant), len(values)))
    never = (C_COMPLEX, MISSING)
    found = [
        kind not in never and compare_one(op, values.item(i), constant)
        for i, kind in enumerate(values.kind.tolist())
    ]
    return np.array(found, bool)


@lru_cache(maxsize=4096)
def constant_values(kind: str, value: Value) -> Values:
    """A column of one value; `kind` keeps 1, 1.0 and true apart."""
    return values_of([value])


def one_of(values: Values, constants: Values) -> Bools:
    """Which rows equal at least one of some atomic constants: `compare("=", ...)` with each of them."""
    out = np.zeros(len(values), bool)
    for kind in (STRING, BIG, BINARY):
        at = np.flatnonzero(values.kind == kind)
        wanted = set(constants.take(constants.kind == kind).text.tolist()) if len(at) else ()
        if wanted:
            out[at] = [text in wanted for text in values.take(at).text.tolist()]
    if (constants.kind == NULL).any():
        out |= values.kind == NULL
    for kind in (INTEGER, BOOLEAN):
        mine = values.kind == kind
        out |= mine & np.isin(values.integer, constants.integer[constants.kind == kind])
    for mine, others in (
        (values.kind == STRING, _numeric(constants.kind) & (constants.kind != STRING)),
        (_whole(values.kind), _numeric(constants.kind) & ~_whole(constants.kind)),
        (values.kind == REAL, _numeric(constants.kind)),
    ):
        out |= mine & np.isin(values.number, constants.number[others & ~np.isnan(constants.number)])
    return out


def _pair(op: str, a: Values, b: Values, i: int) -> bool:
    kinds = (a.kind.item(i), b.kind.item(i))
    if kinds[0] == C_COMPLEX or kinds[0] == MISSING or kinds[1] == MISSING:
        return (
            kinds[0] == kinds[1] == C_COMPLEX
            and op in ("=", "!=")
            and bool(OPERATORS[op](a.integer.item(i), b.integer.item(i)))
        )
    return compare_one(op, a.item(i), b.item(i))


def _whole(kind: Codes) -> Bools:
    return np.asarray((kind == INTEGER) | (kind == BIG))


def _numeric(kind: Codes) -> Bools:
    return np.asarray((kind == STRING) | (kind == INTEGER) | (kind == REAL) | (kind == BIG))


def _texts(op: str, a: Strings, b: Strings) -> Bools:
    return np.asarray(OPERATORS[op](a, b), dtype=bool)


def _wholes(op: str, a: Values, b: Values, which: Bools) -> Bools:
    big = which & ((a.kind == BIG) | (b.kind == BIG))
    out: Bools = which & ~big & OPERATORS[op](a.integer, b.integer)
    for i in np.flatnonzero(big).tolist():
        out[i] = OPERATORS[op](a.item(i), b.item(i))
    return out


def _others(op: str, a: Values, b: Values) -> Bools:
    """Booleans, nulls, binaries and complex objects: only alike, only `=` and `!=`."""
    alike = a.kind == b.kind
    out: Bools = alike & ((a.kind == BOOLEAN) | (a.kind == C_COMPLEX)) & OPERATORS[op](a.integer, b.integer)
    if op == "=":
        out |= alike & (a.kind == NULL)
    at = np.flatnonzero(alike & (a.kind == BINARY))
    if len(at):
        out[at] = _texts(op, a.take(at).text, b.take(at).text)
    return out
