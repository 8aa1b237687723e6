"""Many plans in one Spark job: each frame in one uniform shape, with the number of its case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from random import Random
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from oemviews.engines.spark.engine import SparkEngine
from oemviews.engines.spark.graph import SparkGraph
from oemviews.engines.spark.table import Table
from oemviews.store.schema import value_of
from tests.engines.support import tables
from tests.generators.graphs import random_graph
from tests.oracle.graph import Edge, Item, OracleGraph

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Settings under which Spark compiles nothing: on a handful of rows that would be most of the time."""

_VALUE = "struct<type:string,text:string,integer:bigint,number:double>"


def spark_engine(spark: SparkSession, graph: OracleGraph, **options: Any) -> SparkEngine:
    held = SparkGraph.of_tables(spark, *tables(graph))
    return SparkEngine(spark, {("", "new"): held, ("", "old"): held}, **options)


def merged(rng: Random, many: int) -> OracleGraph:
    """Random graphs side by side in one: their names lead to several objects, their oids do not meet."""
    values: dict[int, Any] = {}
    edges: set[Edge] = set()
    for _ in range(many):
        graph, shift = random_graph(rng), max(values, default=0)
        moved = {oid: oid and oid + shift for oid in graph.values}
        values |= {moved[oid]: value for oid, value in graph.values.items()}
        edges |= {(moved[src], label, moved[dst]) for src, label, dst in graph.edges}
    return OracleGraph(values, edges)


def answers(cases: Iterable[tuple[Table, Sequence[str]]]) -> list[Counter[tuple[Item, ...]]]:
    """The rows of each table's columns with their counts, all from one job."""
    frames = [_uniform(table, names, case) for case, (table, names) in enumerate(cases)]
    found: list[Counter[tuple[Item, ...]]] = [Counter() for _ in frames]
    for row in reduce(DataFrame.union, frames).toArrow().to_pylist():
        found[row["case"]][tuple(map(_item, row["items"]))] += row["_n"]
    return found


def _uniform(table: Table, names: Sequence[str], case: int) -> DataFrame:
    def item(name: str) -> Column:
        is_value = table.kinds[name] == "value"
        oid = F.lit(None).cast("bigint") if is_value else table.col(name)
        value = table.col(name) if is_value else F.lit(None).cast(_VALUE)
        return F.struct(oid.alias("oid"), value.alias("value"))

    items = F.array(*map(item, names)).alias("items")
    return table.frame.select(F.lit(case).alias("case"), items, "_n")


def _item(cell: dict[str, Any]) -> Item:
    if cell["oid"] is not None:
        return ("oid", cell["oid"])
    value = cell["value"]
    if value is None:
        return ("missing",)
    if value["type"] == "complex":  # an object in a column that holds values too
        return ("oid", value["integer"])
    return ("value", value["type"], value_of(**{"kind" if k == "type" else k: x for k, x in value.items()}))
