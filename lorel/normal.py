"""The canonical form: one-step paths, branches, and the state each of them reads.

A `Block` is one select-from-where. Its where clause is a union of branches; a `Branch` is a
conjunction of steps, tests, and things that must be absent. Every variable is bound by exactly one
step, range or measure. A branch means: *there is* a binding of its variables such that all of it holds.

Maintenance statements have the same form. A step reads the state before a batch (`old`), after it
(`new`), or only what the batch changed (`delta`); `Within` ties variables to rows handed in.

Variables are strings. A variable that starts with `&` is a constant oid: `&0` is the virtual root
whose edges are the names, so that `Guide.Restaurant r` is `&0 -Guide-> _1`, `_1 -Restaurant-> r`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from lorel.labels import ANY as ANY
from lorel.labels import Automaton as Automaton
from lorel.labels import Labels as Labels
from lorel.scalars import Apply as Apply
from lorel.scalars import Arith as Arith
from lorel.scalars import Atom as Atom
from lorel.scalars import Compare as Compare
from lorel.scalars import Const as Const
from lorel.scalars import Match as Match
from lorel.scalars import MeasureOf as MeasureOf
from lorel.scalars import OidOf as OidOf
from lorel.scalars import OneOf as OneOf
from lorel.scalars import Scalar as Scalar
from lorel.scalars import State as State
from lorel.scalars import Test as Test
from lorel.scalars import TextOf as TextOf
from lorel.scalars import Truth as Truth
from lorel.scalars import ValueOf as ValueOf
from lorel.scalars import leaves as leaves
from lorel.scalars import scalar_variables as scalar_variables
from lorel.scalars import test_scalars as test_scalars
from lorel.scalars import test_variables as test_variables
from lorel.scalars import values_read as values_read
from lorel.scalars import values_tested as values_tested

ROOT: Final = "&0"


def is_constant(variable: str) -> bool:
    return variable.startswith("&")


def oid_of(variable: str) -> int:
    """
    >>> oid_of("&10")
    10
    """
    return int(variable[1:])


# ---- steps ----


@dataclass(frozen=True, slots=True)
class Step:
    """`src -path-> dst`: one edge, or with an automaton a whole walk.

    `via` is a label variable (one edge) or a path variable (a walk without repeated objects).
    `graph` is "" for the base graph, else the view whose graph the step walks.
    """

    src: str
    path: Labels | Automaton
    dst: str
    via: str | None = None
    graph: str = ""
    state: State = "new"

    @property
    def is_closure(self) -> bool:
        return isinstance(self.path, Automaton)


# ---- branches and blocks ----


@dataclass(frozen=True, slots=True)
class Within:
    """The variables are limited to the rows handed in under `given`."""

    variables: tuple[str, ...]
    given: str


@dataclass(frozen=True, slots=True)
class Measure:
    """`name := func(set of the one item of query)`, per binding of the variables it takes from outside."""

    name: str
    func: Literal["count", "sum", "avg", "min", "max", "element"]
    query: Normal


@dataclass(frozen=True, slots=True)
class Range:
    """`x in (query)` where the query could not be merged into the branch (set operators, distinct, groups).

    One variable an item of the query.
    """

    variables: tuple[str, ...]
    query: Normal


@dataclass(frozen=True, slots=True)
class Branch:
    """A conjunction. There is a binding of its variables for which every part holds."""

    steps: tuple[Step, ...] = ()
    tests: tuple[Test, ...] = ()
    absent: tuple[Branch, ...] = ()  # none of these has a binding
    choices: tuple[tuple[Branch, ...], ...] = ()  # of each group at least one has a binding
    measures: tuple[Measure, ...] = ()
    ranges: tuple[Range, ...] = ()
    within: tuple[Within, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectItem:
    """A select item that is an object."""

    label: str
    var: str


@dataclass(frozen=True, slots=True)
class ValueItem:
    """A select item that is a value with no object behind it."""

    label: str
    scalar: Scalar


@dataclass(frozen=True, slots=True)
class GroupItem:
    """An aggregate over the rows of a group; the argument's distinct objects or values are taken.

    `over` binds what the argument needs beyond the variables of the block; a row for which it has no binding
    adds nothing. The `element` of a group is an object if the argument is one; the others are values.
    """

    label: str
    func: Literal["count", "sum", "avg", "min", "max", "element"]
    arg: ObjectItem | ValueItem
    over: tuple[Branch, ...] = (Branch(),)


@dataclass(frozen=True, slots=True)
class NewItem:
    """A constructed object: each field an item, or a nested query whose answer is put under the label."""

    label: str
    fields: tuple[tuple[str, Item | Normal], ...]


Item: TypeAlias = ObjectItem | ValueItem | GroupItem | NewItem


@dataclass(frozen=True, slots=True)
class Order:
    """A key of `order by`. `over` binds what it needs beyond the block; without a binding it is missing."""

    scalar: Scalar
    descending: bool = False
    over: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One select-from-where-with in canonical form. No where clause is the one empty branch.

    A grouped block selects keys (as they stand in `group_by`), aggregates, and values computed from these;
    such a value, or an order key, reads one of `aggregates` as a `MeasureOf` its label.
    """

    select: tuple[Item, ...]
    from_: Branch
    where: tuple[Branch, ...] = (Branch(),)
    with_: tuple[Step, ...] = ()
    group_by: tuple[ObjectItem | ValueItem, ...] = ()
    order_by: tuple[Order, ...] = ()
    distinct: bool = False
    grouped: bool = False
    aggregates: tuple[GroupItem, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOf:
    """`left union right`, by the rows of the select items; labels are those of the left side."""

    op: Literal["union", "intersect", "except"]
    left: Normal
    right: Normal


Normal: TypeAlias = Block | SetOf


# ---- what a form mentions ----


def bound(branch: Branch) -> frozenset[str]:
    """Variables that the branch itself binds, not those inside its absent branches and choices."""
    steps = {name for step in branch.steps for name in (step.dst, step.via) if name}
    return frozenset(
        steps | {m.name for m in branch.measures} | {name for r in branch.ranges for name in r.variables}
    )


def mentioned(branch: Branch) -> frozenset[str]:
    """Every variable that the branch reads, also inside, less what it binds; constants are left out."""
    names = {step.src for step in branch.steps}
    names |= {name for test in branch.tests for name in test_variables(test)}
    names |= {name for inner in branch.absent for name in mentioned(inner)}
    names |= {name for group in branch.choices for inner in group for name in mentioned(inner)}
    names |= {name for measure in branch.measures for name in free(measure.query)}
    names |= {name for range_ in branch.ranges for name in free(range_.query)}
    names |= {name for within in branch.within for name in within.variables}
    return frozenset(name for name in names - bound(branch) if not is_constant(name))


def item_variables(item: Item) -> frozenset[str]:
    match item:
        case ObjectItem(var=var):
            return frozenset({var})
        case ValueItem(scalar=scalar):
            return frozenset(scalar_variables(scalar))
        case GroupItem(arg=arg, over=over):
            inner = frozenset(name for branch in over for name in bound(branch))
            read = frozenset(name for branch in over for name in mentioned(branch))
            return (item_variables(arg) - inner) | read
        case NewItem(fields=fields):
            parts = (free(f) if isinstance(f, Block | SetOf) else item_variables(f) for _, f in fields)
            return frozenset(name for names in parts for name in names)


def object_variable(item: Item) -> str | None:
    """The variable whose objects an item gives; None if it gives values or something new."""
    match item:
        case ObjectItem(var=var) | GroupItem(func="element", arg=ObjectItem(var=var)):
            return var
        case _:
            return None


def is_mixed(query: Normal) -> bool:
    """Whether an item is an object on one side of a set operator and none on another."""
    columns = zip(*(block.select for block in blocks(query)), strict=True)
    return any(len({object_variable(item) is None for item in column}) > 1 for column in columns)


def order_variables(key: Order) -> frozenset[str]:
    """Variables that an order key reads, less those it binds itself."""
    inner = frozenset(name for branch in key.over for name in bound(branch))
    read = frozenset(name for branch in key.over for name in mentioned(branch))
    return (frozenset(scalar_variables(key.scalar)) - inner) | read


def free(query: Normal) -> frozenset[str]:
    """Variables that a query takes from outside: the correlated ones."""
    if isinstance(query, SetOf):
        return free(query.left) | free(query.right)
    names = set(mentioned(query.from_))
    names |= {name for branch in query.where for name in mentioned(branch)}
    items = (*query.select, *query.group_by, *query.aggregates)
    names |= {name for item in items for name in item_variables(item)}
    names |= {name for key in query.order_by for name in order_variables(key)}
    here = bound(query.from_) | {name for branch in query.where for name in bound(branch)}
    here |= {each.label for each in query.aggregates}
    return frozenset(name for name in names - here if not is_constant(name))


def blocks(query: Normal) -> Iterator[Block]:
    """The blocks of a query, left to right."""
    if isinstance(query, SetOf):
        yield from blocks(query.left)
        yield from blocks(query.right)
    else:
        yield query
