"""One state of a graph as Spark frames: files read by list, and what is not yet in files laid over them.

    edges   = (edges in files, but for those taken away)          and the edges that came
    objects = (objects in files, but for those changed or gone)   and those changed, and those that came

What is laid over is small. It enters as Arrow tables, of a step with known labels only the edges with
those labels, and is joined by broadcast. Building a frame starts no Spark job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lorel.normal import Labels
from oemviews.edits import NetChange
from oemviews.session import settings
from oemviews.store.net import edges_in, with_values
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.state import State

_IDENTITY: Final = ["src", "label", "dst"]
_VALUED: Final = ["oid", "type", "text", "integer", "number"]
_SQL: Final = {pa.int64(): "bigint", pa.string(): "string", pa.float64(): "double"}
_LISTING: Final = "spark.sql.sources.parallelPartitionDiscovery.threshold"


class SparkGraph:
    """An immutable state; `apply` gives the next one over the same files."""

    def __init__(
        self,
        spark: SparkSession,
        edges: DataFrame | None,
        objects: DataFrame | None,
        tail: NetChange,
        claim: object = None,
    ) -> None:
        self.spark, self.tail = spark, tail
        self._claim = claim  # while it lives, nobody removes the files
        self._edges, self._objects = edges, objects
        self._of_labels: dict[frozenset[Labels], DataFrame] = {}

    @classmethod
    def of_state(cls, spark: SparkSession, state: State) -> SparkGraph:
        """The graph of a batch of the store. The files must stay where they are while a frame is in use."""
        edges = _read(spark, state.edge_files, EDGES)
        objects = _read(spark, state.object_files, OBJECTS)
        if state.behind:
            old = F.lit(state.next_oid)
            edges = edges.filter((F.col("src") < old) & (F.col("dst") < old)) if edges is not None else None
            objects = objects.filter(F.col("oid") < old) if objects is not None else None
        return cls(spark, edges, objects, state.tail, state.claim)

    @classmethod
    def of_tables(cls, spark: SparkSession, edges: pa.Table, objects: pa.Table) -> SparkGraph:
        """A graph that is in memory: a view's, or one of a test."""
        return cls(spark, None, None, NetChange(created=objects, plus=edges))

    def apply(self, change: NetChange) -> SparkGraph:
        """The state after `change`; this one stays what it is."""
        return SparkGraph(self.spark, self._edges, self._objects, laid_over(self.tail, change), self._claim)

    # ---- frames ----

    def edges(self, labels: Iterable[Labels]) -> DataFrame:
        """The edges with any of the labels: columns src, label, dst."""
        wanted = frozenset(labels)
        if wanted not in self._of_labels:
            self._of_labels[wanted] = self._labelled(wanted).select(*_IDENTITY)
        return self._of_labels[wanted]

    @cached_property
    def all_edges(self) -> DataFrame:
        """Every edge with all its columns."""
        return self._labelled(frozenset({Labels("%", exact=False)}))

    @cached_property
    def objects(self) -> DataFrame:
        """Every object but the root: columns oid, type, text, integer, number."""
        tail = self.tail
        parts = (
            [self._frame(tail.created.select(_VALUED))] if len(tail.created) or self._objects is None else []
        )
        if self._objects is not None:
            base = self._objects.select(*_VALUED)
            if len(tail.changed):
                parts.append(self._frame(tail.changed.select(_VALUED)))
            if len(tail.changed) or len(tail.gone):
                stale = self._frame(
                    pa.concat_tables([tail.changed.select(["oid"]), tail.gone.select(["oid"])])
                )
                base = base.join(F.broadcast(stale), "oid", "left_anti")
            parts.append(base)
        return reduce(DataFrame.unionByName, parts)

    def _labelled(self, labels: frozenset[Labels]) -> DataFrame:
        plus, minus = (_with_labels(table, labels) for table in (self.tail.plus, self.tail.minus))
        parts = [self._frame(plus)] if len(plus) or self._edges is None else []
        if self._edges is not None:
            base = self._edges.filter(label_is(labels, F.col("label")))
            if len(minus):
                gone = self._frame(minus.select(_IDENTITY))
                base = base.join(F.broadcast(gone), _IDENTITY, "left_anti").select(*EDGES.names)
            parts.append(base)
        return reduce(DataFrame.unionByName, parts)

    def _frame(self, table: pa.Table) -> DataFrame:
        return frame_of(self.spark, table)


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table as a frame that needs no job. In one piece: Spark loses the rows that follow an empty one."""
    return spark.createDataFrame(table.combine_chunks())


def label_is(labels: Iterable[Labels], label: Column) -> Column:
    """Whether a label is any of `labels`."""
    listed = list(labels)
    if any(each.every for each in listed):
        return F.lit(True)
    exact = sorted(each.text for each in listed if each.exact)
    tests = [label.isin(exact) if len(exact) > 1 else label == exact[0]] if exact else []
    tests += [like(label, each.text, any_one=False) for each in listed if not each.exact]
    return reduce(lambda a, b: a | b, tests) if tests else F.lit(False)


def like(text: Column, pattern: str, *, any_one: bool = True) -> Column:
    """Whether `text` fits a pattern with `%`, and with `_` for one character if `any_one`.

    Of many `%` Java would try every way to share out the text. The first place where a piece fits is as
    good as any (see `lorel.like`), so each piece is an atomic group, which is not tried again.
    """
    first, *middle = (
        "".join("." if any_one and char == "_" else re.escape(char) for char in piece)
        for piece in pattern.split("%")
    )
    if len(middle) > 2:
        groups = "".join(f"(?>.*?{piece})" for piece in middle[:-1])
        return text.rlike(rf"(?s)\A{first}{groups}.*{middle[-1]}\z")
    escape = next(mark for mark in map(chr, range(1, 128)) if mark not in pattern and mark not in "%_")
    if not any_one:
        pattern = pattern.replace("_", f"{escape}_")
    return F.like(text, F.lit(pattern), F.lit(escape))


def laid_over(first: NetChange, second: NetChange) -> NetChange:
    """One change that does what `first` and then `second` do, laid over the same files.

    An edge may stand in minus and in plus: it is then in the state, from plus.
    """
    plus = first.plus
    if len(second.minus):
        plus = plus.filter(pa.array(~edges_in(plus, second.minus)))
    newer = second.changed
    fresh = pc.is_in(newer["oid"], _flat(first.created["oid"]))
    created = _without(with_values(first.created, newer.filter(fresh)), second.gone)
    newer = newer.filter(pc.invert(fresh))
    older = _without(_without(first.changed, newer), second.gone)
    return NetChange(
        created=pa.concat_tables([created, second.created]),
        plus=pa.concat_tables([plus, second.plus]),
        minus=pa.concat_tables([first.minus, second.minus]),
        changed=pa.concat_tables([older, newer]),
        gone=pa.concat_tables([first.gone, second.gone]),
    )


def _without(table: pa.Table, others: pa.Table) -> pa.Table:
    """The rows whose oid stands in no row of `others`."""
    return table.filter(pc.invert(pc.is_in(table["oid"], _flat(others["oid"])))) if len(others) else table


def _flat(column: pa.ChunkedArray) -> pa.Array:
    flat = column.combine_chunks()
    return flat.combine_chunks() if isinstance(flat, pa.ChunkedArray) else flat


def _with_labels(table: pa.Table, labels: frozenset[Labels]) -> pa.Table:
    if not len(table) or any(each.every for each in labels):
        return table
    present = pc.unique(table["label"]).to_pylist()
    found = [label for label in present if any(each.matches(label) for each in labels)]
    return table.filter(pc.is_in(table["label"], pa.array(found, pa.string())))


def _read(spark: SparkSession, files: Sequence[str], schema: pa.Schema) -> DataFrame | None:
    if not files:
        return None
    columns = ", ".join(f"{field.name} {_SQL[field.type]}" for field in schema)
    with settings(spark, {_LISTING: str(len(files) + 1)}):  # more files are listed by a job
        return spark.read.schema(columns).parquet(*files)
