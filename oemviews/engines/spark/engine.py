"""The Spark engine: a plan becomes one lazy frame, and running it is one job (and those of its closures)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, Literal

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lorel import plan as op
from lorel.moves import guessed_reach
from lorel.normal import Automaton, Labels, State, Test
from lorel.plan import Plan, operators
from lorel.planner import Statistics
from oemviews.engines.rows import NO_ROWS, Rows
from oemviews.engines.spark.arrow import rows_of, values_of
from oemviews.engines.spark.closure import LIMIT, LITERALS
from oemviews.engines.spark.graph import SparkGraph, frame_of
from oemviews.engines.spark.lower import Lowering
from oemviews.engines.spark.table import Table, among
from oemviews.engines.spark.together import parts_of, shared_end, together
from oemviews.engines.spark.values import TOO_LONG, of_object
from oemviews.errors import OemError
from oemviews.model import ROOT
from oemviews.session import settings
from oemviews.store.values import C_COMPLEX, Ints, Values, column_numpy, concat_values, missing_values

_MANY_ROWS: Final = 1_000_000
_BROADCAST: Final = 50_000.0
_BROADCAST_DELTA: Final = 200_000.0
"""Rows of a binding table that are sent to the other side of a join: more if the plan begins with few rows
handed in, for then the other side is all of the graph. That many are about Spark's own limit of 10 MB."""

_ADAPTIVE: Final = "spark.sql.adaptive.enabled"

_JOINS: Final = (op.Expand, op.Closure, op.Join, op.ValueExpand, op.Semi, op.Anti, op.Aggregate)
_MOST_JOINS: Final = 100
"""Catalyst takes minutes to plan more of them, or runs out of stack."""


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

    def reach(self, path: Automaton, graph: str, forward: bool) -> float:
        return guessed_reach(self, path, graph, forward)

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
        few_enough(plan)
        return self._lowering(given).table(plan).settled()

    def run(
        self, plan: Plan, given: Mapping[str, Rows] = NO_ROWS, actual: dict[int, int] | None = None
    ) -> Rows:
        lowering = self._lowering(given, observed=actual is not None)
        with self._running([plan]):
            table = lowering.table(plan).settled()
            rows = rows_of(table.frame.toArrow(), table.kinds)
        if actual is not None and lowering.observed is not None:
            actual |= {node: int(seen.get["rows"]) for node, seen in lowering.observed.items()}
        self.touched += len(rows) if actual is None else sum(actual.values())
        return rows

    def run_all(self, runs: Sequence[tuple[Plan, Mapping[str, Rows]]]) -> list[Rows]:
        """One job for all plans, or for as many as Spark gets through at once; and those of closures."""
        found: list[Rows] = []
        for part in parts_of(runs, lambda run: joins_of(run[0]), _MOST_JOINS):
            found += self._run_part(part)
        return found

    def _run_part(self, runs: Sequence[tuple[Plan, Mapping[str, Rows]]]) -> list[Rows]:
        if len(runs) == 1:
            return [self.run(*runs[0])]
        end, plans = shared_end([plan for plan, _ in runs])
        with self._running(plans):
            lowered = [
                partial(self._lowering(given).table, plan)
                for plan, (_, given) in zip(plans, runs, strict=True)
            ]
            found = together(lowered, end)
        self.touched += sum(map(len, found))
        return found

    def values(self, oids: Ints, graph: str = "", state: State = "new") -> Values:
        unique, back = np.unique(oids, return_inverse=True)
        if not len(unique):
            return missing_values(0)
        objects = self.graphs[graph, state].objects
        if len(unique) <= LITERALS:
            objects = objects.filter(among("oid", unique.tolist()))
        else:
            wanted = frame_of(self.spark, pa.table({"oid": unique}))
            objects = objects.join(F.broadcast(wanted) if len(unique) <= LIMIT else wanted, "oid")
        found = objects.select("oid", of_object().struct.alias("x")).toArrow().sort_by("oid")
        known = column_numpy(found["oid"]).astype(np.int64)
        place = np.searchsorted(known, unique)
        there = place < len(known)
        there[there] = known[place[there]] == unique[there]
        values = concat_values([values_of(found["x"]), missing_values(1)])
        values = values.take(np.where(there, place, len(known)))
        values.kind[unique == ROOT] = C_COMPLEX  # the root stands in no table
        return values.take(back)

    @contextmanager
    def _running(self, plans: Sequence[Plan]) -> Iterator[None]:
        """Spark plans again on the way if much is to be done; for little, that costs more than it gains."""
        for plan in plans:
            few_enough(plan)
        many = any(node.estimate > _MANY_ROWS for plan in plans for node in operators(plan))
        with settings(self.spark, {_ADAPTIVE: "true"} if many else {}), failing_in_words():
            yield

    def _lowering(self, given: Mapping[str, Rows], observed: bool = False) -> Lowering:
        below = 0.0 if self._statistics is None else _BROADCAST_DELTA if given else _BROADCAST
        return Lowering(self.spark, self.graphs, given, self.limit, below, {} if observed else None)


def joins_of(plan: Plan) -> int:
    return sum(isinstance(node, _JOINS) for node in operators(plan))


def few_enough(plan: Plan) -> None:
    """Refuse a plan that Spark would not get through."""
    joins = joins_of(plan)
    if joins > _MOST_JOINS:
        raise OemError(
            f"found a statement of {joins} joins, wanted at most {_MOST_JOINS} for Spark: "
            "use the local engine, or split the statement"
        )


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
