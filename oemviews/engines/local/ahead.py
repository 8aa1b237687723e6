"""A graph that is being written out: objects are fetched many at a time, a little before they are asked for.

Whoever writes a document asks for an object, its edges, and then one target after the other, down and on. So
when a target is asked for that is not at hand, those after it and what is below them are fetched with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from lorel.normal import ANY
from oemviews.engines.local.graph import LocalGraph
from oemviews.model import Oid, Value

_BESIDE: Final = 128
_ROWS: Final = 1 << 14
_LEVELS: Final = 8
_KEPT: Final = 4 * _ROWS
_LISTS: Final = 8
"""How many of the open lists are searched for an object."""


class _Object(NamedTuple):
    value: Value
    shape: str | None
    children: list[tuple[str, Oid, int, str | None]]


@dataclass(slots=True)
class _Siblings:
    """Edges that were handed out, and the first of them whose target was not fetched."""

    children: Sequence[tuple[str, Oid, int, str | None]]
    next: int = 0


class Ahead:
    """An `Exportable` over a graph in the process; memory is bounded but for the edges of one object."""

    def __init__(self, graph: LocalGraph) -> None:
        self._graph = graph
        self._objects: dict[Oid, _Object] = {}
        self._lists: list[_Siblings] = []

    def value(self, oid: Oid) -> Value:
        return self._object(oid).value

    def shape(self, oid: Oid) -> str | None:
        return self._object(oid).shape

    def children(self, oid: Oid) -> list[tuple[str, Oid, int, str | None]]:
        children = self._object(oid).children
        if any(child[1] not in self._objects for child in children):
            self._lists.append(_Siblings(children))
        return children

    def _object(self, oid: Oid) -> _Object:
        found = self._objects.get(oid)
        if found is None:
            if len(self._objects) > _KEPT:
                self._objects.clear()
            self._fetch(self._beside(oid))
            found = self._objects[oid]
        return found

    def _beside(self, oid: Oid) -> list[Oid]:
        """The object and those that stand after it in a list that is being written."""
        for place in range(len(self._lists) - 1, max(-1, len(self._lists) - 1 - _LISTS), -1):
            siblings = self._lists[place]
            children, at = siblings.children, siblings.next
            while at < len(children) and children[at][1] != oid and children[at][1] in self._objects:
                at += 1
            if at < len(children) and children[at][1] == oid:
                siblings.next = at + _BESIDE
                del self._lists[place + 1 :]  # written: an object of a list further out is asked for
                return [child[1] for child in children[at : at + _BESIDE]]
        return [oid]

    def _fetch(self, oids: Sequence[Oid]) -> None:
        """Objects, and if they are many also what is below them, level by level."""
        budget = _ROWS if len(oids) > 1 else 1
        for _ in range(_LEVELS):
            wanted = [oid for oid in dict.fromkeys(oids) if oid not in self._objects][:budget]
            if not wanted:
                return
            described = self._described(wanted)
            self._objects.update(zip(wanted, described, strict=True))
            budget -= len(wanted)
            oids = [child[1] for found in described for child in found.children[:_BESIDE]]

    def _described(self, oids: list[Oid]) -> list[_Object]:
        graph, near = self._graph, np.array(oids, np.int64)
        values = graph.values(near).items()
        found = graph.out(near, ANY)
        pos, shape = graph.details_of(near[found.row], found.label, found.other)
        order = np.lexsort((pos, found.row))
        ends = np.searchsorted(found.row[order], np.arange(len(oids) + 1)).tolist()
        labels = graph.book.names(found.label[order])
        columns = (labels, found.other[order], pos[order], shape[order])
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        children = (rows[a:b] for a, b in pairwise(ends))
        return [_Object(*all_) for all_ in zip(values, graph.shapes(near), children, strict=True)]
