"""What changes at one level of the with paths, and the set that the level starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from pyroaring import BitMap64

from oemviews.maintain.relevance import Met
from oemviews.views.definition import Definition, WithStep
from oemviews.views.state import Edge, ViewState, starts

Pair: TypeAlias = tuple[int, int]
"""An object, and the state of the automaton that a walk is in when it is there."""


@dataclass(slots=True)
class Level:
    """How one with variable changes."""

    added: set[Edge] = field(default_factory=set)
    removed: set[Edge] = field(default_factory=set)
    targets: dict[int, int] = field(default_factory=dict)  # signed numbers of edges to each target
    plus: set[Edge] = field(default_factory=set)  # of `added`: edges that the batch put into the graph
    minus: set[Edge] = field(default_factory=set)  # of `removed`: edges that it took from it
    came: set[Pair] = field(default_factory=set)  # of a path of any length
    went: set[Pair] = field(default_factory=set)
    gain: set[int] = field(default_factory=set)
    loss: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Start:
    """The set that a with step starts from, before and after."""

    definition: Definition
    state: ViewState
    step: WithStep
    gain: set[int]
    loss: set[int]

    def sets(self) -> Iterator[BitMap64]:
        """What it consisted of before the batch."""
        return starts(self.definition, self.state, self.step)

    def before(self, oid: int) -> bool:
        return any(oid in each for each in self.sets())

    def after(self, oid: int) -> bool:
        return oid in self.gain or (oid not in self.loss and self.before(oid))

    def planted(self, met: Met) -> tuple[set[Edge], set[Edge]]:
        """Edges that came, of what is in the set now, and edges that went, of what was in it."""
        before = np.zeros(len(met), np.bool_)
        for each in self.sets():
            before |= met.sources.among(each)
        after = before
        if self.gain or self.loss:
            loss, gain = (met.sources.among(BitMap64(oids)) for oids in (self.loss, self.gain))
            after = (before & ~loss) | gain
        plus, minus = met.where(after & (met.sign > 0)), met.where(before & (met.sign < 0))
        return set(plus.edges().tuples()), set(minus.edges().tuples())


def signed(met: Met) -> Iterable[tuple[Edge, int]]:
    """Edges that came and went, with their signs."""
    return zip(met.edges().tuples(), met.sign.tolist(), strict=True)
