"""Regular paths over sets of items, by iteration to a fixpoint: no automaton anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from lorel import ast
from tests.oracle.graph import Item, OracleGraph

Items: TypeAlias = frozenset[Item]
Walked: TypeAlias = frozenset[tuple[Item, str, Item]]


@lru_cache(maxsize=1024)
def fits(pattern: str, label: str) -> bool:
    """
    >>> fits("Ra%", "Rating"), fits("%", ""), fits("Ra%", "Era")
    (True, True, False)
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("%"))), label, re.DOTALL) is not None


def edges_of(graph: OracleGraph, unit: ast.Unit, item: Item) -> Iterator[tuple[str, Item]]:
    """The edges that leave an item and that one step may take."""
    match unit:
        case ast.Label(name):
            yield from (edge for edge in graph.leaving(item) if edge[0] == name)
        case ast.Pattern(pattern):
            yield from (edge for edge in graph.leaving(item) if fits(pattern, edge[0]))
        case _:
            raise ValueError(f"not a single step: {unit}")


def walk(graph: OracleGraph, component: ast.Component, start: Items) -> tuple[Items, Walked]:
    """Where a component leads from a set, and every edge taken on the way, dead ends included."""
    quant = component.quant
    if isinstance(component, ast.Step) and isinstance(component.unit, ast.AnyPath):
        component, quant = ast.Step(ast.Pattern("%")), "*"
    reached, edges = _once(graph, component, start)
    while quant in ("*", "+"):
        further, more = _once(graph, component, reached)
        if further <= reached and more <= edges:
            break
        reached, edges = reached | further, edges | more
    return (reached | start if quant in ("*", "?") else reached), edges


def _once(graph: OracleGraph, component: ast.Component, start: Items) -> tuple[Items, Walked]:
    if isinstance(component, ast.Group):
        ways = [walk_all(graph, way, start) for way in component.alternatives]
        return (
            frozenset(i for items, _ in ways for i in items),
            frozenset(e for _, edges in ways for e in edges),
        )
    edges = frozenset(
        (item, label, dst) for item in start for label, dst in edges_of(graph, component.unit, item)
    )
    return frozenset(dst for _, _, dst in edges), edges


def walk_all(graph: OracleGraph, components: Iterable[ast.Component], start: Items) -> tuple[Items, Walked]:
    """Components one after the other."""
    items, edges = start, frozenset[Any]()
    for component in components:
        items, more = walk(graph, component, items)
        edges |= more
    return items, edges


def simple_walks(graph: OracleGraph, start: Item) -> Iterator[tuple[tuple[str, ...], Item]]:
    """Walks from `start` in which no object occurs twice: their labels and their end."""
    stack: list[tuple[tuple[str, ...], tuple[Item, ...]]] = [((), (start,))]
    while stack:
        labels, visited = stack.pop()
        yield labels, visited[-1]
        for label, dst in graph.leaving(visited[-1]):
            if dst not in visited:
                stack.append(((*labels, label), (*visited, dst)))
