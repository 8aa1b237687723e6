"""The local engine: plans over graphs held in the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from lorel.normal import State
from lorel.plan import Plan
from oemviews.engines.local.graph import LocalGraph
from oemviews.engines.local.operators import execute
from oemviews.engines.local.running import Running, program_of
from oemviews.engines.local.statistics import LocalStatistics
from oemviews.engines.rows import NO_ROWS, Rows
from oemviews.pulse import PULSE
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
        running = PULSE.running = Running(self.graphs, given, actual)
        try:
            return running.rows(program_of(plan, execute.dispatch))
        finally:
            self.touched += running.touched
            PULSE.ran(running.touched)

    def run_all(self, runs: Sequence[tuple[Plan, Mapping[str, Rows]]]) -> list[Rows]:
        """The same for plans that follow each other; those with the very same rows handed in share parts."""
        found = []
        running: Running | None = None
        for i, (plan, given) in enumerate(runs):
            if running is None or running.given is not given:
                keep = i + 1 < len(runs) and runs[i + 1][1] is given
                running = Running(self.graphs, given, keep=keep)
            before = running.touched
            found.append(running.rows(program_of(plan, execute.dispatch), of_objects=True))
            self.touched += running.touched - before
            PULSE.ran(running.touched - before)
        return found

    def values(self, oids: Ints, graph: str = "", state: State = "new") -> Values:
        return self.graphs[graph, state].values(oids)
