"""The components of a path, cut into steps: plain ones, and runs of regular ones as one automaton each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lorel import ast
from lorel.automata import automaton
from lorel.errors import Span
from lorel.normal import Automaton, Labels
from lorel.scope import Scope


@dataclass(frozen=True, slots=True)
class Segment:
    """One step to be: what it walks, and the variables written at it."""

    path: Labels | Automaton | ast.Unquote
    via: str | None
    bind: str | None
    span: Span


def segments(components: Iterable[ast.Component], scope: Scope) -> Iterator[Segment]:
    """Plain labels stay steps; neighbours with `*`, `+`, `?`, `|` or `#` become one automaton.

    `.Entree(.Price|.Ingredient)`   ->   `.Entree`, then an automaton of two moves
    """
    run: list[ast.Component] = []
    for component in _flat(components):
        if isinstance(component, ast.Group) or _is_regular(component):
            run.append(component)
            if isinstance(component, ast.Group) or component.bind is None:
                continue
            yield _closure(run, component.bind, scope)
        else:
            if run:
                yield _closure(run, None, scope)
            path = _plain(component, scope)
            yield Segment(path, component.via, component.bind, component.span)
        run = []
    if run:
        yield _closure(run, None, scope)


def _flat(components: Iterable[ast.Component]) -> Iterator[ast.Component]:
    """`(.a.b)` without alternatives or repetition is `.a.b`."""
    for component in components:
        if isinstance(component, ast.Group) and len(component.alternatives) == 1 and not component.quant:
            yield from _flat(component.alternatives[0])
        else:
            yield component


def _is_regular(step: ast.Step) -> bool:
    return bool(step.quant) or (isinstance(step.unit, ast.AnyPath) and step.via is None)


def _plain(step: ast.Step, scope: Scope) -> Labels | Automaton | ast.Unquote:
    match step.unit:
        case ast.AnyPath():
            return automaton([ast.Step(ast.AnyPath())], lambda each: _labels(each, scope))
        case ast.Unquote(expr=ast.Constant(value=str())):
            return _labels(step, scope)
        case ast.Unquote() as computed:
            return computed
        case _:
            return _labels(step, scope)


def _closure(run: list[ast.Component], bind: str | None, scope: Scope) -> Segment:
    for component in run:
        _no_variables(component, scope, inside=False)
    span = Span(run[0].span.start, run[-1].span.end)
    return Segment(automaton(run, lambda step: _labels(step, scope)), None, bind, span)


def _no_variables(component: ast.Component, scope: Scope, *, inside: bool) -> None:
    """Inside a repetition or an alternative a variable would stand for many objects, or for none."""
    if isinstance(component, ast.Group):
        for alternative in component.alternatives:
            for inner in alternative:
                _no_variables(inner, scope, inside=True)
    elif component.via or (component.bind and (inside or component.quant)):
        raise scope.error(
            f"the variable {component.via or component.bind!r} stands inside a repetition or an alternative, "
            "where it would have many values or none",
            component.span,
            "put it on a step of its own, as in `.%@L`, `.#@P` or `.Entree{e}`",
        )


def _labels(step: ast.Step, scope: Scope) -> Labels:
    match step.unit:
        case ast.Label(name):
            return Labels(name)
        case ast.Pattern(pattern):
            return Labels(pattern, exact=False)
        case ast.Unquote(expr=ast.Constant(value=str() as name)):
            return Labels(name)
        case _:
            hint = 'a string, as in `unquote("first name")`, can stand in any step'
            raise scope.error("a label computed for each object cannot be repeated", step.span, hint)
