"""What is known of the label paths of a database before a query runs: `lorel.pruning.Paths`.

Two things are known for nothing. Which labels an open graph has; and, if somebody has asked for the DataGuide
of this very batch, all its label paths as far as the guide was not cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lorel.normal import Labels
from lorel.pruning import ANYWHERE, Place
from oemviews.store.labels import LABEL_MASK
from oemviews.store.values import Ints

if TYPE_CHECKING:
    from oemviews.answers.dataguide import DataGuide, Node, Path
    from oemviews.engines.local import LocalGraph

_NOWHERE: frozenset[Place] = frozenset()


class KnownPaths:
    """Label paths of the base graph by a guide, if there is one, and labels of open graphs.

    Args:
        graph: the open graph of a name as in `Step.graph`; None if it is not open in this process.
        guide: the guide of the base graph from all its names, in exactly this state.
    """

    def __init__(self, graph: Callable[[str], LocalGraph | None], guide: DataGuide | None) -> None:
        self._graph, self._guide = graph, guide
        self._nodes: dict[Path, Node] = {} if guide is None else {node.path: node for node in guide.nodes()}
        self._lacking: dict[tuple[str, Labels], bool] = {}

    def roots(self, graph: str) -> frozenset[Place]:
        return ANYWHERE if graph or self._guide is None else frozenset({()})

    def after(self, place: Place, labels: Labels, graph: str) -> frozenset[Place]:
        if self._lacks(labels, graph):
            return _NOWHERE
        if place is None:
            return ANYWHERE
        assert self._guide is not None
        if place == ():
            children, cut = self._guide.roots, self._guide.cut
        else:
            node = self._nodes[place]  # type: ignore[index]  # a path
            children, cut = node.children, bool(node.cut)
        if labels.exact and labels.text in children:
            return frozenset({self._followed(children[labels.text]).path})
        found = frozenset(
            self._followed(node).path
            for label, node in ({} if labels.exact else children).items()
            if labels.matches(label)
        )
        return found | ANYWHERE if cut else found

    def _followed(self, node: Node) -> Node:
        """The node that is shown with what lies below it."""
        while node.same_as is not None:
            node = self._nodes[node.same_as]
        return node

    def _lacks(self, labels: Labels, graph: str) -> bool:
        known = self._lacking.get((graph, labels))
        if known is None:
            opened = self._graph(graph)
            known = self._lacking[graph, labels] = opened is not None and lacks(opened, labels)
        return known


def lacks(graph: LocalGraph, labels: Labels) -> bool:
    """Whether it is certain, without a look at any edge, that no edge has such a label."""
    if labels.every:
        return False
    code = graph.book.one(labels)
    wanted = np.flatnonzero(graph.book.matching(labels)) if code is None else np.array([code], np.int64)
    present: list[Ints] = [graph.base.edges.out.present]
    if graph.layer is not None:
        present.append(graph.layer.plus.out.present)
    present.append(np.array([key & LABEL_MASK for key in graph.recent.plus[0]], np.int64))
    return not any(np.isin(wanted, some).any() for some in present)
