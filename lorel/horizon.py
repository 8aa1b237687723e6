"""How far the planner looks ahead: of hundreds of parts it weighs only some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lorel import plan as op
from lorel.beyond import Beyond
from lorel.moves import Moves, Part
from lorel.normal import Range, Step, Test
from lorel.plan import Plan

HORIZON: Final = 64
"""To weigh every part against every other takes the square of their number; a choice of so many will do."""


def in_view(
    moves: Moves, rows: Plan, parts: Sequence[Part], tests: Sequence[Test]
) -> tuple[Sequence[Part], Sequence[Test]]:
    """All parts and tests, or of very many the first that the variables of the rows lead to."""
    if len(parts) <= HORIZON and len(tests) <= HORIZON:
        return parts, tests
    have = frozenset(op.columns(rows))
    near = [part for part in parts if not have.isdisjoint(_ends(part))]
    seen = (near or parts)[:HORIZON]
    names = {name for part in seen for name in _ends(part)}
    return seen, [test for test in tests if not names.isdisjoint(moves.reads(test))][:HORIZON]


def _ends(part: Part) -> tuple[str, ...]:
    match part:
        case Step(src=src, dst=dst):
            return src, dst
        case Beyond(near=near):
            return (near,)
        case Range(variables=variables):
            return variables
        case _:
            return part.variables
