"""A graph in the process back to tables of EDGES and OBJECTS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lorel.normal import ANY
from oemviews.engines.local.adjacency import unique
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.values import BIG, BINARY, BOOLEAN, INTEGER, MISSING, NAMES, STRING

if TYPE_CHECKING:
    from oemviews.engines.local.graph import LocalGraph


def edge_table(graph: LocalGraph) -> pa.Table:
    """All edges, in no particular order."""
    src, label, dst = graph.scan(ANY)
    pos, shape = graph.details_of(src, label, dst)
    names = pa.array(graph.book.texts, pa.string()).take(pa.array(label))
    return pa.table([src, names, dst, pos, pa.array(shape, pa.string())], schema=EDGES)


def object_table(graph: LocalGraph) -> pa.Table:
    """All objects but the root, in the order of their oids."""
    kept = [graph.base.objects, *(layer.objects for layer in graph.layers())]
    oids = unique(np.concatenate([objects.all_oids() for objects in kept]))
    values = graph.values(oids)
    there = np.flatnonzero(values.kind != MISSING)
    oids, values = oids[there], values.take(there)
    whole = (values.kind == INTEGER) | (values.kind == BOOLEAN)
    worded = np.isin(values.kind, (STRING, BIG, BINARY))
    names = pa.array(NAMES).take(pa.array(values.kind))
    return pa.table(
        [
            pa.array(oids),
            names,
            pa.array(values.text, pa.string(), mask=~worded),
            pa.array(values.integer, mask=~whole),
            pa.array(values.number, mask=np.isnan(values.number)),
            pa.array(graph.shapes(oids), pa.string()),
        ],
        schema=OBJECTS,
    )
