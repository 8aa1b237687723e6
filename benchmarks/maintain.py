"""Keeping a view against computing it again, on a generated Guide.

For each view, kind of edit and size of batch: maintenance on the local engine (the change laid over the
graph and the view's delta, nothing stored) and the peers, which apply the same edits and compute the view
again: DuckDB over the same rows, the local engine, and Spark. Then the whole of `apply` with its commits.

    python benchmarks/maintain.py                                      1 M edges, a minute or two
    python benchmarks/maintain.py --edges 1000000 10000000 --spark --picture docs/pictures/maintain.svg
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from maintain_peers import Duck, milliseconds, spark_times
from maintain_picture import write_picture
from maintain_results import HEAD, Result, print_flatness, print_summary
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
from oemviews.views.materialise import Materialised, materialise

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
        again = replace(self.definition, policy="full")
        return Result(
            self.view.name,
            f"{kind} {label}",
            size,
            len(change),
            found.method,
            milliseconds(lambda: self.kept(self.definition, change), 15 if size <= 100 else 3),
            milliseconds(lambda: self.duck.apply_and_recompute(change, self.view.sql), 3),
            milliseconds(lambda: self.kept(again, change), 3),
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


def measured(edges: int, views: Sequence[View], seed: int, *, with_spark: bool) -> list[Result]:
    """All cases on a Guide of about so many edges, printed as they are found."""
    with tempfile.TemporaryDirectory(prefix="oemviews-bench-") as folder:
        path = Path(folder, "guide.store")
        store = Store.create(path)
        store.load(guide_graph(edges, seed), kind="load", what="Guide")
        built = milliseconds(lambda: LocalGraph.of_state(store.state(), store.cache), 1)
        opened = milliseconds(lambda: LocalGraph.of_state(store.state(), store.cache), 1)
        graph = LocalGraph.of_state(store.state(), store.cache)
        size = f"{graph.edge_count:,} edges, {graph.object_count:,} objects"
        print(f"\n{size}; index built in {built / 1000:.1f} s, opened again in {opened:.0f} ms.")
        print("Times in ms, then how many times slower than keeping the view.", HEAD, sep="\n")
        results = list(compared(views, store, graph, with_spark=with_spark))
        print_summary(results)
        if with_spark:
            print_on_spark(views, store, graph)
        print("\nthe whole of apply, with its durable commits, one view in the store (ms)")
        for name, batch, taken in durable_times(path, views, (1, 100, 10_000)):
            print(f"{name:<9}{batch:>8,}{taken:>10.1f}", flush=True)
    return results


def print_on_spark(views: Sequence[View], store: Store, graph: LocalGraph) -> None:
    """Batches of one per cent of the edges, both ways on Spark."""
    from maintain_spark import HEAD_ON_SPARK, spark_deltas

    names = Catalog(frozenset({"Guide"}))
    definitions = [define(f"define view {v.name} = {v.body}", names, "incremental") for v in views]

    def change_of(kind: str, label: str, size: int) -> NetChange:
        return net_of(graph, edits_of(graph, kind, label, size, seed=size))

    print(
        "\na delta of 1 % of the edges on Spark against recomputation on Spark (ms)", HEAD_ON_SPARK, sep="\n"
    )
    for result in spark_deltas(store, graph, views, definitions, change_of):
        print(result.line(), flush=True)


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


def main() -> None:
    parser = argparse.ArgumentParser(description="Keeping a view against computing it again.")
    parser.add_argument("--edges", type=int, nargs="+", default=[1_000_000], help="one size or several")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true", help="also recompute on Spark")
    parser.add_argument("--views", nargs="*", default=[view.name for view in VIEWS])
    parser.add_argument("--picture", type=Path, help="draw the times of the last size into this SVG file")
    asked = parser.parse_args()
    views = [view for view in VIEWS if view.name in asked.views]
    runs = [measured(edges, views, asked.seed, with_spark=asked.spark) for edges in asked.edges]
    if len(runs) > 1:
        print_flatness(asked.edges[0], runs[0], asked.edges[-1], runs[-1])
    if asked.picture:
        write_picture(asked.picture, asked.edges[-1], runs[-1])


if __name__ == "__main__":
    main()
