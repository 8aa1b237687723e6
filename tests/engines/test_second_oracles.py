"""Engines of other people as oracles: GraphFrames finds chains and joins, DuckDB's recursive SQL closures."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import duckdb
import pytest

from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.planner import Planner, output
from oemviews import graph
from oemviews.edits import NetChange
from oemviews.engines.engine import Engine
from oemviews.session import settings
from oemviews.store.state import State
from tests.engines.batched import INTERPRETED, answers, merged, spark_engine
from tests.engines.support import local_engine, tables
from tests.oracle.graph import OracleGraph

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Pairs = set[tuple[int, ...]]


def on_engine(engine: Engine, text: str, width: int) -> Pairs:
    query = normalise(parse_query(text), Catalog(frozenset({"N", "M"})), text=text)
    rows = engine.run(Planner(engine.statistics).query(query))
    return set(rows.tuples([output(i) for i in range(width)]))


# ---- closures ----

CLOSURES = [
    ("select x from N.# x", "true", True),
    ("select x from N(.a)* x", "label = 'a'", True),
    ("select x from N(.a|.b)+ x", "label in ('a', 'b')", False),
    ("select x from N(.%b)* x", "label like '%b'", True),
]


def by_duckdb(held: OracleGraph, step: str, empty: bool) -> Pairs:
    """What steps that pass lead to from the objects of name N: one or more steps, or also none."""
    with duckdb.connect() as base:
        base.execute("create table edges (src bigint, label text, dst bigint)")
        base.executemany("insert into edges values (?, ?, ?)", sorted(held.edges))
        start = "select dst as oid from edges where src = 0 and label = 'N'"
        first = (
            start if empty else f"select e.dst from edges e join ({start}) s on e.src = s.oid where {step}"
        )
        found = base.execute(
            f"with recursive reached(oid) as ({first} union "
            f"select e.dst from reached r join edges e on e.src = r.oid where {step}) select oid from reached"
        )
        return {tuple(row) for row in found.fetchall()}


@pytest.mark.parametrize("seed", range(20))
def test_oracle_closures_by_recursive_sql(seed: int) -> None:
    held = merged(Random(seed), 4)
    engine = local_engine(held)
    for text, step, empty in CLOSURES:
        assert on_engine(engine, text, 1) == by_duckdb(held, step, empty), text


@pytest.mark.spark
def test_oracle_closures_by_recursive_sql_on_spark(spark: SparkSession) -> None:
    held = merged(Random(7), 12)
    engine = spark_engine(spark, held)
    with settings(spark, INTERPRETED):
        for text, step, empty in CLOSURES:
            assert on_engine(engine, text, 1) == by_duckdb(held, step, empty), text


# ---- chains and joins ----

MOTIFS = [
    (
        "select x, y from N.a x, x.b y",
        "(r)-[n]->(s); (s)-[e]->(x); (x)-[f]->(y)",
        "r.id = 0 and n.label = 'N' and e.label = 'a' and f.label = 'b'",
    ),
    (
        "select x, y from N.a x, x.a y where x.b = y.b",
        "(r)-[n]->(s); (s)-[e]->(x); (x)-[f]->(y); (x)-[g]->(u); (y)-[h]->(v)",
        "r.id = 0 and n.label = 'N' and e.label = 'a' and f.label = 'a' and g.label = 'b' and h.label = 'b' "
        "and u.type = v.type and (u.text = v.text or u.type = 'null' or u.type = 'complex' and u.id = v.id)",
    ),
    (
        "select x, y from N.% x, M.% y where exists s in x.a : exists t in y.a : s == t",
        "(r)-[n]->(p); (r)-[m]->(q); (p)-[e]->(x); (q)-[f]->(y); (x)-[g]->(s); (y)-[h]->(s)",
        "r.id = 0 and n.label = 'N' and m.label = 'M' and g.label = 'a' and h.label = 'a'",
    ),
    (
        "select x, y from N.a x, x.b y where y == x",
        "(r)-[n]->(s); (s)-[e]->(x); (x)-[f]->(y)",
        "r.id = 0 and n.label = 'N' and e.label = 'a' and f.label = 'b' and x.id = y.id",
    ),
]


@pytest.mark.jar
@pytest.mark.slow
def test_oracle_chains_and_joins_by_motifs(spark: SparkSession) -> None:
    held = merged(Random(11), 12)
    strings = {oid: value for oid, value in held.values.items() if not isinstance(value, int | float | bool)}
    held = OracleGraph({oid: strings.get(oid, "s") for oid in held.values if oid}, held.edges)
    edges, objects = tables(held)
    frame = graph.graphframe(spark, State(1, (), (), NetChange(created=objects, plus=edges), held.next_oid))
    local, engine = local_engine(held), spark_engine(spark, held)
    cases, wanted = [], []
    for text, motif, condition in MOTIFS:
        found = frame.find(motif).filter(condition).select("x.id", "y.id").distinct().toArrow()
        wanted.append(set(zip(*(column.to_pylist() for column in found.columns), strict=True)))
        assert on_engine(local, text, 2) == wanted[-1], text
        query = normalise(parse_query(text), Catalog(frozenset({"N", "M"})), text=text)
        cases.append((engine.table(Planner(engine.statistics).query(query)), [output(0), output(1)]))
    for (text, _, _), rows, pairs in zip(MOTIFS, answers(cases), wanted, strict=True):
        assert {tuple(oid for _, oid in row) for row in rows} == pairs, text
    assert all(wanted)
