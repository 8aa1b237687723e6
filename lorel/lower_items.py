"""What paths and expressions end in, as items of a select, and whether it is there at all."""

from __future__ import annotations

from collections.abc import Iterator

from lorel import ast
from lorel.dnf import Piece
from lorel.errors import Span
from lorel.normal import (
    Apply,
    Arith,
    Branch,
    Compare,
    Const,
    GroupItem,
    MeasureOf,
    NewItem,
    Normal,
    ObjectItem,
    Scalar,
    ValueItem,
    ValueOf,
    blocks,
    is_constant,
    is_mixed,
)
from lorel.scope import Bound, Object, Row, Scope, Value, listed, scalar_of
from lorel.words import label_text


def there_is(end: Bound) -> Piece:
    """The condition that what a path or expression stands for is there at all; nothing if it must be.

    An oid may be one that no object has, a sum may be of texts.
    """
    match end:
        case Object(var) if is_constant(var):
            scalar: Scalar = ValueOf(var)
        case Value(Arith() | MeasureOf() | Apply() as scalar):
            pass
        case _:
            return Piece()
    return Piece(Branch(tests=(Compare("!=", Apply("type-of", scalar), Const("")),)))


def an_object_is(end: Bound) -> Piece:
    """The same of an item: a value that is missing drops the row anyway, an oid that no object has must."""
    return there_is(end) if isinstance(end, Object) else Piece()


def plain_item(label: str, bound: Bound) -> ObjectItem | ValueItem:
    """An item of an object or a value; `item_from` also takes a row."""
    return ObjectItem(label, bound.var) if isinstance(bound, Object) else ValueItem(label, scalar_of(bound))


def item_from(label: str, bound: Bound) -> ObjectItem | ValueItem | NewItem:
    """What a select item is made of: a row is a new object with its items under their labels."""
    if not isinstance(bound, Row):
        return plain_item(label, bound)
    return NewItem(label, tuple((name, item_from(name, end)) for name, end in bound.items))


def flat_items(label: str, bound: Bound) -> Iterator[ObjectItem | ValueItem]:
    """The items of a row side by side, also of rows in it."""
    if isinstance(bound, Row):
        for name, end in bound.items:
            yield from flat_items(name, end)
    else:
        yield plain_item(label, bound)


def plain_items(query: Normal, scope: Scope, at: ast.Node) -> tuple[ObjectItem | ValueItem | GroupItem, ...]:
    """What a query inside another selects: objects and values, nothing that is made for the answer."""
    items = next(blocks(query)).select
    plain = tuple(item for item in items if not isinstance(item, NewItem))
    if len(plain) < len(items):
        hint = "objects are constructed for the answer: put `oem(...)` into the outermost select"
        raise scope.error("a query inside another must select objects or values", at.span, hint)
    if is_mixed(query):
        hint = "take each side for itself: conditions with `or`, selects with `union`, counts with `+`"
        raise scope.error("one side of this query gives objects, the other values", at.span, hint)
    return plain


def no_row(bound: Bound, where: str, scope: Scope, span: Span) -> None:
    """Refuse a row where one object or value is wanted."""
    if isinstance(bound, Row):
        hint = f"name one of its items: {listed(label_text(label) for label, _ in bound.items)}"
        raise scope.error(f"a row of several items is no value for {where}", span, hint)
