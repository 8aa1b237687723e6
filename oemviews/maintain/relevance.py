"""Which changes can matter to a view, and why the others cannot.

An edge matters if it fits a step whose start holds its source in RelevantOids. A value matters if a
comparison could come out differently, typed old value against typed new one, or if the view shows it.
The filter may say yes too often, never no wrongly; every change dismissed keeps its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from pyroaring import BitMap64

from lorel.normal import State, is_constant, oid_of
from oemviews.engines.local.conditions import passing
from oemviews.engines.rows import Rows
from oemviews.maintain.changes import Changes, GraphChange
from oemviews.maintain.statements import Tested
from oemviews.store.values import Bools, Ints, Values
from oemviews.views.definition import Definition
from oemviews.views.ports import Port
from oemviews.views.state import ViewState

NO_LABEL: Final = "label not in the view"
NO_OID: Final = "oid not in RelevantOids"
NO_TEST: Final = "no comparison reads it"
NO_CHANGE: Final = "no comparison changes"

_FEW: Final = 64
_WIDEST: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class Met:
    """Changed edges that fit a port: their ends, labels and signs."""

    src: Ints
    dst: Ints
    sign: Ints
    labels: list[str]

    def part(self, sign: int) -> Met:
        """Those that came (+1), or those that went (-1)."""
        keep = self.sign == sign
        if keep.all():
            return self
        labels = [label for label, kept in zip(self.labels, keep.tolist(), strict=True) if kept]
        return Met(self.src[keep], self.dst[keep], self.sign[keep], labels)

    def __len__(self) -> int:
        return len(self.src)


@dataclass(slots=True)
class Relevance:
    """The part of a batch that a view has to look at."""

    edges: dict[Port, Met] = field(default_factory=dict)
    values: dict[str, Ints] = field(default_factory=dict)  # per tested variable
    shown: list[int] = field(default_factory=list)  # visible objects with another value
    born: list[int] = field(default_factory=list)  # new objects that the statement names by their oids
    relevant: int = 0
    dismissed: Counter[str] = field(default_factory=Counter)


def relevance(
    definition: Definition, tested: Mapping[str, Tested], state: ViewState, changes: Changes
) -> Relevance:
    """What of the changes can matter."""
    found = Relevance()
    for graph in sorted(changes):
        change = changes[graph]
        if graph not in definition.graphs:
            if len(change):
                found.dismissed["graph not in the view"] += len(change)
            continue
        if definition.named_oids and len(change.net.created):
            found.born += sorted(definition.named_oids.intersection(change.net.created["oid"].to_pylist()))
        _edges(definition, state, graph, change, found)
        if len(change.net.changed):
            _values(tested, state, graph, change, found)
    return found


def member(oids: Ints, known: BitMap64) -> Bools:
    """Which of the oids are in a set."""
    if len(oids) < _FEW or len(oids) * 16 < len(known):
        return np.fromiter((oid in known for oid in oids.tolist()), np.bool_, len(oids))
    if not len(known):
        return np.zeros(len(oids), np.bool_)
    members = np.array(known.to_array(), np.int64)
    top = int(oids.max()) + 1
    if top > _WIDEST:  # the collection of a view has an oid of its own, far above the others
        return np.isin(oids, members)
    mask = np.zeros(top, np.bool_)
    mask[members[: np.searchsorted(members, top)]] = True
    return mask[oids]


# ---- edges ----


def _edges(
    definition: Definition, state: ViewState, graph: str, change: GraphChange, found: Relevance
) -> None:
    met: dict[Port, list[tuple[str, Ints]]] = {}
    for label, places in change.by_label:
        ports = definition.ports.meeting(label, graph)
        if not ports:
            found.dismissed[NO_LABEL] += len(places)
            continue
        hit = np.zeros(len(places), np.bool_)
        sources = change.src[places]
        inside: dict[str, Bools] = {}
        for port in ports:
            if port.source not in inside:
                inside[port.source] = member(sources, state.relevant.get(port.source, _NONE))
            here = inside[port.source]
            if here.any():
                hit |= here
                met.setdefault(port, []).append((label, places[here]))
        relevant = int(hit.sum())
        found.relevant += relevant
        if relevant < len(places):
            found.dismissed[NO_OID] += len(places) - relevant
    for port, pieces in met.items():
        at = pieces[0][1] if len(pieces) == 1 else np.concatenate([places for _, places in pieces])
        labels = [label for label, places in pieces for _ in range(len(places))]
        found.edges[port] = Met(change.src[at], change.dst[at], change.sign[at], labels)


_NONE: Final = BitMap64()


# ---- values ----


def _values(
    tested: Mapping[str, Tested], state: ViewState, graph: str, change: GraphChange, found: Relevance
) -> None:
    oids = change.changed
    known = np.zeros(len(oids), np.bool_)
    read, hit = known.copy(), known.copy()
    for key, members in state.relevant.items():
        if key not in tested and "/" not in key:
            known |= member(oids, members)
    for variable, reads in tested.items():
        if reads.graph != graph:
            continue
        if is_constant(variable):
            here = oids == oid_of(variable)
        else:
            here = member(oids, state.relevant.get(variable, _NONE))
        read |= here
        if not here.any():
            continue
        at = np.flatnonzero(here)
        if not reads.always:
            at = at[decided_otherwise(reads, change.old_values.take(at), change.new_values.take(at))]
        if len(at):
            hit[at] = True
            found.values[variable] = oids[at]
    visible = np.zeros(len(oids), np.bool_)
    for members in state.visible_sets():
        visible |= member(oids, members)
    found.shown += oids[visible].tolist()
    relevant = hit | visible
    found.relevant += int(relevant.sum())
    for reason, those in (
        (NO_CHANGE, ~relevant & read),
        (NO_TEST, ~relevant & ~read & known),
        (NO_OID, ~relevant & ~read & ~known),
    ):
        if those.any():
            found.dismissed[reason] += int(those.sum())


def decided_otherwise(reads: Tested, old: Values, new: Values) -> Bools:
    """For which pairs of values some test comes out differently."""
    differs = np.zeros(len(old), np.bool_)
    ones = np.ones(len(old), np.int64)
    for test in reads.tests:
        before = passing(test, Rows({reads.variable: old}, ones), _no_look_up)
        after = passing(test, Rows({reads.variable: new}, ones), _no_look_up)
        differs |= before != after
    return differs


def _no_look_up(oids: Ints, graph: str, state: State) -> Values:
    raise AssertionError("the values are at hand")
