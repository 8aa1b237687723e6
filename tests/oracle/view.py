"""What a view holds: rows of primaries, an edge set for each with variable, objects with their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lorel import ast
from oemviews.model import Value
from tests.oracle.evaluate import Row, answer, from_bindings
from tests.oracle.graph import Edge, Item, OracleGraph
from tests.oracle.scope import default_from
from tests.oracle.walk import Items, walk_all


@dataclass(frozen=True, slots=True)
class OracleView:
    """A view from scratch. `primaries` are the objects of all select items."""

    rows: frozenset[Row]
    edges: Mapping[str, frozenset[Edge]]
    objects: Mapping[int, Value]

    @property
    def primaries(self) -> frozenset[int]:
        return frozenset(item[1] for row in self.rows for item in row if item[0] == "oid")

    @property
    def visible_edges(self) -> frozenset[Edge]:
        return frozenset(edge for edges in self.edges.values() for edge in edges)


def view(graph: OracleGraph, query: ast.Query) -> OracleView:
    """The view that `query` defines, straight from the definition."""
    rows = answer(graph, query)
    edges: dict[str, frozenset[Edge]] = {}
    for block in _blocks(query):
        columns = [frozenset(row[i] for row in rows) for i in range(len(block.items))]
        for variable, (_, walked) in _with_sets(graph, block, columns).items():
            edges[variable] = edges.get(variable, frozenset()) | walked
    oids = {item[1] for row in rows for item in row if item[0] == "oid"}
    oids |= {oid for found in edges.values() for src, _, dst in found for oid in (src, dst)}
    return OracleView(frozenset(rows), edges, {oid: graph.values[oid] for oid in oids})


def _blocks(query: ast.Query) -> Iterator[ast.Select]:
    match query:
        case ast.Select():
            yield query
        case ast.SetQuery(_, left, right):
            yield from _blocks(left)
            yield from _blocks(right)


def _with_sets(
    graph: OracleGraph, block: ast.Select, columns: Iterable[Items]
) -> dict[str, tuple[Items, frozenset[Edge]]]:
    """Per with variable the objects it ranges over and the edges walked to them."""
    ranges: dict[str, Items] = {}
    for item, column in zip(block.items, columns, strict=True):
        match item.expr:
            case ast.Path(ast.Ident(name), ()):
                ranges.setdefault(name, column)  # selected twice: the first column
        if item.label is not None:
            ranges[item.label] = column
    found: dict[str, tuple[Items, frozenset[Edge]]] = {}
    for number, with_ in enumerate(block.with_, 1):
        head = with_.path.head
        if not isinstance(head, ast.Ident):
            raise ValueError(f"a with path starts at a variable, not at {head}")
        ends, walked = walk_all(graph, with_.path.components, ranges[head.name])
        variable = with_.variable or f"_with{number}"
        ranges[variable] = ends
        found[variable] = (ends, frozenset((a[1], label, b[1]) for a, label, b in walked))
    return found


def relevant(graph: OracleGraph, query: ast.Query) -> dict[str, frozenset[int]]:
    """Objects that the named from and with variables can touch when no condition is looked at.

    RelevantOids must hold at least these.
    """
    found: dict[str, set[int]] = {}
    for block in _blocks(query):
        envs = list(from_bindings(graph, block.from_ or default_from(block.items), {}))
        for env in envs:
            for variable, item in env.items():
                if isinstance(variable, str) and item[0] == "oid":
                    found.setdefault(variable, set()).add(item[1])
        columns = [frozenset(_own_items(item, envs)) for item in block.items]
        for variable, (_, walked) in _with_sets(graph, block, columns).items():
            found.setdefault(variable, set()).update(dst for _, _, dst in walked)
    return {variable: frozenset(oids) for variable, oids in found.items()}


def _own_items(item: ast.SelectItem, envs: list[dict[str | tuple[str | int, ...], Item]]) -> Iterator[Item]:
    match item.expr:
        case ast.Path(ast.Ident(name), ()):
            yield from (env[name] for env in envs if name in env)
