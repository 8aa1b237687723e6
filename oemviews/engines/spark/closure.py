"""Closures: a frontier walks the product of graph and automaton, level by level, until nothing is new.

A recursive query of Spark's own does not end on a cycle, so this is a loop of jobs. A small frontier goes
through the driver as an Arrow table, whose oids are then literals in the next scan; a bigger one stays in
Spark and has its lineage cut. So the driver never holds more than `LIMIT` rows of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lorel.normal import Automaton, Step
from oemviews.engines.spark import values as v
from oemviews.engines.spark.graph import SparkGraph, frame_of, label_is
from oemviews.engines.spark.table import ONE, Kind, N, Table, among, column_name

LIMIT: Final = 100_000
"""Rows of a frontier, and of what was visited, that may be on the driver."""

LITERALS: Final = 1_000
"""Oids that are pushed into a scan as literals."""

_PLACE: Final = ["origin", "oid", "state"]


def closure(table: Table, step: Step, forward: bool, graph: SparkGraph, limit: int = LIMIT) -> Table:
    """Each row with every object the step's walks lead to, or come from; with a path variable each walk."""
    assert isinstance(step.path, Automaton)
    start, end = (step.src, step.dst) if forward else (step.dst, step.src)
    way = _Way(graph, step.path, forward, step.via is not None)
    starts = table.frame.selectExpr(
        f"{table.place(start)} AS origin", f"{table.place(start)} AS oid"
    ).distinct()
    pairs = _Walk(way, limit).run(starts)
    condition = table.col(start) == F.col("origin")
    if end in table.kinds:
        condition &= table.col(end) == F.col("oid")
    frame = table.frame.join(pairs, condition)
    kinds: dict[str, Kind] = dict(table.kinds)
    columns = [table.col(name) for name in table.kinds]
    if end not in kinds:
        kinds[end] = "oid"
        columns.append(F.col("oid").alias(column_name(end)))
    if step.via is not None:
        text = v.of_text(F.array_join("labels", "."))
        if step.via in kinds:
            frame = frame.filter(v.of_struct(table.col(step.via)).text == text.text)
        else:
            kinds[step.via] = "value"
            columns.append(text.struct.alias(column_name(step.via)))
    return Table(frame.select(*columns, N), kinds, table.known, table.positive)


def ends(table: Table, step: Step, forward: bool, graph: SparkGraph, limit: int = LIMIT) -> Table:
    """Every object that walks from any of the rows lead to, or come from, once."""
    assert isinstance(step.path, Automaton)
    start, end = (step.src, step.dst) if forward else (step.dst, step.src)
    way = _Way(graph, step.path, forward, walks=False)
    starts = table.frame.selectExpr("0L AS origin", f"{table.place(start)} AS oid").distinct()
    met = _Walk(way, limit).run(starts)
    return Table(met.select(F.col("oid").alias(column_name(end))), {end: "oid"}, count=ONE)


def fetched(table: Table, spark: SparkSession, limit: int = LIMIT) -> Table:
    """The table through the driver if its rows are few, so that they are not computed twice."""
    settled = table.settled()
    rows = _nullable(settled.frame.limit(limit + 1).toArrow())
    if len(rows) > limit:
        return settled
    return replace(settled, frame=F.broadcast(frame_of(spark, rows)))


@dataclass(frozen=True)
class _Way:
    """Which moves to make: the automaton, or, walking backward, the automaton turned round."""

    graph: SparkGraph
    automaton: Automaton
    forward: bool
    walks: bool  # the walks themselves are wanted, none with a repeated object

    @property
    def first(self) -> list[int]:
        return [0] if self.forward else sorted(self.automaton.accepting)

    @property
    def last(self) -> list[int]:
        return sorted(self.automaton.accepting) if self.forward else [0]

    @cached_property
    def edges(self) -> DataFrame:
        near, far = ("src", "dst") if self.forward else ("dst", "src")
        edges = self.graph.edges(labels for _, labels, _ in self.automaton.moves)
        return edges.select(F.col(near).alias("near"), "label", F.col(far).alias("far"))

    def begin(self, starts: DataFrame) -> DataFrame:
        states = F.explode(F.array(*map(F.lit, self.first))).alias("state")
        placed = starts.select("origin", "oid", states)
        if not self.walks:
            return placed
        labels = F.array().cast("array<string>").alias("labels")
        return placed.select(*_PLACE, labels, F.array("oid").alias("seen"))

    def advance(self, frontier: DataFrame, near: list[int] | None) -> DataFrame:
        """Where the frontier leads in one move, each place once."""
        edges = self.edges
        if near is not None:
            edges, frontier = edges.filter(among("near", near)), F.broadcast(frontier)
        moved = frontier.join(edges, F.col("oid") == F.col("near"))
        place = [F.col("origin"), F.col("far").alias("oid"), self._next]
        if not self.walks:
            return moved.select(*place).distinct()
        labels = [F.col("labels"), F.array("label")]
        walked = F.concat(*(labels if self.forward else reversed(labels))).alias("labels")
        seen = F.concat("seen", F.array("far")).alias("seen")
        return moved.filter(~F.array_contains("seen", F.col("far"))).select(*place, walked, seen).distinct()

    @cached_property
    def _next(self) -> Column:
        """The states that the edge leads to from the row's state."""
        moves = [
            F.when(
                (F.col("state") == (p if self.forward else q)) & label_is([labels], F.col("label")),
                q if self.forward else p,
            )
            for p, labels, q in self.automaton.moves
        ]
        states = F.array_compact(F.array(*moves)) if moves else F.array().cast("array<int>")
        return F.explode(states).alias("state")

    def result(self, visited: DataFrame) -> DataFrame:
        kept = ["origin", "oid", *(["labels"] if self.walks else [])]
        ended = visited.filter(among("state", self.last)).select(*kept)
        return ended if len(self.last) == 1 and not self.walks else ended.distinct()


@dataclass(slots=True)
class _Walk:
    """The loop. `small` is what was visited and is on the driver, `big` what is in Spark."""

    way: _Way
    limit: int
    small: list[pa.Table] = field(default_factory=list)
    big: list[DataFrame] = field(default_factory=list)
    grown: bool = False  # the last frontier was too big for the driver

    def run(self, starts: DataFrame) -> DataFrame:
        frontier, near, rows = self._settled(self.way.begin(starts))
        while rows:
            reached = self.way.advance(frontier, near)
            if not self.way.walks:
                reached = reached.join(self._visited(), _PLACE, "left_anti")
            frontier, near, rows = self._settled(reached)
        return self.way.result(self._visited())

    def _settled(self, frame: DataFrame) -> tuple[DataFrame, list[int] | None, int]:
        """The frontier with its lineage cut, its oids if they are few, and its size."""
        if not self.grown:
            table = _nullable(frame.limit(self.limit + 1).toArrow())
            if len(table) <= self.limit:
                self._remember(table)
                oids = pc.unique(table["oid"])
                return self._frame(table), oids.to_pylist() if len(oids) <= LITERALS else None, len(table)
        kept = frame.localCheckpoint()
        self.big.append(kept)
        rows = kept.count()
        self.grown = rows > self.limit
        return kept, None, rows

    def _remember(self, table: pa.Table) -> None:
        self.small.append(table)
        if sum(map(len, self.small)) > self.limit:
            self.big.append(self._frame(pa.concat_tables(self.small)).localCheckpoint())
            self.small.clear()

    def _visited(self) -> DataFrame:
        parts = [F.broadcast(self._frame(pa.concat_tables(self.small)))] if self.small else []
        return reduce(DataFrame.unionByName, [*self.big, *parts])

    def _frame(self, table: pa.Table) -> DataFrame:
        return frame_of(self.way.graph.spark, table)


def _nullable(table: pa.Table) -> pa.Table:
    """The same rows under one schema: whether a column is null-free differs from level to level."""
    return pa.table({name: table[name] for name in table.column_names})
