"""An answer as OEM text: a new object named Answer, with one edge a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oemviews.answers.answer import Answer
from oemviews.answers.cells import Cell
from oemviews.documents.exportable import Child, Exportable
from oemviews.documents.oem_out import write_oem
from oemviews.model import COLLECTION, COMPLEX, Oid, Value

_FIRST = COLLECTION + 1
"""Objects made for the answer get oids above all others."""


class AnswerGraph:
    """The objects that an answer makes, over the graph that the others live in.

    A row of one item is that item; a row of several is a new object `row`. `depth` bounds what is written
    of each object of the graph; 0 is no bound, since this form writes an object once.
    """

    def __init__(self, answer: Answer, depth: int = 0) -> None:
        self._graph: Exportable = answer.graph
        self._depth = depth
        self._level: dict[Oid, int] = {}
        self._values: dict[Oid, Value] = {}
        self._children: dict[Oid, list[Child]] = {}
        self._next = _FIRST
        self.root = self._made(COMPLEX)
        for row in answer:
            if len(row) == 1:
                ((label, cell),) = row.items()
                self._hang(self.root, label, cell)
            else:
                holder = self._made(COMPLEX)
                self._link(self.root, "row", holder)
                for label, cell in row.items():
                    self._hang(holder, label, cell)

    def _made(self, value: Value) -> Oid:
        oid, self._next = self._next, self._next + 1
        self._values[oid], self._children[oid] = value, []
        return oid

    def _link(self, src: Oid, label: str, dst: Oid) -> None:
        self._children[src].append(Child(label, dst, len(self._children[src]), None))

    def _hang(self, src: Oid, label: str, cell: Cell) -> None:
        if cell.oid is not None:
            self._level.setdefault(cell.oid, 0)
            self._link(src, label, cell.oid)
            return
        oid = self._made(cell.value)
        self._link(src, label, oid)
        for inner, part in cell.fields or ():
            self._hang(oid, inner, part)

    def value(self, oid: Oid) -> Value:
        return self._values[oid] if oid in self._values else self._graph.value(oid)

    def shape(self, oid: Oid) -> str | None:
        return None if oid in self._values else self._graph.shape(oid)

    def children(self, oid: Oid) -> Sequence[tuple[str, Oid, int, str | None]]:
        if oid in self._children:
            return self._children[oid]
        level = self._level.get(oid, 0)
        if self._depth and level >= self._depth:
            return ()
        found = self._graph.children(oid)
        for _, dst, _, _ in found:
            self._level.setdefault(dst, level + 1)
        return found


def answer_oem(answer: Answer, depth: int = 0) -> Iterator[str]:
    """The text, in pieces."""
    graph = AnswerGraph(answer, depth)
    return write_oem(graph, graph.root, "Answer")
