"""What an export asks of a graph: little enough for a stored graph, a view and a test to give it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

import pyarrow as pa

from oemviews.edits import NetChange
from oemviews.model import COMPLEX, Oid, Value
from oemviews.store.schema import value_of

ARRAY: Final = "["
"""Shape of an object that is an array, and of the edges to the items of an array under a key."""


class Child(NamedTuple):
    """An edge out of an object, as an export sees it."""

    label: str
    dst: Oid
    pos: int
    shape: str | None


class Exportable(Protocol):
    """A graph that can be written out. Plain tuples (label, dst, pos, shape) do for `Child`."""

    def value(self, oid: Oid) -> Value:
        """The value of an object, `COMPLEX` for a complex one."""

    def shape(self, oid: Oid) -> str | None:
        """The shape of an object (docs/documents.md)."""

    def children(self, oid: Oid) -> Sequence[tuple[str, Oid, int, str | None]]:
        """The edges out of an object, in the order of `pos`; none for an atomic one."""


class GraphOfTables:
    """An `Exportable` held in dictionaries: for small graphs, such as those that are not stored.

    Objects of a graph that has edges to them but no rows of their own (the root) are complex.
    """

    def __init__(self, objects: pa.Table, edges: pa.Table) -> None:
        self._values: dict[Oid, Value] = {}
        self._shapes: dict[Oid, str] = {}
        self._children: dict[Oid, list[Child]] = {}
        for row in objects.to_pylist():
            oid = row["oid"]
            self._values[oid] = value_of(row["type"], row["text"], row["integer"], row["number"])
            if row["shape"] is not None:
                self._shapes[oid] = row["shape"]
        for row in edges.sort_by("pos").to_pylist():
            child = Child(row["label"], row["dst"], row["pos"], row["shape"])
            self._children.setdefault(row["src"], []).append(child)

    @classmethod
    def of_changes(cls, chunks: Iterable[NetChange]) -> GraphOfTables:
        """The graph that pure inserts, such as those of a load, make of nothing."""
        listed = list(chunks) or [NetChange()]
        objects = pa.concat_tables([chunk.created for chunk in listed])
        return cls(objects, pa.concat_tables([chunk.plus for chunk in listed]))

    def value(self, oid: Oid) -> Value:
        return self._values.get(oid, COMPLEX)

    def shape(self, oid: Oid) -> str | None:
        return self._shapes.get(oid)

    def children(self, oid: Oid) -> Sequence[Child]:
        return self._children.get(oid, ())
