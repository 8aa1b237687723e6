"""Conditions become formulas. Negation is pushed in, and what binds variables must then be absent."""

from __future__ import annotations

from lorel import ast
from lorel.dnf import All, AnyOf, Formula, Has, Piece, dnf, negate
from lorel.lower_exprs import expression, scalar, walk
from lorel.lower_items import there_is
from lorel.normal import Branch, Compare, Const, Match, OneOf, Test
from lorel.regex import PatternError, portable
from lorel.scope import Object, Row, Scope, Value, scalar_of


def condition(cond: ast.Condition, scope: Scope, *, holds: bool = True) -> Formula:
    """The condition, or with `holds=False` its negation. Logic is two-valued: what has no value is false.

    `r.Name = "Thai City"`         some x in r.Name with x = "Thai City"
    `not (r.Price < 20)`           no x in r.Price with x < 20
    `for all x in p : c`           no x in p for which c fails
    """
    match cond:
        case ast.Not(item):
            return condition(item, scope, holds=not holds)
        case ast.And(items) | ast.Or(items):
            parts = tuple(condition(item, scope, holds=holds) for item in items)
            return All(parts) if isinstance(cond, ast.And) is holds else AnyOf(parts)
        case ast.Quantified(kind, variable, range_, body):
            walked = walk(range_, scope.inner(), variable)
            found = walked.piece.and_(condition(body, walked.scope, holds=kind == "exists"))
            if (kind == "exists") is holds:
                return found
            return Has(Branch(absent=dnf(found)))
        case _:
            found = _atom(cond, scope.inner())
            return found if holds else negate(found)


def _atom(cond: ast.Compare | ast.In | ast.Match | ast.NotEmpty, scope: Scope) -> Formula:
    match cond:
        case ast.Compare(op="=="):
            return _same_object(cond, scope)
        case ast.Compare(op, left, right):
            first, a, scope = scalar(left, scope)
            second, b, scope = scalar(right, scope)
            return _tested(first + second, Compare(op, a, b))
        case ast.In(item, ast.LiteralSet(items)):
            piece, value, _ = scalar(item, scope)
            return _tested(piece, OneOf(value, tuple(Const(each.value) for each in items)))
        case ast.In(item, ast.Path() | ast.Subquery() as collection):
            first, a, scope = scalar(item, scope)
            second, b, scope = scalar(collection, scope)
            return _tested(first + second, Compare("=", a, b))
        case ast.Match(kind, expr, pattern):
            piece, value, _ = scalar(expr, scope)
            if kind == "grep":
                pattern = _portable(cond, scope)
            return _tested(piece, Match(kind, value, pattern))
        case ast.NotEmpty(range_):
            return _some(range_, scope)
    raise AssertionError(cond)


def _tested(piece: Piece, test: Test) -> Formula:
    return piece.and_(Has(Branch(tests=(test,))))


def _same_object(cond: ast.Compare, scope: Scope) -> Formula:
    left = expression(cond.left, scope)
    right = expression(cond.right, left.scope)
    for side, found in ((cond.left, left), (cond.right, right)):
        if not isinstance(found.end, Object):
            is_row = isinstance(found.end, Row)
            hint = "name one of its items" if is_row else "values are compared with `=`"
            what = "a row of several items" if is_row else "a value"
            raise scope.error(f"`==` compares objects, this is {what}", side.span, hint)
    exists = there_is(left.end) if left.end == right.end else Piece()
    return _tested(
        left.piece + right.piece + exists, Compare("==", scalar_of(left.end), scalar_of(right.end))
    )


def _some(range_: ast.Path | ast.Subquery, scope: Scope) -> Formula:
    """`exists (r.Address)`: there is one, whatever object it is; a value alone must not be `false`."""
    found = walk(range_, scope)
    piece = found.piece + there_is(found.end)
    if not isinstance(found.end, Value):
        return piece.and_()
    return _tested(piece, Compare("=", found.end.scalar, Const(False), negated=True))


def _portable(cond: ast.Match, scope: Scope) -> str:
    try:
        return portable(cond.pattern)
    except PatternError as error:
        message = f"the pattern {cond.pattern!r} cannot be used: {error}"
        raise scope.error(message, cond.span, error.hint) from None
