"""Views of what walks reach: `select n from Guide.Restaurant r, r(.Nearby)+ n where r.Price < 6`.

The rows of such a view are its starts' whole reach, and nothing more is asked of them. So they tell what was
reached before the batch, and it is enough to look where something changed. With W for the rows, and starts
that are or were objects which the rest of the statement holds for:

    doubtful   what walks in the old state lead to from the far ends of edges that went and from starts that
               are none any more: all that could be lost, for it depended on them. If that is much, it is
               first looked back from those ends for a start: what is beyond one that has it stays
    kept       what is doubtful and has an edge from W less the doubtful, or from a start; and what walks
               inside the doubtful lead to from there, all in the new state
    came       what walks in the new state lead to from far ends of edges that came and from new starts,
               never on from an object that is reached anyway

    W' = W - (doubtful - kept) + came

No walk goes beyond what is doubtful or new and its neighbours, whatever the size of the graph or of W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from typing import Final, TypeAlias

import numpy as np

from lorel.beyond import taken_apart
from lorel.normal import Automaton, Block, Branch, Labels, Normal, ObjectItem, State, Step, Within
from lorel.plan import Expand, Given, Plan
from lorel.planner import Planner, conjunctions
from oemviews.engines.engine import Engine
from oemviews.engines.local.adjacency import unique
from oemviews.engines.local.keys import member as _among
from oemviews.engines.local.region import Met
from oemviews.engines.rows import Rows
from oemviews.maintain.relevance import Relevance
from oemviews.maintain.statements import size_class
from oemviews.pulse import PULSE
from oemviews.store.values import Bools, Ints
from oemviews.views.state import ViewState
from oemviews.views.walks import array_of

_STARTS: Final = "starts"
_FROM: Final = "from"
_FEW: Final = 64
_SEEDS: Final = 16
_MUCH: Final = 256
_PROOFS: Final = 64
"""If so few objects make more than so many doubtful, it is first tried to prove that they are reached, and if
they are not, those next to them, for so many objects."""
_NONE: Final = np.zeros(0, np.int64)

Test: TypeAlias = Callable[[Ints], Bools]


@dataclass(frozen=True, eq=False)
class Reach:
    """The walk of such a view: which labels lead from a start to the first object, and which on from there.

    With no first labels a start is reached itself. `starts` is the statement that gives the starts.
    """

    step: Step
    first: tuple[Labels, ...]
    on: tuple[Labels, ...]
    starts: Block
    plans: dict[int, Plan] = field(default_factory=dict)

    @property
    def start(self) -> str:
        return self.step.src

    def walks(self, found: Relevance) -> int:
        """How often edges that came, or went, can be taken by a walk."""
        return sum(
            1 for sign in (-1, 1) for first in (True, False) for _ in self.edges(found, sign, first=first)
        )

    def edges(self, found: Relevance, sign: int, *, first: bool) -> Iterator[tuple[Ints, Ints]]:
        """The changed edges that can be the first of a walk, or a later one: near ends and far ends."""
        for port, met in found.edges.items():
            if port.part != "prim" or port.variable != self.step.dst or port.move is None:
                continue
            if (port.move[0] == 0 and bool(self.first)) == first:
                part = met.came if sign > 0 else met.went
                if len(part):
                    yield part.src, part.dst

    def price(self, engine: Engine, state: ViewState, found: Relevance) -> float:
        """How many rows the walks are expected to touch."""
        assert isinstance(self.step.path, Automaton)
        reach = engine.statistics.reach(self.step.path, self.step.graph, True)
        passed = max(1, *(len(oids) for key, oids in state.relevant.items() if key.startswith(self._keys)))
        share = min(1.0, len(state.rows) / passed)
        went, came = (
            sum(len(src) for first in (True, False) for src, _ in self.edges(found, sign, first=first))
            for sign in (-1, 1)
        )
        lost = min(float(len(state.rows)), went * share * reach)
        if went <= _SEEDS:  # in a big component most edges are not the only way to anything
            lost = min(lost, float(went * _MUCH))
        won = min(float(passed - len(state.rows)), came * share * (1.0 - share) * reach)
        return went + came + 2.0 * lost + max(0.0, won)

    @property
    def _keys(self) -> str:
        return f"{self.step.dst}/"

    def starts_plan(self, engine: Engine, size: int) -> Plan:
        """The plan that says which of about so many objects are starts."""
        size = size_class(size)
        known = self.plans.get(size)
        if known is None:
            within = Branch(within=(Within((self.start,), _STARTS),))
            block = replace(self.starts, from_=within)
            known = Planner(engine.statistics, {_STARTS: float(size)}).bindings(block, (self.start,))
            self.plans[size] = known
        return known


def reach_of(block: Normal) -> Reach | None:
    """The walk that a statement's rows are the whole reach of, if it is such a statement."""
    if not isinstance(block, Block) or len(block.select) != 1 or block.distinct or block.grouped:
        return None
    item = block.select[0]
    if not isinstance(item, ObjectItem):
        return None
    apart = [taken_apart(branch, (item.var,)) for branch in conjunctions(block)]
    steps = {beyond[0].step for rest, beyond in apart if rest == Branch() and len(beyond) == 1}
    if len(steps) != 1 or any(rest != Branch() or len(beyond) != 1 for rest, beyond in apart):
        return None
    step = steps.pop()
    path = step.path
    assert isinstance(path, Automaton)
    if step.dst != item.var or path.accepting != {path.states - 1} or path.states > 2:
        return None
    if path.states == 2 and any(q == 0 for _, _, q in path.moves):
        return None
    starts = tuple(beyond[0].branch for _, beyond in apart)
    first = tuple(labels for p, labels, _ in path.moves if p == 0) if path.states == 2 else ()
    on = tuple(labels for p, labels, _ in path.moves if p == path.states - 1)
    return Reach(step, first, on, Block((ObjectItem(step.src, step.src),), Branch(), starts))


# ---- a batch ----


def changes(
    reach: Reach, engine: Engine, state: ViewState, found: Relevance, suspects: Sequence[tuple[State, Ints]]
) -> tuple[Ints, Ints]:
    """The objects that come and that go. `suspects` are objects that were starts, or are, in either state."""
    batch = _Batch(reach, engine, _Held(state), found)
    old, new = (_joined(oids for at, oids in suspects if at == which) for which in ("old", "new"))
    starts = batch.starts(_joined((old, new)))
    doubtful = batch.doubtful(old[~_among(old, starts)])
    kept = batch.kept(doubtful)
    came = batch.came(starts, lambda oids: batch.stays(oids, doubtful, kept))
    lost, won = doubtful.oids(), came.oids()
    return won[~batch.held(won)], lost[~kept.among(lost) & ~came.among(lost)]


@dataclass(frozen=True, slots=True)
class _Batch:
    reach: Reach
    engine: Engine
    held: _Held
    found: Relevance

    def doubtful(self, lost: Ints) -> Met:
        """Everything that could have depended on an edge that went, or on a start that is none any more."""
        reach = self.reach
        seeds = [dst[self.held(src)] for src, dst in reach.edges(self.found, -1, first=False)]
        seeds += [dst[self.held(dst)] for _, dst in reach.edges(self.found, -1, first=True)]
        if len(lost):
            below = self.ends(lost, reach.first, "old")[1] if reach.first else lost
            seeds.append(below[self.held(below)])
        from_ = unique(_joined(seeds))
        if len(from_) > _SEEDS:
            return self.walked(Met(), from_, "old")
        found = self.walked(Met(), from_, "old", most=_MUCH)
        if len(found) <= _MUCH:
            return found
        unproved, asked = Met(), Met()
        while len(from_ := asked.fresh(from_)) and len(asked) <= _PROOFS:
            unsure = unproved.fresh(np.array([o for o in from_.tolist() if not self.proved(o)], np.int64))
            from_ = self.ends(unsure, reach.on, "old")[1]
        return self.walked(unproved, from_, "old")

    def proved(self, oid: int) -> bool:
        """Whether an object is seen to be reached from a start in the new state, looking not too far back."""
        reach, met, level = self.reach, Met(), np.array([oid], np.int64)
        while len(met) <= _MUCH and len(level := met.fresh(level)):
            before = self.ends(level, reach.first, "new", forward=False)[1] if reach.first else level
            if len(self.starts(before)):
                return True
            level = self.ends(level, reach.on, "new", forward=False)[1]
        return False

    def kept(self, doubtful: Met) -> Met:
        """What is doubtful and still reached: from what is not doubtful, or from a start."""
        kept = Met()
        if not len(doubtful):
            return kept
        reach, inside = self.reach, doubtful.among
        dst, src = self.ends(doubtful.oids(), reach.on, "new", forward=False)
        sure = self.held(src) & ~inside(src)
        self.walked(kept, dst[sure], "new", inside)
        left = doubtful.oids()
        left = left[~kept.among(left)]
        if len(left) and not reach.first:
            self.walked(kept, self.starts(left), "new", inside)
        elif len(left):
            dst, src = self.ends(left, reach.first, "new", forward=False)
            self.walked(kept, dst[_among(src, self.starts(src))], "new", inside)
        return kept

    def stays(self, oids: Ints, doubtful: Met, kept: Met) -> Bools:
        """Which objects were reached before and are still."""
        return self.held(oids) & (~doubtful.among(oids) | kept.among(oids))

    def came(self, starts: Ints, stays: Test) -> Met:
        """Everything that is reached anew from an edge that came, or from a start."""
        reach = self.reach
        seeds = [dst[stays(src)] for src, dst in reach.edges(self.found, 1, first=False)]
        for src, dst in reach.edges(self.found, 1, first=True):
            open_ = ~stays(dst)
            src, dst = src[open_], dst[open_]
            seeds.append(dst[_among(src, self.starts(src))])
        if len(starts):
            seeds.append(self.ends(starts, reach.first, "new")[1] if reach.first else starts)
        return self.walked(Met(), _joined(seeds), "new", lambda oids: ~stays(oids))

    # ---- steps ----

    def walked(
        self, met: Met, seeds: Ints, state: State, inside: Test | None = None, most: float = inf
    ) -> Met:
        """`met`, and what walks lead to from some objects, themselves included, as far as it is inside.

        It ends when there are more than `most`.
        """
        while len(seeds) and len(met) <= most:
            PULSE.levels += 1
            fresh = met.fresh(seeds if inside is None else seeds[inside(seeds)])
            seeds = self.ends(fresh, self.reach.on, state)[1] if len(fresh) else _NONE
        return met

    def ends(
        self, oids: Ints, labels: Iterable[Labels], state: State, *, forward: bool = True
    ) -> tuple[Ints, Ints]:
        """The edges of some objects: their ends there, and their other ends."""
        given = {_FROM: Rows.of_set("near", oids)}
        graph = self.reach.step.graph
        found = [self.engine.run(_one_step(each, graph, state, forward), given) for each in labels]
        return _joined(rows.oids("near") for rows in found), _joined(rows.oids("far") for rows in found)

    def starts(self, oids: Ints) -> Ints:
        """Those of some objects that are starts in the new state."""
        if not len(oids):
            return oids
        oids = unique(oids)
        plan = self.reach.starts_plan(self.engine, len(oids))
        return self.engine.run(plan, {_STARTS: Rows.of_set(self.reach.start, oids)}).oids(self.reach.start)


class _Held:
    """Which objects are rows of the view."""

    __slots__ = ("_marks", "_oids")

    def __init__(self, state: ViewState) -> None:
        self._oids = state.columns[0].oids
        self._marks: Met | None = None

    def __call__(self, oids: Ints) -> Bools:
        if self._marks is None:
            if len(oids) < _FEW or len(oids) * _FEW < len(self._oids):
                return np.fromiter((oid in self._oids for oid in oids.tolist()), np.bool_, len(oids))
            self._marks = Met()
            self._marks.fresh(array_of(self._oids))
        return self._marks.among(oids)


@lru_cache(maxsize=1024)
def _one_step(labels: Labels, graph: str, state: State, forward: bool) -> Plan:
    ends = ("near", "far") if forward else ("far", "near")
    step = Step(ends[0], labels, ends[1], graph=graph, state=state)
    return Expand(Given(_FROM, ("near",)), step, forward)


def _joined(parts: Iterable[Ints]) -> Ints:
    listed = [part for part in parts if len(part)]
    return listed[0] if len(listed) == 1 else np.concatenate([_NONE, *listed])
