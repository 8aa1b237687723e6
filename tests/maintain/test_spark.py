"""Maintenance on Spark: many random graphs side by side in one, a batch for each of them in one batch.

A name that leads to several objects is what makes them one graph: a case is a graph with its edits.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from lorel.scope import Catalog
from oemviews.edits import Change, Delete, Edit, Insert
from oemviews.engines.local import LocalEngine
from oemviews.maintain.changes import changes_of
from oemviews.maintain.maintain import maintain
from oemviews.model import Value
from oemviews.views.definition import define
from oemviews.views.materialise import materialise
from tests import oracle
from tests.guide import GUIDE
from tests.maintain.kit import Kept, contents, edge_table, net_between, object_table
from tests.maintain.random_cases import Near, random_batch, random_graph
from tests.maintain.test_trace import FAVORITE, TRACE
from tests.oracle import OracleGraph

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = 60
VIEWS = {
    "join": "select x from N.a x, x.b y, N.b z where y = z.a with x.a w",
    "negation": "select x from N.a x where not exists y in x.b : y = 2 with x.a w, w.b v",
    "closure": "select x from N.# y, y.b x where x < 3",
    "reach": "select x from N.a y, y(.a|.b)+ x where not exists (y.c)",
    "with closure": "select x from N.a x where x.b with x(.a|.b)* w",
    "aggregate": "select x from N.a x where count(x.%) > 2",
}


def side_by_side(rng: Random, many: int) -> tuple[OracleGraph, list[Edit]]:
    """Random graphs in one, and edits of each of them."""
    values: dict[int, Value] = {}
    edges: set[tuple[int, str, int]] = set()
    batch: list[Edit] = []
    for _ in range(many):
        graph, shift = random_graph(rng), max(values, default=0)

        def moved(oid: Any, shift: int = shift) -> int:
            return int(oid) and int(oid) + shift

        near = Near(frozenset(graph.values), ("a", "b"))
        for edit in random_batch(rng, graph, near, set()):
            match edit:
                case Insert(src, label, dst) if {src, dst} <= graph.values.keys():
                    batch.append(Insert(moved(src), label, moved(dst)))
                case Delete(src, label, dst) if {src, dst} <= graph.values.keys():
                    batch.append(Delete(moved(src), label, moved(dst)))
                case Change(oid, new) if oid in graph.values:
                    batch.append(Change(moved(oid), new))
        values |= {moved(oid): value for oid, value in graph.values.items() if oid}
        edges |= {(moved(src), label, moved(dst)) for src, label, dst in graph.edges}
    return OracleGraph(values, edges), batch


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("text", VIEWS.values(), ids=VIEWS.keys())
def test_spark_keeps_what_the_local_engine_keeps(text: str, spark: SparkSession) -> None:
    from oemviews.engines.spark.engine import SparkEngine
    from oemviews.engines.spark.graph import SparkGraph

    graph, batch = side_by_side(Random(7), CASES)
    view = Kept.of(f"define view V as item = {text}", graph)
    statistics = LocalEngine({("", "new"): view.local}).statistics
    held = SparkGraph.of_tables(spark, edge_table(graph.edges), object_table(graph.values))
    made = materialise(view.definition, SparkEngine(spark, {("", "new"): held}, statistics))
    assert made.state.rows == view.state.rows
    assert contents(made.table) == contents(view.table)
    net = net_between(graph, oracle.apply(graph, batch))
    engine = SparkEngine(spark, {("", "old"): held, ("", "new"): held.apply(net)}, statistics)
    delta = maintain(view.definition, made.state, engine, changes_of({"": net}))
    local = view.apply(batch)
    view.check()
    assert delta.rows == local.rows
    assert contents(pa.concat_tables([made.table, delta.table])) == contents(view.table)
    assert delta.report.relevant == local.report.relevant
    assert delta.report.dismissed == local.report.dismissed
    assert (delta.report.engine, local.report.engine) == ("spark", "local")


@pytest.mark.spark
def test_the_trace_of_the_paper_on_spark(spark: SparkSession) -> None:
    """The first updates of the trace, each on the state that the last one left."""
    from oemviews.engines.spark.engine import SparkEngine
    from oemviews.engines.spark.graph import SparkGraph

    graph = GUIDE
    definition = define(FAVORITE, Catalog(frozenset({"Guide"})), "incremental")
    held = SparkGraph.of_tables(spark, edge_table(graph.edges), object_table(graph.values))
    statistics = LocalEngine({("", "new"): Kept.of(FAVORITE, GUIDE).local}).statistics
    state = materialise(definition, SparkEngine(spark, {("", "new"): held}, statistics)).state
    for edit, primaries, edges in TRACE[:2]:
        new = oracle.apply(graph, [edit])
        net = net_between(graph, new)
        after = held.apply(net)
        engine = SparkEngine(spark, {("", "old"): held, ("", "new"): after}, statistics)
        maintain(definition, state, engine, changes_of({"": net})).install()
        assert {row[0] for row in state.rows} == primaries
        assert sum(support.count(oid) for support in state.reached.values() for oid in support.oids) == len(
            edges
        )
        graph, held = new, after
