"""One run of one plan: its graphs, the rows handed in, and the parts that are done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from lorel import plan as op
from lorel.normal import State
from lorel.plan import Plan
from oemviews.engines.local.graph import LocalGraph
from oemviews.engines.rows import Rows
from oemviews.store.values import Ints, Values

_SHARED: Final[dict[int, tuple[Plan, frozenset[int]]]] = {}
"""By `id`, with the plan itself so that the `id` stays its own: prepared plans run again and again."""

_MOST_KEPT: Final = 4096


def shared_parts(plan: Plan) -> frozenset[int]:
    """The operators, by `id`, that more than one other takes as its input."""
    known = _SHARED.get(id(plan))
    if known is not None:
        return known[1]
    used: Counter[int] = Counter()
    todo = [plan]
    while todo:
        node = todo.pop()
        used[id(node)] += 1
        if used[id(node)] == 1:
            todo += op.children(node)
    shared = frozenset(part for part, times in used.items() if times > 1)
    if len(_SHARED) >= _MOST_KEPT:
        _SHARED.clear()
    _SHARED[id(plan)] = plan, shared
    return shared


class Running:
    """One run of one plan."""

    def __init__(
        self,
        execute: Callable[[Plan, Running], Rows],
        graphs: Mapping[tuple[str, State], LocalGraph],
        given: Mapping[str, Rows],
        shared: frozenset[int],
        actual: dict[int, int] | None,
    ) -> None:
        self.graphs, self.given, self._shared, self._actual = graphs, given, shared, actual
        self._execute = execute
        self.touched = 0
        self._done: dict[int, Rows] = {}

    def __call__(self, plan: Plan) -> Rows:
        known = self._done.get(id(plan))
        if known is not None:
            return known
        rows = self._execute(plan, self)
        self.touched += len(rows)
        if id(plan) in self._shared:
            self._done[id(plan)] = rows
        if self._actual is not None:
            self._actual[id(plan)] = len(rows)
        return rows

    def graph(self, name: str, state: State) -> LocalGraph:
        return self.graphs[name, state]

    def values_at(self, oids: Ints, graph: str, state: State) -> Values:
        return self.graphs[graph, state].values(oids)
