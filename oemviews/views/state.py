"""What is known of a view between batches: its rows, what its with paths reach, and RelevantOids.

    rows       P, each row with the number of its derivations
    columns    B of a select variable: the objects of one column, with the number of rows that hold each
    reached    B[w] of a with variable: targets of its edges, with the number of edges that lead there
    walked     for a with path of any length: the objects its walks are at, per state of the automaton
    relevant   R: objects that an evaluation could touch, per variable

The edges of a with variable are not kept: they are the edges of the graph that fit its step and leave an
object of the set the step starts from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from pyroaring import BitMap64

from lorel.normal import Automaton
from oemviews.store.values import Ints
from oemviews.views.definition import Definition, WithStep
from oemviews.views.members import bitmap_of

Row: TypeAlias = tuple[int, ...]
Edge: TypeAlias = tuple[int, str, int]


class Support:
    """A set of objects, each with a number above zero; the numbers above one are kept apart, being few.

    >>> support = Support()
    >>> support.change({9: 2, 10: 1}), support.change({9: -1}), support.change({9: -1, 10: 1})
    (([9, 10], []), ([], []), ([], [9]))
    >>> 10 in support, support.count(10), 9 in support
    (True, 2, False)
    """

    __slots__ = ("more", "oids")

    def __init__(self, oids: BitMap64 | None = None, more: dict[int, int] | None = None) -> None:
        self.oids = BitMap64() if oids is None else oids
        self.more: dict[int, int] = {} if more is None else more  # oid -> number less one

    @classmethod
    def of(cls, oids: Ints) -> Support:
        """Each object as often as it stands in the array."""
        found, numbers = np.unique(oids, return_counts=True)
        many = numbers > 1
        more = dict(zip(found[many].tolist(), (numbers[many] - 1).tolist(), strict=True))
        return cls(bitmap_of(found), more)

    def __contains__(self, oid: int) -> bool:
        return oid in self.oids

    def __len__(self) -> int:
        return len(self.oids)

    def count(self, oid: int) -> int:
        return self.more.get(oid, 0) + 1 if oid in self.oids else 0

    def preview(self, changes: Mapping[int, int]) -> tuple[list[int], list[int]]:
        """What would come and what would go."""
        gain, loss = [], []
        for oid, n in changes.items():
            if n > 0 and oid not in self.oids:
                gain.append(oid)
            elif n < 0 and self.count(oid) + n <= 0:
                loss.append(oid)
        return gain, loss

    def change(self, changes: Mapping[int, int]) -> tuple[list[int], list[int]]:
        """Add signed numbers; what came and what went."""
        gain, loss = self.preview(changes)
        for oid, n in changes.items():
            number = self.count(oid) + n
            assert number >= 0, f"the support of &{oid} fell to {number}"
            if number == 0:
                self.oids.discard(oid)
            elif n:
                self.oids.add(oid)
            if number > 1:
                self.more[oid] = number - 1
            else:
                self.more.pop(oid, None)
        return gain, loss


@dataclass(slots=True)
class ViewState:
    """The only part of a view that changes; `maintain` reads it, `install` writes it."""

    rows: dict[Row, int]
    columns: tuple[Support, ...]
    reached: dict[str, Support] = field(default_factory=dict)
    walked: dict[str, tuple[BitMap64, ...]] = field(default_factory=dict)
    relevant: dict[str, BitMap64] = field(default_factory=dict)

    def visible_sets(self) -> Iterator[BitMap64]:
        """Objects are in the view as primaries, or at the end or on the way of a with path."""
        yield from (column.oids for column in self.columns)
        yield from (targets.oids for targets in self.reached.values())
        yield from (at for states in self.walked.values() for at in states)

    def objects(self) -> BitMap64:
        """All objects of the view."""
        return BitMap64().union(*self.visible_sets())

    def auxiliary(self) -> int:
        """Rows kept only to be able to maintain the view."""
        return sum(len(oids) for oids in self.relevant.values())


def columns_of(rows: Iterable[Row], width: int) -> tuple[Support, ...]:
    """The objects of each column of the rows."""
    table = np.array(list(rows), np.int64).reshape(-1, width)
    return tuple(Support.of(table[:, i]) for i in range(width))


def starts(definition: Definition, state: ViewState, step: WithStep) -> Iterator[BitMap64]:
    """The sets whose union a with step starts from."""
    if step.column is not None:
        yield state.columns[step.column].oids
        return
    source = step.step.src
    if source in state.reached:
        yield state.reached[source].oids
    else:
        yield from (state.walked[source][q] for q in sorted(accepted(definition, source)))


def accepted(definition: Definition, variable: str) -> frozenset[int]:
    """The accepting states of a with variable's automaton."""
    path = next(step.step.path for step in definition.with_steps if step.variable == variable)
    assert isinstance(path, Automaton)
    return path.accepting
