"""Seven plausible mistakes, made on purpose: the property finds each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from lorel.normal import Compare, Step
from oemviews.maintain import adjuncts, maintain, prepared, relevance, statements
from tests.maintain.test_property import Tally, run_case

Patch = pytest.MonkeyPatch


def deletes_without_asking(patch: Patch) -> None:
    """Trap 1: a derivation lost is a row lost."""
    right = maintain._rows

    def wrong(ready: Any, state: Any, *rest: Any) -> Any:
        rows, *more = right(ready, state, *rest)
        return {row: n if n > 0 else -state.rows.get(row, 0) for row, n in rows.items()}, *more

    patch.setattr(maintain, "_rows", wrong)


def reads_only_the_new_state(patch: Patch) -> None:
    """Trap 2: the edge bound at one step, all others in the new state."""

    def wrong(steps: tuple[Step, ...], k: int) -> tuple[Step, ...]:
        return tuple(replace(step, state="delta" if i == k else "new") for i, step in enumerate(steps))

    patch.setattr(statements, "_planted", wrong)


def binds_from_steps_only(patch: Patch) -> None:
    """Trap 3: edges of where steps are not planted."""
    right = statements.counting

    def wrong(definition: Any) -> Iterator[Any]:
        for statement in right(definition):
            in_from = {step.dst for step in statement.block.from_.steps}
            if isinstance(statement.place, str) or statement.place[0] in in_from:
                yield statement

    patch.setattr(prepared, "counting", wrong)


def forgets_the_primary_as_head(patch: Patch) -> None:
    """Trap 4: an edge counts below adjuncts only."""
    for name in ("_one_step", "closure"):
        right: Callable[..., Any] = getattr(adjuncts, name)

        def wrong(start: Any, *rest: Any, right: Callable[..., Any] = right) -> Any:
            return right(start, *rest[:-1], rest[-1] if start.step.column is None else [])

        patch.setattr(adjuncts, name, wrong)


def drops_below_every_target(patch: Patch) -> None:
    """Trap 5: the target of a lost edge is lost, whatever else leads there."""
    right = adjuncts._one_step

    def wrong(start: Any, *rest: Any) -> Any:
        level = right(start, *rest)
        level.loss = {dst for _, _, dst in level.removed} - {dst for _, _, dst in level.added}
        return level

    patch.setattr(adjuncts, "_one_step", wrong)


def knows_only_equality(patch: Patch) -> None:
    """Trap 7: a value matters if it equals a constant, before or after."""
    right = relevance.decided_otherwise

    def wrong(reads: Any, old: Any, new: Any) -> Any:
        tests = tuple(replace(t, op="=") if isinstance(t, Compare) else t for t in reads.tests)
        return right(replace(reads, tests=tests), old, new)

    patch.setattr(relevance, "decided_otherwise", wrong)


def lets_relevant_oids_stand(patch: Patch) -> None:
    """Trap 8: RelevantOids is not extended after an insertion."""
    patch.setattr(maintain, "upkeep", lambda *_: {})


MUTATIONS = (
    deletes_without_asking,
    reads_only_the_new_state,
    binds_from_steps_only,
    forgets_the_primary_as_head,
    drops_below_every_target,
    knows_only_equality,
    lets_relevant_oids_stand,
)


@pytest.mark.slow
@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_the_property_finds(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutate(monkeypatch)
    for seed in range(400):
        try:
            run_case(seed, Tally(), ("join", "with", "comparison")[seed % 3], plain=True)
        except AssertionError:
            return
    pytest.fail("no case of 400 finds it")
