"""Several plans in one job: the rows of their tables one under the other, each with the number of its table.

    table  o0    o1    x0    _n
    0      9     null  null  1       a plan with one column of oids
    1      9     14    {..}  -1      a plan with two, and a column of values

What all plans end with, adding up equal rows or forgetting counts, is done once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lorel import plan as op
from lorel.plan import Plan
from oemviews.engines.rows import Rows
from oemviews.engines.spark.arrow import rows_of
from oemviews.engines.spark.table import ONE, Kind, N, Table, column_name
from oemviews.store.values import column_numpy

_TABLE: Final = "_table"
_NULL: Final[dict[Kind, str]] = {
    "oid": "CAST(NULL AS BIGINT)",
    "value": "CAST(NULL AS STRUCT<type: STRING, text: STRING, integer: BIGINT, number: DOUBLE>)",
}
_MARK: Final[dict[Kind, str]] = {"oid": "o", "value": "x"}

T = TypeVar("T")
End: TypeAlias = Literal["sum", "set", "none"]


def shared_end(plans: Sequence[Plan]) -> tuple[End, Sequence[Plan]]:
    """What all plans do last, and the plans without it."""
    if all(isinstance(plan, op.Consolidate) for plan in plans):
        return "sum", [plan.input for plan in plans if isinstance(plan, op.Consolidate)]
    if all(isinstance(plan, op.Distinct) for plan in plans):
        return "set", [plan.input for plan in plans if isinstance(plan, op.Distinct)]
    return "none", plans


def parts_of(items: Sequence[T], weight: Callable[[T], int], most: int) -> Iterator[Sequence[T]]:
    """The items in order, in parts of at most so much weight; a heavier one is a part of its own.

    >>> list(parts_of([3, 4, 9, 1, 1], lambda item: item, 7))
    [[3, 4], [9], [1, 1]]
    """
    part: list[T] = []
    total = 0
    for item in items:
        if part and total + weight(item) > most:
            yield part
            part, total = [], 0
        part.append(item)
        total += weight(item)
    if part:
        yield part


def together(lowered: Sequence[Callable[[], Table]], end: End) -> list[Rows]:
    """The rows of all tables, brought to the driver by one job."""
    tables = [lower() for lower in lowered]
    width: dict[Kind, int] = {
        kind: max(sum(each == kind for each in table.kinds.values()) for table in tables) for kind in _MARK
    }
    frames = [_numbered(table, i, width) for i, table in enumerate(tables)]
    whole = _ended(reduce(DataFrame.union, frames), end, all(table.positive for table in tables)).toArrow()
    number = column_numpy(whole[_TABLE])
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(len(tables) + 1))
    return [
        _rows(whole.take(pa.array(order[start:stop])), table)
        for table, start, stop in zip(tables, bounds[:-1], bounds[1:], strict=True)
    ]


def _names(table: Table) -> dict[str, str]:
    """Where each variable of a table stands in the whole."""
    seen: dict[Kind, int] = {"oid": 0, "value": 0}
    found = {}
    for variable, kind in table.kinds.items():
        found[variable] = f"{_MARK[kind]}{seen[kind]}"
        seen[kind] += 1
    return found


def _numbered(table: Table, number: int, width: dict[Kind, int]) -> DataFrame:
    places = {name: table.place(variable) for variable, name in _names(table).items()}
    columns = [
        f"{places.get(name, _NULL[kind])} AS {name}"
        for kind in _MARK
        for name in (f"{_MARK[kind]}{i}" for i in range(width[kind]))
    ]
    return table.frame.selectExpr(f"{number} AS {_TABLE}", *columns, f"{table.count} AS {N}")


def _ended(frame: DataFrame, end: End, positive: bool) -> DataFrame:
    columns = [name for name in frame.columns if name != N]
    if end == "set" and positive:
        return frame.select(*columns).distinct().selectExpr("*", f"{ONE} AS {N}")
    if end == "none":
        return frame
    summed = frame.groupBy(*columns).agg(F.sum(N).alias(N))
    if end == "sum":
        return summed.filter(f"{N} <> 0")
    return summed.filter(f"{N} > 0").selectExpr(*(f"`{name}`" for name in columns), f"{ONE} AS {N}")


def _rows(part: pa.Table, table: Table) -> Rows:
    columns = {column_name(variable): part[name] for variable, name in _names(table).items()}
    return rows_of(pa.table({**columns, N: part[N]}), table.kinds)
