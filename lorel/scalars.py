"""Values and tests of the canonical form, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

State: TypeAlias = Literal["old", "new", "delta"]
Atom: TypeAlias = int | float | str | bool | None


# ---- values ----


@dataclass(frozen=True, slots=True)
class Const:
    value: Atom

    def __eq__(self, other: object) -> bool:  # 1, 1.0 and true are three constants
        if not isinstance(other, Const):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class ValueOf:
    """The object a variable is bound to, as a value; a complex one compares by its oid."""

    var: str
    graph: str = ""
    state: State = "new"


@dataclass(frozen=True, slots=True)
class OidOf:
    """The oid as an integer value: `oid(x)`."""

    var: str


@dataclass(frozen=True, slots=True)
class TextOf:
    """A label or path variable as a string: `label-of(L)`, `path-of(P)`."""

    var: str


@dataclass(frozen=True, slots=True)
class MeasureOf:
    """The value of an aggregate that the branch has measured; may be missing."""

    name: str


@dataclass(frozen=True, slots=True)
class Arith:
    """`+ - * / mod` on numbers, `||` on texts; missing if an operand does not convert, or divided by zero."""

    op: Literal["+", "-", "*", "/", "mod", "||"]
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of one value: `type-of`, `is-atomic`."""

    name: str
    arg: Scalar


Leaf: TypeAlias = Const | ValueOf | OidOf | TextOf | MeasureOf
Scalar: TypeAlias = Leaf | Arith | Apply


# ---- tests ----


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison under coercion. `==` is of two variables (ValueOf), by oid."""

    op: Literal["=", "!=", "<", "<=", ">", ">=", "=="]
    left: Scalar
    right: Scalar
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    kind: Literal["like", "grep", "soundex"]
    scalar: Scalar
    pattern: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """`x in {1, 2, "three"}`: the value equals, under coercion, one of the constants."""

    scalar: Scalar
    values: tuple[Const, ...]
    negated: bool = False

    def __hash__(
        self,
    ) -> int:  # asked for again and again, of a hundred thousand values perhaps
        return hash((self.scalar, len(self.values), self.values[:8], self.negated))


@dataclass(frozen=True, slots=True)
class Truth:
    """A test that needs no data; `why` tells a reader what it follows from."""

    value: bool
    why: str = field(default="", compare=False, repr=False)


Test: TypeAlias = Compare | Match | OneOf | Truth


# ---- what they read ----


def leaves(scalar: Scalar) -> Iterator[Leaf]:
    """The parts of a scalar that are not calculated from others, left to right."""
    todo = [scalar]
    while todo:
        match todo.pop():
            case Arith(_, left, right):
                todo += (right, left)
            case Apply(_, arg):
                todo.append(arg)
            case leaf:
                yield leaf


def mapped_scalar(scalar: Scalar, leaf: Callable[[Leaf], Leaf]) -> Scalar:
    """The same calculation of other leaves."""
    match scalar:
        case Arith(left=left, right=right):
            return replace(scalar, left=mapped_scalar(left, leaf), right=mapped_scalar(right, leaf))
        case Apply(arg=arg):
            return replace(scalar, arg=mapped_scalar(arg, leaf))
        case _:
            return leaf(scalar)


def mapped_test(test: Test, leaf: Callable[[Leaf], Leaf]) -> Test:
    """The same test of scalars with other leaves."""
    match test:
        case Compare(left=left, right=right):
            return replace(test, left=mapped_scalar(left, leaf), right=mapped_scalar(right, leaf))
        case Match(scalar=scalar) | OneOf(scalar=scalar):
            return replace(test, scalar=mapped_scalar(scalar, leaf))
        case Truth():
            return test


def scalar_variables(scalar: Scalar) -> Iterator[str]:
    """Variables and measures that a scalar reads."""
    for leaf in leaves(scalar):
        match leaf:
            case ValueOf(var=var) | OidOf(var) | TextOf(var) | MeasureOf(var):
                yield var


def test_scalars(test: Test) -> tuple[Scalar, ...]:
    """The scalars that a test compares."""
    match test:
        case Compare(left=left, right=right):
            return left, right
        case Match(scalar=scalar) | OneOf(scalar=scalar):
            return (scalar,)
        case Truth():
            return ()


def values_read(scalar: Scalar) -> Iterator[ValueOf]:
    """The objects whose values a scalar reads."""
    return (leaf for leaf in leaves(scalar) if isinstance(leaf, ValueOf))


def values_tested(test: Test) -> Iterator[ValueOf]:
    """The objects whose values a test reads; `==` reads none, it compares oids."""
    if not isinstance(test, Compare) or test.op != "==":
        for scalar in test_scalars(test):
            yield from values_read(scalar)


def test_variables(test: Test) -> Iterator[str]:
    return (name for scalar in test_scalars(test) for name in scalar_variables(scalar))
