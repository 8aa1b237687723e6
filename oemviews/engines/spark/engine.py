"""The Spark engine: a plan becomes one lazy frame, and running it is one job (and those of its closures)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal

import numpy as np
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lorel.normal import Labels, State, Test, ValueOf
from lorel.plan import Plan, operators
from lorel.planner import Statistics
from oemviews.engines.rows import NO_ROWS, Rows
from oemviews.engines.spark.arrow import given_table, rows_of, values_of
from oemviews.engines.spark.closure import LIMIT
from oemviews.engines.spark.graph import SparkGraph
from oemviews.engines.spark.lower import Lowering
from oemviews.engines.spark.scalars import valued
from oemviews.engines.spark.table import Table
from oemviews.engines.spark.values import TOO_LONG
from oemviews.errors import OemError
from oemviews.model import ROOT
from oemviews.session import settings
from oemviews.store.values import C_COMPLEX, Ints, Values

_MANY_ROWS: Final = 1_000_000
_BROADCAST: Final = 50_000.0
_ADAPTIVE: Final = "spark.sql.adaptive.enabled"


class Guess:
    """Statistics of a graph of which nothing is known: a million edges, a few on each object."""

    def edges(self, labels: Labels, graph: str) -> float:
        return 1e5 if labels.exact else 1e6

    def fan_out(self, labels: Labels, graph: str) -> float:
        return 2.0 if labels.exact else 8.0

    def fan_in(self, labels: Labels, graph: str) -> float:
        return 2.0 if labels.exact else 3.0

    def passing(self, test: Test, graph: str) -> float:
        return 100.0

    def entering(self, test: Test, labels: Labels, graph: str) -> float:
        return self.passing(test, graph) * self.fan_in(labels, graph)

    def objects(self, graph: str) -> float:
        return 1e6


class SparkEngine:
    """Runs plans in Spark. Only answers, and frontiers of at most `limit` rows, come to the driver."""

    name: Literal["spark"] = "spark"

    def __init__(
        self,
        spark: SparkSession,
        graphs: Mapping[tuple[str, State], SparkGraph],
        statistics: Statistics | None = None,
        limit: int = LIMIT,
    ) -> None:
        self.spark, self.graphs, self.limit = spark, graphs, limit
        self.touched = 0
        self._statistics = statistics

    @property
    def statistics(self) -> Statistics:
        return self._statistics or Guess()

    def frame(self, plan: Plan, given: Mapping[str, Rows] = NO_ROWS) -> DataFrame:
        """The plan as a frame; columns `table.column_name(variable)` and `_n`. Only closures run jobs."""
        return self.table(plan, given).frame

    def table(self, plan: Plan, given: Mapping[str, Rows] = NO_ROWS) -> Table:
        """The frame with the kinds of its columns."""
        return self._lowering(given).table(plan).settled()

    def run(
        self, plan: Plan, given: Mapping[str, Rows] = NO_ROWS, actual: dict[int, int] | None = None
    ) -> Rows:
        lowering = self._lowering(given, observed=actual is not None)
        many = any(node.estimate > _MANY_ROWS for node in operators(plan))
        with settings(self.spark, {_ADAPTIVE: "true"} if many else {}), failing_in_words():
            table = lowering.table(plan).settled()
            rows = rows_of(table.frame.toArrow(), table.kinds)
        if actual is not None and lowering.observed is not None:
            actual |= {node: int(seen.get["rows"]) for node, seen in lowering.observed.items()}
        self.touched += len(rows) if actual is None else sum(actual.values())
        return rows

    def values(self, oids: Ints, graph: str = "", state: State = "new") -> Values:
        unique, back = np.unique(oids, return_inverse=True)
        table = given_table(self.spark, Rows.of_set("o", unique), ("o",))
        ref = ValueOf("o", graph, state)
        read = valued(table, [ref], self._lowering(NO_ROWS).graph, frozenset())
        oid = read.table.col("o").alias("o")
        found = read.table.frame.select(oid, read.values[ref].struct.alias("x")).toArrow()
        found = found.sort_by("o")
        values = values_of(found["x"])
        values.kind[unique == ROOT] = C_COMPLEX  # the root stands in no table
        return values.take(back)

    def _lowering(self, given: Mapping[str, Rows], observed: bool = False) -> Lowering:
        below = 0.0 if self._statistics is None else _BROADCAST
        return Lowering(self.spark, self.graphs, given, self.limit, below, {} if observed else None)


@contextmanager
def failing_in_words() -> Iterator[None]:
    """Say what a job failed of, if that lies in the query."""
    try:
        yield
    except PySparkException as error:
        if TOO_LONG not in str(error):
            raise
        raise OemError(
            f"{TOO_LONG} is more than the Spark engine has: use the local engine, which has no limit."
        ) from error
