"""What the planner knows of graphs in the process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from lorel.normal import Automaton, Compare, Labels, State, Test, test_variables
from oemviews.engines.local.adjacency import Adjacency
from oemviews.engines.local.conditions import passing
from oemviews.engines.local.region import sampled_reach
from oemviews.engines.rows import Rows

if TYPE_CHECKING:
    from oemviews.engines.local.graph import LocalGraph


_FEW: Final = 64
"""So many objects are looked up to count the edges into them; for more a sample of edges will do."""

_SAMPLE: Final = 256


class LocalStatistics:
    """`lorel.planner.Statistics` over the arrays of graphs; the newest changes count only in a small one."""

    def __init__(self, graphs: Mapping[tuple[str, State], LocalGraph]) -> None:
        self._graphs = graphs
        # A planner asks the same of many orders of joining and of many alternatives.
        self._passing: dict[tuple[Test, str], float] = {}
        self._entering: dict[tuple[Test, Labels, str], float] = {}

    def edges(self, labels: Labels, graph: str) -> float:
        return self._counted(labels, graph)[0]

    def fan_out(self, labels: Labels, graph: str) -> float:
        edges, sources, _ = self._counted(labels, graph)
        return edges / max(1.0, sources)

    def fan_in(self, labels: Labels, graph: str) -> float:
        edges, _, targets = self._counted(labels, graph)
        return edges / max(1.0, targets)

    def passing(self, test: Test, graph: str) -> float:
        if isinstance(test, Compare) and test.op == "!=":
            return self.objects(graph)
        known = self._passing.get((test, graph))
        if known is None:
            known = self._passing[test, graph] = self._graphs[graph, "new"].expected(test)
        return known

    def entering(self, test: Test, labels: Labels, graph: str) -> float:
        known = self._entering.get((test, labels, graph))
        if known is None:
            known = self._entering[test, labels, graph] = self._entered(test, labels, graph)
        return known

    def _entered(self, test: Test, labels: Labels, graph: str) -> float:
        number = self.passing(test, graph)
        known = self._graphs[graph, "new"]
        label = known.book.one(labels)
        if number > _FEW and label is not None and label in known.base.edges.out:
            return _sampled(known, test, label)
        if number > _FEW or label is None:
            return number * self.fan_in(labels, graph)
        return float(len(known.follow(1, known.lookup(test), label)[0]))

    def reach(self, path: Automaton, graph: str, forward: bool) -> float:
        held = self._graphs[graph, "new"]
        known = held.base.reach.get((path, forward))
        if known is None:
            known = held.base.reach[path, forward] = sampled_reach(held, path, forward)
        return known

    def objects(self, graph: str) -> float:
        return float(self._graphs[graph, "new"].object_count)

    def _counted(self, labels: Labels, graph: str) -> tuple[float, float, float]:
        """(edges, objects they leave, objects they reach) of a set of labels."""
        known = self._graphs[graph, "new"]
        out, into = known.base.edges
        counts = known.base.counts
        one = known.book.one(labels)
        if one is not None:
            at = int(out.present.searchsorted(one))
            if at < len(out.present) and out.present[at] == one:
                edges, sources, targets = (
                    int(out.starts[at + 1] - out.starts[at]),
                    counts.src[at],
                    counts.dst[at],
                )
            else:
                edges, sources, targets = 0, 0, 0
        elif labels.every:
            edges, sources, targets = len(out), len(out.hub.nodes), len(into.hub.nodes)
        else:
            which = np.flatnonzero(known.book.matching(labels)[out.present])
            edges = int((out.starts[which + 1] - out.starts[which]).sum())
            sources, targets = counts.src[which].sum(), counts.dst[which].sum()
        for layer in known.telling_layers():
            more = [_distinct(adjacency, one) for adjacency in layer.plus]
            edges, sources, targets = edges + more[0][0], sources + more[0][1], targets + more[1][1]
        return float(edges), float(sources), float(targets)


def _sampled(graph: LocalGraph, test: Test, label: int) -> float:
    """About how many edges of a label lead to objects that pass a test, going by some of them."""
    lo, hi = graph.base.edges.out.section(label)
    at = np.unique(np.linspace(lo, hi - 1, min(_SAMPLE, hi - lo)).astype(np.int64))
    oids = graph.base.edges.out.far[at].astype(np.int64)
    variable = next(iter(test_variables(test)))
    hits = passing(test, Rows.of_set(variable, oids), lambda oids, _graph, _state: graph.values(oids))
    return (hi - lo) * max(0.5, float(np.count_nonzero(hits))) / max(1, len(at))


def _distinct(adjacency: Adjacency, label: int | None) -> tuple[int, int]:
    """How many edges of a label, or of all, and how many different near ends they have."""
    if label is None:
        return len(adjacency), len(adjacency.hub.nodes)
    lo, hi = adjacency.section(label)
    near = adjacency.near[lo:hi]
    return hi - lo, int(np.count_nonzero(near[1:] != near[:-1])) + int(hi > lo)
