"""What a view is: its statement in canonical form, and how it can be kept.

A view is kept by *counting* if its rows are a sum of products of steps and tests: every row carries the
number of its derivations, and a change adds and removes some. Otherwise by *recheck*: the rows that a
change could touch are found and evaluated again. Policy `full` evaluates everything again, always.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias, cast

from lorel import ast
from lorel.analysis import Linear, linearity, refusals
from lorel.errors import LorelMeaningError, RefusedError
from lorel.normal import Block, Branch, Labels, Normal, ObjectItem, SetOf, Step, blocks, oid_of
from lorel.normalise import longest, normalise
from lorel.parser import parse
from lorel.scope import Catalog, is_generated, words
from oemviews.errors import BadInput
from oemviews.model import ROOT
from oemviews.views.ports import Ports, ports_of

Method: TypeAlias = Literal["counting", "recheck", "full"]
Policy: TypeAlias = Literal["auto", "incremental", "strict", "full"]

_OID: Final = re.compile(r"&[0-9]+")
_AGAIN: Final = "'"
"""Marks a with variable whose name was taken; no name that can be written ends with it."""

_MOST_STEPS: Final = 64
"""There is a statement for each step of a view, and each has as many steps as the view."""

POLICIES: Final = ("auto", "incremental", "strict", "full")


@dataclass(frozen=True, slots=True)
class WithStep:
    """A step of a with clause. It starts from a column of the rows, or from an earlier with variable."""

    step: Step
    column: int | None  # of the rows; None if it starts from a with variable
    shown: str  # the variable it is shown under: steps of one path share that of its end

    @property
    def variable(self) -> str:
        return self.step.dst


@dataclass(frozen=True, eq=False)
class Definition:
    """A view: compared by identity, so that what is prepared for it can be found again quickly."""

    name: str
    collection: str
    statement: str
    policy: Policy
    query: Normal
    method: Method
    reason: str

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(blocks(self.query))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of the select items."""
        return tuple(item.label for item in self.blocks[0].select)

    @property
    def width(self) -> int:
        return len(self.blocks[0].select)

    @cached_property
    def with_steps(self) -> tuple[WithStep, ...]:
        """The steps of all with clauses, each after the one it starts from."""
        return tuple(step for block in self.blocks for step in _with_steps(block))

    @cached_property
    def one_holder(self) -> bool:
        """Whether no edge can belong to two with variables: they all ask for other labels."""
        asked = [
            frozenset([path] if isinstance(path, Labels) else (labels for _, labels, _ in path.moves))
            for path in (step.step.path for step in self.with_steps)
        ]
        every = frozenset(label for labels in asked for label in labels)
        return all(label.exact for label in every) and len(every) == sum(map(len, asked))

    @cached_property
    def graphs(self) -> frozenset[str]:
        """What it reads: "" is the base graph, any other name a view."""
        return frozenset(_graphs(self.query))

    @cached_property
    def named_oids(self) -> frozenset[int]:
        """Objects that the statement names by their oids; they need not exist yet."""
        return frozenset(oid_of(word) for word in words(self.query) if _OID.fullmatch(word)) - {ROOT}

    @cached_property
    def ports(self) -> Ports:
        """What an edge can mean to the view."""
        return ports_of(self.query)

    @cached_property
    def item_graph(self) -> str:
        """The graph that the selected objects are taken from."""
        block = self.blocks[0]
        first = select_variables(block)[0]
        return next((step.graph for step in block.from_.steps if first in (step.src, step.dst)), "")


def select_variables(block: Block) -> tuple[str, ...]:
    """The variables that a row of the view consists of, in order."""
    return tuple(cast(ObjectItem, item).var for item in block.select)


def define(text: str, catalog: Catalog, policy: str = "auto", *, stored: bool = False) -> Definition:
    """The view that a `define view` statement describes, or an error that says why it cannot be one.

    `stored` is for a view that was defined before: a name that is gone may come back.
    """
    statement = parse(text)
    if not isinstance(statement, ast.DefineView):
        hint = "as in `define view Cheap as Place = select r from Guide.Restaurant r where r.Price < 20`"
        raise LorelMeaningError("this defines no view", text=text, span=statement.span, hint=hint)
    return of_statement(statement, text, catalog, policy, stored=stored)


def of_statement(
    statement: ast.DefineView, text: str, catalog: Catalog, policy: str = "auto", *, stored: bool = False
) -> Definition:
    """The view of a statement already parsed."""
    if policy not in POLICIES:
        raise BadInput(f"there is no policy {policy!r}: the policies are {', '.join(POLICIES)}")
    if not stored:
        _check_name(statement, text, catalog)
    query = with_apart(normalise(statement.query, catalog, text=text, lenient=stored))
    if longest(query) > _MOST_STEPS:
        found = f"{longest(query)} steps and conditions one after the other"
        message = f"the view takes {found}, at most {_MOST_STEPS}"
        hint = "split it: a view can be defined over another view"
        raise LorelMeaningError(message, text=text, span=statement.query.span, hint=hint)
    for refusal in refusals(query):
        message = f"a view cannot have {refusal.name}: {refusal.why}"
        raise RefusedError(message, text=text, span=statement.query.span, hint=refusal.instead)
    method, reason = kept_by(query)
    if policy == "full":
        method, reason = "full", "the policy is full"
    return Definition(
        statement.name,
        statement.collection or statement.name,
        text,
        cast(Policy, policy),
        query,
        method,
        reason,
    )


def _check_name(statement: ast.DefineView, text: str, catalog: Catalog) -> None:
    if statement.name in catalog.views or statement.name in catalog.names:
        taken = "a view" if statement.name in catalog.views else "an object"
        message = f"the name {statement.name!r} is already taken by {taken}"
        raise LorelMeaningError(message, text=text, span=statement.span, hint="choose another name")


# ---- how it is kept ----


def kept_by(query: Normal) -> tuple[Method, str]:
    """Counting where derivations add up; else recheck, and what makes it so.

    >>> kept_by(Block((ObjectItem("r", "r"),), Branch()))
    ('counting', 'its rows are a sum of products of steps and tests')
    """
    found = linearity(query)
    if isinstance(found, Linear):
        return "counting", "its rows are a sum of products of steps and tests"
    return "recheck", "; ".join(found.reasons)


# ---- parts ----


def with_apart(query: Normal) -> Normal:
    """The same query, no with variable bound twice: one that two sides of a set operator share is marked."""
    taken: set[str] = set()

    def visit(part: Normal) -> Normal:
        if isinstance(part, SetOf):
            left = visit(part.left)
            return replace(part, left=left, right=visit(part.right))
        names: dict[str, str] = {}
        for step in part.with_:
            name = step.dst
            while name in taken:
                name += _AGAIN
            taken.add(name)
            names[step.dst] = name
        steps = (replace(s, src=names.get(s.src, s.src), dst=names[s.dst]) for s in part.with_)
        return replace(part, with_=tuple(steps))

    return visit(query)


def _with_steps(block: Block) -> Iterator[WithStep]:
    columns = {variable: i for i, variable in reversed(list(enumerate(select_variables(block))))}
    for number, step in enumerate(block.with_):
        end = number
        while end + 1 < len(block.with_) and _goes_on(block.with_[end], block.with_[end + 1]):
            end += 1
        yield WithStep(step, columns.get(step.src), block.with_[end].dst.rstrip(_AGAIN))


def _goes_on(step: Step, following: Step) -> bool:
    """Whether two with steps are parts of one written path: the object between them has no name."""
    return following.src == step.dst and is_generated(step.dst.rstrip(_AGAIN))


def _graphs(query: Normal) -> Iterator[str]:
    if isinstance(query, SetOf):
        yield from _graphs(query.left)
        yield from _graphs(query.right)
        return
    yield from (step.graph for step in query.with_)
    for branch in (query.from_, *query.where):
        yield from _branch_graphs(branch)


def _branch_graphs(branch: Branch) -> Iterator[str]:
    yield from (step.graph for step in branch.steps)
    for inner in (*branch.absent, *(each for group in branch.choices for each in group)):
        yield from _branch_graphs(inner)
    for query in (*(m.query for m in branch.measures), *(r.query for r in branch.ranges)):
        yield from _graphs(query)
