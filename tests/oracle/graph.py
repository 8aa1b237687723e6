"""A database as a dictionary of values and a set of edges; names are edges of the root."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from oemviews.model import COMPLEX, ROOT, Value

Edge: TypeAlias = tuple[int, str, int]
Item: TypeAlias = tuple[Any, ...]
"""`("oid", n)`, `("value", type, value)` or `("new", frozenset of (label, item))`."""


class OracleGraph:
    """Objects with their values, edges as a set of triples. Never changed once made."""

    def __init__(self, values: Mapping[int, Value], edges: Iterable[Edge]) -> None:
        self.values: dict[int, Value] = {ROOT: COMPLEX, **values}
        self.edges = frozenset(edges)

    @cached_property
    def out(self) -> Mapping[int, list[tuple[str, int]]]:
        """Labels and targets of the edges that leave an object."""
        out: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for src, label, dst in sorted(self.edges):
            out[src].append((label, dst))
        return dict(out)

    @property
    def names(self) -> dict[str, int]:
        return dict(self.out.get(ROOT, ()))

    @property
    def next_oid(self) -> int:
        return max(self.values) + 1

    def leaving(self, item: Item) -> list[tuple[str, Item]]:
        """Labels and targets of an item's edges. An atomic object or a value has none: no error."""
        if item[0] == "oid":
            return [(label, ("oid", dst)) for label, dst in self.out.get(item[1], ())]
        return list(item[1]) if item[0] == "new" else []

    def __repr__(self) -> str:
        atoms = {oid: value for oid, value in self.values.items() if value is not COMPLEX}
        return (
            f"OracleGraph({atoms!r}, complex {sorted(set(self.values) - set(atoms))}, {sorted(self.edges)})"
        )
