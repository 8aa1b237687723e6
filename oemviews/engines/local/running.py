"""Plans made ready to run, and one run of them: graphs, rows handed in, and the parts that are done.

A plan becomes a list of its operators, each after its inputs: it may be thousands of operators deep, and a
prepared plan runs again and again. Rows are let go as soon as nobody takes them any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from lorel import plan as op
from lorel.normal import State
from lorel.plan import Plan
from oemviews.engines.local.adjacency import NO_INTS
from oemviews.engines.local.graph import LocalGraph
from oemviews.engines.local.region import Region
from oemviews.engines.rows import Rows
from oemviews.store.values import Ints, Values


class Turn(NamedTuple):
    """One operator of a program.

    If it is `vital` and gives no rows, the whole plan gives none. If `compared` has no rows, the next turn
    is at `past`: what no row would be compared with does not run. Rows in `free` are not taken after it.
    """

    node: Plan
    run: Callable[[Plan, Running], Rows]
    vital: bool
    compared: int | None = None
    past: int = 0
    free: tuple[int, ...] = ()


class Program(NamedTuple):
    """A plan in the order in which it runs."""

    turns: tuple[Turn, ...]
    columns: tuple[str, ...]


_KNOWN: Final[dict[int, tuple[Plan, Program]]] = {}
"""By `id`, with the plan itself so that the `id` stays its own."""

_MOST_KEPT: Final = 4096


def program_of(plan: Plan, execute: Callable[[type], Callable[[Plan, Running], Rows]]) -> Program:
    """The program of a plan; `execute` has the function of each kind of operator."""
    known = _KNOWN.get(id(plan))
    if known is None:
        if len(_KNOWN) >= _MOST_KEPT:
            _KNOWN.clear()
        known = _KNOWN[id(plan)] = plan, _program(plan, execute)
    return known[1]


def _program(plan: Plan, execute: Callable[[type], Callable[[Plan, Running], Rows]]) -> Program:
    order = list(op.inputs_first(plan))
    inputs = {id(node): tuple(op.children(node)) for node in order}
    place = {id(node): i for i, node in enumerate(order)}
    last = {id(part): i for i, node in enumerate(order) for part in inputs[id(node)]}
    vital = _vital(plan, inputs)
    free: dict[int, list[int]] = {}
    for part, i in last.items():
        free.setdefault(i, []).append(part)
    turns = [
        Turn(node, execute(type(node)), id(node) in vital, free=tuple(free.get(i, ())))
        for i, node in enumerate(order)
    ]
    for i, node in enumerate(order):
        if isinstance(node, op.Semi | op.Anti):
            begin = place[id(node.left)] + 1
            if begin < i and all(last[id(part)] <= i for part in order[begin:i]):
                turns[begin] = turns[begin]._replace(compared=id(node.left), past=i)
    return Program(tuple(turns), op.columns(plan))


def _vital(plan: Plan, inputs: Mapping[int, tuple[Plan, ...]]) -> frozenset[int]:
    """The operators, by `id`, without whose rows the plan gives none."""
    found: set[int] = set()
    todo = [plan]
    while todo:
        node = todo.pop()
        if id(node) not in found:
            found.add(id(node))
            if not isinstance(node, op.Union):
                todo += inputs[id(node)][:1] if isinstance(node, op.Anti | op.Aggregate) else inputs[id(node)]
    return frozenset(found)


class Running:
    """Runs over the same rows handed in. If programs share parts, what is done is kept for the next one."""

    def __init__(
        self,
        graphs: Mapping[tuple[str, State], LocalGraph],
        given: Mapping[str, Rows],
        actual: dict[int, int] | None = None,
        *,
        keep: bool = False,
    ) -> None:
        self.graphs, self.given, self._actual, self._keep = graphs, given, actual, keep
        self.touched = 0
        self.walked: dict[int, tuple[Ints, Region]] = {}  # what walks of closures have passed, for those back
        self._done: dict[int, Rows] = {}

    def rows(self, program: Program, *, of_objects: bool = False) -> Rows:
        """Run a program. If its columns hold objects, as is then known, it ends where nothing can come."""
        done, turns, i = self._done, program.turns, 0
        while i < len(turns):
            turn = turns[i]
            i += 1
            if turn.compared is not None and not len(done[turn.compared]):
                i = turn.past
                continue
            key = id(turn.node)
            if self._keep and key in done:
                continue
            rows = done[key] = turn.run(turn.node, self)
            self.touched += len(rows.counts)
            if self._actual is not None:
                self._actual[key] = len(rows)
            if turn.vital and of_objects and not len(rows.counts):
                return Rows(dict.fromkeys(program.columns, NO_INTS), NO_INTS)
            if not self._keep:
                for part in turn.free:
                    done.pop(part, None)
        return done[id(turns[-1].node)]

    def __call__(self, plan: Plan) -> Rows:
        """The rows of an input, which has run."""
        return self._done[id(plan)]

    def graph(self, name: str, state: State) -> LocalGraph:
        return self.graphs[name, state]

    def values_at(self, oids: Ints, graph: str, state: State) -> Values:
        return self.graphs[graph, state].values(oids)
