"""Queries on a generated Guide: the local engine, the Spark engine, hand-written Spark SQL, and DuckDB.

Five shapes over the same stored tables, in one run: a selective chain, an unselective one, a join of two
branches, negation, closure. Every answer is counted, and the counts must be the same everywhere.

    python benchmarks/query.py                       a million edges, local engine and DuckDB
    python benchmarks/query.py --spark               also the two on Spark
    python benchmarks/query.py --edges 10000000 --spark
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from datasets.generate import guide_graph
from lorel.normalise import normalise
from lorel.parser import parse_query
from lorel.planner import Planner
from lorel.scope import Catalog
from oemviews.engines.engine import Engine
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.store.state import State
from oemviews.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Query:
    """A query, the same as SQL, and for a closure the SQL of one step from a table `frontier(oid)`."""

    name: str
    lorel: str
    sql: str
    step: str = ""


_RESTAURANTS = (
    """edges g JOIN edges r ON g.src = 0 AND g.label = 'Guide' AND r.src = g.dst AND r.label = 'Restaurant'"""
)
_NAMED = """
            JOIN edges n ON n.src = r.dst AND n.label = 'Name'
            JOIN objects v ON v.oid = n.dst AND v.text = 'Restaurant 77'"""

QUERIES = (
    Query(
        "selective chain",
        'select i from Guide.Restaurant r, r.Entree e, e.Ingredient i where r.Name = "Restaurant 77"',
        f"""SELECT DISTINCT i.dst FROM {_RESTAURANTS} {_NAMED}
            JOIN edges e ON e.src = r.dst AND e.label = 'Entree'
            JOIN edges i ON i.src = e.dst AND i.label = 'Ingredient'""",
    ),
    Query(
        "unselective chain",
        "select i from Guide.Restaurant.Entree.Ingredient i",
        f"""SELECT DISTINCT i.dst FROM {_RESTAURANTS} JOIN edges e ON e.src = r.dst AND e.label = 'Entree'
            JOIN edges i ON i.src = e.dst AND i.label = 'Ingredient'""",
    ),
    Query(
        "join of branches",
        "select r, e from Guide.Restaurant r, r.Entree e, r.Price p, e.Price q where p < q",
        f"""SELECT DISTINCT r.dst, e.dst FROM {_RESTAURANTS}
            JOIN edges e ON e.src = r.dst AND e.label = 'Entree'
            JOIN edges p ON p.src = r.dst AND p.label = 'Price' JOIN objects pv ON pv.oid = p.dst
            JOIN edges q ON q.src = e.dst AND q.label = 'Price' JOIN objects qv ON qv.oid = q.dst
            WHERE CASE WHEN pv.type = 'string' AND qv.type = 'string' THEN pv.text < qv.text
                  ELSE pv.number < qv.number END""",
    ),
    Query(
        "negation",
        "select r from Guide.Restaurant r where not exists e in r.Entree : e.Price > 20",
        f"""SELECT DISTINCT r.dst FROM {_RESTAURANTS} WHERE NOT EXISTS (SELECT 1 FROM edges e
            JOIN edges p ON p.src = e.dst AND p.label = 'Price'
            JOIN objects v ON v.oid = p.dst AND v.number > 20
            WHERE e.src = r.dst AND e.label = 'Entree')""",
    ),
    Query(
        "closure",
        'select n from Guide.Restaurant r, r(.Nearby)+ n where r.Name = "Restaurant 77"',
        f"""SELECT DISTINCT s.dst AS oid FROM {_RESTAURANTS} {_NAMED}
            JOIN edges s ON s.src = r.dst AND s.label = 'Nearby'""",
        "SELECT DISTINCT s.dst AS oid FROM frontier f JOIN edges s ON s.src = f.oid AND s.label = 'Nearby'",
    ),
)


# ---- who answers ----


def on_engine(engine: Engine, query: Query) -> int:
    """The whole way from text to rows, but for opening the graph."""
    normal = normalise(parse_query(query.lorel), Catalog(names=frozenset({"Guide"})))
    return len(engine.run(Planner(engine.statistics).query(normal)))


def on_duckdb(db: duckdb.DuckDBPyConnection, query: Query) -> int:
    sql = query.sql
    if query.step:
        step = query.step.replace("frontier", "reached").replace("SELECT DISTINCT", "SELECT")
        sql = f"WITH RECURSIVE reached(oid) AS ({sql} UNION {step}) SELECT oid FROM reached"
    return len(db.sql(sql).to_arrow_table())


def on_spark(spark: SparkSession, query: Query) -> int:
    """Spark SQL as one would write it by hand; a closure step by step, the frontier in the driver."""
    found = spark.sql(query.sql).toArrow()
    if not query.step:
        return len(found)
    reached = set(found["oid"].to_pylist())
    frontier = reached
    while frontier:
        spark.createDataFrame([(oid,) for oid in frontier], "oid long").createOrReplaceTempView("frontier")
        frontier = set(spark.sql(query.step).toArrow()["oid"].to_pylist()) - reached
        reached |= frontier
    return len(reached)


def in_duckdb(state: State) -> duckdb.DuckDBPyConnection:
    """The files of the state as tables in memory."""
    db = duckdb.connect(config={"threads": 2})
    for name, files in (("edges", state.edge_files), ("objects", state.object_files)):
        db.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet(?)", [list(files)])
    return db


def in_spark(state: State) -> SparkSession:
    """The files of the state as tables of a session."""
    from oemviews.session import session

    spark = session("benchmark", master="local[2]")
    for name, files in (("edges", state.edge_files), ("objects", state.object_files)):
        spark.read.parquet(*files).createOrReplaceTempView(name)
    return spark


# ---- the run ----


def milliseconds(runs: Mapping[str, Callable[[], int]], times: int) -> dict[str, tuple[float, int]]:
    """Of each run the median of several rounds after two for warming up, and the rows.

    All run once in a round, so that what else the machine does falls on all of them alike.
    """
    rows = {name: run() for name, run in runs.items()}
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(times + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if number:
                taken[name].append(time.perf_counter() - start)
    return {name: (statistics.median(each) * 1000, rows[name]) for name, each in taken.items()}


def stored(edges: int, folder: Path) -> Store:
    store = Store.create(folder / "store")
    with store.writing():
        store.load(guide_graph(edges), what="benchmark")
    store.fold(force=True)
    return store


def compare(store: Store, *, with_spark: bool, times: int) -> None:
    state = store.state()
    start = time.perf_counter()
    LocalGraph.of_state(state, store.cache)
    built = time.perf_counter() - start
    start = time.perf_counter()
    graph = LocalGraph.of_state(state, store.cache)
    opened = time.perf_counter() - start
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{graph.edge_count:,} edges; index built in {built:.1f} s, opened in {opened * 1000:.0f} ms")
    local = LocalEngine({("", "new"): graph})
    db = in_duckdb(state)
    who: dict[str, Callable[[Query], int]] = {
        "local": lambda query: on_engine(local, query),
        "duckdb": lambda query: on_duckdb(db, query),
    }
    if with_spark:
        from oemviews.engines.spark.engine import SparkEngine
        from oemviews.engines.spark.graph import SparkGraph

        spark = in_spark(state)
        engine = SparkEngine(spark, {("", "new"): SparkGraph.of_state(spark, state)}, local.statistics)
        who["spark"] = lambda query: on_engine(engine, query)
        who["spark sql"] = lambda query: on_spark(spark, query)
    titles = "".join(f"{name + ' ms':>14}" for name in who)
    print(f"{'query':<18}{'rows':>10}{titles}{'local/duckdb':>14}" + ("    spark/sql" if with_spark else ""))
    for query in QUERIES:
        taken = milliseconds({name: partial(run, query) for name, run in who.items()}, times)
        counts = {rows for _, rows in taken.values()}
        assert len(counts) == 1, f"{query.name}: { ({name: rows for name, (_, rows) in taken.items()}) }"
        ms = {name: median for name, (median, _) in taken.items()}
        line = f"{query.name:<18}{counts.pop():>10,}" + "".join(f"{each:>14.1f}" for each in ms.values())
        line += f"{ms['local'] / ms['duckdb']:>13.2f}x"
        print(line + (f"{ms['spark'] / ms['spark sql']:>12.2f}x" if with_spark else ""), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument(
        "--spark", action="store_true", help="also the Spark engine and hand-written Spark SQL"
    )
    parser.add_argument(
        "--times", type=int, default=5, help="rounds of each query, of which the median counts"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = stored(given.edges, Path(folder))
        compare(store, with_spark=given.spark, times=given.times)


if __name__ == "__main__":
    main()
