"""Plans of walks of any length: without their starts, where nothing needs them, and out and back again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from lorel import plan as op
from lorel.beyond import Beyond
from lorel.moves import Move, Moves
from lorel.plan import Plan
from lorel.planner import Planner, projected, work


def ends_only(walk: op.Closure, moves: Moves, need: frozenset[str]) -> op.Closure:
    """The walk without its starts, if nothing left needs them."""
    (near, far), have = walk.ends, op.columns(walk.input)
    if walk.kept is not None or walk.step.via is not None or near in need or far in have:
        return walk
    kept = tuple(name for name in have if name in need)
    made = min(walk.estimate, moves.reached(walk.input.estimate, walk.step, walk.forward))
    return replace(walk, kept=kept, estimate=walk.estimate if kept else made)


@dataclass(frozen=True)
class Linking:
    """The rows that a walk links with what lies beyond it.

    | `near` is  | the walk                                                                                 |
    | ---------- | ---------------------------------------------------------------------------------------- |
    | not bound  | from all that lies beyond to `near`                                                      |
    | bound      | the same, to see which of the rows are reached                                           |
    | bound      | out from the rows; of what it reaches some lies beyond; from there back inside its track |
    """

    planner: Planner
    part: Beyond

    @cached_property
    def moves_of(self) -> Moves:
        return Moves(self.planner.stats, self.planner.given)

    def moves(self, rows: Plan) -> Iterator[Move]:
        """What could come next after some rows."""
        bound = self.part.near in op.columns(rows)
        if self.from_beyond is not None:
            yield self._met(rows, self.from_beyond) if bound else self._brought(rows, self.from_beyond)
        if bound:
            yield self._met(rows, self._out_and_back(rows))

    @cached_property
    def from_beyond(self) -> op.Closure | None:
        """The walk from all that lies beyond, unless only a start from here could find it."""
        part = self.part
        there = self.planner.branch(
            part.branch, frozenset({part.far}), op.Unit(estimate=1.0), {part.far: part.step}
        )
        if part.far not in op.columns(there):
            return None
        return self._walk(there, back=None)

    def _out_and_back(self, rows: Plan) -> op.Closure:
        part, here = self.part, projected(rows, (self.part.near,))
        made = self.moves_of.reached(here.estimate, part.step, part.outward)
        out = op.Closure(here, part.step, part.outward, (), estimate=made)
        return self._walk(self.planner.branch(part.branch, frozenset({part.far}), out), out)

    def _walk(self, there: Plan, back: op.Closure | None) -> op.Closure:
        part = self.part
        made = self.moves_of.reached(there.estimate, part.step, not part.outward)
        if back is not None:
            made = min(made, back.input.estimate)
        start = projected(there, (part.far,))
        return op.Closure(start, part.step, not part.outward, (), back, estimate=made)

    def _brought(self, rows: Plan, found: op.Closure) -> Move:
        if isinstance(rows, op.Unit):
            return Move(self.part, found, found.estimate)
        made = rows.estimate * found.estimate
        return Move(self.part, op.Join(rows, found, estimate=made), made)

    def _met(self, rows: Plan, found: op.Closure) -> Move:
        """The rows whose object was reached; if there is nothing else in them, what was reached."""
        kept: Plan = op.Semi(rows, found, estimate=min(rows.estimate, found.estimate))
        cost = work(kept) - work(rows)
        if found.back is not None and op.columns(rows) == (self.part.near,):
            kept = found
        return Move(self.part, kept, cost)
