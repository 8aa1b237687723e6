"""One batch of the graph: files of the folds, and the change that is laid over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.store.files import read_parquet
from oemviews.store.net import edges_in, ints, with_values
from oemviews.store.schema import EDGES, OBJECTS

Test: TypeAlias = Callable[[pa.Table], pa.ChunkedArray]
"""Which rows of a table to take."""


@dataclass(frozen=True, slots=True)
class State:
    """The graph after `batch`, readable by anyone who can read Parquet.

        edges   = (rows of edge_files, but for those of tail.minus)   and tail.plus
        objects = (rows of object_files, but for tail.gone, with the values of tail.changed) and tail.created

    Files may hold more than the state if it is older than they are (`behind`): rows that name an oid at or
    above `next_oid` are then not part of it; in `tail` there are none such. Whoever reads the files
    keeps the state itself: as long as its `claim` lives, no compaction removes them.
    """

    batch: int
    edge_files: tuple[str, ...]
    object_files: tuple[str, ...]
    tail: NetChange
    next_oid: int
    behind: bool = False
    claim: object = field(default=None, compare=False, repr=False)

    def edges(self, where: Test | None = None) -> pa.Table:
        """All edges, or those that pass a test, with the tail laid over; in no particular order."""
        base = _read(self.edge_files, EDGES, where)
        if self.behind:
            base = base.filter(
                pc.and_(pc.less(base["src"], self.next_oid), pc.less(base["dst"], self.next_oid))
            )
        if len(self.tail.minus):
            base = base.filter(pa.array(~edges_in(base, self.tail.minus)))
        return pa.concat_tables([base, _passing(self.tail.plus, where)])

    def objects(self, where: Test | None = None) -> pa.Table:
        """All objects but the root, or those whose oids pass a test, with the tail laid over."""
        base = _read(self.object_files, OBJECTS, where)
        if self.behind:
            base = base.filter(pc.less(base["oid"], self.next_oid))
        if len(self.tail.gone):
            base = base.filter(pc.invert(pc.is_in(base["oid"], self.tail.gone["oid"].combine_chunks())))
        base = with_values(base, _passing(self.tail.changed, where))
        return pa.concat_tables([base, _passing(self.tail.created, where)])


def _read(paths: Iterable[str], schema: pa.Schema, where: Test | None) -> pa.Table:
    tables = [_passing(read_parquet(path, schema), where) for path in paths]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _passing(rows: pa.Table, where: Test | None) -> pa.Table:
    return rows if where is None else rows.filter(where(rows))


def below(change: NetChange, next_oid: int) -> NetChange:
    """`change` without what names an oid at or above `next_oid`."""

    def old(table: pa.Table, *columns: str) -> pa.Table:
        keep = np.ones(len(table), np.bool_)
        for column in columns:
            keep &= ints(table[column]) < next_oid
        return table if keep.all() else table.filter(pa.array(keep))

    return NetChange(
        created=old(change.created, "oid"),
        plus=old(change.plus, "src", "dst"),
        minus=old(change.minus, "src", "dst"),
        changed=old(change.changed, "oid"),
        gone=old(change.gone, "oid"),
    )
