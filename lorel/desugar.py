"""Rewritings of the tree, in order: each makes explicit something that could be left unsaid.

Every one is a pure function from query to query that also rewrites the queries inside, and what one of them
has made explicit the next may rely on. What remains, one-step paths and existentials, `lorel.lower` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any, Final, TypeAlias, TypeVar

from lorel import ast
from lorel.errors import Span
from lorel.scope import Names, words

AGGREGATES: Final = frozenset({"count", "sum", "avg", "min", "max", "element"})

T = TypeVar("T")
Prefix: TypeAlias = tuple[ast.Ident | ast.OidRef, tuple[ast.Component, ...]]


# ---- walking trees ----


def map_children(node: T, change: Callable[[Any], Any]) -> T:
    """The node with every node directly below it changed."""
    if isinstance(node, tuple):
        return tuple(map_children(item, change) if isinstance(item, tuple) else change(item) for item in node)  # type: ignore[return-value]
    if not is_dataclass(node) or isinstance(node, ast.LiteralSet | ast.Constant | Span):
        return node
    old = {entry.name: getattr(node, entry.name) for entry in fields(node)}
    new = {
        name: map_children(value, change) if isinstance(value, tuple) else change(value)
        for name, value in old.items()
    }
    if all(new[name] is old[name] for name in old):
        return node
    return replace(node, **new)  # type: ignore[type-var]


def each_select(query: ast.Query, change: Callable[[ast.Select], ast.Select]) -> ast.Query:
    """Change every select of a query, the inner ones first."""

    def visit(node: Any) -> Any:
        seen = map_children(node, visit)
        return change(seen) if isinstance(seen, ast.Select) else seen

    changed: ast.Query = visit(query)
    return changed


# ---- the rewritings ----


def label_select_items(query: ast.Query) -> ast.Query:
    """Every select item gets a label: the last of its path, else the variable, the function or the text.

    `select e, e.Name, count(e.Ingredient)`   ->   `select e: e, Name: e.Name, count: count(e.Ingredient)`

    A label that was left out and is taken already gets a number: `Name`, `Name2`.
    """

    def change(select: ast.Select) -> ast.Select:
        taken = {item.label for item in select.items if item.label is not None}
        numbers: dict[str, Iterator[int]] = {}  # each label goes on counting where it stopped
        items = []
        for item in select.items:
            label = item.label
            if label is None:
                name = label = default_label(item.expr)
                while label in taken:
                    label = f"{name}{next(numbers.setdefault(name, count(2)))}"
            taken.add(label)
            items.append(replace(item, label=label))
        return replace(select, items=tuple(items))

    return each_select(query, change)


def default_label(expr: ast.Expr) -> str:
    """
    >>> default_label(ast.Path(ast.Ident("e"), (ast.Step(ast.Label("Name")),)))
    'Name'
    """
    match expr:
        case ast.Path(head=ast.Ident(name), components=()):
            return name
        case ast.Path(components=(*_, ast.Step(unit=ast.Label(name)))):
            return name
        case ast.Path(components=(*_, ast.Step(unit=ast.Pattern(pattern)))):
            return pattern
        case ast.Construct(kind=name) | ast.Call(name=name) | ast.Path(head=ast.Call(name=name)):
            return name
        case ast.Subquery(query=ast.Select(items=(item,))):
            return item.label or default_label(item.expr)
        case _:
            from lorel.printer import print_expr

            return print_expr(expr)


def add_implicit_from(query: ast.Query) -> ast.Query:
    """Without a from clause, the simple part of the select path is one; of several paths, what they share.

    `select Guide.Restaurant.Name, Guide.Restaurant.Price`   ->   `... from Guide.Restaurant`

    Simple are a name, variable or oid and the plain labels after it. A query that is only an expression has
    no from clause to leave out.
    """

    def change(select: ast.Select) -> ast.Select:
        paths = [path for item in select.items for path in _select_paths(item.expr)]
        if select.from_ or not paths:
            return select
        first, *others = paths
        if any(other.head != first.head for other in others):
            return select
        shared = first.components[: _simple_length(first)]
        for other in others:
            same = [a == b for a, b in zip(shared, other.components, strict=False)]
            shared = shared[: same.index(False) if False in same else len(same)]
        if not shared and all(isinstance(item.expr, ast.Path) for item in select.items):
            return select  # each item starts from the head itself
        return replace(select, from_=(ast.FromItem(replace(first, components=shared), span=first.span),))

    return each_select(query, change)


def _select_paths(expr: ast.Expr) -> Iterator[ast.Path]:
    """The paths of a select item that start from a word or an oid, less those taken as whole sets."""
    match expr:
        case ast.Path(head=ast.Ident() | ast.OidRef()):
            yield expr
        case ast.Path(head=ast.Call() as call):
            yield from _select_paths(call)
        case ast.Binary(left=left, right=right):
            yield from _select_paths(left)
            yield from _select_paths(right)
        case ast.Negative(inner):
            yield from _select_paths(inner)
        case ast.Call(name=name, args=args) if name not in AGGREGATES:
            for arg in args:
                yield from _select_paths(arg)
        case ast.Construct(fields=entries):
            for _, entry in entries:
                yield from _select_paths(entry)


def _simple_length(path: ast.Path) -> int:
    """How many components are plain labels, up to the first that is not."""
    for length, component in enumerate(path.components):
        match component:
            case ast.Step(unit=ast.Label(), via=None, bind=None, quant=""):
                continue
        return length
    return len(path.components)


def share_from_prefixes(query: ast.Query) -> ast.Query:
    """A simple prefix of a from path is one variable, which every further use of that prefix denotes.

    `select Guide.Restaurant.Name from Guide.Restaurant where Guide.Restaurant.Price < 20`
    ->   `select _1.Name from Guide.Restaurant _1 where _1.Price < 20`

    A from path with a variable of its own is shared up to its last step: with `from x.b y`, the path `x.b` in
    where is another one. Selects inside are queries of their own, with their own from clause.
    """
    names = Names(words(query))

    def change(select: ast.Select) -> ast.Select:
        known: dict[Prefix, str] = {}
        items: list[ast.FromItem] = []
        for item in select.from_:
            items.extend(_one_variable_a_prefix(item, known, names))
            for prefix in [prefix for prefix in known if prefix[0] in _bound_words(item)]:
                del known[prefix]
        if items == list(select.from_):
            return select
        rest = replace(select, from_=(), with_=())
        shared = map_children(rest, lambda node: _shared(node, known))
        return replace(shared, from_=tuple(items), with_=select.with_)

    return each_select(query, change)


def _one_variable_a_prefix(
    item: ast.FromItem, known: dict[Prefix, str], names: Names
) -> Iterator[ast.FromItem]:
    """Break a from path after each simple prefix; start from the longest known one, make the others known."""
    path = item.range
    if not isinstance(path, ast.Path) or not isinstance(path.head, ast.Ident | ast.OidRef):
        variable = item.variable or names.fresh()
        yield replace(item, range=_shared(path, known), variable=variable)
        return
    head, components = path.head, path.components
    own = 1 if item.variable is not None and _simple_length(path) == len(components) else 0
    simple = max(0, _simple_length(path) - own)
    done = next((length for length in range(simple, 0, -1) if (head, components[:length]) in known), 0)
    source: ast.Ident | ast.OidRef = (
        ast.Ident(known[head, components[:done]], span=path.span) if done else head
    )
    for length in range(done + 1, simple + 1):
        variable = known[head, components[:length]] = names.fresh()
        step = ast.Path(source, components[length - 1 : length], span=path.span)
        yield replace(item, range=step, variable=variable)
        source = ast.Ident(variable, span=path.span)
    rest = map_children(components[simple:], lambda inner: _shared(inner, known))
    if rest or item.variable or not components:
        variable = item.variable or names.fresh()
        yield replace(item, range=replace(path, head=source, components=rest), variable=variable)


def _bound_words(item: ast.FromItem) -> list[ast.Ident]:
    """The variables that a from item binds; they hide prefixes that begin with the same word."""
    components = item.range.components if isinstance(item.range, ast.Path) else ()
    steps = [component for component in components if isinstance(component, ast.Step)]
    found = [item.variable, *(name for step in steps for name in (step.via, step.bind))]
    return [ast.Ident(name) for name in found if name is not None]


def _shared(node: Any, known: Mapping[Prefix, str]) -> Any:
    """Put the variable in place of the longest known prefix of every path of this query."""
    match node:
        case ast.Select():
            return node
        case ast.Quantified(variable=variable, range=range_, body=body):
            still = {prefix: name for prefix, name in known.items() if prefix[0] != ast.Ident(variable)}
            return replace(node, range=_shared(range_, known), body=_shared(body, still))
        case ast.Path(head=ast.Ident() | ast.OidRef() as head, components=components):
            rest = map_children(components, lambda inner: _shared(inner, known))
            for length in range(_simple_length(node), 0, -1):
                shared = known.get((head, components[:length]))
                if shared is not None:
                    return replace(node, head=ast.Ident(shared, span=node.span), components=rest[length:])
            return replace(node, components=rest)
        case _:
            return map_children(node, lambda inner: _shared(inner, known))


def select_every_expression(query: ast.Query) -> ast.Query:
    """A query that is only an expression selects it.

    `Guide.Restaurant.Name`   ->   `select Name: Guide.Restaurant.Name`
    """

    def visit(node: Any) -> Any:
        seen = map_children(node, visit)
        if not isinstance(seen, ast.ExprQuery):
            return seen
        inner = _as_subquery(seen.expr)
        item = ast.SelectItem(seen.expr, default_label(seen.expr), span=seen.span)
        return inner.query if inner else ast.Select((item,), span=seen.span)

    changed: ast.Query = visit(query)
    return changed


def _as_subquery(expr: ast.Expr) -> ast.Subquery | None:
    if isinstance(expr, ast.Path) and not expr.components and isinstance(expr.head, ast.Subquery):
        return expr.head
    return expr if isinstance(expr, ast.Subquery) else None


DESUGARINGS: Final[tuple[Callable[[ast.Query], ast.Query], ...]] = (
    label_select_items,  # before paths are cut short: the label is the one that was written
    add_implicit_from,  # `select Guide.Restaurant.Name` binds what it walks
    share_from_prefixes,  # equal simple prefixes of from paths become one variable
    select_every_expression,  # last: a path alone takes no part in the two before
)


def desugar(query: ast.Query) -> ast.Query:
    """All rewritings, in order."""
    for change in DESUGARINGS:
        query = change(query)
    return query
