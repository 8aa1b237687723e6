"""The folds of the log: `edges` and `objects`, and how a state at any batch is had from them.

Each has a stamp of its own: the last batch it contains. One may be ahead of the other after a crash, and
both may be ahead of the batch asked for; so each gets its own part of the log laid over it, forwards or
backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from oemviews.edits import NetChange
from oemviews.store.batch import change_in
from oemviews.store.delta import Table
from oemviews.store.fold import fold_edges, fold_load, fold_objects
from oemviews.store.ledger import Ledger
from oemviews.store.net import backwards, net_of
from oemviews.store.state import State, below
from oemviews.store.versions import newest_upto

_FEW_ROWS: Final = 5_000
_PART_OF_TABLE: Final = 100
"""A tail is much when it has more than so few rows and more than a hundredth of those of the tables."""
_STEP: Final = 2_000_000
"""Rows of the log that are folded at once."""


class Folds:
    """The tables of the graph, over the log that they are folded from."""

    def __init__(self, edges: Table, objects: Table, log: Ledger) -> None:
        self.edges, self.objects, self._log = edges, objects, log

    def state(
        self, batch: int, next_oid: int, floor: int, claim: Callable[[dict[str, int]], object]
    ) -> State:
        """The graph at `batch`, after which `next_oid` was free. `claim` is told which versions it reads."""
        edges, objects = nearest(self.edges, batch, floor), nearest(self.objects, batch, floor)
        of_edges = self._laid_over(stamp(edges), batch, next_oid)
        same = stamp(edges) == stamp(objects)
        of_objects = of_edges if same else self._laid_over(stamp(objects), batch, next_oid)
        return State(
            batch,
            edges.paths(),
            objects.paths(),
            replace(of_objects, plus=of_edges.plus, minus=of_edges.minus),
            next_oid,
            behind=max(stamp(edges), stamp(objects)) > batch,
            claim=claim({"edges": edges.version, "objects": objects.version}),
        )

    def _laid_over(self, stamp: int, batch: int, next_oid: int) -> NetChange:
        """What to lay over a fold with this stamp to have the state at `batch`."""
        if stamp <= batch:
            return net_of(self._log.read(stamp, batch), moves=True)
        return below(backwards(net_of(self._log.read(batch, stamp), moves=True)), next_oid)

    def is_much(self, rows: int) -> bool:
        """Whether so many rows are too many to be laid over the tables by every reader."""
        return rows > max(_FEW_ROWS, (self.edges.rows + self.objects.rows) // _PART_OF_TABLE)

    def fold(self, head: int, *, force: bool) -> bool:
        """Bring the tables up to `head` if the tail is much; whether that was done."""
        oldest = min(stamp(self.edges), stamp(self.objects))
        if oldest == head or not (force or self._has_much(oldest, head)):
            return False
        for table, fold in ((self.edges, fold_edges), (self.objects, fold_objects)):
            while stamp(table) < head:
                after, upto = stamp(table), self._step(stamp(table), head)
                files = self._log.files(after, upto)
                if upto == after + 1 and len(files) > 1:  # a load, which only inserts
                    fold_load(table, (change_in(self._log.part(file, after, upto)) for file in files), upto)
                else:
                    fold(table, net_of(self._log.read(after, upto), moves=True), upto)
        return True

    def _has_much(self, after: int, upto: int) -> bool:
        return self.is_much(self._log.at_most(after, upto)) and self.is_much(self._log.count(after, upto))

    def _step(self, after: int, head: int) -> int:
        """The last batch of the next piece of the log that is not too big for memory, one batch at least."""
        rows = 0
        for file in self._log.files(after, head):
            rows += file.rows
            if rows > _STEP:
                return max(after + 1, int(file.low["batch"]) - 1)
        return head


def stamp(table: Table) -> int:
    """The last batch that a fold contains."""
    return table.stamp() or 0


def nearest(table: Table, batch: int, floor: int) -> Table:
    """The newest version of a fold that is not after `batch`; the present one if that cannot be had."""
    if stamp(table) <= batch:
        return table
    older = newest_upto(table, batch)
    return older if older is not None and stamp(older) >= floor else table
