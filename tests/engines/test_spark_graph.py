"""A state as frames: files with a change laid over them, older than the files or not, built without a job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lorel.normal import ANY, Compare, Const, Labels, Step, ValueOf
from lorel.plan import Expand, Filter, Given
from oemviews.edits import NetChange
from oemviews.engines.rows import Rows
from oemviews.engines.spark.engine import SparkEngine
from oemviews.engines.spark.graph import SparkGraph
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.state import State
from tests.engines.batched import merged
from tests.engines.support import change_between, edge_rows, object_rows, tables
from tests.generators.graphs import random_edits
from tests.oracle.edits import apply
from tests.oracle.graph import OracleGraph

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def written(folder: Path, table: pa.Table, parts: int) -> tuple[str, ...]:
    """The rows of a table in several Parquet files."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(table) // parts) or 1
    paths = []
    for number in range(parts):
        path = folder / f"{number}.parquet"
        pq.write_table(table.slice(number * size, size), path)
        paths.append(str(path))
    return tuple(paths)


def state_of(folder: Path, graph: OracleGraph, tail: NetChange, parts: int = 2, **more: Any) -> State:
    edges, objects = tables(graph)
    files = written(folder / "edges", edges, parts), written(folder / "objects", objects, parts)
    return State(1, *files, tail, **{"next_oid": graph.next_oid, **more})


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(map(repr, zip(*(table[name].to_pylist() for name in table.column_names), strict=True)))  # type: ignore[arg-type]


def assert_same(graph: SparkGraph, state: State) -> None:
    """The frames hold what the state says, and a step's edges are those with its labels."""
    assert rows_of(graph.all_edges.toArrow().select(EDGES.names)) == rows_of(state.edges())
    plain = [name for name in OBJECTS.names if name != "shape"]
    assert rows_of(graph.objects.toArrow().select(plain)) == rows_of(state.objects().select(plain))
    for labels in (Labels("a"), Labels("%b", exact=False), Labels("a_", exact=False)):
        wanted = [tuple(edge.values()) for edge in state.edges().to_pylist() if labels.matches(edge["label"])]
        found = graph.edges([labels]).select(*EDGES.names[:3]).collect()
        assert sorted(tuple(row) for row in found) == sorted(edge[:3] for edge in wanted)


@contextmanager
def no_job(spark: SparkSession) -> Iterator[None]:
    context = spark.sparkContext
    context.setJobGroup("none", "must stay empty")
    try:
        yield
        assert list(context.statusTracker().getJobIdsForGroup("none")) == []
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [1, 2])
def test_files_with_a_tail_and_changes_on_top(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    first = merged(rng, 3)
    second = apply(first, random_edits(rng, first, 12))
    third = apply(second, random_edits(rng, second, 12))
    state = state_of(tmp_path / "base", first, change_between(first, second))
    with no_job(spark):
        graph = SparkGraph.of_state(spark, state)
        later = graph.apply(change_between(second, third))
        assert graph.edges([ANY]) is not None
        assert later.objects is not None
    assert_same(graph, state)
    assert_same(later, state_of(tmp_path / "later", third, NetChange()))


def test_a_state_older_than_its_files(spark: SparkSession, tmp_path: Path) -> None:
    old = OracleGraph({1: "x", 2: 4}, {(0, "N", 1), (1, "a", 2)})
    new = OracleGraph({1: "y", 2: 4, 3: 5}, {(0, "N", 1), (1, "b", 2), (1, "a", 3)})
    undone = NetChange(
        plus=edge_rows([(1, "a", 2)]),
        minus=edge_rows([(1, "b", 2)]),
        changed=change_between(new, old).changed,
    )
    state = state_of(tmp_path, new, undone, next_oid=3, behind=True)
    assert rows_of(state.edges().select(EDGES.names[:3])) == sorted(map(repr, old.edges))
    assert_same(SparkGraph.of_state(spark, state), state)


def test_objects_that_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    graph = OracleGraph({1: "x", 2: 4, 3: 5}, {(0, "N", 1), (1, "a", 2)})
    state = state_of(tmp_path, graph, NetChange(gone=object_rows({3: 5})))
    held = SparkGraph.of_state(spark, state)
    assert_same(held, state)
    more = held.apply(NetChange(gone=object_rows({2: 4}), minus=edge_rows([(1, "a", 2)])))
    assert [row["oid"] for row in more.objects.collect()] == [1]
    assert more.edges([Labels("a")]).collect() == []


def test_many_files_are_listed_without_a_job(spark: SparkSession, tmp_path: Path) -> None:
    graph = merged(Random(3), 8)
    state = state_of(tmp_path, graph, NetChange(), parts=40)
    with no_job(spark):
        held = SparkGraph.of_state(spark, state)
    assert_same(held, state)


def test_a_plan_becomes_a_frame_without_a_job_and_known_oids_are_literals(
    spark: SparkSession, tmp_path: Path
) -> None:
    state = state_of(tmp_path, merged(Random(4), 4), NetChange())
    plan = Expand(Given("xs", ("x",)), Step("x", Labels("a"), "y"), forward=True)
    tested = Filter(plan, (Compare("=", ValueOf("y"), Const("4")),))
    with no_job(spark):
        engine = SparkEngine(spark, {("", "new"): SparkGraph.of_state(spark, state)})
        frame = engine.frame(tested, {"xs": Rows.of(("x",), [(1,), (3,)])})
    shown = frame._jdf.queryExecution().executedPlan().toString()  # type: ignore[operator]
    assert "In(src, [1,3])" in shown
    assert "EqualTo(label,a)" in shown
    assert "BroadcastHashJoin" in shown
