"""The big, unchanging part of a graph: arrays over all edges and objects of one set of files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lorel.normal import Automaton
from oemviews.engines.local.adjacency import narrow, sorted_order
from oemviews.engines.local.layer import Edges, label_codes
from oemviews.engines.local.objects import Objects
from oemviews.model import COLLECTION
from oemviews.store.labels import LabelBook
from oemviews.store.values import Ints, Strings, column_numpy, strings


class Details(NamedTuple):
    """What only exports and deletions need: pos and shape of edges in the order of `out`, shapes of objects.

    A shape is a number in `shapes`, whose first is None.
    """

    pos: Ints
    edge_shape: Ints
    object_shape: Ints
    shapes: Strings


class Counts(NamedTuple):
    """For each label of `Edges.out.present`: how many different objects its edges leave, and reach."""

    src: Ints
    dst: Ints


@dataclass(frozen=True, slots=True)
class Base:
    """Arrays of a graph. `oid_bound` is above every oid but that of a view's collection."""

    book: LabelBook
    edges: Edges
    objects: Objects
    details: Details
    counts: Counts
    oid_bound: int
    reach: dict[tuple[Automaton, bool], float] = field(default_factory=dict)  # found so far, for statistics


def base_of(edges: pa.Table, objects: pa.Table, book: LabelBook) -> Base:
    """From tables of EDGES and OBJECTS in any order; labels go into the book."""
    src, dst, pos = (np.asarray(column_numpy(edges[name]), np.int64) for name in ("src", "dst", "pos"))
    label = label_codes(edges["label"], book)
    order = sorted_order(label, src, dst)
    found = Edges.of(src, label, dst, order)
    names: dict[str | None, int] = {None: 0}
    edge_shape = _codes(edges["shape"], names)[order]
    oids = np.asarray(column_numpy(objects["oid"]), np.int64)
    object_shape = _codes(objects["shape"], names)[np.argsort(oids, kind="stable")]
    details = Details(narrow(pos[order]), edge_shape, object_shape, strings(names))
    held = Objects.of_table(objects)
    counts = Counts(found.out.distinct(), found.into.distinct())
    return Base(book, found, held, details, counts, max(oid_bound(part) for part in (src, dst, oids)))


def oid_bound(oids: Ints) -> int:
    """
    >>> oid_bound(np.array([3, 9, COLLECTION]))
    10
    """
    plain = oids[oids < COLLECTION]
    return int(plain.max()) + 1 if len(plain) else 1


def _codes(shapes: pa.ChunkedArray, names: dict[str | None, int]) -> Ints:
    parts = [np.zeros(0, np.int32)]
    for chunk in shapes.chunks:
        encoded = chunk if pa.types.is_dictionary(chunk.type) else pc.dictionary_encode(chunk)
        known = encoded.dictionary.to_pylist()
        table = np.array([*(names.setdefault(name, len(names)) for name in known), 0], np.int32)
        parts.append(table[column_numpy(encoded.indices.fill_null(len(known)))])
    return np.concatenate(parts)
