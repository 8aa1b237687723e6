"""Steps, values and tests of the canonical form in a few words: also what `explain` is made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lorel.normal import (
    ROOT,
    Apply,
    Arith,
    Automaton,
    Compare,
    Const,
    Match,
    MeasureOf,
    OidOf,
    OneOf,
    Scalar,
    Step,
    Test,
    TextOf,
    Truth,
    ValueOf,
    Within,
    is_constant,
)
from lorel.printer import constant_text
from lorel.regular_text import automaton_text, labels_text
from lorel.words import name_text, string_text


def variable_text(name: str) -> str:
    """A variable, or a constant such as `&10`, as it is written."""
    return name if is_constant(name) else name_text(name)


def path_text(step: Step) -> str:
    """A step without the variable at its end; from the root it is a name.

    >>> from lorel.normal import ANY, Labels
    >>> path_text(Step("&0", Labels("Guide"), "g")), path_text(Step("r", ANY, "x", via="L"))
    ('Guide', 'r.%@L')
    """
    automaton = isinstance(step.path, Automaton)
    if step.src == ROOT and not automaton and step.path.exact and step.via is None:  # type: ignore[union-attr]
        return name_text(step.path.text)  # type: ignore[union-attr]
    walked = automaton_text(step.path) if isinstance(step.path, Automaton) else labels_text(step.path)
    return variable_text(step.src) + walked + ("" if step.via is None else f"@{name_text(step.via)}")


def step_text(step: Step) -> str:
    """
    >>> from lorel.normal import Labels
    >>> step_text(Step("r", Labels("Entree"), "e"))
    'r.Entree e'
    """
    return f"{path_text(step)} {variable_text(step.dst)}"


def scalar_text(scalar: Scalar, measures: Mapping[str, str] = MappingProxyType({})) -> str:
    """A value; a measure is its name unless `measures` says how it is written."""
    match scalar:
        case Const(value):
            return constant_text(value)
        case ValueOf(var=var, state=state):
            return ("old " if state == "old" else "") + variable_text(var)
        case OidOf(var):
            return f"oid({variable_text(var)})"
        case TextOf(var):
            return variable_text(var)
        case MeasureOf(name):
            return measures.get(name, name)
        case Arith(op, left, right):
            sides = (scalar_text(side, measures) for side in (left, right))
            first, second = (
                f"({text})" if isinstance(side, Arith) else text
                for side, text in zip((left, right), sides, strict=True)
            )
            return f"{first} {op} {second}"
        case Apply(name, arg):
            return f"{name}({scalar_text(arg, measures)})"


def test_text(test: Test, measures: Mapping[str, str] = MappingProxyType({})) -> str:  # noqa: PT028
    match test:
        case Compare(op, left, right):
            text = f"{scalar_text(left, measures)} {op} {scalar_text(right, measures)}"
        case Match(kind, scalar, pattern):
            text = f"{scalar_text(scalar, measures)} {kind} {string_text(pattern)}"
        case OneOf(scalar, values):
            among = ", ".join(constant_text(each.value) for each in values)
            text = f"{scalar_text(scalar, measures)} in {{{among}}}"
        case Truth(value, why):
            return why or ("0 = 0" if value else "0 = 1")
    return f"not ({text})" if test.negated else text


def within_text(within: Within) -> str:
    names = ", ".join(variable_text(name) for name in within.variables)
    return f"({names}) in {within.given}" if len(within.variables) != 1 else f"{names} in {within.given}"
