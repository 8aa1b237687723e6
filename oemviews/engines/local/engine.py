"""The local engine: plans over graphs held in the process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lorel.normal import State
from lorel.plan import Plan
from oemviews.engines.local.graph import LocalGraph
from oemviews.engines.local.operators import execute
from oemviews.engines.local.running import Running, shared_parts
from oemviews.engines.local.statistics import LocalStatistics
from oemviews.engines.rows import NO_ROWS, Rows
from oemviews.store.values import Ints, Values


class LocalEngine:
    """Runs plans over graphs held in the process, each named by (graph, state)."""

    name: Literal["local", "spark"] = "local"

    def __init__(self, graphs: Mapping[tuple[str, State], LocalGraph]) -> None:
        self.graphs = graphs
        self.touched = 0

    @property
    def statistics(self) -> LocalStatistics:
        """Of the newest state of each graph."""
        return LocalStatistics(self.graphs)

    def run(
        self, plan: Plan, given: Mapping[str, Rows] = NO_ROWS, actual: dict[int, int] | None = None
    ) -> Rows:
        """The table that a plan gives. A part that occurs twice runs once."""
        running = Running(execute, self.graphs, given, shared_parts(plan), actual)
        rows = running(plan)
        self.touched += running.touched
        return rows

    def values(self, oids: Ints, graph: str = "", state: State = "new") -> Values:
        return self.graphs[graph, state].values(oids)
