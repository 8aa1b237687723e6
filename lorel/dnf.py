"""Conditions as unions of conjunctions.

A formula is built over branches whose variables are all different, so a variable bound anywhere in an
`All` may be read anywhere else in it:  exists x (A(x)) and exists y (B(y))  =  exists x, y (A(x) and B(y)).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, product
from math import prod
from typing import Final, TypeAlias

from lorel.normal import Branch, Truth

LIMIT: Final = 64
"""More disjuncts than this are not multiplied out; they stay a choice inside one branch."""

_MOST_PARTS: Final = 8192
"""Neither are those that would come to more steps and tests than this."""


@dataclass(frozen=True, slots=True)
class Has:
    """There is a binding of this branch."""

    branch: Branch


@dataclass(frozen=True, slots=True)
class All:
    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    items: tuple[Formula, ...]


Formula: TypeAlias = Has | All | AnyOf

NOTHING: Final = Branch()
TRUE: Final = Has(NOTHING)
FALSE: Final = Has(Branch(tests=(Truth(False),)))


@dataclass(frozen=True, slots=True)
class Piece:
    """What a path or an expression needs: bindings, and conditions on them."""

    branch: Branch = NOTHING
    conditions: tuple[Formula, ...] = ()

    def __add__(self, other: Piece) -> Piece:
        return Piece(join((self.branch, other.branch)), self.conditions + other.conditions)

    def and_(self, *more: Formula) -> Formula:
        return All((Has(self.branch), *self.conditions, *more))


def join(branches: Iterable[Branch]) -> Branch:
    """The conjunction of branches that share no bound variable, parts in the order given.

    >>> join([Branch(tests=(Truth(True),)), Branch(tests=(Truth(False),))]).tests
    (Truth(value=True), Truth(value=False))
    """
    parts = [branch for branch in branches if branch != Branch()]
    if len(parts) == 1:
        return parts[0]
    return Branch(
        steps=tuple(chain.from_iterable(part.steps for part in parts)),
        tests=tuple(chain.from_iterable(part.tests for part in parts)),
        absent=tuple(chain.from_iterable(part.absent for part in parts)),
        choices=tuple(chain.from_iterable(part.choices for part in parts)),
        measures=tuple(chain.from_iterable(part.measures for part in parts)),
        ranges=tuple(chain.from_iterable(part.ranges for part in parts)),
        within=tuple(chain.from_iterable(part.within for part in parts)),
    )


def dnf(formula: Formula) -> tuple[Branch, ...]:
    """The branches whose union is the formula; a disjunction is multiplied out while that stays small.

        (a or b) and (c or d)   ->   a and c, a and d, b and c, b and d

    >>> a, b = (Has(Branch(tests=(Truth(t),))) for t in (True, False))
    >>> len(dnf(All((AnyOf((a, b)), AnyOf((a, b))))))
    4
    >>> [len(branch.choices) for branch in dnf(All((AnyOf((a, b)),) * 7))]
    [7]
    """
    match formula:
        case Has(branch):
            return (branch,)
        case AnyOf(items):
            return tuple(chain.from_iterable(dnf(item) for item in items))
        case All(items):
            parts = [dnf(item) for item in items]
            if _is_too_much(parts):
                parts = [part if len(part) <= 1 else (Branch(choices=(part,)),) for part in parts]
            return tuple(join(chosen) for chosen in product(*parts))


def _is_too_much(parts: list[tuple[Branch, ...]]) -> bool:
    """Whether to multiply out alternatives gives too many branches, or too long ones."""
    many = prod(map(len, parts))
    if many <= 1:
        return False
    sizes = (max((len(each.steps) + len(each.tests) for each in part), default=0) for part in parts)
    return many > LIMIT or many * sum(sizes) > _MOST_PARTS


def where_branches(formula: Formula, beside: Branch = NOTHING) -> tuple[Branch, ...]:
    """The branches of a where clause, 1 to `LIMIT`; each will be joined with what stands `beside`."""
    branches = dnf(formula)
    if _is_too_much([branches, (beside,)]):
        return (Branch(choices=(branches,)),)
    return branches or dnf(FALSE)


def negate(atom: Formula) -> Formula:
    """Two-valued `not`: a test on what is bound outside is turned round, anything that binds must be absent.

    not (p < 20)         p bound outside:  the same test, negated
    not (r.Price < 20)                     no p in r.Price with p < 20
    """
    options = dnf(atom)
    if len(options) == 1 and not (options[0].steps or options[0].ranges):
        branch = options[0]
        if branch == Branch():
            return FALSE
        if len(branch.tests) == 1 and not (branch.absent or branch.choices):
            test = branch.tests[0]
            if isinstance(test, Truth):
                return Has(replace(branch, tests=(Truth(not test.value),)))
            return Has(replace(branch, tests=(replace(test, negated=not test.negated),)))
    return Has(Branch(absent=options))
