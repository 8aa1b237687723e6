"""Single steps over sets of objects, on whichever engine: what with levels and RelevantOids are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from pyroaring import BitMap64

from lorel.normal import Labels, State, Step
from lorel.plan import Expand, Given, Plan
from oemviews.engines.engine import Engine
from oemviews.engines.rows import Rows
from oemviews.store.values import Ints, Strings, strings
from oemviews.views.members import array_of_bitmap

_FROM: Final = "from"


@lru_cache(maxsize=4096)
def _plan(labels: Labels, graph: str, state: State, forward: bool) -> Plan:
    """One plan object for each kind of step, so that an engine can recognise it."""
    step = Step("src", labels, "dst", None if labels.exact else "label", graph, state)
    return Expand(Given(_FROM, ("src" if forward else "dst",)), step, forward)


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges in columns."""

    src: Ints
    label: Strings | str
    dst: Ints

    def __len__(self) -> int:
        return len(self.src)

    def labels(self) -> Strings:
        return strings([self.label] * len(self)) if isinstance(self.label, str) else self.label

    def tuples(self) -> list[tuple[int, str, int]]:
        label = [self.label] * len(self) if isinstance(self.label, str) else self.label.tolist()
        return list(zip(self.src.tolist(), label, self.dst.tolist(), strict=True))


def array_of(oids: Iterable[int]) -> Ints:
    if isinstance(oids, np.ndarray):
        return oids
    if isinstance(oids, BitMap64):
        return array_of_bitmap(oids)
    return np.array(oids if isinstance(oids, list) else list(oids), np.int64)


def edges_from(
    engine: Engine, oids: Iterable[int], labels: Labels, graph: str, state: State = "new"
) -> Edges:
    """The edges with such a label that leave some objects."""
    return _edges(engine, array_of(oids), labels, graph, state, forward=True)


def edges_into(
    engine: Engine, oids: Iterable[int], labels: Labels, graph: str, state: State = "new"
) -> Edges:
    """The edges with such a label that lead to some objects."""
    return _edges(engine, array_of(oids), labels, graph, state, forward=False)


def edges_of_all(engine: Engine, asked: Sequence[tuple[Iterable[int], Labels, str, State]]) -> list[Edges]:
    """`edges_from` for several sets of objects, labels, graphs and states in one go."""
    runs = [
        (_plan(labels, graph, state, True), {_FROM: Rows.of_set("src", array_of(oids))})
        for oids, labels, graph, state in asked
    ]
    found = zip(asked, engine.run_all(runs), strict=True) if runs else ()
    return [_as_edges(rows, labels) for (_, labels, _, _), rows in found]


def _edges(engine: Engine, oids: Ints, labels: Labels, graph: str, state: State, *, forward: bool) -> Edges:
    given = Rows.of_set("src" if forward else "dst", oids)
    return _as_edges(engine.run(_plan(labels, graph, state, forward), {_FROM: given}), labels)


def _as_edges(rows: Rows, labels: Labels) -> Edges:
    label: Strings | str = labels.text
    if not labels.exact:
        label = rows.values("label").text if len(rows) else strings(())
    return Edges(rows.oids("src"), label, rows.oids("dst"))
