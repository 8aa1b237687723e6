"""Seeded random graphs and edits: few labels and names, so that things meet; every awkward shape occurs."""

from __future__ import annotations

from random import Random
from typing import Final

from oemviews.edits import Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.model import COMPLEX, ROOT, Atom
from tests.oracle.graph import Edge, OracleGraph

LABELS: Final = ("a", "a", "a", "b", "b", "c", "n")
"""Some more often than others: long paths must find something."""

NAMES: Final = ("N", "M")
ATOMS: Final[tuple[Atom, ...]] = (
    0, 1, 2, 4, 12, -1, 1.0, 4.0, 2.5, "1", "4", "4.0", "x", "xy", "Robert", "", "cheap", "1e999",
    True, False, None,
)  # fmt: skip
"""Values that coerce into each other, that do not, and one that reads as a number too large for a double."""


def random_graph(rng: Random, size: int = 8) -> OracleGraph:
    """A graph of up to `size` objects with cycles, sharing, self-loops, missing labels and mixed types."""
    oids = range(1, rng.choice((1, size // 2, size, size, size, size)) + 1)
    values = {oid: COMPLEX if rng.random() < 0.6 else rng.choice(ATOMS) for oid in oids}
    complex_oids = [oid for oid in oids if values[oid] is COMPLEX]
    edges: set[Edge] = set()
    for src in complex_oids:
        for _ in range(rng.choice((0, 3, 5, 8))):
            edges.add((src, rng.choice(LABELS), rng.choice(oids)))
    named = [name for name in NAMES if rng.random() < 0.95]
    edges |= {(ROOT, name, rng.choice(complex_oids or list(oids))) for name in named}
    return OracleGraph(values, edges)


def random_edits(rng: Random, graph: OracleGraph, most: int = 6) -> list[Edit]:
    """Edits that can be applied to `graph`, one after the other; many collide with it or with each other.

    Edges that are there are inserted, edges that are not are deleted, values change their type.
    """
    values: dict[int | str, object] = {oid: value for oid, value in graph.values.items() if oid != ROOT}
    edges = [edge for edge in graph.edges if edge[0] != ROOT]
    batch: list[Edit] = []
    for number in range(rng.randint(1, most)):
        complex_refs = [ref for ref, value in values.items() if value is COMPLEX]
        atomic_refs = [ref for ref, value in values.items() if value is not COMPLEX]
        kind = rng.choice(("ins", "ins", "ins", "del", "del", "del", "chg", "chg", "new", "name", "unname"))
        if kind == "new":
            made = f"o{number}"
            values[made] = COMPLEX if rng.random() < 0.5 else rng.choice(ATOMS)
            batch.append(New(made, values[made]))  # type: ignore[arg-type]
        elif kind == "name":
            batch.append(Name(rng.choice(NAMES), rng.choice(list(values))))
        elif kind == "unname":
            batch.append(Unname(rng.choice(NAMES)))
        elif kind == "chg" and atomic_refs:
            batch.append(Change(rng.choice(atomic_refs), rng.choice(ATOMS)))
        elif kind == "del" and edges and rng.random() < 0.8:
            batch.append(Delete(*rng.choice(edges)))
        elif complex_refs:
            edge = (rng.choice(complex_refs), rng.choice(LABELS), rng.choice(list(values)))
            batch.append(Insert(*edge) if kind != "del" else Delete(*edge))
    return batch
