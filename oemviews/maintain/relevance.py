"""Which changes can matter to a view, and why the others cannot.

An edge matters if it fits a step whose start holds its source in RelevantOids. A value matters if a
comparison could come out differently, typed old value against typed new one, or if the view shows it.
The filter may say yes too often, never no wrongly; every change dismissed keeps its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from pyroaring import BitMap64

from lorel.normal import State, is_constant, oid_of
from oemviews.engines.local.conditions import passing
from oemviews.engines.rows import Rows
from oemviews.maintain.changes import Changes, GraphChange
from oemviews.maintain.statements import Tested
from oemviews.store.values import Bools, Ints, Strings, Values, strings
from oemviews.views.definition import Definition
from oemviews.views.members import Asked, bitmap_of
from oemviews.views.ports import Port
from oemviews.views.state import ViewState
from oemviews.views.walks import Edges

NO_LABEL: Final = "label not in the view"
NO_OID: Final = "oid not in RelevantOids"
NO_TEST: Final = "no comparison reads it"
NO_CHANGE: Final = "no comparison changes"


@dataclass(frozen=True)
class Met:
    """Changed edges that fit a port: their ends, signs and labels; one label may stand for all."""

    src: Ints
    dst: Ints
    sign: Ints
    label: Strings | str

    @cached_property
    def came(self) -> Met:
        """Those that the batch put into the graph."""
        return self.where(self.sign > 0)

    @cached_property
    def went(self) -> Met:
        """Those that it took from it."""
        return self.where(self.sign < 0)

    @cached_property
    def targets(self) -> BitMap64:
        """The objects that edges which came lead to."""
        return bitmap_of(self.came.dst)

    @cached_property
    def sources(self) -> Asked:
        return Asked(self.src)

    def where(self, keep: Bools) -> Met:
        if keep.all():
            return self
        label = self.label if isinstance(self.label, str) else self.label[keep]
        return Met(self.src[keep], self.dst[keep], self.sign[keep], label)

    def edges(self) -> Edges:
        return Edges(self.src, self.label, self.dst)

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
        if len(change.net.plus) or len(change.net.minus):
            _edges(definition, state, graph, change, found)
        if len(change.net.changed):
            _values(tested, state, graph, change, found)
    return found


# ---- edges ----


def _edges(
    definition: Definition, state: ViewState, graph: str, change: GraphChange, found: Relevance
) -> None:
    met: dict[Port, list[tuple[str, Ints, bool]]] = {}
    for label, places, sources in change.by_label:
        ports = definition.ports.meeting(label, graph)
        if not ports:
            found.dismissed[NO_LABEL] += len(places)
            continue
        hit = np.zeros(len(places), np.bool_)
        inside: dict[str, tuple[Ints, bool]] = {}
        for port in ports:
            if port.source not in inside:
                here = sources.among(state.relevant.get(port.source, _NONE))
                hit |= here
                inside[port.source] = (places, True) if here.all() else (places[here], False)
            at, all_ = inside[port.source]
            if len(at):
                met.setdefault(port, []).append((label, at, all_))
        relevant = int(np.count_nonzero(hit))
        found.relevant += relevant
        if relevant < len(places):
            found.dismissed[NO_OID] += len(places) - relevant
    whole: dict[str, Met] = {}  # all edges of a label, for every port that they all meet
    for port, pieces in met.items():
        label, at, all_ = pieces[0]
        if len(pieces) == 1 and label in whole and all_:
            found.edges[port] = whole[label]
            continue
        labels: Strings | str = label
        if len(pieces) > 1:
            at = np.concatenate([places for _, places, _ in pieces])
            labels = strings(label for label, places, _ in pieces for _ in range(len(places)))
        found.edges[port] = Met(change.src[at], change.dst[at], change.sign[at], labels)
        if len(pieces) == 1 and all_:
            whole[label] = found.edges[port]


_NONE: Final = BitMap64()


# ---- values ----


def _values(
    tested: Mapping[str, Tested], state: ViewState, graph: str, change: GraphChange, found: Relevance
) -> None:
    oids = change.changed.oids
    read, hit = np.zeros(len(oids), np.bool_), np.zeros(len(oids), np.bool_)
    for variable, reads in tested.items():
        if reads.graph != graph:
            continue
        if is_constant(variable):
            here = oids == oid_of(variable)
        else:
            here = change.changed.among(state.relevant.get(variable, _NONE))
        if not here.any():
            continue
        read |= here
        at = np.flatnonzero(here)
        if not reads.always:
            at = at[decided_otherwise(reads, change.old_values.take(at), change.new_values.take(at))]
        if len(at):
            hit[at] = True
            found.values[variable] = oids[at]
    visible = np.zeros(len(oids), np.bool_)
    for members in state.visible_sets():
        visible |= change.changed.among(members)
    found.shown += oids[visible].tolist()
    relevant = hit | visible
    number = int(np.count_nonzero(relevant))
    found.relevant += number
    if number < len(oids):
        found.dismissed[NO_CHANGE] += int(np.count_nonzero(~relevant & read))
        _dismissed(tested, state, oids[~relevant & ~read], found)
        found.dismissed = +found.dismissed  # without reasons that no edit has


def _dismissed(tested: Mapping[str, Tested], state: ViewState, oids: Ints, found: Relevance) -> None:
    """Why values do not matter that no test reads."""
    rest = Asked(oids)
    known = np.zeros(len(oids), np.bool_)
    for key, members in state.relevant.items():
        if len(oids) and key not in tested and "/" not in key:
            known |= rest.among(members)
    found.dismissed[NO_TEST] += int(np.count_nonzero(known))
    found.dismissed[NO_OID] += int(np.count_nonzero(~known))


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
