"""Environments: what variables and shared prefixes stand for, and the default from clause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from lorel import ast
from tests.oracle.graph import Item

Prefix: TypeAlias = tuple[str | int, ...]
Env: TypeAlias = dict[str | Prefix, Item]
"""A variable is a string key; a shared prefix such as `Guide.Restaurant` the key ("Guide", "Restaurant")."""

AGGREGATES = frozenset({"count", "sum", "avg", "min", "max", "element"})


def bind(env: Env, variable: str, item: Item) -> Env:
    """A further variable; it hides prefixes that begin with its name."""
    kept = {key: value for key, value in env.items() if not (type(key) is tuple and key[0] == variable)}
    kept[variable] = item
    return kept


def variables_only(env: Env) -> Env:
    """What a subquery sees: the variables around it, none of the shared prefixes."""
    return {key: value for key, value in env.items() if isinstance(key, str)}


def simple_prefix(path: ast.Path) -> Prefix:
    """Head and leading plain labels of a path; () if the head is a call or a subquery.

    >>> simple_prefix(ast.Path(ast.Ident("G"), (ast.Step(ast.Label("R")), ast.Step(ast.AnyPath()))))
    ('G', 'R')
    """
    match path.head:
        case ast.Ident(name):
            prefix: Prefix = (name,)
        case ast.OidRef(oid):
            prefix = (oid,)
        case _:
            return ()
    for component in path.components:
        match component:
            case ast.Step(ast.Label(label), None, None, ""):
                prefix = (*prefix, label)
            case _:
                break
    return prefix


def select_paths(expr: ast.Expr) -> Iterator[ast.Path]:
    """Paths of a select item that count for the default from clause."""
    match expr:
        case ast.Path(ast.Ident() | ast.OidRef()):
            yield expr
        case ast.Path(ast.Call() as call):
            yield from select_paths(call)
        case ast.Binary(_, left, right):
            yield from select_paths(left)
            yield from select_paths(right)
        case ast.Negative(inner):
            yield from select_paths(inner)
        case ast.Call(name, args) if name not in AGGREGATES:
            for arg in args:
                yield from select_paths(arg)
        case ast.Construct(_, fields):
            for _, field in fields:
                yield from select_paths(field)


def default_from(items: Iterable[ast.SelectItem]) -> tuple[ast.FromItem, ...]:
    """The longest common simple prefix of the select paths, as a from clause without a variable."""
    paths = [path for item in items for path in select_paths(item.expr)]
    if not paths:
        return ()
    prefixes = [simple_prefix(path) for path in paths]
    common = 0
    while all(len(p) > common and p[common] == prefixes[0][common] for p in prefixes):
        common += 1
    if common == 0:
        return ()
    return (ast.FromItem(ast.Path(paths[0].head, paths[0].components[: common - 1])),)


def item_label(item: ast.SelectItem, number: int) -> str:
    """The label of a select item: its own, else the last label of its path, else its variable."""
    if item.label is not None:
        return item.label
    match item.expr:
        case ast.Path(head, components):
            for component in reversed(components):
                if isinstance(component, ast.Step) and isinstance(component.unit, ast.Label):
                    return component.unit.name
            if isinstance(head, ast.Ident):
                return head.name
        case ast.Call(name):
            return name
    return f"item{number}"
