"""From what the grammar recognised to the tree: one method a rule, named like it.

Lark calls a method as soon as its rule is complete, so nothing here recurses however deep the text is nested.
A bracket may hold a query, a condition or an expression; `as_query`, `as_condition` and the like say which
was wanted where, and refuse the others.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import isfinite
from typing import Any, Final, TypeAlias, cast

from lark import Token, Transformer, v_args

from lorel import ast
from lorel.errors import LorelSyntaxError, Span
from lorel.words import string_value, unquoted

Part: TypeAlias = Token | ast.Node | tuple[Any, ...] | None
"""What a method is handed: a token, a finished node, a list of nodes, or nothing for an absent option."""

_QUERIES: Final = (ast.Select, ast.SetQuery, ast.ExprQuery)
_CONDITIONS: Final = (
    ast.Or,
    ast.And,
    ast.Not,
    ast.Compare,
    ast.In,
    ast.Match,
    ast.Quantified,
    ast.NotEmpty,
)
_MAX_OID: Final = 2**63 - 1
_OID_DIGITS: Final = 40
_MAX_DIGITS: Final = 4300
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_LITERAL: Final = re.compile(r"""[^\s,{}"']+|"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'""")


def span_of(part: Part) -> Span:
    if isinstance(part, Token):
        return Span(part.start_pos or 0, part.end_pos or 0)
    if isinstance(part, tuple):
        return Span(span_of(part[0]).start, span_of(part[-1]).end)
    assert part is not None
    return part.span


def cover(*parts: Part) -> Span:
    """From the start of the first part to the end of the last; parts are in the order of the text."""
    given = [part for part in parts if part is not None and part != ()]
    return Span(span_of(given[0]).start, span_of(given[-1]).end)


def as_query(part: ast.Node) -> ast.Query:
    """A bracketed query loses its brackets; an expression becomes a query of its own."""
    if isinstance(part, _QUERIES):
        return part
    if isinstance(part, ast.Subquery):
        return part.query
    return ast.ExprQuery(as_expr(part), span=part.span)


def as_expr(part: ast.Node) -> ast.Expr:
    if isinstance(part, _QUERIES):
        return ast.Subquery(part, span=part.span)
    if isinstance(part, _CONDITIONS):
        hint = "conditions stand after `where`, as in `select r from Guide.Restaurant r where r.Price < 20`"
        raise LorelSyntaxError(
            "found a condition, wanted a value, a path or a query", span=part.span, hint=hint
        )
    return cast(ast.Expr, part)


def as_condition(part: ast.Node) -> ast.Condition:
    """A path alone is the condition that it leads somewhere; `is-atomic(x)` alone that it is true."""
    if isinstance(part, _CONDITIONS):
        return part
    if isinstance(part, ast.Call) and part.name == "is-atomic":
        return ast.Compare("=", part, ast.Constant(True, span=part.span), span=part.span)
    if isinstance(part, ast.Path | ast.Subquery | ast.Call):
        return ast.NotEmpty(as_range(part), span=part.span)
    hint = "compare it with something, as in `r.Price < 20`"
    raise LorelSyntaxError("found a value, wanted a condition", span=part.span, hint=hint)


def as_range(part: ast.Node) -> ast.Path | ast.Subquery:
    """What a variable can range over."""
    if isinstance(part, ast.Path | ast.Subquery):
        return part
    if isinstance(part, ast.Call):
        return ast.Path(part, span=part.span)
    return ast.Subquery(as_query(part), span=part.span)


def _left_deep(parts: tuple[Any, ...], node: type[ast.Binary] | type[ast.SetQuery], operand: Any) -> Any:
    """`a - b - c` is `(a - b) - c`."""
    left = parts[0]
    for op, right in zip(parts[1::2], parts[2::2], strict=True):
        left = node(op.lower(), operand(left), operand(right), span=cover(left, right))
    return left


@v_args(inline=True)
class TreeBuilder(Transformer[Token, ast.Node]):
    """Builds the tree of `lorel.ast`, bottom-up."""

    # ---- statements ----

    def program(self, *statements: ast.Node | None) -> tuple[ast.Node, ...]:
        views = (ast.DefineView, ast.DropView, ast.NameObject, ast.Unname, ast.Update)
        return tuple(s if isinstance(s, views) else as_query(s) for s in statements if s is not None)

    def define_view(
        self,
        define: Token,
        kind: Token | None,
        _view: Token,
        name: str,
        _as: Part,
        label: str | None,
        query: Any,
    ) -> ast.DefineView:
        word = "" if kind is None else "virtual" if kind.lower() == "virtual" else "materialized"
        span = cover(define, query)
        return ast.DefineView(_name(name), as_query(query), label and _name(label), word, span=span)  # type: ignore[arg-type]

    def drop_view(self, drop: Token, _view: Token, name: Token) -> ast.DropView:
        return ast.DropView(_name(name), span=cover(drop, name))

    def name_object(self, word: Token, name: Token, _assign: Token, value: ast.Node) -> ast.NameObject:
        return ast.NameObject(_name(name), as_query(value), span=cover(word, value))

    def unname(self, word: Token, name: Token) -> ast.Unname:
        return ast.Unname(_name(name), span=cover(word, name))

    def update(
        self,
        word: Token,
        target: Token,
        label: Token | None,
        op: Token,
        value: ast.Node,
        from_: tuple[ast.FromItem, ...] | None,
        where: ast.Condition | None,
    ) -> ast.Update:
        name = None if label is None else _name(label)
        span = cover(word, value, from_, where)
        return ast.Update(_head(target), name, str(op), as_query(value), from_ or (), where, span=span)  # type: ignore[arg-type]

    # ---- queries ----

    def query(self, *parts: Any) -> ast.SetQuery:
        return cast(ast.SetQuery, _left_deep(parts, ast.SetQuery, as_query))

    query_term = query

    def select(
        self,
        word: Token,
        distinct: Token | None,
        items: tuple[ast.SelectItem, ...],
        from_: tuple[ast.FromItem, ...] | None,
        where: ast.Condition | None,
        group_by: tuple[ast.Expr, ...] | None,
        order_by: tuple[ast.OrderKey, ...] | None,
        with_: tuple[ast.WithPath, ...] | None,
    ) -> ast.Select:
        span = cover(word, items, from_, where, group_by, order_by, with_)
        clauses = (items, from_ or (), where, group_by or (), order_by or ())
        return ast.Select(*clauses, distinct is not None, with_ or (), span=span)

    def select_items(self, *items: ast.SelectItem) -> tuple[ast.SelectItem, ...]:
        return items

    def select_item(self, expr: ast.Node, _as: Token | None, label: Token | None) -> ast.SelectItem:
        return ast.SelectItem(as_expr(expr), None if label is None else _name(label), span=cover(expr, label))

    def labelled_item(self, label: Token, expr: ast.Node) -> ast.SelectItem:
        return ast.SelectItem(as_expr(expr), _name(label), span=cover(label, expr))

    def from_clause(self, _from: Token, *items: ast.FromItem) -> tuple[ast.FromItem, ...]:
        return items

    def from_item(self, range_: ast.Node, _as: Token | None, variable: Token | None) -> ast.FromItem:
        name = None if variable is None else _name(variable)
        return ast.FromItem(as_range(range_), name, span=cover(range_, variable))

    def ranging_item(self, variable: Token, _in: Token, range_: ast.Node) -> ast.FromItem:
        return ast.FromItem(as_range(range_), _name(variable), span=cover(variable, range_))

    def where_clause(self, _where: Token, condition: ast.Node) -> ast.Condition:
        return as_condition(condition)

    def group_clause(self, _group: Token, _by: Token, *exprs: ast.Node) -> tuple[ast.Expr, ...]:
        return tuple(as_expr(expr) for expr in exprs)

    def order_clause(self, _order: Token, _by: Token, *keys: ast.OrderKey) -> tuple[ast.OrderKey, ...]:
        return keys

    def order_key(self, expr: ast.Node, direction: Token | None) -> ast.OrderKey:
        descending = direction is not None and direction.lower() == "desc"
        return ast.OrderKey(as_expr(expr), descending, span=cover(expr, direction))

    def with_clause(self, _with: Token, *paths: ast.WithPath) -> tuple[ast.WithPath, ...]:
        return paths

    def with_path(
        self, head: Token, components: tuple[ast.Component, ...], _as: Token | None, variable: Token | None
    ) -> ast.WithPath:
        path = ast.Path(_head(head), components, span=cover(head, components))
        return ast.WithPath(path, None if variable is None else _name(variable), span=cover(path, variable))

    # ---- conditions ----

    def condition(self, *parts: Any) -> ast.Or:
        items = tuple(as_condition(part) for part in parts[::2])
        return ast.Or(items, span=cover(*items))

    def conjunction(self, *parts: Any) -> ast.And:
        items = tuple(as_condition(part) for part in parts[::2])
        return ast.And(items, span=cover(*items))

    def not_(self, word: Token, item: ast.Node) -> ast.Not:
        return ast.Not(as_condition(item), span=cover(word, item))

    def compare(self, left: ast.Node, op: Token, right: ast.Node) -> ast.Compare:
        word = "!=" if op == "<>" else str(op)
        return ast.Compare(word, as_expr(left), as_expr(right), span=cover(left, right))  # type: ignore[arg-type]

    def in_(self, item: ast.Node, _in: Token, collection: ast.Node) -> ast.In:
        among = collection if isinstance(collection, ast.LiteralSet) else as_range(collection)
        return ast.In(as_expr(item), among, span=cover(item, collection))

    def match(self, expr: ast.Node, kind: Token, pattern: Token) -> ast.Match:
        text = string_value(pattern, span_of(pattern).start)
        return ast.Match(kind.lower(), as_expr(expr), text, span=cover(expr, pattern))  # type: ignore[arg-type]

    def exists(
        self, word: Token, variable: Token, _in: Token, range_: ast.Node, body: ast.Node
    ) -> ast.Quantified:
        span = cover(word, body)
        return ast.Quantified("exists", _name(variable), as_range(range_), as_condition(body), span=span)

    def for_all(
        self, word: Token, _all: Token, variable: Token, _in: Token, range_: ast.Node, body: ast.Node
    ) -> ast.Quantified:
        span = cover(word, body)
        return ast.Quantified("for all", _name(variable), as_range(range_), as_condition(body), span=span)

    def not_empty(self, word: Token, _open: Token, query: ast.Node, close: Token) -> ast.NotEmpty:
        return ast.NotEmpty(as_range(query), span=cover(word, close))

    def literal_set(self, open_: Token, *parts: Any) -> ast.LiteralSet:
        return ast.LiteralSet(parts[:-1], span=cover(open_, parts[-1]))

    def plain_literals(self, token: Token) -> ast.LiteralSet:
        start, items = span_of(token).start, []
        for found in _LITERAL.finditer(token):
            span = Span(start + found.start(), start + found.end())
            items.append(ast.Constant(_literal_value(found[0], span), span=span))
        return ast.LiteralSet(tuple(items), span=span_of(token))

    # ---- expressions ----

    def expr(self, *parts: Any) -> ast.Binary:
        return cast(ast.Binary, _left_deep(parts, ast.Binary, as_expr))

    product = expr

    def negative(self, minus: Token, operand: ast.Node) -> ast.Negative:
        return ast.Negative(as_expr(operand), span=cover(minus, operand))

    def negative_number(self, minus: Token, number: ast.Constant) -> ast.Constant:
        assert isinstance(number.value, int | float)
        return ast.Constant(-number.value, span=cover(minus, number))

    def number(self, token: Token) -> ast.Constant:
        return ast.Constant(_literal_value(token, span_of(token)), span=span_of(token))

    constant = number

    def construct(self, kind: Token, _open: Token, *parts: Any) -> ast.Construct:
        *pairs, close = parts
        fields = tuple(
            (_name(label), as_expr(value)) for label, value in zip(pairs[::2], pairs[1::2], strict=True)
        )
        return ast.Construct(kind.lower(), fields, span=cover(kind, close))  # type: ignore[arg-type]

    # ---- paths ----

    def path(self, head: Part, components: tuple[ast.Component, ...] | None) -> ast.Node:
        """A bracket or a call that no step follows is just what it is."""
        if isinstance(head, tuple):
            inner, span = head
            if components is None:
                return _bracketed(inner, span)
            return ast.Path(
                ast.Subquery(as_query(inner), span=span), components, span=_join(span, components)
            )
        if isinstance(head, ast.Call):
            return ast.Path(head, components, span=cover(head, components)) if components else head
        return ast.Path(_head(cast(Token, head)), components or (), span=cover(head, components))

    def call(self, name: Token, _open: Token, *parts: Any) -> ast.Call:
        args = tuple(as_expr(part) for part in parts[:-1] if part is not None)
        return ast.Call(_name(name).lower(), args, span=cover(name, parts[-1]))

    def bracketed(self, open_: Token, inner: ast.Node, close: Token) -> tuple[ast.Node, Span]:
        return inner, cover(open_, close)

    def components(self, *components: ast.Component) -> tuple[ast.Component, ...]:
        return components

    def step(self, unit: ast.Unit, via: Token | None, quant: Token | None) -> ast.Step:
        name, repeat = None if via is None else _name(via), "" if quant is None else str(quant)
        return ast.Step(unit, name, None, repeat, span=cover(unit, via, quant))  # type: ignore[arg-type]

    def binding_step(self, unit: ast.Unit, via: Token | None, bind: Token, close: Token) -> ast.Step:
        name = None if via is None else _name(via)
        return ast.Step(unit, name, _name(bind), span=cover(unit, close))

    def group(self, open_: Token, *parts: Any) -> ast.Group:
        *alternatives, close, quant = parts
        repeat = "" if quant is None else str(quant)
        return ast.Group(tuple(alternatives), repeat, span=cover(open_, close, quant))  # type: ignore[arg-type]

    def unit(self, token: Token) -> ast.Unit:
        span = span_of(token)
        if token.type == "HASH":
            return ast.AnyPath(span=span)
        if token.type == "PATTERN":
            return ast.Pattern(str(token), span=span)
        return ast.Label(_name(token), span=span)

    def unquote(self, word: Token, _open: Token, query: ast.Node, close: Token) -> ast.Unquote:
        return ast.Unquote(as_expr(query), span=cover(word, close))

    def label(self, token: Token) -> Token:
        return token

    ident = label


def _name(token: str) -> str:
    return unquoted(str(token))


def _head(token: Token) -> ast.Ident | ast.OidRef:
    span = span_of(token)
    if token.type != "OID":
        return ast.Ident(_name(token), span=span)
    if len(token) > _OID_DIGITS or int(token[1:]) > _MAX_OID:
        hint = f"oids are below {_MAX_OID + 1}"
        raise LorelSyntaxError("this number is too large for an oid", span=span, hint=hint)
    return ast.OidRef(int(token[1:]), span=span)


def _literal_value(text: str, span: Span) -> int | float | str | bool | None:
    """What a literal stands for: an integer as long as a person writes, a real that a double can hold."""
    if text[0] in "\"'":
        return string_value(text, span.start)
    word = text.lower()
    if word in _WORDS:
        return _WORDS[word]
    if "." in text or "e" in word:
        value = float(text)
        if not isfinite(value):
            hint = "reals go up to about 1.8e308"
            raise LorelSyntaxError("this number is too large for a real", span=span, hint=hint)
        return value
    digits = len(text.lstrip("-"))
    if digits > _MAX_DIGITS:
        hint = f"integers have up to {_MAX_DIGITS} digits"
        raise LorelSyntaxError(f"this integer has {digits} digits", span=span, hint=hint)
    return int(text)


def _bracketed(inner: ast.Node, span: Span) -> ast.Node:
    """Brackets around a query make it one inside another; around anything else they only group."""
    return ast.Subquery(inner, span=span) if isinstance(inner, _QUERIES) else replace(inner, span=span)


def _join(span: Span, components: tuple[ast.Component, ...]) -> Span:
    return Span(span.start, components[-1].span.end)
