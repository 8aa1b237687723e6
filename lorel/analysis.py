"""What a canonical form is, which queries can be a view, and how a view can be kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from lorel.dnf import LIMIT
from lorel.normal import (
    Automaton,
    Block,
    Branch,
    GroupItem,
    Labels,
    MeasureOf,
    NewItem,
    Normal,
    ObjectItem,
    SetOf,
    Step,
    ValueItem,
    blocks,
    bound,
    free,
    is_constant,
    item_variables,
    leaves,
    order_variables,
    test_variables,
)
from lorel.scope import is_generated

# ---- what may not stand in a view ----


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something a view may not contain for now: its name in the language, why, and what to write instead."""

    name: str
    why: str
    instead: str


_AGGREGATE: Final = Refusal(
    "an aggregate in select",
    "its value has no object behind it that the view could hold",
    "select the objects, and aggregate when you query the view",
)
_CONSTRUCT: Final = Refusal(
    "oem(...) or struct(...) in select",
    "a view holds objects of the base, not new ones",
    "select the objects, name what comes along after `with`, and construct when you query the view",
)
_VALUE: Final = Refusal(
    "a computed value in select",
    "it has no object behind it that the view could hold",
    "select the objects it is computed from, and compute when you query the view",
)
_ORDER: Final = Refusal("order by", "a view is a set", "order when you query the view")
_DISTINCT: Final = Refusal(
    "distinct",
    "of objects with equal values one is shown, and which one would change with every edit",
    "leave it out, a view has each object once; use `distinct` when you query the view",
)
_PATH_VARIABLE: Final = Refusal(
    "a path variable",
    "the walks without repeated objects are too many to keep",
    "leave out the `@` after `#`",
)
_UNQUOTE: Final = Refusal(
    "unquote",
    "any label could become one that matters",
    "use a label variable and a condition on it, as in `from r.%@L x where L = ...`",
)


def refusals(query: Normal) -> list[Refusal]:
    """Everything that keeps a query from being a view, each once; none for most queries."""
    found = [each for block in blocks(query) for each in _in_block(block)]
    found += [each for step in steps_of(query) for each in _in_step(step)]
    return list(dict.fromkeys(found))


def _in_block(block: Block) -> Iterator[Refusal]:
    for item in block.select:
        match item:
            case GroupItem():
                yield _AGGREGATE
            case NewItem():
                yield _CONSTRUCT
            case ValueItem(scalar=scalar):
                yield _AGGREGATE if any(isinstance(leaf, MeasureOf) for leaf in leaves(scalar)) else _VALUE
    if block.group_by:
        yield Refusal("group by", "a view holds objects, not groups", "group when you query the view")
    if block.order_by:
        yield _ORDER
    if block.distinct:
        yield _DISTINCT


def _in_step(step: Step) -> Iterator[Refusal]:
    if step.via is not None and isinstance(step.path, Automaton):
        yield _PATH_VARIABLE
    elif step.via is not None and is_generated(step.via):
        yield _UNQUOTE


def steps_of(query: Normal) -> Iterator[Step]:
    """Every step of a query, also inside conditions, aggregates, orders and queries inside."""
    for block in blocks(query):
        groups = [item for item in (*block.select, *block.aggregates) if isinstance(item, GroupItem)]
        over = [branch for item in groups for branch in item.over]
        over += [branch for key in block.order_by for branch in key.over]
        for branch in (block.from_, *block.where, *over):
            yield from branch_steps(branch)
        yield from block.with_
        for item in block.select:
            if isinstance(item, NewItem):
                yield from _item_steps(item)


def _item_steps(item: NewItem) -> Iterator[Step]:
    for _, part in item.fields:
        if isinstance(part, Block | SetOf):
            yield from steps_of(part)
        elif isinstance(part, NewItem):
            yield from _item_steps(part)


def branch_steps(branch: Branch) -> Iterator[Step]:
    """Every step of a branch, also inside."""
    yield from branch.steps
    for inner in inner_branches(branch):
        yield from branch_steps(inner)
    for query in (*(each.query for each in branch.measures), *(each.query for each in branch.ranges)):
        yield from steps_of(query)


def inner_branches(branch: Branch) -> Iterator[Branch]:
    """The absent branches, then those of the choices."""
    yield from branch.absent
    for group in branch.choices:
        yield from group


# ---- linearity ----


@dataclass(frozen=True, slots=True)
class Linear:
    """The view's derivations are a sum of products of edges: its change follows from signed counts."""


@dataclass(frozen=True, slots=True)
class NotLinear:
    """Why counting is not enough, in the words of the language."""

    reasons: tuple[str, ...]


Linearity: TypeAlias = Linear | NotLinear


def linearity(query: Normal) -> Linearity:
    """Linear are blocks, and unions of blocks, of plain steps and tests on values.

        V(old + delta) = V(old) + V(changes of one factor at a time)

    fails for whatever asks whether a *set* is empty or what it comes to: closures, negation, aggregates.
    """
    reasons = tuple(dict.fromkeys(_reasons(query)))
    return NotLinear(reasons) if reasons else Linear()


def _reasons(query: Normal) -> Iterator[str]:
    if isinstance(query, SetOf):
        if query.op != "union":
            yield f"`{query.op}` asks whether a row is there, not how often"
        yield from _reasons(query.left)
        yield from _reasons(query.right)
        return
    if query.grouped or query.distinct:
        yield "groups and `distinct` look at whole sets"
    for branch in (query.from_, *query.where):
        if any(isinstance(step.path, Automaton) for step in branch.steps):
            yield "a repetition, an alternative or `#` may reach an object on endlessly many ways"
        if branch.absent:
            yield "`not` and `for all` hold as long as something is absent"
        if branch.choices:
            yield f"more than {LIMIT} alternatives are kept as one condition"
        if branch.measures:
            yield "an aggregate in a condition looks at a whole set"
        if branch.ranges:
            yield "a query inside is evaluated as a set"


# ---- canonical form ----


def is_canonical(query: Normal) -> bool:
    return not faults(query)


def faults(query: Normal, outer: frozenset[str] = frozenset()) -> list[str]:
    """What is wrong with a form that claims to be canonical; `outer` are the variables around it."""
    return list(_Checker().query(query, outer))


class _Checker:
    """Every variable is bound at one place, before it is read, by something that can bind it."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def query(self, query: Normal, outer: frozenset[str]) -> Iterator[str]:
        if isinstance(query, SetOf):
            yield from self.query(query.left, outer)
            yield from self.query(query.right, outer)
            widths = {len(block.select) for block in blocks(query)}
            if len(widths) > 1:
                yield f"sides of {query.op} select different numbers of items"
            return
        yield from self.branch(query.from_, outer)
        here = outer | bound(query.from_)
        yield from self._bind(each.label for each in query.aggregates)
        if not 1 <= len(query.where) <= LIMIT:
            yield f"{len(query.where)} branches"
        for branch in query.where:
            yield from self.branch(branch, here)
        here |= {each.label for each in query.aggregates}
        for item in (*query.select, *query.group_by, *query.aggregates):
            yield from _unbound("select", item_variables(item), here)
        for key in query.order_by:
            yield from _unbound("order by", order_variables(key), here)
        yield from self._with(query)

    def _with(self, block: Block) -> Iterator[str]:
        heads = frozenset(item.var for item in block.select if isinstance(item, ObjectItem))
        for step in block.with_:  # two blocks may have a with variable of one name: their edges are one set
            yield from _unbound("with", [step.src], heads)
            if step.dst in heads:
                yield f"{step.dst} is bound twice"
            heads |= {step.dst}

    def branch(self, branch: Branch, outer: frozenset[str]) -> Iterator[str]:
        yield from self._bind(_binders(branch))
        here = outer | bound(branch)
        for step in branch.steps:
            yield from _unbound("a step", [step.src], here)
            if isinstance(step.path, Labels) and not step.path.text and not step.path.exact:
                yield "a pattern that matches no label"
        for test in branch.tests:
            yield from _unbound("a test", test_variables(test), here)
        for within in branch.within:
            yield from _unbound("rows handed in", within.variables, here)
        for inner in inner_branches(branch):
            yield from self.branch(inner, here)
        for measure in branch.measures:
            yield from _unbound("a measure", free(measure.query), here)
            yield from self.query(measure.query, here)
        for range_ in branch.ranges:
            yield from _unbound("a range", free(range_.query), here)
            yield from self.query(range_.query, here)

    def _bind(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            if is_constant(name):
                continue
            if name in self.seen:
                yield f"{name} is bound twice"
            self.seen.add(name)


def _binders(branch: Branch) -> Iterator[str]:
    """Every place of the branch that binds a variable."""
    for step in branch.steps:
        yield from (name for name in (step.dst, step.via) if name)
    yield from (measure.name for measure in branch.measures)
    yield from (name for range_ in branch.ranges for name in range_.variables)


def _unbound(where: str, names: Iterable[str], here: frozenset[str]) -> Iterator[str]:
    for name in names:
        if name not in here and not is_constant(name):
            yield f"{where} reads {name}, which nothing binds"
