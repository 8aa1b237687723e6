"""The graph face: a database as a GraphFrame, and a GraphFrame as a database.

An object is a vertex, the virtual root among them as vertex 0, and an edge an edge with its label. The other
way round, a GraphFrame becomes an OEM database like this:

    vertex          a complex object; each column that is not null an edge of that name to an atomic object
    array, struct   an array as many edges as it has members, a struct a complex object
    edge            an edge; its label from the column `label` or `relationship`, else `edge`
    name            the object that has an edge `item` to every vertex

Edges have no properties in OEM: other columns of the edges are left out. Equal edges are one edge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from oemviews import jar
from oemviews.edits import NetChange
from oemviews.engines.spark import values as v
from oemviews.engines.spark.graph import SparkGraph, frame_of
from oemviews.errors import BadInput
from oemviews.model import COMPLEX, ROOT, Value
from oemviews.store.schema import EDGES, OBJECTS, columns_of
from oemviews.store.state import State
from oemviews.store.values import Ints

if TYPE_CHECKING:
    from graphframes import GraphFrame

_LABELS: Final = ("label", "relationship")
_CHUNK: Final = 50_000
_ROUNDS: Final = 6


# ---- a database as a graph ----


def vertices(spark: SparkSession, state: State) -> DataFrame:
    """The objects: id, type, value (as text, null of a complex object), and text, integer, number."""
    return _vertices(SparkGraph.of_state(spark, state))


def edges(spark: SparkSession, state: State) -> DataFrame:
    """The edges: src, dst, label, pos; those of a name leave vertex 0."""
    return _edges(SparkGraph.of_state(spark, state))


def graphframe(spark: SparkSession, state: State) -> GraphFrame:
    """The database as a GraphFrame.

    Raises:
        EnvironmentLacks: the session has no GraphFrames classes.
    """
    return _graphframe(SparkGraph.of_state(spark, state))


def graphframe_of_tables(spark: SparkSession, edges: pa.Table, objects: pa.Table) -> GraphFrame:
    """A graph that is in memory, such as a view's, as a GraphFrame."""
    return _graphframe(SparkGraph.of_tables(spark, edges, objects))


def garbage(spark: SparkSession, state: State) -> Ints:
    """The objects that no name reaches, in order: those that no message sent on from the root meets.

    Raises:
        EnvironmentLacks: the session has no GraphFrames classes.
    """
    graph = graphframe(spark, state)
    known = graph.vertices.select("id", (F.col("id") == ROOT).alias("met")).localCheckpoint()
    before, met = 0, 1
    while met > before:  # a few rounds at a time, then the lineage is cut
        walked = _spread(known, graph.edges)
        known = walked.select("id", "met").localCheckpoint()
        walked.unpersist()
        before, met = met, known.filter("met").count()
    found = known.filter(~F.col("met")).select("id").toArrow()
    return np.sort(np.asarray(found["id"].to_numpy(), dtype=np.int64))


def _spread(known: DataFrame, edges: DataFrame) -> DataFrame:
    """`known` after some rounds in which every vertex that was met tells those its edges lead to."""
    from graphframes import GraphFrame
    from graphframes.lib import Pregel

    graph = GraphFrame(known.withColumnRenamed("met", "was"), edges)
    news = F.when(Pregel.src("met") & ~Pregel.dst("met"), F.lit(True))
    rounds = graph.pregel.setMaxIter(_ROUNDS).setCheckpointInterval(0).setEarlyStopping(True)
    rounds = rounds.withVertexColumn("met", F.col("was"), F.coalesce(Pregel.msg(), F.col("met")))
    walked: DataFrame = rounds.sendMsgToDst(news).aggMsgs(F.max(Pregel.msg())).run()
    return walked


def _vertices(graph: SparkGraph) -> DataFrame:
    value = v.of_object()
    text = F.coalesce(
        v.text_of(value),
        F.when(value.type == "boolean", (value.integer == 1).cast("string")),
        F.when(value.type == "binary", value.text),
    )
    found = graph.objects.select(
        F.col("oid").alias("id"), "type", text.alias("value"), "text", "integer", "number"
    )
    root = {"id": [ROOT], "type": ["complex"], **{name: pa.nulls(1, kind) for name, kind in _EMPTY.items()}}
    return found.unionByName(frame_of(graph.spark, pa.table(root)))


_EMPTY: Final = {"value": pa.string(), "text": pa.string(), "integer": pa.int64(), "number": pa.float64()}


def _edges(graph: SparkGraph) -> DataFrame:
    return graph.all_edges.select("src", "dst", "label", "pos")


def _graphframe(graph: SparkGraph) -> GraphFrame:
    jar.require_graphframes(graph.spark)
    from graphframes import GraphFrame

    return GraphFrame(_vertices(graph), _edges(graph))


# ---- a graph as a database ----


def from_graphframe(
    graph: GraphFrame, *, name: str, first_oid: int = 1, first_pos: int = 0, item: str = "item"
) -> Iterator[NetChange]:
    """What a store must load to hold `graph` under `name`, piece by piece; oids in the order of the ids.

    Raises:
        BadInput: two vertices have one id, an edge has an end that is no vertex, or a number is not finite.
    """
    filling = _Filling(first_oid, first_pos)
    top = filling.new(COMPLEX)
    filling.edge(ROOT, name, top)
    objects: dict[Any, int] = {}
    columns = [column for column in graph.vertices.columns if column != "id"]
    for rows in _chunks(graph.vertices.orderBy("id")):
        for row in rows:
            if row["id"] in objects:
                raise BadInput(f"two vertices have the id {row['id']!r}: give every vertex an id of its own.")
            objects[row["id"]] = oid = filling.new(COMPLEX)
            filling.edge(top, item, oid)
            for column in ("id", *columns):
                filling.fill(oid, column, row[column])
        yield filling.taken()
    labels = [column for column in graph.edges.columns if column in _LABELS]
    label = F.col(labels[0]).cast("string") if labels else F.lit(None)
    links = graph.edges.select("src", F.coalesce(label, F.lit("edge")).alias("label"), "dst").distinct()
    for rows in _chunks(links.orderBy("src", "label", "dst")):
        for src, text, dst in rows:
            for end in (src, dst):
                if end not in objects:
                    raise BadInput(
                        f"the edge {src!r} -{text}-> {dst!r} has an end that is no vertex: {end!r}."
                    )
            filling.edge(objects[src], text, objects[dst])
        yield filling.taken()


def _chunks(frame: DataFrame) -> Iterator[Sequence[Row]]:
    rows = frame.toLocalIterator()
    while chunk := list(islice(rows, _CHUNK)):
        yield chunk


class _Filling:
    """Objects and edges made so far and not yet handed on."""

    def __init__(self, first_oid: int, first_pos: int) -> None:
        self._oid, self._pos = first_oid, first_pos
        self._objects: list[tuple[Any, ...]] = []
        self._edges: list[tuple[Any, ...]] = []

    def new(self, value: Value) -> int:
        oid = self._oid
        self._oid += 1
        self._objects.append((oid, *columns_of(value), None))
        return oid

    def edge(self, src: int, label: str, dst: int) -> None:
        self._edges.append((src, label, dst, self._pos, None))
        self._pos += 1

    def fill(self, src: int, label: str, found: Any) -> None:
        """An edge to what a column holds: none for null, several for an array."""
        if found is None:
            return
        if isinstance(found, list | tuple) and not isinstance(found, Row):
            for member in found:
                self.fill(src, label, member)
        elif isinstance(found, Row | Mapping):
            inner = self.new(COMPLEX)
            self.edge(src, label, inner)
            for field, member in (found.asDict() if isinstance(found, Row) else found).items():
                self.fill(inner, str(field), member)
        else:
            self.edge(src, label, self.new(_atom(label, found)))

    def taken(self) -> NetChange:
        """All that was made since the last time."""
        made = NetChange(created=_table(self._objects, OBJECTS), plus=_table(self._edges, EDGES))
        self._objects, self._edges = [], []
        return made


def _atom(column: str, found: Any) -> Value:
    match found:
        case float() if not math.isfinite(found):
            raise BadInput(
                f"column {column} holds {found}: OEM has finite numbers only; replace it, by null say."
            )
        case bool() | int() | float() | str():
            return found
        case bytes() | bytearray():
            return bytes(found)
        case Decimal() if found == found.to_integral_value():
            return int(found)
        case Decimal():
            return float(found)
        case date() | datetime():
            return found.isoformat()
    return str(found)


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
    )
