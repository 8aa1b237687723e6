"""Queries inside paths and conditions: their members, and the items of a member that is a row."""

from __future__ import annotations

from dataclasses import replace

from lorel import ast
from lorel.dnf import Piece
from lorel.lower_items import plain_item, plain_items, there_is
from lorel.normal import (
    Block,
    Branch,
    Labels,
    NewItem,
    Normal,
    ObjectItem,
    Range,
    SetOf,
    ValueItem,
    ValueOf,
    blocks,
    is_mixed,
    object_variable,
)
from lorel.scope import Bound, Object, Row, Scope, Value, listed, suggestion
from lorel.segments import Segment
from lorel.words import label_text


def members(
    query: ast.Query, scope: Scope, variable: str | None, at: ast.Node, *, as_values: bool = False
) -> tuple[Piece, Bound]:
    """A variable for each member of a query's answer; a plain query becomes part of the one around it.

    A member of a query that selects several items is a row, with a variable for each of them. With
    `as_values` only the values of members matter, so that objects and values may be united.
    """
    merged = scope.inside.merged(query, scope.inner())
    if merged:
        piece, ends = merged
        if len(ends) > 1:
            piece = sum(map(there_is, ends), piece)
        return piece, _member(_labels_of(query), ends, scope, at)
    normal = scope.inside.query(query, scope.inner())
    if as_values and is_mixed(normal):
        normal = _by_value(normal)
    block, items = next(blocks(normal)), plain_items(normal, scope, at)
    single = variable if len(items) == 1 else None
    names = tuple(scope.names.claim(single) if single else scope.names.fresh() for _ in items)
    graphs = {step.dst: step.graph for step in block.from_.steps}
    variables = map(object_variable, items)
    ends = tuple(
        Value(ValueOf(name)) if variable is None else Object(name, graphs.get(variable, ""))
        for name, variable in zip(names, variables, strict=True)
    )
    piece = Piece(Branch(ranges=(Range(names, normal),)))
    return piece, _member([item.label for item in items], ends, scope, at)


def _by_value(query: Normal) -> Normal:
    """The values of the objects that a union gives. By `except`, an object and its value are two things."""
    if isinstance(query, SetOf):
        united = replace(query, left=_by_value(query.left), right=_by_value(query.right))
        return united if query.op == "union" else query
    graphs = {step.dst: step.graph for step in query.from_.steps}
    select = (
        ValueItem(item.label, ValueOf(item.var, graphs.get(item.var, "")))
        if isinstance(item, ObjectItem)
        else item
        for item in query.select
    )
    return replace(query, select=tuple(select))


def _labels_of(query: ast.Query) -> list[str]:
    """The labels of a select, which all its items have by now."""
    return [item.label or "" for item in query.items] if isinstance(query, ast.Select) else []


def _member(labels: list[str], ends: tuple[Bound, ...], scope: Scope, at: ast.Node) -> Bound:
    if len(ends) == 1:
        return ends[0]
    twice = [label for place, label in enumerate(labels) if label in labels[:place]]
    if twice:
        hint = f"give one of them another label, as in `{label_text(twice[0] + '2')}: ...`"
        raise scope.error(f"two items of the query are labelled {twice[0]!r}", at.span, hint)
    return Row(tuple(zip(labels, ends, strict=True)))


def item_of_row(row: Row, segment: Segment, scope: Scope) -> tuple[Piece, Bound, Scope]:
    """A step from a row: the item with that label; of several that match a pattern, each of them."""
    labels = listed(label_text(label) for label, _ in row.items)
    if not isinstance(segment.path, Labels) or segment.via:
        hint = f"name the item first; this row has {labels}"
        raise scope.error("a step from a row takes one of its items by its label", segment.span, hint)
    found = [(label, end) for label, end in row.items if segment.path.matches(label)]
    if not found:
        hint = suggestion(segment.path.text, [label for label, _ in row.items]) + f"its items: {labels}"
        raise scope.error(f"the row has no item {segment.path.text!r}", segment.span, hint)
    piece, here = (Piece(), found[0][1]) if len(found) == 1 else _any_item(found, segment, scope)
    return piece, here, scope.bind(segment.bind, here, segment.span) if segment.bind else scope


def _any_item(found: list[tuple[str, Bound]], segment: Segment, scope: Scope) -> tuple[Piece, Bound]:
    """A variable that ranges over several items of a row."""
    items = [plain_item(label, end) for label, end in found]
    objects = [isinstance(item, ObjectItem) for item in items]
    if any(isinstance(item, NewItem) for item in items) or len(set(objects)) > 1:
        hint = f"name one of them: {listed(label_text(label) for label, _ in found)}"
        raise scope.error("the items that match are not all objects, or not all values", segment.span, hint)
    query: Normal = Block((items[0],), Branch())
    for item in items[1:]:
        query = SetOf("union", query, Block((item,), Branch()))
    name = scope.names.fresh()
    first = found[0][1]
    end = Object(name, first.graph) if isinstance(first, Object) else Value(ValueOf(name))
    return Piece(Branch(ranges=(Range((name,), query),))), end
