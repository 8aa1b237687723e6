"""Aggregates of the members that match each row."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lorel.plan import Aggregate
from oemviews.engines.local.coerce import repeated
from oemviews.engines.local.keys import common_keys, distinct, groups
from oemviews.engines.local.scalars import ValuesAt, optional_values, whole_values
from oemviews.engines.rows import Rows
from oemviews.model import Value, is_storable
from oemviews.store.values import BIG, INTEGER, Ints, Values, concat_values, missing_values, values_of


def aggregated(plan: Aggregate, rows: Rows, members: Rows, values_at: ValuesAt) -> Values:
    """The new column: what `func` makes of the members that match each row on the keys."""
    wanted = dict.fromkeys((*plan.keys, plan.arg, *plan.others))
    members = distinct(Rows({name: members.columns[name] for name in wanted}, members.counts))
    row_key, member_key = common_keys(rows, members, plan.keys)
    order, starts = groups(member_key)
    if plan.func == "count":
        result = whole_values(np.diff(starts))
    else:
        column = members.columns[plan.arg]
        values = column if isinstance(column, Values) else values_at(column, plan.graph, plan.state)
        result = _per_group(plan.func, values.take(order), starts)
    empty = values_of([0]) if plan.func in ("count", "sum") else missing_values(1)
    return _at(concat_values([result, empty]), member_key[order][starts[:-1]], row_key)


def _at(results: Values, keys: Ints, wanted: Ints) -> Values:
    """The result of each wanted key; the last of the results if a key has none."""
    if not len(keys):
        return repeated(results, len(wanted))
    at = keys.searchsorted(wanted)
    at[at == len(keys)] = 0
    return results.take(np.where(keys[at] == wanted, at, len(keys)))


def _per_group(func: str, values: Values, starts: Ints) -> Values:
    """`func` of each run of values."""
    if func == "element":
        single = np.diff(starts) == 1
        first = values.take(starts[:-1])
        return Values(
            np.where(single, first.kind, 255).astype(np.uint8), first.integer, first.number, first.text
        )
    whole = ((values.kind == INTEGER) | (values.kind == BIG)).tolist()
    doubles = values.number.tolist()
    numbers: list[int | float | None] = [
        None if number != number else values.item(i) if exact else number  # type: ignore[misc]  # an int
        for i, (exact, number) in enumerate(zip(whole, doubles, strict=True))
    ]
    spans = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    return optional_values([aggregate(func, [n for n in numbers[a:b] if n is not None]) for a, b in spans])


def aggregate(func: str, numbers: list[int | float]) -> Value:
    """sum, avg, min or max; None if there is none, or none that is finite.

    >>> aggregate("sum", [1, 2]), aggregate("sum", [1, 2.5]), aggregate("min", [4.0, 4]), aggregate("avg", [])
    (3, 3.5, 4, None)
    """
    if not numbers:
        return 0 if func == "sum" else None
    if func in ("min", "max"):
        best = min(numbers) if func == "min" else max(numbers)
        return next((n for n in numbers if n == best and isinstance(n, int)), best)
    exact = all(isinstance(n, int) for n in numbers)
    try:
        total = sum(numbers) if exact else _added(numbers)
    except OverflowError:
        return None
    if func == "avg":
        return total / len(numbers)
    return total if is_storable(total) else None


def _added(numbers: list[int | float]) -> float:
    """The sum as a double; OverflowError if it is none."""
    try:
        return math.fsum(numbers)
    except OverflowError:  # on the way there, perhaps not at the end
        return float(sum(map(Fraction, numbers)))
