"""What `maintain.py` compares with: the same edits applied and the view computed again, on other engines."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import duckdb

from oemviews.edits import NetChange
from oemviews.engines.local import LocalGraph
from oemviews.store.store import Store
from oemviews.views.definition import Definition
from oemviews.views.materialise import rows_of


def milliseconds(run: Callable[[], object], times: int) -> float:
    """The median of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


class Duck:
    """DuckDB over the same rows: apply the net change, compute the view again, all in memory."""

    def __init__(self, graph: LocalGraph) -> None:
        self.db = duckdb.connect(config={"threads": 2})
        edges, objects = graph.tables()
        self.db.register("e", edges.select(["src", "label", "dst"]))
        self.db.register("o", objects.select(["oid", "type", "text", "number"]))
        self.db.execute("CREATE TABLE edges AS SELECT * FROM e; CREATE TABLE objects AS SELECT * FROM o")

    def recompute(self, sql: str) -> int:
        return len(self.db.execute(sql).fetchall())

    def apply_and_recompute(self, change: NetChange, sql: str) -> None:
        self.db.register("plus", change.plus.select(["src", "label", "dst"]))
        self.db.register("minus", change.minus.select(["src", "label", "dst"]))
        self.db.register("changed", change.changed.select(["oid", "type", "text", "number"]))
        self.db.execute("BEGIN")
        if len(change.plus):
            self.db.execute("INSERT INTO edges SELECT * FROM plus")
        if len(change.minus):
            same = "edges.src = m.src AND edges.label = m.label AND edges.dst = m.dst"
            self.db.execute(f"DELETE FROM edges USING minus m WHERE {same}")
        if len(change.changed):
            new = "type = c.type, text = c.text, number = c.number"
            self.db.execute(f"UPDATE objects SET {new} FROM changed c WHERE objects.oid = c.oid")
        self.recompute(sql)
        self.db.execute("ROLLBACK")


def spark_times(store: Store, definitions: Sequence[Definition]) -> Iterator[float]:
    """Recomputation of each view on Spark, warm, without applying anything."""
    from oemviews.engines.spark.engine import SparkEngine
    from oemviews.engines.spark.graph import SparkGraph
    from oemviews.session import session

    spark = session()
    engine = SparkEngine(spark, {("", "new"): SparkGraph.of_state(spark, store.state())})
    for definition in definitions:
        rows_of(definition, engine)
        yield milliseconds(lambda definition=definition: rows_of(definition, engine), 2)  # type: ignore[misc]
