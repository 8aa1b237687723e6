"""Walks along an automaton: sets of reached objects, or with a path variable the walks themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from lorel import plan as op
from lorel.normal import ANY, Automaton, Step
from oemviews.engines.local.adjacency import NO_INTS, unique
from oemviews.engines.local.graph import LocalGraph
from oemviews.engines.local.keys import common_keys, matches, member, row_keys, take, taken
from oemviews.engines.local.region import Region, Walk, ends_of, existing, spread
from oemviews.engines.local.running import Running
from oemviews.engines.rows import Rows
from oemviews.model import COLLECTION
from oemviews.store.values import Bools, Ints, Values, string_values, strings

_BITS: Final = 1 << 27
"""Up to so many marks, a byte each, are kept for one start; pages that no walk touches cost nothing."""

_STARTS: Final = 1 << 16
"""So many starts are walked from at a time, which bounds what is marked as seen."""


def walked_from(plan: op.Closure, run: Running) -> Rows:
    """The rows of a walk, whichever of its kinds."""
    rows, graph = run(plan.input), run.graph(plan.step.graph, plan.step.state)
    if plan.kept is None:
        return closed(rows, plan.step, plan.forward, graph)
    near, far = plan.ends
    assert isinstance(plan.step.path, Automaton)
    walk = Walk.along(plan.step.path, plan.forward)
    start = rows.columns[near]
    if isinstance(start, Values) or not len(start):  # a value has no edges
        nobody = {name: rows.columns[name] for name in plan.kept}
        return Rows({**taken(nobody, NO_INTS), far: NO_INTS}, NO_INTS)
    if plan.back is not None:
        return Rows.of_set(far, _returned(graph, start, walk, run.walked[id(plan.back)]))
    if plan.kept:
        return _beside(rows, start, plan.kept, far, walk, graph)
    run.walked[id(plan)] = start, (region := spread(graph, start, walk))
    return Rows.of_set(far, ends_of(region, walk))


def _returned(graph: LocalGraph, starts: Ints, walk: Walk, out: tuple[Ints, Region]) -> Ints:
    """Of the objects from which a walk out began those that walks back from some of its ends lead to."""
    began, region = out
    if len(began) == 1:  # whatever the walk has reached leads back to it
        return began
    ends = ends_of(spread(graph, starts, walk, inside=region), walk)
    return ends[member(ends, began)]


def _beside(rows: Rows, start: Ints, kept: tuple[str, ...], far: str, walk: Walk, graph: LocalGraph) -> Rows:
    """The different rows of some columns, each with all objects that walks from its starts lead to."""
    columns = {name: rows.columns[name] for name in kept}
    _, first, number = np.unique(
        row_keys(list(columns.values()), len(rows)), return_index=True, return_inverse=True
    )
    at, ends = reached(graph, start, walk, number.astype(np.int64))
    return Rows({**taken(columns, first[at]), far: ends}, np.ones(len(at), np.int64))


def closed(rows: Rows, step: Step, forward: bool, graph: LocalGraph) -> Rows:
    """Each row with every object that a walk leads to, each once."""
    assert isinstance(step.path, Automaton)
    near, far = (step.src, step.dst) if forward else (step.dst, step.src)
    if isinstance(rows.columns[near], Values):  # a value has no edges
        rows = take(rows, NO_INTS)
        rows = Rows({**rows.columns, near: NO_INTS}, rows.counts)
    starts, which = np.unique(rows.oids(near), return_inverse=True)
    walk = Walk.along(step.path, forward)
    if step.via is not None:
        return _with_paths(rows, step.via, far, starts, which, walk, graph)
    if far in rows.columns:
        return take(rows, connected(graph, rows.oids(near), rows.oids(far), step.path, forward))
    start, end = reached(graph, starts, walk)
    at, other = matches(which.astype(np.int64), start)
    return Rows({**taken(rows.columns, at), far: end[other]}, rows.counts[at])


def _with_paths(
    rows: Rows, via: str, far: str, starts: Ints, which: Ints, walk: Walk, graph: LocalGraph
) -> Rows:
    """Each row with every walk, its labels as a text; if the far end is bound, only walks that end there."""
    walks = [
        (number, text, end)
        for number, start in enumerate(starts.tolist())
        for text, end in dict.fromkeys(walked(graph, start, walk))
    ]
    at, other = matches(which.astype(np.int64), np.array([number for number, _, _ in walks], np.int64))
    end = np.array([end for _, _, end in walks], np.int64)[other]
    texts = string_values(strings(text for _, text, _ in walks)).take(other)
    found = Rows({**taken(rows.columns, at), via: texts}, rows.counts[at])
    if far in found.columns:
        return take(found, np.asarray(found.oids(far) == end))
    return Rows({**found.columns, far: end}, found.counts)


# ---- sets ----


def reached(graph: LocalGraph, starts: Ints, walk: Walk, numbers: Ints | None = None) -> tuple[Ints, Ints]:
    """Pairs of a start, by its number, and an object reached from it; each once.

    A start has its place for a number; if numbers are given, those with the same one are taken as one.
    """
    parts: list[tuple[Ints, Ints]] = [(NO_INTS, NO_INTS)]
    if numbers is None:
        numbers = np.arange(len(starts))
    for begin in range(0, int(numbers.max()) + 1 if len(numbers) else 0, _STARTS):
        here = np.flatnonzero((numbers >= begin) & (numbers < begin + _STARTS))
        search = _Search(graph, starts[here], walk, numbers[here] - begin)
        while search.advance():
            pass
        start, end = search.found()
        parts.append((start + begin, end))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def connected(graph: LocalGraph, near: Ints, far: Ints, path: Automaton, forward: bool) -> Bools:
    """Which pairs a walk connects.

    It is searched from both ends, always on where less was found so far; the end that is through first tells.
    """
    result = np.zeros(len(near), bool)
    for begin in range(0, len(near), _STARTS):
        part = slice(begin, begin + _STARTS)
        sides = [(near[part], far[part], forward), (far[part], near[part], not forward)]
        starts = [np.unique(here, return_inverse=True) for here, _, _ in sides]
        searches = [
            _Search(graph, start, Walk.along(path, way), np.arange(len(start)))
            for (start, _), (_, _, way) in zip(starts, sides, strict=True)
        ]
        while True:
            one = int(searches[1].met < searches[0].met)
            if not searches[one].advance():
                break
        start, end = searches[one].found()
        pairs = Rows({"start": start, "end": end}, start)
        asked = Rows({"start": starts[one][1].astype(np.int64), "end": sides[one][1]}, near[part])
        result[part] = member(*common_keys(asked, pairs, ("start", "end")))
    return result


class _Seen:
    """Which (start, state, object) were met. One start has a mark for each object, many have sorted runs."""

    def __init__(self, starts: int, states: int, span: int) -> None:
        self._marks = np.zeros(states * span, bool) if starts == 1 and states * span <= _BITS else None
        self._span, self._states = span, states
        self._runs: list[Ints] = []
        self._few: set[int] = set()

    def fresh(self, start: Ints, state: int, oid: Ints) -> tuple[Ints, Ints]:
        """Those not met before, each once; they are met now."""
        key = (start * self._states + state) * self._span + oid
        if self._marks is not None:
            key = key[~self._marks[key]]
            if len(key) > 1:
                key = unique(key)
            self._marks[key] = True
        else:
            key = unique(key)
            if len(key) <= 64:
                key = np.array([k for k in key.tolist() if k not in self._few], np.int64)
            elif self._few:
                self._push(np.sort(np.fromiter(self._few, np.int64, len(self._few))))
                self._few = set()
            for run in self._runs:
                at = run.searchsorted(key)
                at[at == len(run)] = 0
                key = key[run[at] != key]
            if len(key) <= 64:
                self._few.update(key.tolist())
            else:
                self._push(key)
        return key // self._span // self._states, key % self._span

    def _push(self, run: Ints) -> None:
        """Runs grow by doubling, so that each key is merged but a few times."""
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)))
        self._runs.append(run)


class _Search:
    """Breadth first from many starts, a level at a time; each (start, state, object) is met once."""

    def __init__(self, graph: LocalGraph, starts: Ints, walk: Walk, numbers: Ints) -> None:
        self._graph, self._walk = graph, walk
        self._compact = _Compact(graph, starts)
        self._seen = _Seen(int(numbers.max()) + 1, len(walk.moves), self._compact.span)
        self._ends: list[tuple[Ints, Ints]] = [(NO_INTS, NO_INTS)]
        self.met = 0
        there = existing(graph, starts) if walk.last.intersection(walk.first) else slice(None)
        numbers, places = numbers[there], self._compact.small(starts[there])
        self._frontier = {state: self._seen.fresh(numbers, state, places) for state in walk.first}
        self._count()

    def advance(self) -> bool:
        """One level further; False if there is none."""
        ahead: dict[int, list[tuple[Ints, Ints]]] = {}
        for state, (start, place) in self._frontier.items():
            if state in self._walk.last:
                self._ends.append((start, place))
            oid = self._compact.oids(place)
            for labels, states in self._walk.moves[state]:
                row, other = self._graph.ends(0 if self._walk.forward else 1, oid, labels)
                if len(row):
                    piece = start[row], self._compact.small(other)
                    for to in states:
                        ahead.setdefault(to, []).append(piece)
        self._frontier = {}
        for to, pieces in ahead.items():
            start, place = _joined(pieces)
            start, place = self._seen.fresh(start, to, place)
            if len(start):
                self._frontier[to] = start, place
        self._count()
        return bool(self._frontier)

    def _count(self) -> None:
        self.met += sum(len(start) for start, _ in self._frontier.values())

    def found(self) -> tuple[Ints, Ints]:
        """The starts, by number, and the objects where a walk may end; each pair once."""
        start, place = _joined(self._ends)
        if len(self._walk.last) > 1:  # an object may be reached in two states
            _, one = np.unique(row_keys([start, place], len(start)), return_index=True)
            start, place = start[one], place[one]
        return start, self._compact.oids(place)


def _joined(pieces: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])


class _Compact:
    """Oids as numbers below `span`, which stays small enough for keys of 63 bits.

    The collection object of a view has an oid far above all others; it becomes the first number after them.
    """

    def __init__(self, graph: LocalGraph, starts: Ints) -> None:
        plain = starts[starts < COLLECTION]
        self.span = max(graph.oid_bound, int(plain.max()) + 1 if len(plain) else 0) + 1

    def small(self, oids: Ints) -> Ints:
        return np.where(oids == COLLECTION, self.span - 1, oids)

    def oids(self, places: Ints) -> Ints:
        return np.where(places == self.span - 1, COLLECTION, places)


# ---- walks ----


def walked(graph: LocalGraph, start: int, walk: Walk) -> Iterator[tuple[str, int]]:
    """Walks without a repeated object: their labels joined by dots, and their end."""
    if not existing(graph, np.array([start], np.int64)).all():
        return
    edges: dict[int, list[tuple[str, int]]] = {}
    stack: list[tuple[tuple[str, ...], tuple[int, ...], frozenset[int]]] = [
        ((), (start,), frozenset(walk.first))
    ]
    while stack:
        labels, visited, states = stack.pop()
        here = visited[-1]
        if states & walk.last:
            yield ".".join(labels if walk.forward else reversed(labels)), here
        if here not in edges:
            edges[here] = _edges(graph, here, walk)
        for label, there in edges[here]:
            if there not in visited:
                after = frozenset(
                    to for state in states for by, tos in walk.moves[state] if by.matches(label) for to in tos
                )
                if after:
                    stack.append(((*labels, label), (*visited, there), after))


def _edges(graph: LocalGraph, oid: int, walk: Walk) -> list[tuple[str, int]]:
    one = np.array([oid], np.int64)
    found = graph.out(one, ANY) if walk.forward else graph.into(one, ANY)
    return list(zip(graph.book.names(found.label).tolist(), found.other.tolist(), strict=True))
