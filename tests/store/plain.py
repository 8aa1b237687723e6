"""The store's plain twin: a graph as two dictionaries, with random changes that keep both in step."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pyarrow as pa

from oemviews.edits import NetChange
from oemviews.model import COMPLEX, ROOT, Value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS, VIEW_ROWS, columns_of
from oemviews.store.state import State

Edge = tuple[int, str, int]
LABELS = ("Name", "Price", "Entree", "é", "")
VALUES: tuple[Value, ...] = (COMPLEX, "x", "4.0", 4, 4.5, 2**70, True, None, b"bytes")
Row = tuple[str, str | None, int | None, float | None]


@dataclass
class Plain:
    """Objects by oid (value columns and shape), edges by identity (pos and shape)."""

    objects: dict[int, tuple[Row, str | None]] = field(default_factory=dict)
    edges: dict[Edge, tuple[int, str | None]] = field(default_factory=dict)
    next_oid: int = 1
    next_pos: int = 0

    def copy(self) -> Plain:
        return Plain(dict(self.objects), dict(self.edges), self.next_oid, self.next_pos)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and (self.objects, self.edges) == (other.objects, other.edges)

    def reached(self) -> set[int]:
        """The objects that some name reaches."""
        seen, stack = set[int](), [ROOT]
        while stack:
            src = stack.pop()
            fresh = {dst for (s, _, dst) in self.edges if s == src} - seen
            seen |= fresh
            stack += fresh
        return seen


def rows(schema: pa.Schema, listed: list[tuple[object, ...]]) -> pa.Table:
    columns = list(zip(*listed, strict=True)) if listed else [()] * len(schema)
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)], schema=schema
    )


def inserts(graph: Plain, count: int, rng: random.Random) -> NetChange:
    """New objects, each under a random older one; `graph` is changed along."""
    created: list[tuple[object, ...]] = []
    plus: list[tuple[object, ...]] = []
    for _ in range(count):
        oid, pos = graph.next_oid, graph.next_pos
        graph.next_oid, graph.next_pos = oid + 1, pos + 1
        value, shape = columns_of(rng.choice(VALUES)), rng.choice((None, "[]"))
        edge = (rng.randrange(oid), rng.choice(LABELS), oid)
        graph.objects[oid], graph.edges[edge] = (value, shape), (pos, shape)
        created.append((oid, *value, shape))
        plus.append((*edge, pos, shape))
    return NetChange(created=rows(OBJECTS, created), plus=rows(EDGES, plus))


def edits(graph: Plain, count: int, rng: random.Random) -> NetChange:
    """Edges that come, go and come back, and values that change; few objects, so that edits meet."""
    before = graph.copy()
    inserts(graph, rng.randrange(2), rng)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.4 and graph.edges:
            del graph.edges[rng.choice(list(graph.edges))]
        elif kind < 0.8 and graph.objects:
            oids = list(graph.objects)
            edge = (rng.choice([ROOT, *oids]), rng.choice(LABELS), rng.choice(oids))
            if edge not in graph.edges:
                graph.edges[edge] = before.edges.get(edge) or (graph.next_pos, None)
                graph.next_pos += 1
        elif graph.objects:
            oid = rng.choice(list(graph.objects))
            graph.objects[oid] = (columns_of(rng.choice(VALUES[1:])), graph.objects[oid][1])
    return difference(before, graph)


def difference(before: Plain, after: Plain) -> NetChange:
    """The net change between two graphs; an edge at another pos is none."""
    both = before.objects.keys() & after.objects.keys()
    changed = [oid for oid in both if before.objects[oid][0] != after.objects[oid][0]]
    return NetChange(
        created=rows(OBJECTS, [(o, *v, s) for o, (v, s) in after.objects.items() if o not in before.objects]),
        plus=rows(EDGES, [(*e, *p) for e, p in after.edges.items() if e not in before.edges]),
        minus=rows(EDGES, [(*e, *p) for e, p in before.edges.items() if e not in after.edges]),
        changed=rows(CHANGES_OF_VALUE, [(o, *before.objects[o][0], *after.objects[o][0]) for o in changed]),
        gone=rows(OBJECTS, [(o, *v, s) for o, (v, s) in before.objects.items() if o not in after.objects]),
    )


def without(graph: Plain, garbage: set[int]) -> Plain:
    """The graph without some objects and the edges that leave them."""
    return Plain(
        {oid: value for oid, value in graph.objects.items() if oid not in garbage},
        {edge: place for edge, place in graph.edges.items() if edge[0] not in garbage},
        graph.next_oid,
        graph.next_pos,
    )


def as_plain(state: State) -> Plain:
    """What a state holds; a row that stands in it twice is an error."""
    objects, edges = state.objects().to_pylist(), state.edges().to_pylist()
    graph = Plain(
        {o["oid"]: ((o["type"], o["text"], o["integer"], o["number"]), o["shape"]) for o in objects},
        {(e["src"], e["label"], e["dst"]): (e["pos"], e["shape"]) for e in edges},
    )
    assert (len(graph.objects), len(graph.edges)) == (len(objects), len(edges))
    return graph


def in_any_order(change: NetChange) -> list[set[tuple[object, ...]]]:
    """A net change as sets of rows, to compare."""
    tables = (change.created, change.plus, change.minus, change.changed, change.gone)
    return [{tuple(row.values()) for row in table.to_pylist()} for table in tables]


def view_row(oid: int, n: int = 1) -> pa.Table:
    """One row of a view: a primary and its signed count."""
    return rows(VIEW_ROWS, [("primary", "e", None, None, oid, "complex", None, None, None, n)])
