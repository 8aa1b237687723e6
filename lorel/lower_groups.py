"""Group by: keys, aggregates over the rows of a group, and items made of these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from lorel import ast
from lorel.desugar import AGGREGATES, default_label, map_children
from lorel.dnf import Piece, where_branches
from lorel.lower_exprs import Aggregate, expression
from lorel.lower_items import an_object_is, no_row, plain_item
from lorel.normal import Arith, Const, GroupItem, Item, MeasureOf, ObjectItem, Order, Scalar, ValueItem
from lorel.scope import Bound, Scope, is_generated, scalar_of


def name_of(expr: ast.Expr) -> str | None:
    """The word that an expression is, if it is only one."""
    match expr:
        case ast.Path(head=ast.Ident(name), components=()):
            return name
        case _:
            return None


def alike(expr: ast.Expr, scope: Scope) -> ast.Expr:
    """The same for all expressions that were written alike: names made up for each of them are counted."""
    numbers: dict[str, str] = {}

    def named(name: str) -> str:
        if not is_generated(name) or name in scope.variables:
            return name
        return numbers.setdefault(name, f"_{len(numbers)}'")

    def visit(node: Any) -> Any:
        seen = map_children(node, visit)
        match seen:
            case ast.Ident(name):
                return replace(seen, name=named(name))
            case ast.FromItem(variable=str() as variable):
                return replace(seen, variable=named(variable))
            case _:
                return seen

    return cast(ast.Expr, visit(expr))


def selected_at(expr: ast.Expr, select: ast.Select, scope: Scope) -> int | None:
    """Which select item an order key is: written alike, or its label where no variable has that name."""
    wanted = alike(expr, scope)
    for place, item in enumerate(select.items):
        if wanted == alike(item.expr, scope) or (
            name_of(expr) == item.label and item.label not in scope.variables
        ):
            return place
    return None


class Groups:
    """The keys of a grouped select; its items and orders, which may read keys, aggregates and constants."""

    def __init__(self, select: ast.Select, scope: Scope) -> None:
        self.select, self.piece = select, Piece()
        self.aggregates: list[GroupItem] = []
        self._around = scope
        self._ends: dict[ast.Expr, tuple[str, Bound]] = {}  # by what is alike, as are the names
        self._names: dict[ast.Expr, str] = {}
        for expr in select.group_by:
            found = expression(expr, scope)
            no_row(found.end, "a key of `group by`", scope, expr.span)
            self.piece += found.piece + an_object_is(found.end)
            self._ends[alike(expr, self._around)] = default_label(expr), found.end
            scope = found.scope
        self.scope = scope

    @property
    def keys(self) -> tuple[ObjectItem | ValueItem, ...]:
        return tuple(plain_item(label, end) for label, end in self._ends.values())

    def _key(self, expr: ast.Expr) -> Bound | None:
        """What the key stands for that an expression is."""
        _, end = self._ends.get(alike(expr, self._around), ("", None))
        return end

    def item(self, item: ast.SelectItem) -> tuple[Item, Bound | None]:
        """The item and, if it is a key, what that stands for."""
        label = item.label or default_label(item.expr)
        end = self._key(item.expr)
        if end is not None:
            return plain_item(label, end), end
        match item.expr:
            case ast.Call(name=name, args=(arg,)) if name in AGGREGATES:
                return self._aggregate(label, cast(Aggregate, name), arg), None
            case _:
                return ValueItem(label, self._scalar(item.expr)), None

    def order(self, key: ast.OrderKey) -> Order:
        place = selected_at(key.expr, self.select, self.scope)
        expr = key.expr if place is None else self.select.items[place].expr
        return Order(self._scalar(expr), key.descending)

    def _scalar(self, expr: ast.Expr) -> Scalar:
        end = self._key(expr)
        if end is not None:
            return scalar_of(end)
        match expr:
            case ast.Constant(value):
                return Const(value)
            case ast.Call(name=name, args=(_,)) if name in AGGREGATES:
                return MeasureOf(self._named(expr))
            case ast.Binary(op, left, right):
                return Arith(op, self._scalar(left), self._scalar(right))
            case ast.Negative(inner):
                return Arith("-", Const(0), self._scalar(inner))
        hint = "add it to `group by`, or take an aggregate of it"
        raise self.scope.error("this is neither grouped by nor an aggregate", expr.span, hint)

    def _named(self, call: ast.Expr) -> str:
        """The name of an aggregate that is part of an item or an order; written alike, it is the same one."""
        assert isinstance(call, ast.Call)
        key = alike(call, self._around)
        if key not in self._names:
            name = self._names[key] = self.scope.names.fresh()
            self.aggregates.append(self._aggregate(name, cast(Aggregate, call.name), call.args[0]))
        return self._names[key]

    def _aggregate(self, label: str, func: Aggregate, arg: ast.Expr) -> GroupItem:
        found = expression(arg, self.scope.inner())
        no_row(found.end, "an aggregate over a group", self.scope, arg.span)
        piece = found.piece + an_object_is(found.end)
        return GroupItem(label, func, plain_item("", found.end), where_branches(piece.and_()))
