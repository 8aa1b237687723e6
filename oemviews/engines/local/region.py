"""Walks from a set of objects: which objects they pass, in time that grows with the edges they pass.

Where a walk began is not kept, so each object is walked from once in each state of the automaton, however
many walks lead there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final, TypeAlias

import numpy as np

from lorel.normal import ANY, Automaton, Labels
from oemviews.engines.local.adjacency import NO_INTS, unique
from oemviews.engines.local.graph import LocalGraph
from oemviews.model import COLLECTION
from oemviews.pulse import PULSE
from oemviews.store.values import Bools, Ints

_FEW: Final = 256
"""So many objects are kept in a set; more are marked in an array over all objects."""

_MARKS: Final = 1 << 28
"""Up to so many marks, a byte each, are kept; pages that no walk touches cost nothing."""

_SAMPLES: Final = 12
_DEEP: Final = 2000
"""From so many objects, and so far, it is walked to guess how far walks reach."""


@dataclass(frozen=True, slots=True)
class Walk:
    """An automaton with a direction: the moves that leave each state, first and last states."""

    moves: tuple[tuple[tuple[Labels, tuple[int, ...]], ...], ...]
    first: tuple[int, ...]
    last: frozenset[int]
    forward: bool

    @classmethod
    def along(cls, path: Automaton, forward: bool) -> Walk:
        """Backward, moves are turned round, and first and last states change places."""
        moves: list[dict[Labels, tuple[int, ...]]] = [{} for _ in range(path.states)]
        for p, labels, q in path.moves:
            here, to = (p, q) if forward else (q, p)
            moves[here][labels] = (*moves[here].get(labels, ()), to)
        leaving = tuple(tuple(each.items()) for each in moves)
        if forward:
            return cls(leaving, (0,), path.accepting, True)
        return cls(leaving, tuple(sorted(path.accepting)), frozenset({0}), False)


class Met:
    """A set of objects that grows: a set of python while they are few, then marks over all objects."""

    __slots__ = ("_few", "_marks", "_parts")

    def __init__(self) -> None:
        self._few: set[int] | None = set()
        self._marks: Bools | None = None
        self._parts: list[Ints] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def fresh(self, oids: Ints) -> Ints:
        """Those not met before, each once; they are met now."""
        if self._few is not None and len(self._few) + len(oids) <= _FEW:
            new = set(oids.tolist()) - self._few
            self._few |= new
            found = np.fromiter(new, np.int64, len(new))
        else:
            self._few = None
            found = unique(oids[~self.among(oids)])
        if len(found):
            self._parts.append(found)
            self._put(found)
        return found

    def among(self, oids: Ints) -> Bools:
        """Which of some objects were met."""
        if self._few is not None and len(oids) <= _FEW:
            few = self._few
            return np.fromiter((oid in few for oid in oids.tolist()), np.bool_, len(oids))
        places = _places(oids)
        wanted = int(places.max()) + 1 if len(places) else 1
        if wanted > _MARKS:
            return np.isin(oids, self.oids())
        if self._marks is None or wanted > len(self._marks):
            self._marks = np.zeros(min(_MARKS, 2 * wanted), np.bool_)
            self._put(self.oids())
        return self._marks[places]

    def _put(self, oids: Ints) -> None:
        if self._marks is not None:
            places = _places(oids)
            self._marks[places[places < len(self._marks)]] = True

    def oids(self) -> Ints:
        """All of them, each once."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else NO_INTS


def _places(oids: Ints) -> Ints:
    """The collection object of a view, whose oid is far above all others, has the first mark."""
    return np.where(oids == COLLECTION, 0, oids + 1)


Region: TypeAlias = list[Met]
"""For each state of an automaton the objects that a walk is at in it."""


def spread(
    graph: LocalGraph, starts: Ints, walk: Walk, inside: Region | None = None, most: float = inf
) -> Region:
    """The objects that walks from some objects pass: those `inside` only, and about so many at most."""
    if walk.last.intersection(walk.first):
        starts = starts[existing(graph, starts)]
    region = [Met() for _ in walk.moves]
    ahead = {state: [starts] for state in walk.first}
    side, total = 0 if walk.forward else 1, 0
    while ahead and total <= most:
        PULSE.levels += 1
        frontier = ahead
        ahead = {}
        for state, pieces in frontier.items():
            oids = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
            if inside is not None:
                oids = oids[inside[state].among(oids)]
            fresh = region[state].fresh(oids)
            if not len(fresh):
                continue
            total += len(fresh)
            for labels, states in walk.moves[state]:
                other = graph.ends(side, fresh, labels)[1]
                if len(other):
                    for to in states:
                        ahead.setdefault(to, []).append(other)
    return region


def ends_of(region: Region, walk: Walk) -> Ints:
    """The objects where a walk may end, each once."""
    parts = [region[state].oids() for state in walk.last]
    return parts[0] if len(parts) == 1 else unique(np.concatenate([NO_INTS, *parts]))


def sampled_reach(graph: LocalGraph, path: Automaton, forward: bool) -> float:
    """How many objects walks from one object lead to: the mean over a few that have a first edge."""
    walk = Walk.along(path, forward)
    starts = [_sampled(graph, labels, forward) for state in walk.first for labels, _ in walk.moves[state]]
    some = unique(np.concatenate([NO_INTS, *starts]))[:_SAMPLES]
    found = 0
    for start in some:
        region = spread(graph, start[None], walk, most=_DEEP)
        found += min(_DEEP, len(ends_of(region, walk)))
    mean = found / max(1, len(some))
    return float(graph.object_count) if mean > _DEEP / 2 else max(1.0, mean)


def _sampled(graph: LocalGraph, labels: Labels, forward: bool) -> Ints:
    """Some objects that have an edge with such a label, from all over the graph."""
    edges = graph.base.edges[0 if forward else 1]
    label = graph.book.one(labels)
    lo, hi = (0, len(edges)) if label is None else edges.section(label)
    return edges.near[lo : hi : max(1, (hi - lo) // _SAMPLES)].astype(np.int64)


def existing(graph: LocalGraph, oids: Ints) -> Bools:
    """Which objects exist: a walk of no step leads from an oid that nobody has to nowhere."""
    there = ~graph.values(oids).missing
    unknown = np.flatnonzero(~there)
    if len(unknown):  # an object without a row of its own may have edges: the collection of a view
        there[unknown[graph.out(oids[unknown], ANY).row]] = True
        there[unknown[graph.into(oids[unknown], ANY).row]] = True
    return there
