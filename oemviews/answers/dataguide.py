"""The DataGuide: every label path from the names, once, with counts, types and samples.

Label paths that lead to the same set of objects are one node of the guide; the second one is shown as a
reference to the first, so that cycles end. On irregular data the guide is bounded: by depth, by the
number of nodes, by labels a node and by edges looked at. Where it was cut it says so, and then
proves nothing about what lies below.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from lorel.normal import ANY
from lorel.words import label_text
from oemviews.answers.rendering import Grid, clipped, grid, html_table, plain
from oemviews.model import TYPES, Oid
from oemviews.store.values import BIG, C_COMPLEX, INTEGER, MISSING, Ints, Values

if TYPE_CHECKING:
    from oemviews.engines.local import LocalGraph

Path: TypeAlias = tuple[str, ...]

_SAMPLES: Final = 3
_LOOKED_AT: Final = 200


@dataclass(frozen=True, slots=True)
class Limits:
    depth: int = 6
    nodes: int = 2_000
    labels: int = 40
    edges: int = 20_000_000


@dataclass(slots=True)
class Node:
    """A label path: how many objects it leads to, of which types, with samples of their values."""

    path: Path
    objects: int
    edges: int
    types: Mapping[str, int]
    samples: tuple[str, ...]
    same_as: Path | None = None
    cut: str = ""
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """
        >>> Node(("Guide", "Restaurant", "zip code"), 1, 1, {}, ()).text
        'Guide.Restaurant.`zip code`'
        """
        return ".".join(label_text(label) for label in self.path)


@dataclass(frozen=True, slots=True)
class DataGuide:
    """All label paths of a database, or of what some names reach."""

    roots: Mapping[str, Node]
    cut: bool = False

    def nodes(self) -> Iterator[Node]:
        """Every node, each before what lies below it."""
        waiting = list(self.roots.values())[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(list(node.children.values())[::-1])

    def find(self, path: Sequence[str]) -> Node | None:
        """The node of a label path, references followed; None if there is none or it was cut."""
        node = self.roots.get(path[0]) if path else None
        for label in path[1:]:
            if node is None:
                return None
            node = self._followed(node).children.get(label)
        return node

    def proves_empty(self, path: Sequence[str]) -> bool:
        """Whether it is certain that no object lies at a label path."""
        for end in range(1, len(path)):
            node = self.find(path[:end])
            if node is None:
                return False
            node = self._followed(node)
            if path[end] not in node.children:
                return not node.cut
        return bool(path) and not self.cut and path[0] not in self.roots

    def labels(self, path: Sequence[str]) -> tuple[str, ...]:
        """The labels of the edges out of the objects at a label path."""
        node = self.find(path)
        return tuple(self._followed(node).children) if node else ()

    def _followed(self, node: Node) -> Node:
        while node.same_as is not None:
            other = self.find(node.same_as)
            if other is None:
                return node
            node = other
        return node

    # ---- shown ----

    @property
    def notes(self) -> tuple[str, ...]:
        cuts = sum(bool(node.cut) for node in self.nodes())
        where = f"{cuts:,} of its paths go on below what is shown" if cuts else ""
        return (f"the guide is cut: {where}; give a name, or more depth, to see more",) if cuts else ()

    def _rows(self) -> Iterator[list[str]]:
        for node in self.nodes():
            types = ", ".join(f"{name} {number:,}" for name, number in node.types.items())
            same = f"→ {Node(node.same_as, 0, 0, {}, ()).text}" if node.same_as else ""
            yield [node.text, f"{node.objects:,}", types, same or ", ".join(node.samples) or node.cut]

    def table(self) -> Grid:
        return grid(_HEADER, self._rows(), right=["objects"])

    def __repr__(self) -> str:
        return "\n".join([plain(self.table()), *self.notes])

    def _repr_html_(self) -> str:
        return html_table(_HEADER, self._rows(), " ".join(self.notes))


_HEADER: Final = ("path", "objects", "types", "samples")


def guide_of(graph: LocalGraph, roots: Mapping[str, Oid], limits: Limits = Limits()) -> DataGuide:
    """The guide of what names reach, by walking sets of objects, breadth first."""
    known: dict[bytes, Path] = {}
    found: dict[str, Node] = {}
    waiting: deque[tuple[Node, Ints]] = deque()
    made = looked = 0

    def arrive(path: Path, targets: Ints, edges: int) -> Node:
        nonlocal made
        made += 1
        node = _node(graph, path, targets, edges)
        mark = blake2b(targets.tobytes(), digest_size=16).digest()
        if "complex" not in node.types:
            return node
        if mark in known:
            node.same_as = known[mark]
        else:
            known[mark] = path
            waiting.append((node, targets))
        return node

    for name, oid in roots.items():
        found[name] = arrive((name,), np.array([oid], np.int64), 1)
    while waiting:
        node, targets = waiting.popleft()
        if len(node.path) >= limits.depth or made >= limits.nodes or looked >= limits.edges:
            node.cut = "…"
            continue
        _, codes, ends = graph.out(targets, ANY)
        looked += len(codes)
        labels, counts = np.unique(codes, return_counts=True)
        shown = labels
        if len(labels) > limits.labels:
            shown = np.sort(labels[np.argsort(-counts, kind="stable")[: limits.labels]])
            node.cut = f"… and {len(labels) - limits.labels:,} more labels"
        texts = graph.book.names(shown).tolist()
        for code, label in zip(shown.tolist(), texts, strict=True):
            of_label = ends[codes == code]
            node.children[label] = arrive((*node.path, label), np.unique(of_label), len(of_label))
    return DataGuide(found)


def _node(graph: LocalGraph, path: Path, targets: Ints, edges: int) -> Node:
    values = graph.values(targets)
    kinds = np.where(values.kind == BIG, INTEGER, values.kind)
    numbers = np.bincount(kinds[kinds != MISSING], minlength=len(TYPES)).tolist()
    types = {name: number for name, number in zip(TYPES, numbers, strict=False) if number}
    return Node(path, len(targets), edges, types, _samples(values))


def _samples(values: Values) -> tuple[str, ...]:
    atomic = np.flatnonzero((values.kind != C_COMPLEX) & (values.kind != MISSING))[:_LOOKED_AT]
    taken = values.take(atomic)
    texts: dict[str, Any] = {}
    for value in taken.items():
        texts.setdefault(clipped(value if isinstance(value, str) else _plain(value)))
        if len(texts) == _SAMPLES:
            break
    return tuple(texts)


def _plain(value: Any) -> str:
    from oemviews.answers.cells import atom_json, plain_json

    return plain_json(atom_json(value)).decode()
