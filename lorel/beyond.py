"""What lies beyond a walk and matters only in that it is there.

In `select n from Guide.Restaurant r, r(.Nearby)+ n where r.Price < 6` nothing but the walk joins what is said
of `r` with what is said of `n`, and `r` is not asked for. So its pairs (r, n) need not be made: `n` has to be
among the objects that walks from some set reach, and to find these takes time in proportion to the edges
passed. Such a walk, with all that hangs on its other end, is taken out of its branch as one condition on `n`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lorel.normal import Branch, Step, free, is_constant, mentioned, test_variables


@dataclass(frozen=True, slots=True)
class Beyond:
    """There is a walk between `near`, a variable, and some object `far` for which the branch holds."""

    step: Step
    outward: bool  # whether the step leads from near to far
    branch: Branch

    @property
    def near(self) -> str:
        return self.step.src if self.outward else self.step.dst

    @property
    def far(self) -> str:
        return self.step.dst if self.outward else self.step.src

    @property
    def alone(self) -> bool:
        """Whether every object will do at the other end."""
        return self.branch == Branch()


def taken_apart(branch: Branch, need: Iterable[str]) -> tuple[Branch, list[Beyond]]:
    """The branch without what lies beyond walks, as seen from the variables that are needed, and that."""
    wanted = frozenset(name for name in need if not is_constant(name))
    found: list[Beyond] = []
    while True:
        options = [side for step in branch.steps for side in _sides(branch, step, wanted)]
        if not options:
            return branch, found
        best = max(options, key=lambda side: len(list(_variables(side.branch))))  # others may be inside of it
        inner = best.branch
        branch = replace(
            branch,
            steps=tuple(each for each in branch.steps if each is not best.step and each not in inner.steps),
            tests=tuple(each for each in branch.tests if each not in inner.tests),
            absent=tuple(each for each in branch.absent if each not in inner.absent),
            choices=tuple(each for each in branch.choices if each not in inner.choices),
            measures=tuple(each for each in branch.measures if each not in inner.measures),
            ranges=tuple(each for each in branch.ranges if each not in inner.ranges),
            within=tuple(each for each in branch.within if each not in inner.within),
        )
        found.append(best)


def _sides(branch: Branch, step: Step, wanted: frozenset[str]) -> Iterator[Beyond]:
    """What lies beyond one walk, if there is an end of it on which nothing that is wanted hangs."""
    if not step.is_closure or step.via is not None or step.src == step.dst:
        return
    if is_constant(step.src) or is_constant(step.dst):
        return
    for outward, far, near in ((True, step.dst, step.src), (False, step.src, step.dst)):
        names = _hanging(branch, step, far)
        if near not in names and not names & wanted:
            yield Beyond(step, outward, _part(branch, step, names))
            return


def _hanging(branch: Branch, without: Step, variable: str) -> frozenset[str]:
    """The variables that something joins with this one, one step left out."""
    groups = list(_variables(replace(branch, steps=tuple(s for s in branch.steps if s is not without))))
    names = {variable}
    grown = True
    while grown:
        grown = False
        for group in groups:
            if group & names and not group <= names:
                names |= group
                grown = True
    return frozenset(names)


def _part(branch: Branch, without: Step, names: frozenset[str]) -> Branch:
    """The parts of a branch that are about these variables."""
    return Branch(
        steps=tuple(s for s in branch.steps if s is not without and _of_step(s) & names),
        tests=tuple(test for test in branch.tests if _plain(test_variables(test)) & names),
        absent=tuple(inner for inner in branch.absent if mentioned(inner) & names),
        choices=tuple(group for group in branch.choices if _of_choice(group) & names),
        measures=tuple(each for each in branch.measures if each.name in names),
        ranges=tuple(each for each in branch.ranges if names & set(each.variables)),
        within=tuple(each for each in branch.within if _plain(each.variables) & names),
    )


def _variables(branch: Branch) -> Iterator[frozenset[str]]:
    """For each part the variables that it joins."""
    yield from (_of_step(step) for step in branch.steps)
    yield from (_plain(test_variables(test)) for test in branch.tests)
    yield from (mentioned(inner) for inner in branch.absent)
    yield from (_of_choice(group) for group in branch.choices)
    yield from (free(each.query) | {each.name} for each in branch.measures)
    yield from (free(each.query).union(each.variables) for each in branch.ranges)
    yield from (_plain(each.variables) for each in branch.within)


def _of_step(step: Step) -> frozenset[str]:
    return _plain(name for name in (step.src, step.dst, step.via) if name is not None)


def _of_choice(group: tuple[Branch, ...]) -> frozenset[str]:
    return frozenset(name for inner in group for name in mentioned(inner))


def _plain(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if not is_constant(name))
