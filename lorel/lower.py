"""Selects become blocks: bindings of from, branches of where, items, with steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from lorel import ast
from lorel.desugar import default_label
from lorel.dnf import FALSE, All, Formula, Piece, where_branches
from lorel.lower_conditions import condition
from lorel.lower_exprs import expression, walk
from lorel.lower_groups import Groups, name_of, selected_at
from lorel.lower_items import an_object_is, item_from, no_row
from lorel.normal import (
    Block,
    Branch,
    Item,
    NewItem,
    Normal,
    Order,
    SetOf,
    Step,
    blocks,
    is_mixed,
)
from lorel.scope import Bound, Object, Row, Scope, listed, scalar_of


def lower_query(query: ast.Query, scope: Scope) -> Normal:
    match query:
        case ast.SetQuery(op, left, right):
            return _set_of(query, SetOf(op, lower_query(left, scope), lower_query(right, scope)), scope)
        case ast.Select():
            return _Select(query, scope).block()
        case ast.ExprQuery():
            raise AssertionError("an expression query was not desugared")


def _set_of(query: ast.SetQuery, sides: SetOf, scope: Scope) -> Normal:
    """Both sides select as many items; the order of a side has no meaning. No object is equal to a value."""
    left, right = (next(blocks(side)).select for side in (sides.left, sides.right))
    if len(left) != len(right):
        found = f"the left side of {query.op} selects {len(left)} items, the right side {len(right)}"
        raise scope.error(found, query.span, "both sides must select as many items")
    first, second = _unordered(sides.left), _unordered(sides.right)
    if query.op != "union" and is_mixed(sides) and not (is_mixed(first) or is_mixed(second)):
        return first if query.op == "except" else _emptied(first)
    return replace(sides, left=first, right=second)


def _emptied(query: Normal) -> Normal:
    """A query of the same items without an answer."""
    if isinstance(query, SetOf):
        return _emptied(query.left)
    return replace(query, where=where_branches(FALSE))


def _unordered(query: Normal) -> Normal:
    return query if isinstance(query, SetOf) else replace(query, order_by=())


class Queries:
    """Queries inside paths and conditions."""

    def query(self, query: ast.Query, scope: Scope) -> Normal:
        normal = lower_query(query, scope)
        if any(block.with_ for block in blocks(normal)):
            hint = "`with` says what comes along with an answer: put it at the end of the outermost select"
            raise scope.error("a query inside another has no use for `with`", query.span, hint)
        return _unordered(normal)

    def merged(self, query: ast.Query, scope: Scope) -> tuple[Piece, tuple[Bound, ...]] | None:
        """A plain select as bindings and items. One that counts, groups or constructs must stay apart.

        `distinct` on values changes nothing here, as sets of bindings are meant anyway.
        """
        if not isinstance(query, ast.Select) or query.with_ or query.group_by:
            return None
        if any(isinstance(item.expr, ast.Construct) for item in query.items):
            return None
        give_up = scope.names.mark() if query.distinct else None
        select = _Select(query, scope)
        piece, bounds, inner = select.piece, [], select.scope
        for item in query.items:
            found = expression(item.expr, inner)
            piece += found.piece
            bounds.append(found.end)
            inner = found.scope
        if give_up is not None and any(isinstance(bound, Object) for bound in bounds):
            give_up()
            return None
        return replace(piece, conditions=(*piece.conditions, select.where())), tuple(bounds)


class _Select:
    """A select whose from clause is lowered: its other clauses are read in the scope of that."""

    def __init__(self, select: ast.Select, scope: Scope) -> None:
        self.select, self.scope, self.piece = select, scope.inner(), Piece()
        for item in select.from_:
            walked = walk(item.range, self.scope, item.variable)
            self.piece += walked.piece
            self.scope = walked.scope

    def where(self) -> Formula:
        return condition(self.select.where, self.scope) if self.select.where else All(())

    def block(self) -> Block:
        return self._grouped() if self.select.group_by else self._plain()

    def _plain(self) -> Block:
        piece, scope = self.piece, self.scope.inner()
        items: list[Item] = []
        ends: list[Bound | None] = []
        orders: list[Order] = []
        for item in self.select.items:
            label = item.label or default_label(item.expr)
            if isinstance(item.expr, ast.Construct):
                more, made = self._construct(label, item.expr, scope)
                piece, items, ends = piece + more, [*items, made], [*ends, None]
                continue
            found = expression(item.expr, scope)
            piece += found.piece if name_of(item.expr) else found.piece + an_object_is(found.end)
            items.append(item_from(label, found.end))
            ends.append(found.end)
            scope = found.scope
        for key in self.select.order_by:
            more, order = self._order(key, ends, scope)
            piece += more
            orders.append(order)
        return Block(
            select=tuple(items),
            from_=piece.branch,
            where=where_branches(All((*piece.conditions, self.where())), piece.branch),
            with_=self._with(ends),
            order_by=tuple(orders),
            distinct=self.select.distinct,
        )

    def _grouped(self) -> Block:
        groups = Groups(self.select, self.scope)
        piece = self.piece + groups.piece
        items, ends = zip(*(groups.item(item) for item in self.select.items), strict=True)
        orders = tuple(groups.order(key) for key in self.select.order_by)
        return Block(
            select=items,
            from_=piece.branch,
            where=where_branches(All((*piece.conditions, self.where())), piece.branch),
            with_=self._with(ends),
            group_by=groups.keys,
            order_by=orders,
            distinct=self.select.distinct,
            grouped=True,
            aggregates=tuple(groups.aggregates),
        )

    # ---- items ----

    def _construct(self, label: str, construct: ast.Construct, scope: Scope) -> tuple[Piece, Item]:
        """A field that is a path or a query takes all that it gives, and none if it gives nothing."""
        piece = Piece()
        fields: list[tuple[str, Item | Normal]] = []
        for name, expr in construct.fields:
            if isinstance(expr, ast.Construct):
                more, item = self._construct(name, expr, scope)
                piece += more
                fields.append((name, item))
            elif isinstance(expr, ast.Subquery):
                fields.append((name, scope.inside.query(expr.query, scope.inner())))
            else:
                found = expression(expr, scope.inner())
                needed = found.piece + an_object_is(found.end)
                plain = item_from(name, found.end)
                if needed == Piece(Branch(measures=needed.branch.measures)):
                    piece += needed
                    fields.append((name, plain))
                else:
                    where = where_branches(All(needed.conditions))
                    fields.append((name, Block((plain,), needed.branch, where)))
        return piece, NewItem(label, tuple(fields))

    # ---- order, with ----

    def _order(self, key: ast.OrderKey, ends: Sequence[Bound | None], scope: Scope) -> tuple[Piece, Order]:
        """A key that is selected is that item. One that has to be looked up must not drop the row."""
        place = selected_at(key.expr, self.select, self.scope)
        if place is not None:
            end = ends[place]
            if end is None or isinstance(end, Row):
                raise scope.error(
                    "a constructed object has no place in an order", key.span, "order by a field of it"
                )
            return Piece(), Order(scalar_of(end), key.descending)
        found = expression(key.expr, scope.inner())
        no_row(found.end, "an order", scope, key.span)
        if found.piece == Piece(Branch(measures=found.piece.branch.measures)):
            return found.piece, Order(scalar_of(found.end), key.descending)
        branches = where_branches(found.piece.and_())
        return Piece(), Order(scalar_of(found.end), key.descending, branches)

    def _with(self, ends: Sequence[Bound | None]) -> tuple[Step, ...]:
        heads: dict[str, Bound] = {}
        for item, end in zip(self.select.items, ends, strict=True):
            if isinstance(end, Object):
                written = [item.label, name_of(item.expr)]
                heads |= {name: end for name in written if name is not None}
        scope = replace(self.scope, variables=MappingProxyType(heads), own=frozenset())
        steps: list[Step] = []
        for path in self.select.with_:
            head = path.path.head
            if not isinstance(head, ast.Ident) or head.name not in scope.variables:
                hint = f"selected, or bound by an earlier with path: {listed(sorted(scope.variables))}"
                raise scope.error("a with path starts from what is selected", head.span, hint)
            walked = walk(path.path, scope, path.variable, scope.names.claim_with)
            found = walked.piece.branch.steps
            if walked.piece != Piece(Branch(steps=found)) or any(step.via for step in found):
                hint = "labels, patterns, `#` and repetitions can stand in it"
                raise scope.error("a with path cannot bind labels or compute them", path.span, hint)
            steps.extend(found)
            scope = walked.scope
        return tuple(steps)
