"""Plans: operators over binding tables.

A binding table has one row a binding, one column a variable, and a signed count. A column holds
oids, or values (label and path variables, measures, computed items). Operators never drop a row
silently: only `Consolidate` adds equal rows up and only `Distinct` forgets counts, so every
operator but those that say "set" is linear in its inputs.

`explain` prints one line an operator, with the estimate and, after a run, the rows it really gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias

from lorel.normal import Scalar, State, Step, Test


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    estimate: float = field(default=0.0, compare=False, repr=False)
    known: tuple[str, ...] | None = field(default=None, init=False, compare=False, repr=False)  # its columns


@dataclass(frozen=True, slots=True)
class Unit(Node):
    """One row with no columns, once."""


@dataclass(frozen=True, slots=True)
class Given(Node):
    """Rows handed in at run time under a name, with their counts."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bind(Node):
    """`input` with one more column that holds the same oid in every row."""

    input: Plan
    var: str
    oid: int


@dataclass(frozen=True, slots=True)
class Lookup(Node):
    """All objects whose value passes the test, from the index over values; each once.

    The test compares `ValueOf(var)` with a constant (or constants: OneOf) by `=`, `<`, `<=`, `>`, `>=`.
    """

    var: str
    test: Test
    graph: str = ""
    state: State = "new"


@dataclass(frozen=True, slots=True)
class Scan(Node):
    """All edges of the step, in no order: columns src, dst and via if it has one."""

    step: Step


@dataclass(frozen=True, slots=True)
class Expand(Node):
    """One edge from a bound end of the step to the other; if that is bound too, a check that it is there."""

    input: Plan
    step: Step
    forward: bool


@dataclass(frozen=True, slots=True)
class Closure(Node):
    """A walk along an automaton from a bound end to the other: each reached object once a row (a set).

    With a path variable the walks themselves, none with a repeated object. With `kept`, where each walk began
    is forgotten: the reached objects beside these columns of `input` only, each once, so that no object is
    walked from twice. With `back`, a walk of the same step the other way with nothing kept, only what that
    walk began from is reached again, from what it has reached: no object that it did not pass is looked at.
    """

    input: Plan
    step: Step
    forward: bool
    kept: tuple[str, ...] | None = None
    back: Closure | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """The variables from which, and to which, it walks."""
        return (self.step.src, self.step.dst) if self.forward else (self.step.dst, self.step.src)


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """The rows that pass all tests."""

    input: Plan
    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Compute(Node):
    """One more column with the value of a scalar; rows where it is missing are dropped if `required`."""

    input: Plan
    name: str
    scalar: Scalar
    required: bool = True


@dataclass(frozen=True, slots=True)
class Join(Node):
    """Natural join on the shared columns; counts multiply. No shared column: the product."""

    left: Plan
    right: Plan


@dataclass(frozen=True, slots=True)
class ValueExpand(Node):
    """Each row with every object whose value equals the scalar under coercion, as one more column.

    The index over values answers it: strings by text, integers exactly, other numbers by double,
    complex objects by oid. Not one hash key, for coerced equality is not transitive.
    """

    input: Plan
    scalar: Scalar
    var: str
    graph: str = ""
    state: State = "new"


@dataclass(frozen=True, slots=True)
class Semi(Node):
    """The left rows that agree with some right row (count above zero) on the shared columns (a set test)."""

    left: Plan
    right: Plan


@dataclass(frozen=True, slots=True)
class Anti(Node):
    """The left rows that agree with no right row on the shared columns (a set test)."""

    left: Plan
    right: Plan


@dataclass(frozen=True, slots=True)
class Union(Node):
    """All rows of all inputs; every input has the same columns."""

    inputs: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Project(Node):
    """Only these columns; rows stay as many, consolidate afterwards."""

    input: Plan
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rename(Node):
    """Only these columns, under other names: pairs (old, new); an old one may be taken twice."""

    input: Plan
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Consolidate(Node):
    """Equal rows are added up; what comes to zero goes."""

    input: Plan


@dataclass(frozen=True, slots=True)
class Distinct(Node):
    """Every row with a count above zero, once (a set)."""

    input: Plan


@dataclass(frozen=True, slots=True)
class DistinctValues(Node):
    """Of the rows that hold the same typed values in every column, the one with the lowest oids (a set).

    A complex object is its own value. Value columns compare as they are.
    """

    input: Plan
    graph: str = ""
    state: State = "new"


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`input` with one more column: func over the distinct `arg` of the matching `rows`.

    Rows match on `keys`. With no matching row count and sum are 0, the others are missing. Rows of several
    items can only be counted: they differ in `arg` or in `others`.
    `arg` is a column of `rows`: an oid column is taken by its objects' values in `graph`/`state`.
    """

    input: Plan
    rows: Plan
    keys: tuple[str, ...]
    func: Literal["count", "sum", "avg", "min", "max", "element"]
    arg: str
    name: str
    graph: str = ""
    state: State = "new"
    others: tuple[str, ...] = ()


Plan: TypeAlias = (
    Unit
    | Given
    | Bind
    | Lookup
    | Scan
    | Expand
    | Closure
    | Filter
    | Compute
    | Join
    | ValueExpand
    | Semi
    | Anti
    | Union
    | Project
    | Rename
    | Consolidate
    | Distinct
    | DistinctValues
    | Aggregate
)


def children(plan: Plan) -> Iterator[Plan]:
    """The inputs of an operator, left to right."""
    for spec in fields(plan):
        part = getattr(plan, spec.name)
        for child in part if spec.name == "inputs" else (part,):
            if isinstance(child, Node):
                yield child  # type: ignore[misc]  # every Node but the base is a Plan


def operators(plan: Plan) -> list[Plan]:
    """Every operator once: a part that two others take as their input runs once, too."""
    found: dict[int, Plan] = {}
    todo = [plan]
    while todo:
        node = todo.pop()
        if id(node) not in found:
            found[id(node)] = node
            todo.extend(children(node))
    return list(found.values())


def inputs_first(plan: Plan) -> Iterator[Plan]:
    """Every operator once, after its inputs; those of a left input before those of a right one."""
    done: set[int] = set()
    todo = [plan]
    while todo:
        node = todo[-1]
        waiting = [part for part in children(node) if id(part) not in done]
        if waiting:
            todo += reversed(waiting)
            continue
        todo.pop()
        if id(node) not in done:
            done.add(id(node))
            yield node


def columns(plan: Plan) -> tuple[str, ...]:
    """The columns of the table that a plan gives, in order.

    >>> from lorel.normal import Labels
    >>> columns(Expand(Bind(Unit(), "&0", 0), Step("&0", Labels("Guide"), "g"), forward=True))
    ('&0', 'g')
    """
    todo = [plan] if plan.known is None else []
    while todo:  # not by calls: a plan may be thousands of operators deep
        node = todo[-1]
        waiting = [part for part in children(node) if part.known is None]
        todo += waiting
        if not waiting:
            object.__setattr__(todo.pop(), "known", _columns(node))
    assert plan.known is not None
    return plan.known


def _columns(plan: Plan) -> tuple[str, ...]:
    """The columns of an operator, if those of its inputs are known."""
    match plan:
        case Unit():
            return ()
        case Given(columns=names) | Project(columns=names):
            return names
        case Bind(input=input_, var=var) | ValueExpand(input=input_, var=var):
            return (*columns(input_), var)
        case Lookup(var=var):
            return (var,)
        case Scan(step=step):
            return _extended((), step)
        case Closure(kept=names, ends=(_, far)) if names is not None:
            return (*names, far)
        case Expand(input=input_, step=step) | Closure(input=input_, step=step):
            return _extended(columns(input_), step)
        case Compute(input=input_, name=name) | Aggregate(input=input_, name=name):
            return (*columns(input_), name)
        case Join(left=left, right=right):
            mine = columns(left)
            return (*mine, *(name for name in columns(right) if name not in mine))
        case Semi(left=left) | Anti(left=left):
            return columns(left)
        case Union(inputs=inputs):
            return columns(inputs[0])
        case Rename(names=names_):
            return tuple(new for _, new in names_)
        case Filter() | Consolidate() | Distinct() | DistinctValues():
            return columns(plan.input)


def _extended(names: tuple[str, ...], step: Step) -> tuple[str, ...]:
    more = [name for name in (step.src, step.dst, step.via) if name is not None and name not in names]
    return (*names, *dict.fromkeys(more))


def explain(plan: Plan, actual: Mapping[int, int] | None = None) -> str:
    """One indented line an operator: what it does, the rows expected and, after a run, the rows it gave.

    `actual` maps `id(operator)` to rows. The inputs of an operator that stands at two places are shown once.
    """
    from lorel.plan_text import describe

    lines: list[str] = []
    shown: set[int] = set()
    todo = [(plan, 0)]
    while todo:
        node, depth = todo.pop()
        rows = f"~{node.estimate:,.0f}"
        if actual is not None and id(node) in actual:
            rows += f", was {actual[id(node)]:,}"
        inputs = list(children(node))
        again = ", as above" if id(node) in shown and inputs else ""
        lines.append(f"{'  ' * depth}{describe(node)}  [{rows}{again}]")
        if id(node) not in shown:
            shown.add(id(node))
            todo += [(child, depth + 1) for child in reversed(inputs)]
    return "\n".join(lines)
