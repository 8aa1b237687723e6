"""What came and went since the arrays of the base were built, as arrays of the same kind.

    edges of a state = (edges below, but for those of `minus`) and those of `plus`

so an edge in both was taken away and put back: it counts once, at its new place in the document.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from oemviews.edits import NetChange
from oemviews.engines.local.adjacency import NO_INTS, Adjacency, sorted_order
from oemviews.engines.local.objects import Objects
from oemviews.store.labels import LabelBook
from oemviews.store.values import MISSING, Ints, Strings, Values, column_numpy, from_columns, strings

_FEW: Final = 48


class EdgeColumns(NamedTuple):
    """Edges in columns, labels as codes, with what only an export needs."""

    src: Ints
    label: Ints
    dst: Ints
    pos: Ints
    shape: Strings

    def take(self, at: NDArray[Any]) -> EdgeColumns:
        return EdgeColumns(*(column[at] for column in self))


NO_EDGES: Final = EdgeColumns(NO_INTS, NO_INTS, NO_INTS, NO_INTS, strings(()))


def edge_columns(table: pa.Table, book: LabelBook) -> EdgeColumns:
    """The columns of a table of EDGES; new labels go into the book."""
    if not len(table):
        return NO_EDGES
    if len(table) <= _FEW:
        src, label, dst, pos, shape = (column.to_pylist() for column in table.itercolumns())
        codes = np.array([book.add(text) for text in label], np.int64)
        numbers = (np.array(column, np.int64) for column in (src, dst, pos))
        return EdgeColumns(next(numbers), codes, next(numbers), next(numbers), strings(shape))
    src, dst, pos = (np.asarray(column_numpy(table[name]), np.int64) for name in ("src", "dst", "pos"))
    return EdgeColumns(
        src, label_codes(table["label"], book), dst, pos, np.asarray(table["shape"].to_numpy())
    )


def label_codes(labels: pa.ChunkedArray, book: LabelBook) -> Ints:
    """A column of labels as codes of the book, to which new ones are added."""
    parts = [NO_INTS]
    for chunk in labels.chunks:
        encoded = chunk if pa.types.is_dictionary(chunk.type) else pc.dictionary_encode(chunk)
        table = np.array([book.add(text) for text in encoded.dictionary.to_pylist()] or [0], np.int64)
        parts.append(table[column_numpy(encoded.indices)])
    return np.concatenate(parts)


class Edges(NamedTuple):
    """The same edges seen from both ends."""

    out: Adjacency
    into: Adjacency

    @classmethod
    def of(cls, src: Ints, label: Ints, dst: Ints, order: Ints | None = None) -> Edges:
        return cls(Adjacency.of(src, label, dst, order), Adjacency.of(dst, label, src))


def object_columns(change: NetChange) -> tuple[Ints, Values]:
    """The objects whose value a change sets, and their values; those that are gone are MISSING."""
    oids, parts = [NO_INTS], []
    for table in (change.created, change.changed, change.gone):
        if len(table):
            oids.append(np.asarray(column_numpy(table["oid"]), np.int64))
            values = from_columns(table["type"], table["text"], table["integer"], table["number"])
            if table is change.gone:
                values.kind[:] = MISSING
            parts.append(values)
    return np.concatenate(oids), joined_values(parts)


def joined_values(parts: list[Values]) -> Values:
    return Values(
        np.concatenate([np.zeros(0, np.uint8), *(part.kind for part in parts)]),
        np.concatenate([NO_INTS, *(part.integer for part in parts)]),
        np.concatenate([np.zeros(0), *(part.number for part in parts)]),
        np.concatenate([strings(()), *(part.text for part in parts)]),
    )


class Layer(NamedTuple):
    """One layer over the base. `columns` are the plus edges in the order of `plus.out`."""

    plus: Edges
    minus: Edges
    columns: EdgeColumns
    objects: Objects
    shapes: dict[int, str | None]

    @classmethod
    def of(
        cls,
        plus: EdgeColumns,
        minus: tuple[Ints, Ints, Ints],
        oids: Ints,
        values: Values,
        shapes: dict[int, str | None],
    ) -> Layer:
        """From columns in any order. Of objects named twice the last counts; edges may go twice."""
        order = sorted_order(plus.label, plus.src, plus.dst)
        if len(oids):
            _, last = np.unique(oids[::-1], return_index=True)
            last = len(oids) - 1 - last
            oids, values = oids[last], values.take(last)
        objects = Objects.of(
            oids,
            values.kind,
            values.integer,
            values.number,
            pa.array(values.text.tolist(), pa.large_string()),
        )
        return cls(
            Edges.of(plus.src, plus.label, plus.dst, order),
            Edges.of(*distinct_edges(*minus)),
            plus.take(order),
            objects,
            shapes,
        )

    def under(self, above: Layer) -> Layer:
        """The one layer that this one and another laid over it come to."""
        gone = above.minus.out
        src, label, dst = (
            gone.near.astype(np.int64),
            gone.labels_at(np.arange(len(gone))),
            gone.far.astype(np.int64),
        )
        at = self.plus.out.find_mixed(src, label, dst)
        kept = np.ones(len(self.columns.src), bool)
        kept[at[at >= 0]] = False
        mine = self.columns.take(kept)
        plus = EdgeColumns(*(np.concatenate(pair) for pair in zip(mine, above.columns, strict=True)))
        old = self.minus.out
        minus = (
            np.concatenate((old.near.astype(np.int64), src)),
            np.concatenate((old.labels_at(np.arange(len(old))), label)),
            np.concatenate((old.far.astype(np.int64), dst)),
        )
        oids = [objects.all_oids() for objects in (self.objects, above.objects)]
        values = [objects.at(np.arange(len(objects))) for objects in (self.objects, above.objects)]
        return Layer.of(
            plus, minus, np.concatenate(oids), joined_values(values), {**self.shapes, **above.shapes}
        )

    def __len__(self) -> int:
        return len(self.columns.src) + len(self.minus.out) + len(self.objects)


def distinct_edges(src: Ints, label: Ints, dst: Ints) -> tuple[Ints, Ints, Ints]:
    order = sorted_order(label, src, dst)
    src, label, dst = src[order], label[order], dst[order]
    new = np.ones(len(src), bool)
    new[1:] = (src[1:] != src[:-1]) | (label[1:] != label[:-1]) | (dst[1:] != dst[:-1])
    return src[new], label[new], dst[new]


def layer_of(change: NetChange, book: LabelBook) -> Layer:
    minus = edge_columns(change.minus, book)
    shapes = dict(
        zip(change.created["oid"].to_pylist(), change.created["shape"].to_pylist(), strict=True)
        if len(change.created)
        else ()
    )
    return Layer.of(edge_columns(change.plus, book), minus[:3], *object_columns(change), shapes)
