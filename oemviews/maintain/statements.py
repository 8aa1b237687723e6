"""Maintenance statements as data: the view's own statement with a change planted in it.

A view kept by counting is a sum of products of atoms, so its change is the telescoping sum

    sum over k of  old(1..k-1) * delta(k) * new(k+1..n)       steps in definition order, value tests last

With old steps before the planted one, RelevantOids of the state before the batch are a sound filter. The
change of values comes last: all steps old, tests new less tests old. So that no binding is counted twice,
the statement for the j-th tested variable leaves out bindings whose earlier ones changed too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from lorel.normal import (
    Block,
    Branch,
    Compare,
    Const,
    Match,
    OneOf,
    State,
    Step,
    Test,
    ValueOf,
    Within,
    values_tested,
)
from lorel.scalars import mapped_test
from oemviews.views.definition import Definition

Move: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[str, Move | None]
"""Where an edge is planted: the variable its step binds and, in a path of any length, the move."""


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement: `block` gives derivations of rows, or keys. Compared by identity, to be prepared once.

    `sign` is +1 for derivations that come, -1 for those that go, 0 if the counts of the planted rows say it.
    """

    name: Literal["prim", "keys"]
    place: Place | str  # an edge at a step, or a variable whose value changed
    block: Block
    member: int  # which block of the view's statement it came from
    sign: int = 0
    state: State = "new"
    earlier: tuple[str, ...] = ()  # tested variables whose changed objects are left to other statements
    sure: bool = False  # whether the keys it gives are rows of the view in that state, with no doubt

    @cached_property
    def planted(self) -> Step:
        """The step that reads only the change."""
        steps = (*self.block.from_.steps, *(step for branch in self.block.where for step in branch.steps))
        return next(step for step in steps if step.state == "delta")

    def without(self, variables: tuple[str, ...]) -> Block:
        """The block, but for bindings in which one of these variables has changed."""
        if not variables:
            return self.block
        absent = tuple(Branch(within=(Within((variable,), changed(variable)),)) for variable in variables)
        from_ = self.block.from_
        return replace(self.block, from_=replace(from_, absent=(*from_.absent, *absent)))


def changed(variable: str) -> str:
    """The name under which the objects of a variable with another value are handed in."""
    return f"changed {variable}"


def size_class(n: int) -> int:
    """Changes of about the same size are planned alike.

    >>> [size_class(n) for n in (0, 1, 5, 99, 100_000)]
    [1, 1, 16, 256, 262144]
    """
    size = 1
    while size < n:
        size *= 4
    return size


# ---- states ----


def test_in(test: Test, state: State) -> Test:
    """The test of values as they are in a state."""
    return mapped_test(test, lambda leaf: replace(leaf, state=state) if isinstance(leaf, ValueOf) else leaf)


# ---- tested values ----


@dataclass(frozen=True, slots=True)
class Tested:
    """What the statement reads of a variable's value.

    `tests` compare it with constants only, so that old and new value decide them; if it is read in any
    other way, every change of it counts (`always`).
    """

    variable: str
    graph: str
    tests: tuple[Test, ...] = ()
    always: bool = False


def against_constants(test: Test) -> bool:
    """Whether the one value that a test reads decides it."""
    match test:
        case Compare(left=ValueOf(), right=Const()) | Compare(left=Const(), right=ValueOf()):
            return True
        case Match(scalar=ValueOf()) | OneOf(scalar=ValueOf()):
            return True
        case _:
            return False


def tested_in(tests: Iterable[Test]) -> dict[str, Tested]:
    """The variables whose values some tests read, in the order they are read."""
    found: dict[str, Tested] = {}
    for test in tests:
        for value in values_tested(test):
            known = found.get(value.var, Tested(value.var, value.graph))
            if against_constants(test):
                found[value.var] = replace(known, tests=(*known.tests, test))
            else:
                found[value.var] = replace(known, always=True)
    return found


# ---- counting ----


def counting(definition: Definition) -> Iterator[Statement]:
    """The statements of a view whose derivations add up."""
    for member, block in enumerate(definition.blocks):
        yield from _edges(block, member)
        yield from _values(block, member)


def _edges(block: Block, member: int) -> Iterator[Statement]:
    plain = replace(block, with_=())
    for k, step in enumerate(block.from_.steps):
        from_ = replace(block.from_, steps=_planted(block.from_.steps, k))
        yield Statement("prim", (step.dst, None), replace(plain, from_=from_), member)
    before = replace(block.from_, steps=tuple(replace(step, state="old") for step in block.from_.steps))
    for branch in block.where:
        for k, step in enumerate(branch.steps):
            where = (replace(branch, steps=_planted(branch.steps, k)),)
            yield Statement("prim", (step.dst, None), replace(plain, from_=before, where=where), member)


def _planted(steps: tuple[Step, ...], k: int) -> tuple[Step, ...]:
    """
    >>> from lorel.normal import Labels
    >>> steps = (Step("&0", Labels("N"), "n"), Step("n", Labels("a"), "r"), Step("r", Labels("b"), "x"))
    >>> [step.state for step in _planted(steps, 1)]
    ['old', 'delta', 'new']
    """
    states: Iterator[State] = ("old" if i < k else "delta" if i == k else "new" for i in range(len(steps)))
    return tuple(replace(step, state=state) for step, state in zip(steps, states, strict=True))


def _values(block: Block, member: int) -> Iterator[Statement]:
    states: tuple[tuple[int, State], ...] = ((1, "new"), (-1, "old"))
    for branch in block.where:
        variables = tuple(tested_in((*block.from_.tests, *branch.tests)))
        for j, variable in enumerate(variables):
            within = (Within((variable,), changed(variable)),)
            for sign, state in states:
                from_ = replace(_all_old(block.from_, state), within=within)
                planted = replace(block, with_=(), from_=from_, where=(_all_old(branch, state),))
                yield Statement("prim", variable, planted, member, sign, state, variables[:j])


def _all_old(branch: Branch, tests: State) -> Branch:
    return replace(
        branch,
        steps=tuple(replace(step, state="old") for step in branch.steps),
        tests=tuple(test_in(test, tests) for test in branch.tests),
    )
