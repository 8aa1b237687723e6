"""What an engine is: it runs a plan over graphs in the state before a batch and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from lorel.normal import State
from lorel.plan import Plan
from lorel.planner import Statistics
from oemviews.engines.rows import NO_ROWS, Rows
from oemviews.store.values import Ints, Values


class Engine(Protocol):
    """Two of them exist, and both run every plan with the same answer.

    A graph is named as in `Step.graph`: "" is the base graph, any other name a view's.
    """

    touched: int  # rows that operators have given since the engine was made, for reports

    @property
    def name(self) -> Literal["local", "spark"]: ...

    @property
    def statistics(self) -> Statistics:
        """What the planner should plan with."""

    def run(
        self, plan: Plan, given: Mapping[str, Rows] = NO_ROWS, actual: dict[int, int] | None = None
    ) -> Rows:
        """The table that a plan gives; `given` are the rows of its `Given` operators.

        `actual`, if handed in, is filled with the rows each operator gave, by `id(operator)`, for `explain`.
        """

    def run_all(self, runs: Sequence[tuple[Plan, Mapping[str, Rows]]]) -> list[Rows]:
        """The tables that several plans give, each with its given rows, in one go.

        All their columns hold objects. Rows handed in under one name by several runs need not be the same; if
        two runs are given the very same mapping, what their plans have in common need not run twice.
        """

    def values(self, oids: Ints, graph: str = "", state: State = "new") -> Values:
        """The values of objects, in the order of `oids`; MISSING where there is no such object."""
