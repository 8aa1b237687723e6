"""The newest few hundred changes, in dictionaries: laying one edit over a state costs microseconds.

Nothing here is changed once made: `after` copies the dictionaries it touches, which are small.
For look-ups of many objects at once the same changes are also to be had as arrays (`layer`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from oemviews.edits import NetChange
from oemviews.engines.local.adjacency import Found
from oemviews.engines.local.layer import EdgeColumns, Layer
from oemviews.store.labels import LABEL_BITS, LABEL_MASK, LabelBook
from oemviews.store.values import BIG, C_COMPLEX, CODE, MISSING, NAN, Bools, Ints, Values, strings

Parts: TypeAlias = tuple[int, str | None, int, float]
"""(code, text, integer, number) of a value."""

Ends: TypeAlias = dict[int, tuple[int, ...]]
"""Far ends by `near << LABEL_BITS | label`."""

IN_RECENT: Final = 9
"""Where an edge stands that stands here: behind the numbers of the base and of layers."""

GONE: Final[Parts] = (MISSING, None, 0, float("nan"))


@dataclass(frozen=True)
class Recent:
    """Edges that came and went, seen from both ends, and values that were set."""

    plus: tuple[Ends, Ends] = field(default_factory=lambda: ({}, {}))
    minus: tuple[Ends, Ends] = field(default_factory=lambda: ({}, {}))
    details: dict[tuple[int, int, int], tuple[int, str | None]] = field(default_factory=dict)
    values: dict[int, Parts] = field(default_factory=dict)
    shapes: dict[int, str | None] = field(default_factory=dict)
    gone: int = 0

    def __len__(self) -> int:
        return len(self.details) + self.gone + len(self.values)

    def after(self, change: NetChange, book: LabelBook) -> Recent:
        """With one more change laid over."""
        result = self
        if len(change.plus) or len(change.minus):
            result = result._with_edges(change, book)
        if len(change.created) or len(change.changed) or len(change.gone):
            result = result._with_values(change)
        return result

    def _with_edges(self, change: NetChange, book: LabelBook) -> Recent:
        plus = (self.plus[0].copy(), self.plus[1].copy())
        minus, gone = self.minus, self.gone
        details = self.details.copy()
        if len(change.minus):
            minus = (minus[0].copy(), minus[1].copy())
            src_, label_, dst_ = (change.minus.column(i).to_pylist() for i in range(3))
            codes = {text: book.add(text) for text in set(label_)}
            for src, text, dst in zip(src_, label_, dst_, strict=True):
                label = codes[text]
                if details.pop((src, label, dst), None) is not None:
                    _take(plus[0], src << LABEL_BITS | label, dst)
                    _take(plus[1], dst << LABEL_BITS | label, src)
                elif dst not in minus[0].get(src << LABEL_BITS | label, ()):
                    _put(minus[0], src << LABEL_BITS | label, dst)
                    _put(minus[1], dst << LABEL_BITS | label, src)
                    gone += 1
        if len(change.plus):
            columns = [column.to_pylist() for column in change.plus.itercolumns()]
            codes = {text: book.add(text) for text in set(columns[1])}
            for src, text, dst, pos, shape in zip(*columns, strict=True):
                label = codes[text]
                if (src, label, dst) not in details:
                    _put(plus[0], src << LABEL_BITS | label, dst)
                    _put(plus[1], dst << LABEL_BITS | label, src)
                details[src, label, dst] = pos, shape
        return replace(self, plus=plus, minus=minus, details=details, gone=gone)

    def _with_values(self, change: NetChange) -> Recent:
        values, shapes = self.values.copy(), self.shapes
        for table in (change.created, change.changed):
            if len(table):
                names = ("oid", "type", "text", "integer", "number")
                columns = (table[name].to_pylist() for name in names)
                for oid, *parts in zip(*columns, strict=True):
                    values[oid] = _parts(oid, *parts)
        if len(change.created):
            shapes = {
                **shapes,
                **dict(zip(*(change.created[n].to_pylist() for n in ("oid", "shape")), strict=True)),
            }
        if len(change.gone):
            values |= dict.fromkeys(change.gone["oid"].to_pylist(), GONE)
        return replace(self, values=values, shapes=shapes)

    @cached_property
    def labels(self) -> frozenset[int]:
        """The labels of edges that came or went."""
        return frozenset(key & LABEL_MASK for ends in (self.plus[0], self.minus[0]) for key in ends)

    # ---- as arrays ----

    @cached_property
    def layer(self) -> Layer:
        keys = list(self.details)
        src, label, dst = (np.array([key[i] for key in keys], np.int64) for i in range(3))
        pos = np.array([pos for pos, _ in self.details.values()], np.int64)
        plus = EdgeColumns(src, label, dst, pos, strings(shape for _, shape in self.details.values()))
        gone = [
            (key >> LABEL_BITS, key & LABEL_MASK, dst) for key, ends in self.minus[0].items() for dst in ends
        ]
        minus = tuple(np.array([edge[i] for edge in gone], np.int64) for i in range(3))
        oids = np.fromiter(self.values, np.int64, len(self.values))
        return Layer.of(
            plus, (minus[0], minus[1], minus[2]), oids, self.values_of(list(self.values)), self.shapes
        )

    def values_of(self, oids: list[int]) -> Values:
        """Values of objects that all stand in `values`."""
        parts = [self.values[oid] for oid in oids]
        return Values(
            np.array([part[0] for part in parts], np.uint8),
            np.array([part[2] for part in parts], np.int64),
            np.array([part[3] for part in parts], np.float64),
            strings(part[1] for part in parts),
        )

    # ---- laid over what was found below ----

    def over(self, row: Ints, other: Ints, side: int, oids: Ints, label: int) -> tuple[Ints, Ints]:
        """Edges of one label, found below for a few objects, with the recent ones laid over."""
        keys = [oid << LABEL_BITS | label for oid in oids.tolist()]
        minus, plus = self.minus[side], self.plus[side]
        gone = {(i, end) for i, key in enumerate(keys) if key in minus for end in minus[key]} if minus else ()
        if gone:
            pairs = zip(row.tolist(), other.tolist(), strict=True)
            keep = np.array([pair not in gone for pair in pairs], bool)
            row, other = row[keep], other[keep]
        if plus:
            more = [(i, end) for i, key in enumerate(keys) if key in plus for end in plus[key]]
            if more:
                row = np.concatenate((row, np.array([i for i, _ in more], np.int64)))
                other = np.concatenate((other, np.array([end for _, end in more], np.int64)))
        return row, other

    def over_every(self, found: Found, side: int, oids: Ints, wanted: Bools | None) -> Found:
        """The same for edges of any label in the mask."""
        rows: dict[int, list[int]] = {}
        for i, oid in enumerate(oids.tolist()):
            rows.setdefault(oid, []).append(i)
        row, label, other = found
        for key, ends in self.minus[side].items():
            for i in rows.get(key >> LABEL_BITS, ()):
                keep = (row != i) | (label != key & LABEL_MASK) | ~np.isin(other, ends)
                row, label, other = row[keep], label[keep], other[keep]
        more = [
            (i, key & LABEL_MASK, end)
            for key, ends in self.plus[side].items()
            if wanted is None or wanted[key & LABEL_MASK]
            for i in rows.get(key >> LABEL_BITS, ())
            for end in ends
        ]
        if more:
            added = np.array(more, np.int64)
            row, label, other = (np.concatenate(c) for c in zip((row, label, other), added.T, strict=True))
        return Found(row, label, other)

    def over_joined(self, there: Bools, side: int, near: Ints, label: int, far: Ints) -> Bools:
        """Which of a few edges of one label exist, given which do below."""
        plus, minus = self.plus[side], self.minus[side]
        for i, (oid, end) in enumerate(zip(near.tolist(), far.tolist(), strict=True)):
            key = oid << LABEL_BITS | label
            if end in plus.get(key, ()):
                there[i] = True
            elif end in minus.get(key, ()):
                there[i] = False
        return there

    def over_places(self, where: Ints, src: Ints, label: Ints, dst: Ints) -> Ints:
        """Where a few edges stand, given where they stand below."""
        for i, edge in enumerate(zip(src.tolist(), label.tolist(), dst.tolist(), strict=True)):
            if edge in self.details:
                where[i] = IN_RECENT
            elif edge[2] in self.minus[0].get(edge[0] << LABEL_BITS | edge[1], ()):
                where[i] = -1
        return where


def _put(ends: Ends, key: int, far: int) -> None:
    ends[key] = (*ends[key], far) if key in ends else (far,)


def _take(ends: Ends, key: int, far: int) -> None:
    left = tuple(end for end in ends[key] if end != far)
    if left:
        ends[key] = left
    else:
        del ends[key]


def _parts(oid: int, kind: str, text: str | None, integer: int | None, number: float | None) -> Parts:
    """The parts of a value as a table holds it; a complex object keeps its oid."""
    code = BIG if kind == "integer" and integer is None else CODE[kind]
    whole = oid if code == C_COMPLEX else integer or 0
    return code, text, whole, NAN if number is None else number
