"""From the tree of a query to its canonical form.

text -> parse -> tree -> DESUGARINGS -> lower -> one-step paths, existentials, branches -> set apart

select e from Guide.Restaurant.Entree e where e.Name = "Beef Stew"
->  select e  from &0.Guide _1, _1.Restaurant _2, _2.Entree e  where exists _3 in e.Name : _3 = "Beef Stew"
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

from lorel import ast
from lorel.desugar import DESUGARINGS, desugar
from lorel.errors import LorelMeaningError
from lorel.lower import Queries, lower_query
from lorel.normal import Block, Branch, Normal, blocks
from lorel.rename import set_apart
from lorel.scope import Catalog, Names, Scope, words

__all__ = [
    "DESUGARINGS",
    "MOST_STEPS",
    "Catalog",
    "NormalUpdate",
    "longest",
    "normalise",
    "normalise_update",
]

MOST_STEPS: Final = 1000
"""So many steps and conditions may come one after the other: each is joined with all before it."""

MOST_PARTS: Final = 10_000
"""So many may stand in a statement altogether; a set such as `{1, 2}` is one condition, however long."""

MOST_KEYS: Final = 64
"""So many keys an order may have."""

_SPLIT: Final = "split it into several statements, or into views"
_PARTS: Final = (
    ast.Step,
    ast.Group,
    ast.Compare,
    ast.In,
    ast.Match,
    ast.NotEmpty,
    ast.Quantified,
    ast.SelectItem,
)


def normalise(query: ast.Query, catalog: Catalog, *, text: str = "", lenient: bool = False) -> Normal:
    """The canonical form of a query. Errors of meaning point into `text`.

    With `lenient`, a word that is nothing in the catalog is a name that may come back: for views
    that were defined when it was there.
    """
    _of_some_size(query, text)
    try:
        explicit = desugar(query)
        scope = Scope(catalog, Names(words(explicit)), Queries(), text, lenient)
        normal = set_apart(lower_query(explicit, scope), frozenset(words(query)))
        length = longest(normal)
    except RecursionError:
        raise LorelMeaningError(
            "the statement is nested too deeply", text=text, span=query.span, hint=_SPLIT
        ) from None
    if length > MOST_STEPS:
        message = (
            f"the statement takes {length} steps and conditions one after the other, at most {MOST_STEPS:,}"
        )
        raise LorelMeaningError(message, text=text, span=query.span, hint=_SPLIT)
    return normal


def _of_some_size(query: ast.Query, text: str) -> None:
    """Refuse what would take too long to bring into canonical form."""
    found, todo = 0, [query]
    while todo:
        node: object = todo.pop()
        if isinstance(node, tuple):
            todo += node
        if not isinstance(node, ast.Node) or isinstance(node, ast.LiteralSet):
            continue
        found += isinstance(node, _PARTS)
        if isinstance(node, ast.Path) and len(node.components) > MOST_STEPS:
            message = f"this path has {len(node.components)} steps, at most {MOST_STEPS:,}"
            raise LorelMeaningError(message, text=text, span=node.span, hint=_SPLIT)
        if isinstance(node, ast.Select) and len(node.order_by) > MOST_KEYS:
            message = f"the order has {len(node.order_by)} keys, at most {MOST_KEYS}"
            raise LorelMeaningError(message, text=text, span=node.order_by[MOST_KEYS].span)
        todo += (getattr(node, entry.name) for entry in fields(node))
    if found > MOST_PARTS:
        message = f"the statement has {found:,} steps and conditions, at most {MOST_PARTS:,}"
        hint = f"{_SPLIT}; many values are one condition as in `r.Price in {{1, 2, 3}}`"
        raise LorelMeaningError(message, text=text, span=query.span, hint=hint)


def longest(query: Normal) -> int:
    """How many steps, conditions on them and keys of an order must come one after the other."""
    return max(
        _length(block.from_)
        + max((_length(branch) for branch in block.where), default=0)
        + len(block.order_by)
        for block in blocks(query)
    )


def _length(branch: Branch) -> int:
    inner = [*branch.absent, *(each for group in branch.choices for each in group)]
    queries = [*(each.query for each in branch.measures), *(each.query for each in branch.ranges)]
    own = len(branch.steps) + len(branch.absent) + len(branch.choices) + len(queries)
    return own + max([0, *map(_length, inner), *map(longest, queries)])


@dataclass(frozen=True, slots=True)
class NormalUpdate:
    """An update: which objects it is about, and the value of each of them.

    `targets` selects the object `target`. `rows` selects `target` and `value`: one row per new value; a
    target without a row has no new value, so that `:=` removes what it had.
    """

    op: Literal[":=", "+=", "-="]
    label: str | None
    targets: Block
    rows: Block


def normalise_update(update: ast.Update, catalog: Catalog, *, text: str = "") -> NormalUpdate:
    """
    `update r.Price := 12 from Guide.Restaurant r`   ->   rows of `select target: r, value: 12 from ...`
    """
    target = ast.SelectItem(
        ast.Path(update.target, span=update.target.span), "target", span=update.target.span
    )
    query = update.value
    new = query.expr if isinstance(query, ast.ExprQuery) else ast.Subquery(query, span=query.span)
    value = ast.SelectItem(new, "value", span=query.span)
    targets, rows = (
        normalise(ast.Select(items, update.from_, update.where, span=update.span), catalog, text=text)
        for items in ((target,), (target, value))
    )
    assert isinstance(targets, Block)
    assert isinstance(rows, Block)
    return NormalUpdate(update.op, update.label, targets, rows)
