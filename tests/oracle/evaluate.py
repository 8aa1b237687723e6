"""Lorel by nested loops: every construct as its sentence in the semantics says (README.md).

An expression gives *bindings*: pairs of an item and the environment it was found in. A comparison
holds if some pair of bindings satisfies it, which is all there is to implicit existentials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, TypeAlias

from lorel import ast
from lorel.errors import LorelMeaningError
from oemviews.model import COMPLEX, ROOT
from tests.oracle.graph import Item, OracleGraph
from tests.oracle.scope import AGGREGATES, Env, bind, default_from, item_label, simple_prefix, variables_only
from tests.oracle.values import (
    Typed,
    aggregate,
    arithmetic,
    compare,
    matches,
    negative,
    order_key,
    typed,
    value_item,
)
from tests.oracle.walk import edges_of, simple_walks, walk

Row: TypeAlias = tuple[Item, ...]
Pair: TypeAlias = tuple[Item, Env]
Keys: TypeAlias = tuple[Item | None, ...]


def answer(graph: OracleGraph, query: ast.Query) -> list[Row]:
    """The rows of a query, each once; in order if the query has an `order by`."""
    return rows_of(graph, query, {})


def ordered_answer(graph: OracleGraph, query: ast.Select) -> list[frozenset[Row]]:
    """The rows of a query with `order by`, those with equal keys together."""
    places = _first_places(graph, query, {})
    groups: list[frozenset[Row]] = []
    last: object = None
    for row, place in places:
        if groups and place == last:
            groups[-1] |= {row}
        else:
            groups.append(frozenset({row}))
        last = place
    return groups


def rows_of(graph: OracleGraph, query: ast.Query, env: Env) -> list[Row]:
    match query:
        case ast.Select():
            return [row for row, _ in _first_places(graph, query, variables_only(env))]
        case ast.ExprQuery(expr):
            return list(dict.fromkeys((item,) for item, _ in bindings(graph, expr, env)))
        case ast.SetQuery(op, left, right):
            first, second = rows_of(graph, left, env), rows_of(graph, right, env)
            if op == "union":
                return list(dict.fromkeys([*first, *second]))
            return [row for row in first if (row in set(second)) == (op == "intersect")]


def items_of(graph: OracleGraph, query: ast.Query, env: Env) -> list[Item]:
    """The rows as single items: a row of several is a new object."""
    rows = rows_of(graph, query, env)
    labels = _labels(query)
    return [row[0] if len(row) == 1 else ("new", frozenset(zip(labels, row, strict=True))) for row in rows]


def _labels(query: ast.Query) -> list[str]:
    match query:
        case ast.Select(items):
            return [item_label(item, i) for i, item in enumerate(items, 1)]
        case ast.SetQuery(left=left):
            return _labels(left)
    return ["item1"]


# ---- select-from-where ----


def from_bindings(graph: OracleGraph, items: Iterable[ast.FromItem], env: Env) -> Iterator[Env]:
    """One environment for each binding of the from clause."""
    envs: Iterable[Env] = [env]
    for item in items:
        envs = [inner for outer in envs for inner in _range_of(graph, item, outer)]
    yield from envs


def _range_of(graph: OracleGraph, item: ast.FromItem, env: Env) -> Iterator[Env]:
    match item.range:
        case ast.Subquery(query):
            pairs: Iterable[Pair] = [(found, env) for found in items_of(graph, query, env)]
        case path:
            pairs = path_bindings(graph, path, env, ranges=True, named=item.variable is not None)
    for found, inner in pairs:
        yield inner if item.variable is None else bind(inner, item.variable, found)


def _first_places(graph: OracleGraph, query: ast.Select, env: Env) -> list[tuple[Row, tuple[Any, ...]]]:
    """Rows with their place: derivations sorted by their keys, each row at its first."""
    envs: Iterable[Env] = from_bindings(graph, query.from_ or default_from(query.items), env)
    if query.where is not None:
        envs = [inner for inner in envs if holds(graph, query.where, inner)]
    derive = _grouped if query.group_by else _ungrouped
    derivations = set(derive(graph, query, envs))
    if query.distinct:
        least: dict[tuple[Any, ...], Row] = {}
        for row, _ in sorted(derivations, key=lambda d: _row_key(graph, d[0]), reverse=True):
            least[_worth(graph, row)] = row
        derivations = {(least[_worth(graph, row)], keys) for row, keys in derivations}
    ordered = sorted(
        ((_place(graph, query.order_by, keys), _row_key(graph, row), row) for row, keys in derivations),
        key=lambda entry: entry[:2],
    )
    first: dict[Row, tuple[Any, ...]] = {}
    for place, _, row in ordered:
        first.setdefault(row, place)
    return list(first.items())


def _ungrouped(graph: OracleGraph, query: ast.Select, envs: Iterable[Env]) -> Iterator[tuple[Row, Keys]]:
    for env in envs:
        for row, inner in product_of(graph, [item.expr for item in query.items], env):
            sources = [_order_source(query, key, inner) for key in query.order_by]
            options = [
                [row[source]]
                if isinstance(source, int)
                else [item for item, _ in bindings(graph, source, inner)] or [None]
                for source in sources
            ]
            for keys in product(*options):
                yield row, keys


def _order_source(query: ast.Select, key: ast.OrderKey, env: Env) -> int | ast.Expr:
    """Which select item an order key repeats, or the key itself."""
    for i, item in enumerate(query.items):
        match key.expr:
            case ast.Path(ast.Ident(name), ()) if name == item.label and name not in env:
                return i
        if key.expr == item.expr:
            return i
    return key.expr


def product_of(graph: OracleGraph, exprs: list[ast.Expr], env: Env) -> Iterator[tuple[Row, Env]]:
    """Every combination of the items of several expressions, variables bound from left to right."""
    found: list[tuple[Row, Env]] = [((), env)]
    for expr in exprs:
        found = [((*row, item), last) for row, inner in found for item, last in bindings(graph, expr, inner)]
    yield from found


def _grouped(graph: OracleGraph, query: ast.Select, envs: Iterable[Env]) -> Iterator[tuple[Row, Keys]]:
    groups: dict[tuple[Any, ...], list[tuple[Row, Env]]] = {}
    for env in envs:
        for keys, inner in product_of(graph, list(query.group_by), env):
            groups.setdefault(_worth(graph, keys), []).append((keys, inner))
    for members in groups.values():
        shown = tuple(
            min(column, key=lambda i: _item_key(graph, i))
            for column in zip(*(k for k, _ in members), strict=True)
        )
        known = dict(zip(query.group_by, shown, strict=True))
        inside = [env for _, env in members]
        options = [_group_items(graph, item.expr, known, inside) for item in query.items]
        for row in product(*options):
            sources = [_order_source(query, key, inside[0]) for key in query.order_by]
            places = [
                [row[s]] if isinstance(s, int) else _group_items(graph, s, known, inside) or [None]
                for s in sources
            ]
            for place in product(*places):
                yield row, place


def _group_items(
    graph: OracleGraph, expr: ast.Expr, known: dict[ast.Expr, Item], envs: list[Env]
) -> list[Item]:
    """What an item of a grouped query gives for one group."""
    if expr in known:
        return [known[expr]]
    match expr:
        case ast.Constant(value):
            return [value_item(value)]
        case ast.Call(name, (arg,)) if name in AGGREGATES:
            return _measure(graph, name, {item for env in envs for item, _ in bindings(graph, arg, env)})
        case ast.Binary(op, left, right):
            lefts, rights = (_group_items(graph, side, known, envs) for side in (left, right))
            results = (arithmetic(op, typed(graph, a), typed(graph, b)) for a in lefts for b in rights)
            return [("value", *result) for result in results if result is not None]
        case ast.Negative(inner):
            signed = (negative(typed(graph, a)) for a in _group_items(graph, inner, known, envs))
            return [("value", *result) for result in signed if result is not None]
    raise LorelMeaningError("an item of a grouped query must be a key or an aggregate", span=expr.span)


def _worth(graph: OracleGraph, row: Row) -> tuple[Any, ...]:
    """What `distinct` and `group by` see: atomic objects by type and value."""
    return tuple(
        ("atom", *typed(graph, item)) if item[0] == "value" or _is_atomic(graph, item) else item
        for item in row
    )


def _item_key(graph: OracleGraph, item: Item) -> tuple[Any, ...]:
    if item[0] == "value":
        return (1, *order_key(typed(graph, item)))
    return (0, item[1]) if item[0] == "oid" else (2, repr(sorted(item[1], key=repr)))


def _row_key(graph: OracleGraph, row: Row) -> tuple[Any, ...]:
    return tuple(_item_key(graph, item) for item in row)


class _Descending:
    """A key whose order is turned round."""

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key

    def __lt__(self, other: _Descending) -> bool:
        return other.key < self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _place(graph: OracleGraph, order: tuple[ast.OrderKey, ...], keys: Keys) -> tuple[Any, ...]:
    place: list[Any] = []
    for by, item in zip(order, keys, strict=True):
        key = () if item is None else order_key(typed(graph, item))
        place.append((item is None, _Descending(key) if by.descending else key))
    return tuple(place)


# ---- paths ----


def path_bindings(
    graph: OracleGraph, path: ast.Path, env: Env, *, ranges: bool = False, named: bool = False
) -> list[Pair]:
    """The objects of a path. As a range of the from clause it makes its simple prefixes known."""
    prefix = simple_prefix(path)
    longest = len(prefix) - (named and len(prefix) == len(path.components) + 1)
    done = next((k for k in range(longest, 1, -1) if prefix[:k] in env), 1)
    if done > 1:
        pairs: list[Pair] = [(env[prefix[:done]], env)]
    else:
        pairs = [(item, env) for item in _head_items(graph, path.head, env)]
    for k, component in enumerate(path.components[done - 1 :], done + 1):
        pairs = _advance(graph, component, pairs)
        if ranges and k <= longest:
            pairs = [(item, {**inner, prefix[:k]: item}) for item, inner in pairs]
    return pairs


def _head_items(
    graph: OracleGraph, head: ast.Ident | ast.OidRef | ast.Subquery | ast.Call, env: Env
) -> list[Item]:
    match head:
        case ast.Ident(name):
            if name in env:
                return [env[name]]
            return [("oid", dst) for label, dst in graph.out.get(ROOT, ()) if label == name]
        case ast.OidRef(oid):
            return [("oid", oid)] if oid in graph.values else []
        case ast.Subquery(query):
            return items_of(graph, query, env)
        case ast.Call():
            return [item for item, _ in bindings(graph, head, env)]


def _advance(graph: OracleGraph, component: ast.Component, pairs: list[Pair]) -> list[Pair]:
    found: list[Pair] = []
    for item, env in pairs:
        if isinstance(component, ast.Step):
            found += _step(graph, component, item, env)
        else:
            found += [(dst, env) for dst in walk(graph, component, frozenset({item}))[0]]
    seen: set[tuple[int, Item]] = set()  # the same item found twice in one environment counts once
    return [p for p in found if (id(p[1]), p[0]) not in seen and not seen.add((id(p[1]), p[0]))]  # type: ignore[func-returns-value]


def _step(graph: OracleGraph, step: ast.Step, item: Item, env: Env) -> Iterator[Pair]:
    found: Iterable[Pair]
    if isinstance(step.unit, ast.Unquote):
        labels = [(typed(graph, label), inner) for label, inner in bindings(graph, step.unit.expr, env)]
        plain = [
            (ast.Step(ast.Label(text), step.via, step.bind, step.quant), inner)
            for (kind, text), inner in labels
            if kind == "string"
        ]
        for one, inner in plain:
            yield from _step(graph, one, item, inner)
        return
    if step.via is None:
        found = ((dst, env) for dst in walk(graph, step, frozenset({item}))[0])
    elif isinstance(step.unit, ast.AnyPath):
        ways = {(".".join(labels), dst) for labels, dst in simple_walks(graph, item)}
        found = ((dst, bind(env, step.via, value_item(text))) for text, dst in sorted(ways, key=repr))
    else:
        edges = edges_of(graph, step.unit, item)
        found = ((dst, bind(env, step.via, value_item(label))) for label, dst in edges)
    for dst, inner in found:
        yield dst, inner if step.bind is None else bind(inner, step.bind, dst)


# ---- expressions ----


def bindings(graph: OracleGraph, expr: ast.Expr, env: Env) -> Iterator[Pair]:
    """Every item that an expression can stand for, with the variables bound on the way."""
    match expr:
        case ast.Constant(value):
            yield value_item(value), env
        case ast.Path():
            yield from path_bindings(graph, expr, env)
        case ast.Binary(op, left, right):
            for (a, b), inner in product_of(graph, [left, right], env):
                yield from _found(arithmetic(op, typed(graph, a), typed(graph, b)), inner)
        case ast.Negative(operand):
            for a, inner in bindings(graph, operand, env):
                yield from _found(negative(typed(graph, a)), inner)
        case ast.Call(name, (arg,)) if name in AGGREGATES:
            members = {item for item, _ in bindings(graph, arg, env)}
            yield from ((item, env) for item in _measure(graph, name, members))
        case ast.Call(name, (arg,)):
            for a, inner in bindings(graph, arg, env):
                yield from ((item, inner) for item in _function(graph, name, a))
        case ast.Construct(_, fields):
            pairs = ((label, item) for label, field in fields for item, _ in bindings(graph, field, env))
            yield ("new", frozenset(pairs)), env
        case ast.Subquery(query):
            yield from ((item, env) for item in items_of(graph, query, env))
        case _:
            raise LorelMeaningError(f"no meaning for {expr}")


def _found(value: Typed | None, env: Env) -> Iterator[Pair]:
    if value is not None:
        yield ("value", *value), env


def _measure(graph: OracleGraph, func: str, members: set[Item]) -> list[Item]:
    if func == "count":
        return [value_item(len(members))]
    if func == "element":
        return list(members) if len(members) == 1 else []
    value = aggregate(func, (typed(graph, item) for item in members))
    return [] if value is None else [("value", *value)]


def _is_atomic(graph: OracleGraph, item: Item) -> bool:
    return item[0] == "value" or (item[0] == "oid" and graph.values[item[1]] is not COMPLEX)


def _function(graph: OracleGraph, name: str, item: Item) -> list[Item]:
    match name:
        case "oid":
            return [value_item(item[1])] if item[0] == "oid" else []
        case "label-of" | "path-of":
            return [item] if item[0] == "value" and item[1] == "string" else []
        case "type-of":
            return [value_item("complex" if item[0] == "new" else typed(graph, item)[0])]
        case "is-atomic":
            return [value_item(_is_atomic(graph, item))]
    raise LorelMeaningError(f"no function named {name!r}")


# ---- conditions ----


def holds(graph: OracleGraph, condition: ast.Condition, env: Env) -> bool:
    match condition:
        case ast.Or(items):
            return any(holds(graph, item, env) for item in items)
        case ast.And(items):
            return all(holds(graph, item, env) for item in items)
        case ast.Not(item):
            return not holds(graph, item, env)
        case ast.Compare(op, left, right):
            return any(_compared(graph, op, a, b) for (a, b), _ in product_of(graph, [left, right], env))
        case ast.In(item, ast.LiteralSet(literals)):
            return any(
                _compared(graph, "=", a, value_item(literal.value))
                for a, _ in bindings(graph, item, env)
                for literal in literals
            )
        case ast.In(item, collection):
            pairs = product_of(graph, [item, collection], env)
            return any(_compared(graph, "=", a, b) for (a, b), _ in pairs)
        case ast.Match(kind, expr, pattern):
            return any(matches(kind, typed(graph, a), pattern) for a, _ in bindings(graph, expr, env))
        case ast.Quantified(kind, variable, range_, body):
            members = (bind(inner, variable, item) for item, inner in bindings(graph, range_, env))
            quantifier = any if kind == "exists" else all
            return quantifier(holds(graph, body, inner) for inner in members)
        case ast.NotEmpty(range_):
            return any(item != ("value", "boolean", False) for item, _ in bindings(graph, range_, env))


def _compared(graph: OracleGraph, op: str, a: Item, b: Item) -> bool:
    if op == "==":
        return a[0] == b[0] == "oid" and a[1] == b[1]
    return compare(op, typed(graph, a), typed(graph, b))
