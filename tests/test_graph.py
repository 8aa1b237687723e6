"""The graph face on the real GraphFrames: a database as a GraphFrame, a GraphFrame as a database."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from oemviews import graph, jar
from oemviews.edits import NetChange
from oemviews.errors import BadInput, EnvironmentLacks
from oemviews.model import COMPLEX
from oemviews.store.schema import value_of
from oemviews.store.state import State
from tests.engines.support import edge_rows, object_rows, tables
from tests.guide import GUIDE
from tests.oracle.graph import OracleGraph

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def state_of(held: OracleGraph) -> State:
    edges, objects = tables(held)
    return State(1, (), (), NetChange(created=objects, plus=edges), held.next_oid)


def test_vertices_and_edges_of_a_database(spark: SparkSession) -> None:
    held = OracleGraph(
        {1: COMPLEX, 2: "x", 3: 4, 4: 2**70, 5: 1e16, 6: True, 7: None, 8: b"hi"},
        {(0, "N", 1), (1, "a", 2), (1, "a", 3)},
    )
    found = {row["id"]: row for row in graph.vertices(spark, state_of(held)).collect()}
    assert {oid: (row["type"], row["value"]) for oid, row in found.items()} == {
        0: ("complex", None),
        1: ("complex", None),
        2: ("string", "x"),
        3: ("integer", "4"),
        4: ("integer", str(2**70)),
        5: ("real", "1e+16"),
        6: ("boolean", "true"),
        7: ("null", None),
        8: ("binary", "aGk="),
    }
    assert found[3]["integer"] == 4
    edges = graph.edges(spark, state_of(held))
    assert edges.columns == ["src", "dst", "label", "pos"]
    assert {(row["src"], row["label"], row["dst"]) for row in edges.collect()} == held.edges


def test_without_the_classes_the_missing_coordinate_is_named(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jar, "loadable", lambda spark: False)
    with pytest.raises(EnvironmentLacks, match=r"io\.graphframes:graphframes-spark4_2\.13:"):
        graph.graphframe(spark, state_of(GUIDE))


@pytest.mark.jar
def test_find_on_the_guide(spark: SparkSession) -> None:
    frame = graph.graphframe(spark, state_of(GUIDE))
    found = frame.find("(r)-[e]->(d); (d)-[i]->(x)").filter(
        "e.label = 'Entree' and i.label = 'Ingredient' and x.value = 'Beef'"
    )
    assert {(row["r"]["id"], row["d"]["id"]) for row in found.collect()} == {(3, 10), (4, 10), (4, 13)}


@pytest.mark.jar
@pytest.mark.slow
def test_components_and_rank(spark: SparkSession, tmp_path: Path) -> None:
    two = OracleGraph(
        dict.fromkeys(range(1, 7), COMPLEX),
        {(0, "N", 1), (1, "a", 2), (2, "a", 3), (4, "a", 5), (5, "a", 4), (6, "a", 5)},
    )
    frame = graph.graphframe(spark, state_of(two))
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    groups: dict[int, set[int]] = {}
    for row in frame.connectedComponents().collect():
        groups.setdefault(row["component"], set()).add(row["id"])
    assert sorted(map(sorted, groups.values())) == [[0, 1, 2, 3], [4, 5, 6]]
    ranked = {row["id"]: row["pagerank"] for row in frame.pageRank(maxIter=5).vertices.collect()}
    assert max(ranked, key=ranked.__getitem__) == 5
    assert ranked[3] > ranked[2] > ranked[1]


@pytest.mark.jar
@pytest.mark.slow
def test_garbage_is_what_no_name_reaches(spark: SparkSession) -> None:
    chain = {(oid, "a", oid + 1) for oid in range(9, 17)}  # longer than the rounds between two checks
    held = OracleGraph(
        dict.fromkeys(range(1, 18), COMPLEX),
        {
            (0, "N", 1),
            (1, "a", 2),
            (2, "a", 3),
            (3, "a", 1),
            (3, "b", 9),
            (4, "a", 5),
            (5, "a", 4),
            (6, "a", 1),
        }
        | chain,
    )
    assert graph.garbage(spark, state_of(held)).tolist() == [4, 5, 6, 7, 8]


@pytest.mark.jar
def test_the_graph_of_a_view_is_one_in_memory(spark: SparkSession) -> None:
    frame = graph.graphframe_of_tables(
        spark, edge_rows([(0, "V", 1), (1, "item", 2)]), object_rows({1: COMPLEX, 2: "x"})
    )
    assert {row["id"] for row in frame.vertices.collect()} == {0, 1, 2}
    assert frame.inDegrees.count() == 2


# ---- a GraphFrame as a database ----


class Frame:
    """What `from_graphframe` reads of a GraphFrame, so that most of its tests need no JAR."""

    def __init__(self, vertices: DataFrame, edges: DataFrame) -> None:
        self.vertices, self.edges = vertices, edges


def loaded(source: Any, **options: Any) -> OracleGraph:
    """The chunks laid over an empty store, with pos checked."""
    chunks = list(graph.from_graphframe(source, **{"name": "People", **options}))
    created = pa.concat_tables([chunk.created for chunk in chunks]).to_pylist()
    plus = pa.concat_tables([chunk.plus for chunk in chunks]).to_pylist()
    assert [edge["pos"] for edge in plus] == list(range(plus[0]["pos"], plus[0]["pos"] + len(plus)))
    values = {
        row["oid"]: value_of(row["type"], row["text"], row["integer"], row["number"]) for row in created
    }
    assert len(values) == len(created)
    return OracleGraph(values, {(edge["src"], edge["label"], edge["dst"]) for edge in plus})


def under(held: OracleGraph, oid: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for label, dst in held.out.get(oid, ()):
        found.setdefault(label, []).append(held.values[dst])
    return found


def test_vertices_become_objects_and_edges_edges(spark: SparkSession) -> None:
    people = spark.createDataFrame(
        [("b", 34, None, ["x", "y"]), ("a", None, 1.5, [])],
        "id string, age int, height double, tags array<string>",
    )
    knows = spark.createDataFrame(
        [("a", "b", "knows"), ("a", "b", "knows"), ("b", "a", None)],
        "src string, dst string, relationship string",
    )
    held = loaded(Frame(people, knows), first_oid=100, first_pos=7)
    assert held.names == {"People": 100}
    a, b = [dst for label, dst in held.out[100] if label == "item"]
    assert under(held, a) == {"id": ["a"], "height": [1.5], "knows": [COMPLEX]}
    assert under(held, b) == {"id": ["b"], "age": [34], "tags": ["x", "y"], "edge": [COMPLEX]}
    assert {(a, "knows", b), (b, "edge", a)} <= held.edges


def test_nested_columns_and_other_types(spark: SparkSession) -> None:
    rows = [(1, {"k": 2}, (True, b"z"), date(2020, 5, 17), Decimal("12"), Decimal("0.5"))]
    kinds = "id long, m map<string,int>, s struct<t:boolean,u:binary>, d date, n decimal(4,0), f decimal(4,2)"
    held = loaded(Frame(spark.createDataFrame(rows, kinds), spark.createDataFrame([], "src long, dst long")))
    (one,) = [dst for label, dst in held.out[1] if label == "item"]
    assert under(held, one) == {
        "id": [1], "m": [COMPLEX], "s": [COMPLEX], "d": ["2020-05-17"], "n": [12], "f": [0.5],
    }  # fmt: skip
    inner = dict(held.out[one])
    assert under(held, inner["m"]) == {"k": [2]}
    assert under(held, inner["s"]) == {"t": [True], "u": [b"z"]}


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        ([(1, 1.0), (1, 2.0)], [], "two vertices have the id 1"),
        ([(1, 1.0)], [(1, 2)], "1 -edge-> 2 has an end that is no vertex: 2"),
        ([(1, float("nan"))], [], "column w holds nan"),
    ],
)
def test_graphs_that_are_no_database(spark: SparkSession, vertices: Any, edges: Any, message: str) -> None:
    source = Frame(
        spark.createDataFrame(vertices, "id long, w double"),
        spark.createDataFrame(edges, "src long, dst long"),
    )
    with pytest.raises(BadInput, match=message):
        loaded(source)


@pytest.mark.jar
def test_a_real_graphframe_goes_in_and_comes_out(spark: SparkSession) -> None:
    from graphframes import GraphFrame

    cities = spark.createDataFrame([(1, "Paris"), (2, "Lyon")], "id long, name string")
    roads = spark.createDataFrame([(1, 2, "road")], "src long, dst long, label string")
    held = loaded(GraphFrame(cities, roads))
    back = graph.graphframe(spark, state_of(held))
    found = back.find("(a)-[r]->(b); (b)-[n]->(x)").filter("r.label = 'road' and n.label = 'name'")
    assert [row["x"]["value"] for row in found.collect()] == ["Lyon"]
