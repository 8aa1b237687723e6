"""A batch of one per cent of the edges on the Spark engine, against computing again on Spark.

Both sides run in one session, warm, over the same files with the same change laid over them. *Kept* is the
whole delta of the view as it is stored; *view* evaluates again all that a view is (rows, what its with paths
bring along, values, RelevantOids), *rows* its rows alone. *Jobs* are the Spark jobs behind one delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from maintain_peers import milliseconds
from maintain_views import View

from lorel.normal import State
from oemviews.edits import NetChange
from oemviews.engines.engine import Engine
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.engines.spark.engine import SparkEngine
from oemviews.engines.spark.graph import SparkGraph
from oemviews.maintain.changes import changes_of
from oemviews.maintain.delta import ViewDelta
from oemviews.maintain.maintain import maintain
from oemviews.session import session
from oemviews.store.store import Store
from oemviews.views.definition import Definition
from oemviews.views.materialise import materialise, rows_of
from oemviews.views.state import ViewState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEAD_ON_SPARK = (
    f"{'view':<9}{'edit':<15}{'edits':>8}  {'method':<9}{'kept':>8}{'jobs':>6}"
    f"{'view':>8}{'/kept':>8}{'rows':>8}{'/kept':>8}"
)


@dataclass(frozen=True)
class OnSpark:
    """One line; times in milliseconds."""

    view: str
    edit: str
    size: int
    method: str
    kept: float
    jobs: int
    rows: float
    whole: float

    def line(self) -> str:
        again = "".join(f"{ms:>8.0f}{ms / self.kept:>7.1f}x" for ms in (self.whole, self.rows))
        what = f"{self.view:<9}{self.edit:<15}{self.size:>8,}  {self.method:<9}"
        return f"{what}{self.kept:>8.0f}{self.jobs:>6}{again}"


def spark_deltas(
    store: Store,
    graph: LocalGraph,
    views: Sequence[View],
    definitions: Sequence[Definition],
    change_of: Callable[[str, str, int], NetChange],
    times: int = 3,
) -> Iterator[OnSpark]:
    """For each view and kind of edit one line; `change_of` makes so many edits of a kind at a label."""
    spark = session("benchmark")
    base = SparkGraph.of_state(spark, store.state())
    local = LocalEngine({("", "new"): graph})
    for view, definition in zip(views, definitions, strict=True):
        state = materialise(definition, local).state
        for kind, label in view.edits:
            change = change_of(kind, label, graph.edge_count // 100)
            graphs: dict[tuple[str, State], SparkGraph] = {
                ("", "old"): base,
                ("", "new"): base.apply(change),
            }
            engine = SparkEngine(spark, graphs, local.statistics)

            kept = partial(_kept, definition, state, engine, change)
            method, jobs = kept().report.method, jobs_of(spark, kept)
            _whole(definition, engine)  # all that is timed has run before
            yield OnSpark(
                view.name,
                f"{kind} {label}",
                len(change),
                method,
                milliseconds(kept, times),
                jobs,
                milliseconds(partial(rows_of, definition, engine), times),
                milliseconds(partial(_whole, definition, engine), 1),
            )


def _kept(definition: Definition, state: ViewState, engine: Engine, change: NetChange) -> ViewDelta:
    delta = maintain(definition, state, engine, changes_of({"": change}))
    len(delta.table)
    return delta


def _whole(definition: Definition, engine: Engine) -> int:
    return len(materialise(definition, engine).table)


def jobs_of(spark: SparkSession, run: Callable[[], object]) -> int:
    """How many actions a piece of work starts."""
    context = spark.sparkContext
    context.setJobGroup(f"counted {id(run)}", "counted")
    try:
        run()
        return len(context.statusTracker().getJobIdsForGroup(f"counted {id(run)}"))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
