"""Seeded random queries with more of the grammar; apart from `queries`, whose seeds stay what they were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from lorel import ast
from tests.generators.graphs import LABELS
from tests.generators.queries import _inside, _Maker


def wide_query(rng: Random) -> ast.Query:
    """Any query, with more of the grammar."""
    return _WideMaker(rng).query(2)


def wide_view(rng: Random, name: str = "V") -> ast.DefineView:
    return ast.DefineView(name, _WideMaker(rng, view=True).view_query(), rng.choice((None, "item")))


@dataclass
class _WideMaker(_Maker):
    """Paths from queries, variables inside paths, conditions on labels, sets and texts that are computed."""

    deep: int = 0

    def path(self, least: int = 0) -> ast.Path:
        if self.deep < 2 and self.chance(0.06):
            self.deep += 1
            head = _inside(self.member_query(1))
            self.deep -= 1
            if isinstance(head, ast.Subquery):
                return ast.Path(head, self.components(self.pick(1, 1, 2), plain=True))
        return super().path(least)

    def component(self, *, plain: bool) -> ast.Component:
        if self.chance(0.04):
            inner = ast.Group(((ast.Step(ast.Label(self.rng.choice(LABELS))),),), self.pick("*", "?"))
            ways = ((inner, *self.components(1, plain=False)), self.components(1, plain=False))
            return ast.Group(ways[: self.pick(1, 2)], self.pick("", "*", "+", "?"))
        return super().component(plain=plain)

    def atom(self, depth: int) -> ast.Condition:
        roll = self.rng.random()
        if roll < 0.08 and self.texts:
            label = ast.Path(ast.Ident(self.rng.choice(self.texts)))
            if self.chance(0.5):
                return ast.Match(self.pick("like", "grep"), label, self.pick("a%", "a", "%", "^n"))
            return ast.Compare(self.pick("=", "!=", "<"), label, ast.Constant(self.rng.choice(LABELS)))
        if roll < 0.16 and depth:
            return self.correlated(depth)
        if roll < 0.22 and depth:
            return ast.In(self.path(), ast.Subquery(self.values_query(depth)))
        if roll < 0.28 and depth:
            return ast.NotEmpty(ast.Subquery(self.values_query(depth)))
        if roll < 0.32:
            both = ast.Binary(self.pick("||", "+", "mod"), self.path(), self.constant())
            return ast.Match(self.pick("like", "grep"), both, self.pick("%4%", "x", "%"))
        if roll < 0.36:
            return ast.Compare(self.pick("=", "<", ">="), self.aggregate(1), self.aggregate(1))
        return super().atom(depth)

    def correlated(self, depth: int) -> ast.Condition:
        """A variable inside a path, used on the other side of the comparison."""
        inner = self.variable()
        first = ast.Step(ast.Label(self.rng.choice(LABELS)), bind=inner)
        path = self.object_path(0)
        left = replace(path, components=(first, *self.components(self.pick(0, 1), plain=True)))
        right = ast.Path(ast.Ident(inner), self.components(self.pick(0, 1), plain=True))
        return ast.Compare(self.pick("=", "!=", "<", "=="), left, right)

    def values_query(self, depth: int) -> ast.Query:
        """A query inside that gives objects, distinct ones, or values."""
        roll = self.rng.random()
        kept = list(self.objects), list(self.texts)
        from_ = self.from_clause(1, 0)
        where = self.condition(depth - 1) if self.chance(0.4) else None
        item: ast.Expr = self.object_path(steps=self.pick(0, 1))
        if roll < 0.25:
            item = ast.Binary("+", item, ast.Constant(1))
        elif roll < 0.5:
            item = ast.Call(self.pick("count", "sum", "max"), (self.object_path(steps=1),))
        self.objects, self.texts = kept
        return ast.Select((ast.SelectItem(item),), from_, where, distinct=roll > 0.9)
