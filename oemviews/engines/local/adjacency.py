"""Edges seen from one end, as sorted arrays: by label, then by the near end, then by the far end.

All edges of a label stand together, so a scan is a slice and a look-up is a search in that slice.
A second order, by the near end alone, answers patterns: what leaves an object, whatever the label.

    edges   (src, label, dst)    (1, a, 5) (1, a, 6) (2, a, 5) (1, b, 7)
    near    src                   1         1         2         1
    far     dst                   5         6         5         7
    present a, b     starts 0, 3, 4
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oemviews.store.values import Bools, Ints

_SMALL: Final = np.iinfo(np.int32).max
_SORT: Final = 256
"""From so many look-ups on it pays to sort them first: a search then walks the memory in one direction."""

_MANY: Final = 4096
_SPREAD: Final = 16
"""With so many look-ups, counting beats searching unless the numbers spread over that many times more."""

_FEW: Final = 8
"""So few edges are found one by one: less work than rounds of bisection over short arrays."""

NO_INTS: Final = np.zeros(0, np.int64)


class Found(NamedTuple):
    """Edges found for a column of objects: which row of it, the label's code, the object at the other end."""

    row: Ints
    label: Ints
    other: Ints


class Hub(NamedTuple):
    """The same edges by their near end: those of `nodes[i]` are at `order[starts[i]:starts[i + 1]]`."""

    nodes: NDArray[Any]
    starts: NDArray[Any]
    order: NDArray[Any]


def narrow(array: Ints) -> NDArray[Any]:
    """Half the memory if the numbers allow it; the largest 32-bit number stands for all that are above."""
    return array.astype(np.int32) if len(array) == 0 or int(array.max()) < _SMALL else array


def packed(columns: tuple[Ints, ...]) -> Ints | None:
    """Columns of numbers from zero up as one that sorts alike; None if they need more than 63 bits."""
    widths = [_width(column) for column in columns]
    if sum(widths) > 63:
        return None
    key = columns[0].astype(np.int64)
    for column, width in zip(columns[1:], widths[1:], strict=True):
        key <<= width
        key |= column
    return key


def sorted_order(*columns: Ints) -> Ints:
    """The order that sorts rows by columns of numbers from zero up, by the first column first."""
    key = packed(columns)
    return np.lexsort(columns[::-1]) if key is None else np.argsort(key)


def sorted_columns(*columns: Ints) -> tuple[Ints, ...]:
    """The rows of some columns in order. Sorting packed rows is several times faster than sorting places."""
    key = packed(columns)
    if key is None:
        order = np.lexsort(columns[::-1])
        return tuple(column[order] for column in columns)
    key.sort()
    parts = []
    for column in columns[:0:-1]:
        width = _width(column)
        parts.append(key & ((1 << width) - 1))
        key = key >> width
    return (key, *parts[::-1])


def _width(column: Ints) -> int:
    return int(column.max()).bit_length() if len(column) else 0


def unique(numbers: Ints) -> Ints:
    """The different numbers in order, by sorting: numpy's own way hashes, which is slow for millions."""
    ordered = np.sort(numbers)
    return ordered[starts_of(ordered)[:-1]]


def starts_of(groups: NDArray[Any]) -> Ints:
    """Where each run of equal numbers starts, and the end."""
    if not len(groups):
        return np.zeros(1, np.int64)
    return np.concatenate(([0], np.flatnonzero(groups[1:] != groups[:-1]) + 1, [len(groups)]))


def ranges(first: Ints, count: Ints) -> Ints:
    """
    >>> ranges(np.array([5, 9]), np.array([2, 3])).tolist()
    [5, 6, 9, 10, 11]
    """
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(first - (ends - count), count))


class Adjacency:
    """Edges by (label, near, far), all different."""

    __slots__ = ("_hub", "far", "near", "present", "starts")

    def __init__(
        self, near: NDArray[Any], far: NDArray[Any], present: Ints, starts: Ints, hub: Hub | None = None
    ) -> None:
        self.near, self.far, self.present, self.starts, self._hub = near, far, present, starts, hub

    @classmethod
    def of(cls, near: Ints, label: Ints, far: Ints, order: Ints | None = None) -> Adjacency:
        """From columns in any order; `order` sorts them, if it is known already."""
        if order is None:
            label, near, far = sorted_columns(label, near, far)
        else:
            label, near, far = label[order], near[order], far[order]
        starts = starts_of(label)
        return cls(narrow(near), narrow(far), label[starts[:-1]], starts)

    def __len__(self) -> int:
        return len(self.near)

    @property
    def hub(self) -> Hub:
        if self._hub is None:
            nodes, order = sorted_columns(self.near.astype(np.int64), np.arange(len(self.near)))
            nodes = nodes.astype(self.near.dtype)
            starts = starts_of(nodes)
            self._hub = Hub(nodes[starts[:-1]], starts, narrow(order))
        return self._hub

    def section(self, label: int) -> tuple[int, int]:
        """The slice that holds all edges of a label."""
        i = self.present.searchsorted(label)
        if i == len(self.present) or self.present[i] != label:
            return 0, 0
        return int(self.starts[i]), int(self.starts[i + 1])

    def labels_at(self, at: Ints) -> Ints:
        return self.present[self.starts.searchsorted(at, "right") - 1]

    def __contains__(self, label: int) -> bool:
        return self.section(label)[1] > 0

    # ---- from an object to its edges ----

    def follow(self, oids: Ints, label: int) -> tuple[Ints, Ints]:
        """The edges of one label that leave each of `oids`: rows of `oids`, and far ends."""
        lo, hi = self.section(label)
        if lo == hi or not len(oids):
            return NO_INTS, NO_INTS
        section = self.near[lo:hi]
        if len(oids) == 1:
            wanted = _as_needles(oids, section.dtype)[0]
            a, b = int(section.searchsorted(wanted)), int(section.searchsorted(wanted, "right"))
            return np.zeros(b - a, np.int64), self.far[lo + a : lo + b].astype(np.int64)
        row, at = _expand(section, oids)
        return row, self.far[lo:hi][at].astype(np.int64)

    def every(self, oids: Ints, wanted: Bools | None, *, named: bool = True) -> Found:
        """The edges that leave each of `oids` with a label in the mask; None is every label.

        If they need not be named, there may be no labels in what is found.
        """
        hub = self.hub
        place = hub.nodes.searchsorted(_as_needles(oids, hub.nodes.dtype))
        place[place == len(hub.nodes)] = 0
        there = np.flatnonzero(hub.nodes[place] == oids) if len(hub.nodes) else NO_INTS
        first = hub.starts[place[there]]
        count = hub.starts[place[there] + 1] - first
        at = hub.order[ranges(first, count)].astype(np.int64)
        row, label = np.repeat(there, count), self.labels_at(at) if named or wanted is not None else NO_INTS
        if wanted is not None:
            keep = wanted[label]
            row, label, at = row[keep], label[keep], at[keep]
        return Found(row, label, self.far[at].astype(np.int64))

    # ---- from edges to their places ----

    def find(self, near: Ints, label: int, far: Ints) -> Ints:
        """The place of each edge of one label, or -1."""
        lo, hi = self.section(label)
        if lo == hi or not len(near):
            return np.full(len(near), -1, np.int64)
        section, ends = self.near[lo:hi], self.far[lo:hi]
        wanted = _as_needles(near, section.dtype)
        at = section.searchsorted(wanted)
        at[at == hi - lo] = 0
        same = section[at] == wanted
        hit = same & (ends[at] == far)
        later = np.flatnonzero(same & ~hit)  # behind other edges of the same near end, or nowhere
        if len(later):
            at[later] = found = _bisected(
                ends, at[later], section.searchsorted(wanted[later], "right"), far[later]
            )
            hit[later] = found >= 0
        return np.where(hit, at + lo, -1)

    def find_mixed(self, near: Ints, label: Ints, far: Ints) -> Ints:
        """`find` for edges of several labels."""
        if len(label) and (label == label[0]).all():
            return self.find(near, int(label[0]), far)
        at = np.full(len(near), -1, np.int64)
        order = np.argsort(label, kind="stable")
        starts = starts_of(label[order])
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            rows = order[a:b]
            at[rows] = self.find(near[rows], int(label[rows[0]]), far[rows])
        return at

    # ---- all edges ----

    def places(self, label: int | None, wanted: Bools | None) -> Ints:
        """Places of all edges of a label, or with a label in the mask; of all edges if neither is given."""
        if label is not None:
            return np.arange(*self.section(label))
        if wanted is None:
            return np.arange(len(self.near))
        kept = np.flatnonzero(wanted[self.present])
        return ranges(self.starts[kept], self.starts[kept + 1] - self.starts[kept])

    def distinct(self) -> Ints:
        """How many different near ends each label of `present` has."""
        new = np.ones(len(self.near), np.int64)
        new[1:] = self.near[1:] != self.near[:-1]
        new[self.starts[:-1]] = 1
        return np.add.reduceat(new, self.starts[:-1]) if len(new) else NO_INTS


def _as_needles(oids: Ints, dtype: np.dtype[Any]) -> NDArray[Any]:
    """`oids` in the type of a sorted array, for a search among other types copies the whole of it."""
    if oids.dtype == dtype:
        return oids
    return np.minimum(oids, _SMALL).astype(dtype)


def _bisected(ends: NDArray[Any], first: Ints, last: Ints, far: Ints) -> Ints:
    """The place of each far end in its own sorted range, or -1: all ranges are bisected at once."""
    if len(far) <= _FEW:
        return np.array([_place_in(ends, *of) for of in zip(first, last, far, strict=True)], np.int64)
    a, b = first.copy(), last.copy()
    while True:
        open_ = np.flatnonzero(a < b)
        if not len(open_):
            break
        middle = (a[open_] + b[open_]) >> 1
        below = ends[middle] < far[open_]
        a[open_[below]] = middle[below] + 1
        b[open_[~below]] = middle[~below]
    a[a == last] = -1
    return np.where(ends[a] == far, a, -1)


def _place_in(ends: NDArray[Any], first: int, last: int, far: int) -> int:
    """The place of one far end among those of one near end, or -1."""
    at = first + ends[first:last].searchsorted(far)
    return int(at) if at < last and ends[at] == far else -1


def _expand(section: NDArray[Any], oids: Ints) -> tuple[Ints, Ints]:
    """Rows of `oids` and places in the sorted `section` that hold the same number."""
    if len(oids) >= _MANY and int(section[-1]) - int(section[0]) < _SPREAD * len(oids):
        some, first, count = _counted(section, oids)
    else:
        some, first, count = _searched(section, oids)
    if len(some) == 0:
        return NO_INTS, NO_INTS
    if (count == 1).all():
        return some, first
    return np.repeat(some, count), ranges(first, count)


def _counted(section: NDArray[Any], oids: Ints) -> tuple[Ints, Ints, Ints]:
    """For many look-ups: count the whole section by number once, then read off where each starts."""
    low = int(section[0])
    counts = np.bincount(section - low)
    ends = np.cumsum(counts)
    shifted = oids - low
    inside = np.flatnonzero((shifted >= 0) & (shifted < len(counts)))
    shifted = shifted[inside]
    count = counts[shifted]
    some = np.flatnonzero(count)
    shifted, count = shifted[some], count[some]
    return inside[some], ends[shifted] - count, count


def _searched(section: NDArray[Any], oids: Ints) -> tuple[Ints, Ints, Ints]:
    order = None
    wanted = _as_needles(oids, section.dtype)
    if len(oids) >= _SORT and (wanted[1:] < wanted[:-1]).any():
        order = np.argsort(wanted)
        wanted = wanted[order]
    first = section.searchsorted(wanted)
    first[first == len(section)] = 0
    some = np.flatnonzero(section[first] == wanted)
    first = first[some]
    count = np.ones(len(some), np.int64)
    more = np.flatnonzero(section[np.minimum(first + 1, len(section) - 1)] == wanted[some])
    if len(more):
        count[more] = section.searchsorted(wanted[some[more]], "right") - first[more]
    rows = some if order is None else order[some]
    return rows, first, count
