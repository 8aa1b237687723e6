"""The Guide: the example database of the 1998 paper, filled in, with oids &1 to &29."""

from __future__ import annotations

from typing import Final

from oemviews.edits import Edit, Insert, Name, New
from oemviews.model import COMPLEX, ROOT, Value
from tests.oracle.graph import Edge, OracleGraph

VALUES: Final[dict[int, Value]] = {
    **dict.fromkeys((1, 2, 3, 4, 9, 10, 13, 24), COMPLEX),
    5: "Thai City",
    6: "Thai",
    7: "Baghdad Cafe",
    8: 4,
    11: "Hunan Palace",
    12: "4.0",
    14: "Stuffed Caps",
    15: "Mushroom",
    16: "Beef Stew",
    17: "Beef",
    18: "Egg Fried Rice",
    19: "Rice",
    20: "Mountain View",
    21: "Menlo Park",
    22: "92310",
    23: "cheap",
    25: "El Camino Real",
    26: "Palo Alto",
    27: 92310,
    28: 12,
    29: 8.5,
}

_EDGES: Final = """
1 Restaurant 2  1 Restaurant 3  1 Restaurant 4
2 Name 5  2 Category 6  2 Address 20  2 Address 21  2 Zipcode 22  2 Price 23  2 Nearby 3
3 Name 7  3 Rating 8  3 Entree 9  3 Entree 10  3 Address 24  3 Price 28  3 Nearby 2
24 Street 25  24 City 26  24 Zipcode 27
4 Entree 10  4 Name 11  4 Rating 12  4 Entree 13
9 Name 14  9 Ingredient 15
10 Name 16  10 Ingredient 17  10 Price 29
13 Name 18  13 Ingredient 17  13 Ingredient 19
"""


def _edges() -> list[Edge]:
    words = _EDGES.split()
    triples = zip(words[::3], words[1::3], words[2::3], strict=True)
    return [(int(src), label, int(dst)) for src, label, dst in triples]


GUIDE: Final = OracleGraph(VALUES, [(ROOT, "Guide", 1), *_edges()])


def as_edits(graph: OracleGraph) -> list[Edit]:
    """Edits that make `graph` in an empty store: objects in order of their oids, then edges, then names."""
    oids = sorted(oid for oid in graph.values if oid != ROOT)
    new: list[Edit] = [New(f"o{oid}", graph.values[oid]) for oid in oids]
    edges = sorted(edge for edge in graph.edges if edge[0] != ROOT)
    inserts = [Insert(f"o{src}", label, f"o{dst}") for src, label, dst in edges]
    return [*new, *inserts, *(Name(name, f"o{oid}") for name, oid in sorted(graph.names.items()))]


GUIDE_EDITS: Final = as_edits(GUIDE)
