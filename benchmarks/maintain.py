"""Keeping a view against computing it again, on a generated Guide.

For each view, kind of edit and size of batch: maintenance on the local engine (the change laid over the
graph and the view's delta, nothing stored) and the peers, which apply the same edits and compute the view
again: DuckDB over the same rows, the local engine, and Spark. Then the whole of `apply` with its commits.

    python benchmarks/maintain.py                                      1 M edges, a minute or two
    python benchmarks/maintain.py --edges 10000000 --spark --picture docs/pictures/maintain.svg
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np
from maintain_picture import write_picture
from maintain_views import NEW_VALUES, VIEWS, View

import oemviews as ov
from datasets.generate import guide_graph
from lorel.normal import Labels
from lorel.scope import Catalog
from oemviews.batch import net_change
from oemviews.edits import Edit, NetChange
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.maintain.changes import changes_of
from oemviews.maintain.delta import ViewDelta
from oemviews.maintain.maintain import maintain
from oemviews.store.store import Store
from oemviews.views.definition import Definition, define
from oemviews.views.materialise import Materialised, materialise, rows_of


@dataclass(frozen=True)
class Result:
    """One line of the table; times in milliseconds."""

    view: str
    edit: str
    size: int
    method: str
    kept: float
    duck: float
    local: float
    spark: float | None
    rows: int
    dismissed: float
    auto: str

    @property
    def auto_was_right(self) -> bool:
        return (self.auto == "full") == (self.local < self.kept)

    def line(self) -> str:
        spark = f"{self.spark / self.kept:>9,.0f}x" if self.spark else f"{'-':>10}"
        ratios = f"{self.duck / self.kept:>9,.1f}x{self.local / self.kept:>8,.1f}x{spark}"
        return (
            f"{self.view:<9}{self.edit:<15}{self.size:>8,}  {self.method:<9}{self.kept:>9.2f}"
            f"{self.duck:>8.0f}{self.local:>8.1f}{ratios}{self.rows:>11,}{self.dismissed:>7.0%}  {self.auto}"
        )


HEAD = (
    f"{'view':<9}{'edit':<15}{'edits':>8}  {'method':<9}{'kept':>9}{'duckdb':>8}{'local':>8}"
    f"{'/duckdb':>10}{'/local':>9}{'/spark':>10}{'rows':>11}{'dism.':>7}  auto"
)


# ---- edits ----


def edits_of(graph: LocalGraph, kind: str, label: str, size: int, seed: int) -> list[Edit]:
    """Random edits of one kind: deletions of edges that are there, insertions between ends of such edges."""
    rng = np.random.default_rng(seed)
    src, _, dst = graph.scan(Labels(label))
    at = rng.choice(len(src), size=min(size, len(src)), replace=False)
    if kind == "del":
        return [ov.Delete(int(a), label, int(b)) for a, b in zip(src[at], dst[at], strict=True)]
    if kind == "ins":
        # Nearby the other way round stays in its district; random edges would join all districts into one.
        ends = src[at] if label == "Nearby" else dst[rng.integers(len(dst), size=len(at))]
        starts = dst[at] if label == "Nearby" else src[at]
        return [ov.Insert(int(a), label, int(b)) for a, b in zip(starts, ends, strict=True)]
    new = NEW_VALUES[label]
    return [ov.Change(int(oid), new[i % len(new)]) for i, oid in enumerate(np.unique(dst[at]))]


def net_of(graph: LocalGraph, edits: Sequence[Edit]) -> NetChange:
    placed = [(str(i), edit) for i, edit in enumerate(edits)]
    return net_change(placed, graph, {}, graph.oid_bound, 0).change


def milliseconds(run: Callable[[], object], times: int) -> float:
    """The median of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


# ---- peers ----


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


# ---- the runs ----


@dataclass(frozen=True)
class Bench:
    """A view made ready: its definition, what it holds, and the peers."""

    view: View
    definition: Definition
    made: Materialised
    graph: LocalGraph
    duck: Duck
    spark: float | None

    def kept(self, definition: Definition, change: NetChange) -> ViewDelta:
        """Nothing is installed, so every run starts from the same view."""
        engine = LocalEngine({("", "old"): self.graph, ("", "new"): self.graph.apply(change)})
        delta = maintain(definition, self.made.state, engine, changes_of({"": change}))
        len(delta.table)
        return delta

    def case(self, kind: str, label: str, size: int) -> Result:
        change = net_of(self.graph, edits_of(self.graph, kind, label, size, seed=size))
        found = self.kept(self.definition, change).report  # also makes the plans, once
        auto = self.kept(replace(self.definition, policy="auto"), change).report.method
        after = LocalEngine({("", "new"): self.graph.apply(change)})
        return Result(
            self.view.name,
            f"{kind} {label}",
            len(change),
            found.method,
            milliseconds(lambda: self.kept(self.definition, change), 15 if size <= 100 else 3),
            milliseconds(lambda: self.duck.apply_and_recompute(change, self.view.sql), 3),
            milliseconds(lambda: rows_of(self.definition, after), 3),
            self.spark,
            found.rows,
            sum(found.dismissed.values()) / max(1, len(change)),
            auto,
        )


def durable_times(
    path: Path, views: Sequence[View], sizes: Sequence[int]
) -> Iterator[tuple[str, int, float]]:
    """The whole of `apply`, one view in the store: net change, log commit, maintenance, the view's commit."""
    with ov.open(path, engine="local") as db:
        for view in views:
            db.define(f"define view {view.name} = {view.body}")
            graph = LocalGraph.of_state(Store.open(path).state())
            kind, label = view.edits[0]
            for size in sizes:
                batches = iter([edits_of(graph, kind, label, size, seed) for seed in range(1000, 1016)])
                db.apply(next(batches))
                batches_run = 15 if size <= 100 else 3
                yield (
                    view.name,
                    size,
                    milliseconds(lambda batches=batches: db.apply(next(batches)), batches_run),
                )  # type: ignore[misc]
            db.drop(view.name)


def main() -> None:
    parser = argparse.ArgumentParser(description="Keeping a view against computing it again.")
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true", help="also recompute on Spark")
    parser.add_argument("--views", nargs="*", default=[view.name for view in VIEWS])
    parser.add_argument("--picture", type=Path, help="draw the times into this SVG file")
    asked = parser.parse_args()
    views = [view for view in VIEWS if view.name in asked.views]
    with tempfile.TemporaryDirectory(prefix="oemviews-bench-") as folder:
        path = Path(folder, "guide.store")
        store = Store.create(path)
        store.load(guide_graph(asked.edges, asked.seed), kind="load", what="Guide")
        built = milliseconds(lambda: LocalGraph.of_state(store.state(), store.cache), 1)
        opened = milliseconds(lambda: LocalGraph.of_state(store.state(), store.cache), 1)
        graph = LocalGraph.of_state(store.state(), store.cache)
        size = f"{graph.edge_count:,} edges, {graph.object_count:,} objects"
        print(f"{size}; index built in {built / 1000:.1f} s, opened again in {opened:.0f} ms.")
        print("Times in ms, then how many times slower than keeping the view.", HEAD, sep="\n")
        results = list(compared(views, store, graph, with_spark=asked.spark))
        right = sum(result.auto_was_right for result in results)
        better = f"{right} of {len(results)} cases"
        print(f"\npolicy auto took the faster of keeping and recomputing locally in {better}")
        print("\nthe whole of apply, with its durable commits, one view in the store (ms)")
        for name, size, taken in durable_times(path, views, (1, 100, 10_000)):
            print(f"{name:<9}{size:>8,}{taken:>10.1f}", flush=True)
    if asked.picture:
        write_picture(asked.picture, graph.edge_count, results)


def compared(views: Sequence[View], store: Store, graph: LocalGraph, *, with_spark: bool) -> Iterator[Result]:
    duck, names = Duck(graph), Catalog(frozenset({"Guide"}))
    definitions = [define(f"define view {v.name} = {v.body}", names, "incremental") for v in views]
    spark = list(spark_times(store, definitions)) if with_spark else [None] * len(views)
    for view, definition, spark_ms in zip(views, definitions, spark, strict=True):
        made = materialise(definition, LocalEngine({("", "new"): graph}))
        mine, theirs = len(made.state.rows), duck.recompute(view.sql)
        assert mine == theirs, f"{view.name}: {mine} rows here, {theirs} in DuckDB"
        bench = Bench(view, definition, made, graph, duck, spark_ms)
        for kind, label in view.edits:
            for size in (1, 100, 10_000, graph.edge_count // 100):
                result = bench.case(kind, label, size)
                print(result.line(), flush=True)
                yield result


if __name__ == "__main__":
    main()
