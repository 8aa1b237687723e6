"""Seeded random statements over the whole grammar, with a meaning or without, as the parser shapes them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from lorel import ast

_WORDS = (
    "r",
    "Guide",
    "order",
    "select",
    "name",
    "x1",
    "caf\u00e9",
    "first name",
    "a`b",
    "2nd",
    "unquote",
    "For",
    "oem",
    "",
)
_STRINGS = (
    "",
    "x",
    'say "hi"',
    "back\\slash",
    "line\nbreak",
    "tab\t",
    "it's",
    "caf\u00e9 \U0001f35c",
    "\x7f",
    "-- no comment",
)
_NUMBERS: tuple[Any, ...] = (0, 7, -4, 10**30, 2.5, -0.25, 1e16, 1e-7, 3.0)
_PATTERNS = ("%", "Ra%", "%ing", "a%b%", "%%")
_FUNCTIONS = ("count", "sum", "element", "oid", "label-of", "path-of", "type-of", "is-atomic", "other")


def random_statement(rng: Random) -> ast.Statement:
    """Any statement."""
    return _Writer(rng).statement()


@dataclass
class _Writer:
    rng: Random

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def word(self) -> str:
        return self.rng.choice(_WORDS)

    def maybe_word(self) -> str | None:
        return self.word() if self.chance(0.4) else None

    def some(self, make: Any, least: int = 1, most: int = 3) -> tuple[Any, ...]:
        return tuple(make() for _ in range(self.rng.randint(least, most)))

    def statement(self) -> ast.Statement:
        match self.rng.randrange(8):
            case 0:
                kind: Literal["", "materialized", "virtual"] = self.rng.choice(
                    ("", "materialized", "virtual")
                )
                return ast.DefineView(self.word(), self.query(2), self.maybe_word(), kind)
            case 1:
                return ast.DropView(self.word())
            case 2:
                return ast.NameObject(self.word(), self.query(2))
            case 3:
                return ast.Unname(self.word())
            case 4:
                return self.update()
            case _:
                return self.query(3)

    def update(self) -> ast.Update:
        target = ast.Ident(self.word()) if self.chance(0.6) else ast.OidRef(self.rng.randrange(99))
        op: Literal[":=", "+=", "-="] = self.rng.choice((":=", "+=", "-="))
        from_ = self.some(lambda: self.from_item(1), 0, 2)
        where = self.condition(2) if self.chance(0.5) else None
        return ast.Update(target, self.maybe_word(), op, self.query(2), from_, where)

    # ---- queries ----

    def query(self, depth: int) -> ast.Query:
        if depth and self.chance(0.25):
            op: Literal["union", "intersect", "except"] = self.rng.choice(("union", "intersect", "except"))
            return ast.SetQuery(op, self.query(depth - 1), self.query(depth - 1))
        if not depth or self.chance(0.25):
            expr = self.expr(depth)
            return expr.query if isinstance(expr, ast.Subquery) else ast.ExprQuery(expr)
        return ast.Select(
            self.some(lambda: ast.SelectItem(self.expr(depth - 1), self.maybe_word())),
            self.some(lambda: self.from_item(depth - 1), 0, 3),
            self.condition(depth - 1) if self.chance(0.5) else None,
            self.some(lambda: self.expr(depth - 1)) if self.chance(0.2) else (),
            self.some(lambda: ast.OrderKey(self.expr(depth - 1), self.chance(0.5)))
            if self.chance(0.2)
            else (),
            self.chance(0.2),
            self.some(self.with_path) if self.chance(0.2) else (),
        )

    def from_item(self, depth: int) -> ast.FromItem:
        return ast.FromItem(self.range(depth), self.maybe_word())

    def range(self, depth: int) -> ast.Path | ast.Subquery:
        """What stands after `in`, or in from: a path, a call, or a query that is more than a path."""
        expr = self.expr(depth)
        match expr:
            case ast.Path() | ast.Subquery():
                return expr
            case ast.Call():
                return ast.Path(expr)
            case _:
                return ast.Subquery(ast.ExprQuery(expr))

    def with_path(self) -> ast.WithPath:
        return ast.WithPath(
            ast.Path(ast.Ident(self.word()), self.some(lambda: self.component(0))), self.maybe_word()
        )

    # ---- conditions ----

    def condition(self, depth: int) -> ast.Condition:
        match self.rng.randrange(9 if depth else 5):
            case 0 | 1:
                op: Any = self.rng.choice(("=", "!=", "<", "<=", ">", ">=", "=="))
                return ast.Compare(op, self.expr(depth - 1), self.expr(depth - 1))
            case 2:
                among = ast.LiteralSet(self.some(self.constant))
                return ast.In(self.expr(depth - 1), among if self.chance(0.5) else self.range(depth - 1))
            case 3:
                kind: Any = self.rng.choice(("like", "grep", "soundex"))
                return ast.Match(kind, self.expr(depth - 1), self.rng.choice(_STRINGS))
            case 4:
                return ast.NotEmpty(self.range(depth - 1))
            case 5:
                return ast.And(self.some(lambda: self.condition(depth - 1), 2))
            case 6:
                return ast.Or(self.some(lambda: self.condition(depth - 1), 2))
            case 7:
                return ast.Not(self.condition(depth - 1))
            case _:
                kind = self.rng.choice(("exists", "for all"))
                return ast.Quantified(kind, self.word(), self.range(depth - 1), self.condition(depth - 1))

    # ---- expressions ----

    def expr(self, depth: int) -> ast.Expr:
        if depth <= 0:
            return self.path(0) if self.chance(0.6) else self.constant()
        match self.rng.randrange(8):
            case 0 | 1 | 2:
                return self.path(depth)
            case 3:
                return self.constant()
            case 4:
                op: Any = self.rng.choice(("+", "-", "*", "/", "mod", "||"))
                return ast.Binary(op, self.expr(depth - 1), self.expr(depth - 1))
            case 5:
                return ast.Negative(self.expr(depth - 1))
            case 6:
                return ast.Call(self.rng.choice(_FUNCTIONS), self.some(lambda: self.expr(depth - 1), 0, 2))
            case _:
                if self.chance(0.5):
                    query = self.query(depth - 1)
                    return query.expr if isinstance(query, ast.ExprQuery) else ast.Subquery(query)
                fields = self.some(lambda: (self.word(), self.expr(depth - 1)))
                kind: Literal["oem", "struct"] = self.rng.choice(("oem", "struct"))
                return ast.Construct(kind, fields)

    def constant(self) -> ast.Constant:
        return ast.Constant(self.rng.choice((*_NUMBERS, *_STRINGS, True, False, None)))

    # ---- paths ----

    def path(self, depth: int) -> ast.Path:
        head: Any
        match self.rng.randrange(6 if depth else 4):
            case 0 | 1 | 2:
                head = ast.Ident(self.word())
            case 3:
                head = ast.OidRef(self.rng.randrange(99))
            case 4:
                head = ast.Subquery(self.query(depth - 1))
            case _:
                head = ast.Call(self.rng.choice(_FUNCTIONS), (self.expr(depth - 1),))
        bare = isinstance(head, ast.Ident | ast.OidRef)
        return ast.Path(head, self.some(lambda: self.component(depth), 0 if bare else 1))

    def component(self, depth: int) -> ast.Component:
        quant: Any = self.rng.choice(("", "", "", "*", "+", "?"))
        if self.chance(0.2):
            return ast.Group(self.some(lambda: self.some(lambda: self.component(0), 1, 2), 1, 2), quant)
        units = [ast.Label(self.word()), ast.Pattern(self.rng.choice(_PATTERNS)), ast.AnyPath()]
        unit = self.rng.choice([*units, *([ast.Unquote(self.expr(depth - 1))] if depth else [])])
        bind = self.maybe_word() if not quant else None
        return ast.Step(unit, self.maybe_word(), bind, quant)
