"""One state of one graph in the process: arrays, and the changes since they were built.

A state is three things laid over each other: the base, which may be millions of edges in mapped files;
one layer of arrays; the newest changes in dictionaries. `apply` makes the next state from this one at a
cost that does not depend on the size of the graph, and this one stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from lorel.normal import ANY, Labels, Test
from oemviews.edits import NetChange
from oemviews.engines.local import cache as mapped
from oemviews.engines.local.adjacency import NO_INTS, Found, unique
from oemviews.engines.local.base import Base, base_of, oid_bound
from oemviews.engines.local.layer import Layer, layer_of
from oemviews.engines.local.objects import Objects
from oemviews.engines.local.overlay import (
    columns_of_edges,
    constants,
    every_label_over,
    one_label_over,
    with_rows,
)
from oemviews.engines.local.recent import IN_RECENT, Recent
from oemviews.model import ROOT, Value
from oemviews.store.labels import LabelBook
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.state import State
from oemviews.store.values import (
    C_COMPLEX,
    Bools,
    Ints,
    Strings,
    Values,
)

RECENT: Final = 512
"""So many changes stay in dictionaries; then they move into the layer."""

_PART: Final = 4

FEW: Final = 48
"""Up to so many objects are looked up in the dictionaries one by one, whatever the label."""

SOME: Final = 512
"""Up to so many, if the label is known or values are asked for."""


class LocalGraph:
    """An immutable graph. `out` and `into` follow edges, `lookup` and `equal` find objects by value."""

    __slots__ = ("__dict__", "base", "book", "edge_count", "layer", "object_count", "recent")

    def __init__(
        self, base: Base, layer: Layer | None, recent: Recent, edge_count: int, object_count: int
    ) -> None:
        self.base, self.layer, self.recent, self.book = base, layer, recent, base.book
        self.edge_count, self.object_count = edge_count, object_count

    # ---- making ----

    @classmethod
    def of_tables(cls, edges: pa.Table, objects: pa.Table, book: LabelBook | None = None) -> LocalGraph:
        """From tables of EDGES and OBJECTS, in memory."""
        return cls._of_base(base_of(edges, objects, LabelBook() if book is None else book))

    @classmethod
    def empty(cls) -> LocalGraph:
        return cls.of_tables(EDGES.empty_table(), OBJECTS.empty_table())

    @classmethod
    def of_state(cls, state: State, cache: Path | None = None) -> LocalGraph:
        """From a stored state. Arrays over its files are kept in the folder `cache`, if one is given."""
        if state.behind:  # its files hold more than the state: arrays over them are of no use
            return cls.of_tables(state.edges(), state.objects())
        base = mapped.opened(state, cache) if cache is not None else mapped.built(state)
        return cls._of_base(base).apply(state.tail)

    @classmethod
    def _of_base(cls, base: Base) -> LocalGraph:
        return cls(base, None, Recent(), len(base.edges.out), len(base.objects))

    def apply(self, change: NetChange) -> LocalGraph:
        """The state after a change."""
        if not len(change):
            return self
        edges = self.edge_count + len(change.plus) - len(change.minus)
        objects = self.object_count + len(change.created) - len(change.gone)
        if len(self.recent) + len(change) <= RECENT:
            return LocalGraph(self.base, self.layer, self.recent.after(change, self.book), edges, objects)
        layer = layer_of(change, self.book)
        for below in (self.recent.layer if len(self.recent) else None, self.layer):
            layer = layer if below is None else below.under(layer)
        merged = LocalGraph(self.base, layer, Recent(), edges, objects)
        return merged._rebuilt() if len(layer) > max(1 << 16, len(self.base.edges.out) // 2) else merged

    def _rebuilt(self) -> LocalGraph:
        """The same state with the layer worked into the base."""
        edges, objects = self.tables()
        return LocalGraph._of_base(base_of(edges, objects, self.book))

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """All edges and all objects but the root, as tables of EDGES and OBJECTS."""
        from oemviews.engines.local.tables import edge_table, object_table

        return edge_table(self), object_table(self)

    @cached_property
    def oid_bound(self) -> int:
        """Above every oid of the graph but that of a view's collection."""
        oids = [
            part
            for layer in self.layers()
            for part in (
                layer.columns.src,
                layer.columns.dst,
                layer.objects.oids_at(np.arange(len(layer.objects))),
            )
        ]
        return max([self.base.oid_bound, *map(oid_bound, oids)])

    # ---- edges ----

    def layers(self) -> tuple[Layer, ...]:
        """What lies over the base, as arrays."""
        return tuple(
            layer for layer in (self.layer, self.recent.layer if len(self.recent) else None) if layer
        )

    def telling_layers(self) -> tuple[Layer, ...]:
        """The layers that statistics count: the newest changes only where they are a good part of the graph.

        To make arrays of them costs more than they tell in a large one.
        """
        rest = len(self.base.edges.out) + (0 if self.layer is None else len(self.layer))
        if len(self.recent) * _PART > rest:
            return self.layers()
        return () if self.layer is None else (self.layer,)

    def out(self, oids: Ints, labels: Labels) -> Found:
        """The edges that leave each of `oids`."""
        return self._found(0, oids, labels)

    def into(self, oids: Ints, labels: Labels) -> Found:
        """The edges that reach each of `oids`."""
        return self._found(1, oids, labels)

    def _found(self, side: int, oids: Ints, labels: Labels) -> Found:
        label = self.book.one(labels)
        if label is not None:
            row, other = self.follow(side, oids, label)
            return Found(row, np.full(len(row), label, np.int64), other)
        wanted = None if labels.every else self.book.matching(labels)
        found = self.base.edges[side].every(oids, wanted)
        layers = self.layers() if len(oids) > FEW else (() if self.layer is None else (self.layer,))
        for layer in layers:
            found = every_label_over(found, layer, side, oids, wanted)
        if len(oids) <= FEW and len(self.recent):
            found = self.recent.over_every(found, side, oids, wanted)
        return found

    def ends(self, side: int, oids: Ints, labels: Labels) -> tuple[Ints, Ints]:
        """The other ends of edges out of (side 0) or into (1) each of `oids`: rows of `oids`, and objects."""
        label = self.book.one(labels)
        if label is not None:
            return self.follow(side, oids, label)
        if labels.every and self.layer is None and not len(self.recent):
            found = self.base.edges[side].every(oids, None, named=False)
        else:
            found = self._found(side, oids, labels)
        return found.row, found.other

    def follow(self, side: int, oids: Ints, label: int) -> tuple[Ints, Ints]:
        """Edges of one label out of (side 0) or into (1) each of `oids`: rows of `oids`, and other ends."""
        if label < 0:
            return NO_INTS, NO_INTS
        row, other = self.base.edges[side].follow(oids, label)
        if self.layer is not None:
            row, other = one_label_over(row, other, self.layer, side, oids, label)
        if label in self.recent.labels:
            if len(oids) <= SOME:
                return self.recent.over(row, other, side, oids, label)
            row, other = one_label_over(row, other, self.recent.layer, side, oids, label)
        return row, other

    def scan(self, labels: Labels) -> tuple[Ints, Ints, Ints]:
        """All edges with such a label: src, label codes, dst."""
        label = self.book.one(labels)
        wanted = None if label is not None or labels.every else self.book.matching(labels)
        src, codes, dst = columns_of_edges(self.base.edges.out, label, wanted)
        for layer in self.layers():
            gone = columns_of_edges(layer.minus.out, label, wanted)
            if len(gone[0]):
                keep = layer.minus.out.find_mixed(src, codes, dst) < 0
                src, codes, dst = src[keep], codes[keep], dst[keep]
            more = columns_of_edges(layer.plus.out, label, wanted)
            if len(more[0]):
                src, codes, dst = (np.concatenate(pair) for pair in zip((src, codes, dst), more, strict=True))
        return src, codes, dst

    def joined(self, side: int, near: Ints, label: int, far: Ints) -> Bools:
        """Which edges of one label exist, looked for from their src (side 0) or from their dst (1)."""
        there = self.base.edges[side].find(near, label, far) >= 0
        layers = [] if self.layer is None else [self.layer]
        if label in self.recent.labels and len(near) > SOME:
            layers.append(self.recent.layer)
        for layer in layers:
            if label in layer.minus[side]:
                there &= layer.minus[side].find(near, label, far) < 0
            if label in layer.plus[side]:
                there |= layer.plus[side].find(near, label, far) >= 0
        if label in self.recent.labels and len(near) <= SOME:
            return self.recent.over_joined(there, side, near, label, far)
        return there

    def _place(self, src: Ints, label: Ints, dst: Ints) -> tuple[Ints, Ints]:
        """Where each edge stands: -1 nowhere, 0 in the base, 1.. in a layer, or IN_RECENT; and its place."""
        at = self.base.edges.out.find_mixed(src, label, dst)
        where = np.where(at >= 0, 0, -1)
        few = len(src) <= FEW
        layers = () if self.layer is None else (self.layer,)
        for number, layer in enumerate(layers if few else self.layers(), 1):
            if len(layer.minus.out):
                where[layer.minus.out.find_mixed(src, label, dst) >= 0] = -1
            if len(layer.plus.out):
                found = layer.plus.out.find_mixed(src, label, dst)
                where[found >= 0] = number
                at = np.where(found >= 0, found, at)
        if few and len(self.recent):
            where = self.recent.over_places(where, src, label, dst)
        return where, at

    def _codes(self, labels: Sequence[str]) -> Ints:
        return np.array([self.book.ids.get(label, -1) for label in labels], np.int64)

    def has(self, src: Ints, labels: Sequence[str], dst: Ints) -> Bools:
        """Which edges exist."""
        return self._place(src, self._codes(labels), dst)[0] >= 0

    def details(self, src: Ints, labels: Sequence[str], dst: Ints) -> tuple[Ints, Strings]:
        """The pos and the shape of edges that exist."""
        return self.details_of(src, self._codes(labels), dst)

    def details_of(self, src: Ints, label: Ints, dst: Ints) -> tuple[Ints, Strings]:
        where, at = self._place(src, label, dst)
        pos, shape = np.zeros(len(src), np.int64), np.empty(len(src), object)
        rows = np.flatnonzero(where == 0)
        if len(rows):
            kept = self.base.details
            pos[rows], shape[rows] = kept.pos[at[rows]], kept.shapes[kept.edge_shape[at[rows]]]
        rows = np.flatnonzero(where == IN_RECENT)
        for i in rows.tolist():
            pos[i], shape[i] = self.recent.details[int(src[i]), int(label[i]), int(dst[i])]
        if len(rows) < len(src):
            for number, layer in enumerate(self.layers(), 1):
                rows = np.flatnonzero(where == number)
                pos[rows], shape[rows] = layer.columns.pos[at[rows]], layer.columns.shape[at[rows]]
        return pos, shape

    def names(self) -> dict[str, int]:
        """The names, which are the edges of the root."""
        found = self.out(np.zeros(1, np.int64), ANY)
        return dict(zip(self.book.names(found.label).tolist(), found.other.tolist(), strict=True))

    # ---- objects ----

    def values(self, oids: Ints) -> Values:
        """The values of objects; MISSING where there is no such object."""
        values = self.base.objects.at(self.base.objects.places(oids))
        if self.layer is not None or self.recent.values:
            values = self._overlaid(oids, values)
        roots = oids == ROOT
        if roots.any():
            values.kind[roots] = C_COMPLEX
        return values

    def _overlaid(self, oids: Ints, values: Values) -> Values:
        layers: list[Objects] = [] if self.layer is None else [self.layer.objects]
        if self.recent.values and len(oids) > SOME:
            layers.append(self.recent.layer.objects)
        for objects in layers:
            places = objects.places(oids)
            rows = np.flatnonzero(places >= 0)
            if len(rows):
                values = with_rows(values, rows, objects.at(places[rows]))
        if self.recent.values and len(oids) <= SOME:
            known = self.recent.values
            rows_ = [i for i, oid in enumerate(oids.tolist()) if oid in known]
            if rows_:
                newer = self.recent.values_of([int(oids[i]) for i in rows_])
                values = with_rows(values, np.array(rows_, np.int64), newer)
        return values

    def _overrides(self, oids: Ints, above: int) -> Bools:
        """Which objects have a newer value in a layer above this one."""
        hidden = np.zeros(len(oids), bool)
        for objects in self._objects[above + 1 :]:
            hidden |= objects.places(oids) >= 0
        return hidden

    @property
    def _objects(self) -> list[Objects]:
        layers = [] if self.layer is None else [self.layer]
        if self.recent.values:
            layers.append(self.recent.layer)
        return [self.base.objects, *(layer.objects for layer in layers if len(layer.objects))]

    def lookup(self, test: Test) -> Ints:
        """The objects whose value passes a test of `ValueOf` against constants; each once."""
        found = []
        for op, constant in constants(test):
            for above, objects in enumerate(self._objects):
                oids = objects.passing(op, constant)
                found.append(oids[~self._overrides(oids, above)])
        return unique(np.concatenate([NO_INTS, *found]))

    def expected(self, test: Test) -> float:
        """About how many objects `lookup` would give."""
        kept = [self.base.objects, *(layer.objects for layer in self.telling_layers())]
        return sum(objects.expected(op, constant) for op, constant in constants(test) for objects in kept)

    def equal(self, values: Values) -> tuple[Ints, Ints]:
        """Pairs of a row of `values` and an object that equals it under coercion."""
        rows, oids = [NO_INTS], [NO_INTS]
        for above, objects in enumerate(self._objects):
            row, oid = objects.equal(values)
            keep = ~self._overrides(oid, above)
            rows.append(row[keep])
            oids.append(oid[keep])
        complex_ = np.flatnonzero(values.kind == C_COMPLEX)
        same = values.integer[complex_]
        there = self.values(same).kind == C_COMPLEX
        return np.concatenate([*rows, complex_[there]]), np.concatenate([*oids, same[there]])

    # ---- for exports ----

    def value(self, oid: int) -> Value:
        return self.values(np.array([oid], np.int64)).item(0)

    def shape(self, oid: int) -> str | None:
        return self.shapes(np.array([oid], np.int64))[0]

    def shapes(self, oids: Ints) -> list[str | None]:
        """The shapes of objects."""
        places, kept = self.base.objects.places(oids), self.base.details
        codes = np.zeros(len(oids), np.int64)  # the first of the shapes is None
        codes[places >= 0] = kept.object_shape[places[places >= 0]]
        shapes: list[str | None] = kept.shapes[codes].tolist()
        for newer in ({} if self.layer is None else self.layer.shapes, self.recent.shapes):
            if newer:
                shapes = [newer.get(oid, shape) for oid, shape in zip(oids.tolist(), shapes, strict=True)]
        return shapes

    def children(self, oid: int) -> list[tuple[str, int, int, str | None]]:
        """The edges out of an object as (label, dst, pos, shape), in the order of pos."""
        found = self.out(np.array([oid], np.int64), ANY)
        pos, shape = self.details_of(np.full(len(found.other), oid, np.int64), found.label, found.other)
        labels = self.book.names(found.label)
        rows = zip(labels.tolist(), found.other.tolist(), pos.tolist(), shape.tolist(), strict=True)
        return sorted(rows, key=lambda row: row[2])
