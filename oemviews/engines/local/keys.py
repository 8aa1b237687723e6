"""Rows as numbers: equal rows get equal keys, so joins and groups work on one array of integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from oemviews.engines.local.adjacency import NO_INTS, ranges, sorted_columns, starts_of
from oemviews.engines.rows import Column, Rows
from oemviews.store.values import BIG, BINARY, REAL, STRING, Ints, Values, concat_values

_FEW: Final = 48
_MANY: Final = 4096
_SPREAD: Final = 8


def take(rows: Rows, at: NDArray[Any], counts: Ints | None = None) -> Rows:
    """The rows at these places, or where a mask is true."""
    return Rows(taken(rows.columns, at), rows.counts[at] if counts is None else counts)


def taken(columns: Mapping[str, Column], at: NDArray[Any]) -> dict[str, Column]:
    return {
        name: column.take(at) if isinstance(column, Values) else column[at]
        for name, column in columns.items()
    }


def value_codes(values: Values) -> Ints:
    """Equal numbers for values of the same type and content: 1, 1.0, true and "1" are four."""
    if len(values) <= _FEW:
        seen: dict[object, int] = {}
        kinds, items = values.kind.tolist(), values.items()
        wholes = values.integer.tolist()
        keys = (
            (kind, whole if kind == 0 else item)
            for kind, whole, item in zip(kinds, wholes, items, strict=True)
        )
        return np.array([seen.setdefault(key, len(seen)) for key in keys], np.int64)
    content = values.integer.copy()
    real = values.kind == REAL
    content[real] = (values.number[real] + 0.0).view(np.int64)  # the two zeros are one
    texts = np.flatnonzero((values.kind == STRING) | (values.kind == BINARY) | (values.kind == BIG))
    if len(texts):
        content[texts] = (
            pa.array(values.take(texts).text, pa.large_string()).dictionary_encode().indices.to_numpy()
        )
    return _combined([values.kind.astype(np.int64), content])


def row_keys(columns: Sequence[Column], count: int) -> Ints:
    """One number a row; rows are equal if and only if their numbers are."""
    if not columns:
        return np.zeros(count, np.int64)
    codes = [value_codes(column) if isinstance(column, Values) else column for column in columns]
    return codes[0] if len(codes) == 1 else _combined(codes)


def _combined(codes: Sequence[Ints]) -> Ints:
    key = codes[0]
    if not len(key):
        return key
    low, high = int(key.min()), int(key.max())
    key = key - low if low or len(codes) == 1 else key
    width = (high - low).bit_length()
    for column in codes[1:]:
        low, high = int(column.min()), int(column.max())
        more = (high - low).bit_length()
        if more > 40:
            column, low = np.unique(column, return_inverse=True)[1], 0
            more = int(column.max()).bit_length()
        if width + more > 63:
            key = np.unique(key, return_inverse=True)[1]
            width = int(key.max()).bit_length()
        key = (key << more) | (column - low)
        width += more
    return key


def common_keys(left: Rows, right: Rows, names: Iterable[str]) -> tuple[Ints, Ints]:
    """Keys of two tables over shared columns, comparable with each other."""
    shared = list(names)
    if (
        len(shared) == 1
        and isinstance(left.columns[shared[0]], np.ndarray)
        and isinstance(right.columns[shared[0]], np.ndarray)
    ):
        return left.oids(shared[0]), right.oids(shared[0])
    columns = [stacked([left.columns[name], right.columns[name]]) for name in shared]
    keys = row_keys(columns, len(left) + len(right))
    return keys[: len(left)], keys[len(left) :]


def stacked(columns: Sequence[Column]) -> Column:
    """Columns of the same kind one below the other."""
    values = [column for column in columns if isinstance(column, Values)]
    if len(values) == len(columns):
        return concat_values(values)
    oids = [column for column in columns if not isinstance(column, Values)]
    if len(oids) == len(columns):
        return np.concatenate(oids)
    raise TypeError("a column holds oids in one table and values in another")


def matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of places with equal keys."""
    if not len(left) or not len(right):
        return NO_INTS, NO_INTS
    keys, order = right, np.arange(len(right))
    if (right[1:] < right[:-1]).any():
        order = groups(right)[0]
        keys = right[order]
    first = keys.searchsorted(left)
    count = keys.searchsorted(left, "right") - first
    return np.repeat(np.arange(len(left)), count), order[ranges(first, count)]


def member(keys: Ints, among: Ints) -> NDArray[np.bool_]:
    """Which keys occur among others."""
    if not len(among) or not len(keys):
        return np.zeros(len(keys), bool)
    among = np.sort(among)
    at = among.searchsorted(keys)
    at[at == len(among)] = 0
    return np.asarray(among[at] == keys)


def groups(keys: Ints) -> tuple[Ints, Ints]:
    """Places in the order of their keys, and where each group of equal ones starts, with the end."""
    if len(keys) < _MANY:
        order = np.argsort(keys, kind="stable")
        return order, starts_of(keys[order])
    ordered, order = sorted_columns(keys - int(keys.min()), np.arange(len(keys)))
    return order, starts_of(ordered)


def consolidated(rows: Rows) -> Rows:
    """Equal rows added up; what comes to zero goes."""
    if len(rows) <= 1:
        return rows if len(rows) == 0 or rows.counts[0] else take(rows, NO_INTS)
    keys = row_keys(list(rows.columns.values()), len(rows))
    low = int(keys.min())
    if len(rows) >= _MANY and int(keys.max()) - low < _SPREAD * len(rows):
        return _added_up(rows, keys - low)
    order, starts = groups(keys)
    if len(starts) == len(order) + 1:
        return take(rows, rows.counts != 0) if (rows.counts == 0).any() else rows
    counts = np.add.reduceat(rows.counts[order], starts[:-1])
    kept = counts != 0
    return take(rows, order[starts[:-1]][kept], counts[kept])


def _added_up(rows: Rows, keys: Ints) -> Rows:
    """The same for keys that are dense: one sum for each number, no sorting."""
    sums = np.bincount(keys, weights=rows.counts).astype(np.int64)
    last = np.empty(len(sums), np.int64)
    last[keys] = np.arange(len(keys))
    kept = np.flatnonzero(sums)
    return take(rows, last[kept], sums[kept])


def distinct(rows: Rows) -> Rows:
    """Rows whose counts add up to more than zero, each once."""
    summed = consolidated(rows)
    if (summed.counts == 1).all():
        return summed
    kept = np.flatnonzero(summed.counts > 0)
    return take(summed, kept, np.ones(len(kept), np.int64))
