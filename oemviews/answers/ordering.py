"""Rows in order: by the keys of `order by`, then by their oids, so that an answer is the same every time.

Values sort as follows: what converts to a number, by number; other strings, by code point; other atomic
values, by type and value; complex objects, by oid; what is missing comes last, also with `desc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from oemviews.answers.cells import Cell, Column, NewColumn, ObjectColumn
from oemviews.store.values import BIG, BINARY, BOOLEAN, C_COMPLEX, MISSING, NULL, STRING, Ints, Values

_CLASS: Final = {BINARY: 2, BOOLEAN: 3, NULL: 4, C_COMPLEX: 5, MISSING: 6}


def ranks(values: Values) -> Ints:
    """The place of each value in the order; equal ones have the same, missing ones the last.

    >>> from oemviews.store.values import values_of
    >>> ranks(values_of(["b", 10, "9", None])).tolist()
    [2, 1, 0, 3]
    """
    numbers = ~np.isnan(values.number)
    group = np.where(numbers, 0, 1)
    for kind, place in _CLASS.items():
        group[values.kind == kind] = place
    number = np.where(numbers, values.number, 0.0)
    has_text = np.isin(values.kind, (STRING, BIG, BINARY)) & ~numbers
    text = np.zeros(len(values), np.int64)
    if has_text.any():
        text[has_text] = np.unique(values.text[has_text].astype(str), return_inverse=True)[1]
    whole = np.where((group == 3) | (group == 5), values.integer, 0)
    order = np.lexsort((whole, text, number, group))
    new = np.zeros(len(order), np.int64)
    for key in (whole, text, number, group):
        new[1:] |= key[order][1:] != key[order][:-1]
    found = np.empty(len(order), np.int64)
    found[order] = np.cumsum(new)
    return found


def sort_key(values: Values, *, descending: bool) -> Ints:
    """Numbers that sort rows by these values; missing ones stay last."""
    place = ranks(values)
    if not descending:
        return place
    return np.where(values.missing, 1, -place)


def tie_key(column: Column) -> Ints:
    """Numbers that sort rows by the objects of a column, or by its values if it has no objects."""
    if isinstance(column, ObjectColumn):
        return column.oids
    if isinstance(column, NewColumn):
        places = [(1, 0, repr(cell)) if cell.oid is None else (0, cell.oid, "") for cell in column.cells]
        order = {place: number for number, place in enumerate(sorted(set(places)))}
        return np.array([order[place] for place in places], np.int64)
    return ranks(column.values)


def in_order(keys: Sequence[Ints], columns: Sequence[Column]) -> Ints:
    """Row numbers in order of `keys`, rows with equal keys in order of their items."""
    ties = [tie_key(column) for column in columns]
    return np.lexsort([*reversed(ties), *reversed(keys)])


def identity(cell: Cell) -> tuple[object, ...]:
    """What makes a cell the same as another: its oid, else its type and value, else its contents."""
    if cell.oid is not None:
        return ("oid", cell.oid)
    if cell.fields is not None:
        return ("new", frozenset((label, identity(field)) for label, field in cell.fields))
    return (cell.type, cell.value)


def worth(cell: Cell) -> tuple[object, ...]:
    """The same for `distinct`, which sees an atomic object as its type and value."""
    return identity(cell) if cell.type == "complex" else (cell.type, cell.value)


def first_of_equals(columns: Sequence[Column], *, by_value: bool) -> Ints:
    """Rows, in order, without those that repeat an earlier one."""
    key = worth if by_value else identity
    seen: set[tuple[object, ...]] = set()
    kept = []
    for i in range(len(columns[0])):
        row = tuple(key(column.cell(i)) for column in columns)
        if row not in seen:
            seen.add(row)
            kept.append(i)
    return np.array(kept, np.int64)
