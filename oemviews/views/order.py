"""The graph of a view in the order of the documents below it: what only an export asks for."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from oemviews.engines.local import LocalGraph
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.values import column_numpy

_LATER: Final = 1 << 40
"""Above every pos: edges that the base does not have, those of the collection, come last, by oid."""


def in_base_order(edges: pa.Table, objects: pa.Table, base: LocalGraph) -> tuple[pa.Table, pa.Table]:
    """The tables of a view's graph, with the pos and the shapes that edges and objects have in the base.

    An object takes over that it is an array or an element; not which of its arrays are empty: labels that
    the view does not bring along are not shown.
    """
    src, dst = column_numpy(edges["src"]), column_numpy(edges["dst"])
    labels = edges["label"].to_pylist()
    there = base.has(src, labels, dst)
    pos, shape = base.details(src, labels, dst)
    pos = np.where(there, pos, _LATER + dst)
    ordered = pa.table(
        [*edges.columns[:3], pa.array(pos), pa.array(shape, pa.string(), mask=~there)], schema=EDGES
    )
    shapes = [
        None if shape is None or shape.startswith("{") else shape
        for shape in base.shapes(column_numpy(objects["oid"]))
    ]
    return ordered, pa.table([*objects.columns[:-1], pa.array(shapes, pa.string())], schema=OBJECTS)
