"""Paths and expressions become steps and scalars: `r.Address.Zipcode` is `r.Address _1`, `_1.Zipcode _2`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast

from lorel import ast
from lorel.desugar import AGGREGATES
from lorel.dnf import All, Piece, join, where_branches
from lorel.lower_items import an_object_is, flat_items, no_row, plain_items, there_is
from lorel.lower_rows import item_of_row, members
from lorel.normal import (
    ANY,
    ROOT,
    Apply,
    Arith,
    Automaton,
    Block,
    Branch,
    Compare,
    Const,
    Labels,
    Measure,
    MeasureOf,
    Normal,
    OidOf,
    Scalar,
    Step,
    TextOf,
    blocks,
)
from lorel.scope import Bound, Object, Row, Scope, Text, Value, listed, scalar_of, suggestion
from lorel.segments import Segment, segments

FUNCTIONS: Final = (*sorted(AGGREGATES), "is-atomic", "label-of", "oid", "path-of", "type-of")
Aggregate: TypeAlias = Literal["count", "sum", "avg", "min", "max", "element"]


# ---- paths ----


@dataclass(frozen=True, slots=True)
class Walk:
    """A lowered path: what it binds, what its end stands for, and the scope with the variables in it."""

    piece: Piece
    end: Bound
    scope: Scope


def walk(
    path: ast.Path | ast.Subquery,
    scope: Scope,
    variable: str | None = None,
    claim: Callable[[str], str] | None = None,
) -> Walk:
    """Lower a path; the object at its end gets the variable, if one is given, under a name from `claim`.

    A path that is only a variable or an oid binds nothing: its end is another word for the same object.
    """
    if isinstance(path, ast.Subquery):
        path = ast.Path(path, span=path.span)
    steps = list(segments(path.components, scope))
    start = _start(path, scope, None if steps else variable)
    piece, here, scope = start.piece, start.end, start.scope
    while steps and isinstance(here, Row):
        more, here, scope = item_of_row(here, steps.pop(0), scope)
        piece += more
    if steps and not isinstance(here, Object):
        hint = "paths start from a name, an object variable or an oid"
        raise scope.error("a value has no subobjects: no path starts from it", path.head.span, hint)
    if steps and isinstance(steps[0].path, Automaton) and 0 in steps[0].path.accepting:
        piece += there_is(here)  # the walk may end where it starts
    for number, segment in enumerate(steps):
        assert isinstance(here, Object)
        own = variable if variable and number == len(steps) - 1 else segment.bind
        there = Object((claim or scope.names.claim)(own) if own else scope.names.fresh(), here.graph)
        if segment.bind:
            scope = scope.bind(segment.bind, there, segment.span)
        more, scope = _step(here, segment, there, scope)
        piece, here = piece + more, there
    if variable:
        piece, scope = piece + there_is(here), scope.bind(variable, here, path.span)
    return Walk(piece, here, scope)


def _step(src: Object, segment: Segment, dst: Object, scope: Scope) -> tuple[Piece, Scope]:
    path, via = segment.path, None
    before = after = Piece()
    if isinstance(path, ast.Unquote):
        via = scope.names.fresh()
        before, label, scope = scalar(path.expr, scope)
        is_text = Compare("=", Apply("type-of", label), Const("string"))
        after = Piece(Branch(tests=(is_text, Compare("=", TextOf(via), label))))
        path = ANY
    if segment.via:
        via = via or scope.names.claim(segment.via)
        kind: Literal["label", "path"] = "path" if isinstance(path, Automaton) else "label"
        scope = scope.bind(segment.via, Text(via, kind), segment.span)
    return before + Piece(Branch(steps=(Step(src.var, path, dst.var, via, src.graph),))) + after, scope


def _start(path: ast.Path, scope: Scope, variable: str | None) -> Walk:
    """The object a path starts from; `variable` is what it is called if nothing follows."""
    match path.head:
        case ast.Ident(name) as ident:
            found = scope.start(ident)
            if not isinstance(found, str):
                return Walk(Piece(), found, scope)
            dst = scope.names.claim(variable) if variable else scope.names.fresh()
            step = Step(ROOT, Labels(name), dst, graph=found)
            return Walk(Piece(Branch(steps=(step,))), Object(dst, found), scope)
        case ast.OidRef(oid):
            return Walk(Piece(), Object(f"&{oid}"), scope)
        case ast.Subquery(query):
            return Walk(*members(query, scope, variable, path), scope)
        case ast.Call() as call:
            return expression(call, scope)


# ---- expressions ----


def scalar(expr: ast.Expr, scope: Scope) -> tuple[Piece, Scalar, Scope]:
    """The value of an expression; a path in it stands for some member of its set."""
    bare = expr.head if isinstance(expr, ast.Path) and not expr.components else expr
    if isinstance(bare, ast.Subquery):
        found = Walk(*members(bare.query, scope, None, expr, as_values=True), scope)
    else:
        found = expression(expr, scope)
    no_row(found.end, "a comparison or a calculation", scope, expr.span)
    return found.piece, scalar_of(found.end), found.scope


def expression(expr: ast.Expr, scope: Scope) -> Walk:
    """What an expression stands for: an object if it is a path, else a value.

    Variables that a path in it binds are in reach of what stands to the right.
    """
    match expr:
        case ast.Path() | ast.Subquery():
            return walk(expr, scope)
        case ast.Constant(value):
            return Walk(Piece(), Value(Const(value)), scope)
        case ast.Binary(op, left, right):
            first, a, scope = scalar(left, scope)
            second, b, scope = scalar(right, scope)
            return Walk(first + second, Value(Arith(op, a, b)), scope)
        case ast.Negative(inner):
            piece, amount, scope = scalar(inner, scope)
            return Walk(piece, Value(Arith("-", Const(0), amount)), scope)
        case ast.Call():
            return _call(expr, scope)
        case ast.Construct():
            hint = "`oem(...)` and `struct(...)` stand in select, or inside another of them"
            raise scope.error("an object is constructed where a value is wanted", expr.span, hint)


def _call(call: ast.Call, scope: Scope) -> Walk:
    if call.name not in FUNCTIONS:
        hint = suggestion(call.name, FUNCTIONS) + f"functions: {listed(FUNCTIONS)}"
        raise scope.error(f"there is no function {call.name!r}", call.span, hint)
    if len(call.args) != 1:
        raise scope.error(f"{call.name} takes one argument, found {len(call.args)}", call.span)
    if call.name == "element":
        return _element(call, scope)
    if call.name in AGGREGATES:
        branch, value = measured(call, cast(Aggregate, call.name), scope)
        return Walk(Piece(branch), Value(value), scope)
    found = expression(call.args[0], scope)
    match call.name, found.end:
        case "oid", Object(var):
            return replace(found, piece=found.piece + there_is(found.end), end=Value(OidOf(var)))
        case "label-of", Text(var, "label"):
            return replace(found, end=Value(TextOf(var)))
        case "path-of", Text(var, "path"):
            return replace(found, end=Value(TextOf(var)))
        case "type-of" | "is-atomic", Row():
            return replace(found, end=Value(Const("complex" if call.name == "type-of" else False)))
        case "type-of" | "is-atomic", _:
            return replace(found, end=Value(Apply(call.name, scalar_of(found.end))))
    wanted = {
        "oid": "an object, as in `oid(r)`",
        "label-of": "a label variable, as in `label-of(L)` with `r.%@L` in from",
        "path-of": "a path variable, as in `path-of(P)` with `r.#@P` in from",
    }
    raise scope.error(f"{call.name} takes {wanted[call.name]}", call.args[0].span)


def measured(call: ast.Call, func: Aggregate, scope: Scope) -> tuple[Branch, MeasureOf]:
    """An aggregate of the whole set that its argument stands for, per binding of the variables around it."""
    name = scope.names.fresh()
    query = whole_set(call.args[0], scope)
    if func != "count" and len(next(blocks(query)).select) > 1:
        hint = "select the one item that is meant; rows can be counted"
        raise scope.error(f"{func} takes numbers, not rows of several items", call.args[0].span, hint)
    return Branch(measures=(Measure(name, func, query),)), MeasureOf(name)


def whole_set(expr: ast.Expr, scope: Scope) -> Normal:
    """The query that gives every member an expression can stand for."""
    if isinstance(expr, ast.Subquery):
        normal = scope.inside.query(expr.query, scope.inner())
        plain_items(normal, scope, expr)
        return normal
    found = expression(expr, scope.inner())
    piece = found.piece + an_object_is(found.end)
    return Block(tuple(flat_items("", found.end)), piece.branch, where_branches(All(piece.conditions)))


def _element(call: ast.Call, scope: Scope) -> Walk:
    """`element(q)` is a member of q, provided that there is exactly one."""
    found = expression(call.args[0], scope.inner())
    counted, number = measured(call, "count", scope)
    single = Branch(tests=(Compare("=", number, Const(1)),))
    return Walk(found.piece + there_is(found.end) + Piece(join((counted, single))), found.end, scope)
