"""The rows of the views: what each batch did to them, and a fold of that for each view.

A view is known by its name and its define batch, so a view that is dropped and defined anew starts anew:
the stamps of the old one are not its own, and the changes before its define batch neither.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oemviews.errors import StoreError
from oemviews.store.batch import JSON
from oemviews.store.delta import Table
from oemviews.store.files import folder_of_view
from oemviews.store.fold import write_sorted
from oemviews.store.ledger import Ledger
from oemviews.store.points import reached
from oemviews.store.schema import CHANGES, VIEW_ROWS
from oemviews.store.versions import newest_upto

_KEYS: Final = [name for name in VIEW_ROWS.names if name != "n"]
_FEW_ROWS: Final = 5_000
_MANY_BATCHES: Final = 64
_LOOK_EVERY: Final = 16


class ViewTables:
    """The table `changes` and the folds under `views/`."""

    def __init__(
        self, folder: str, changes: Ledger, definitions: Callable[[], Mapping[str, Mapping[str, JSON]]]
    ) -> None:
        self._folder, self.changes, self._definitions = folder, changes, definitions
        self.folds: dict[str, Table] = {}
        self._looked: dict[str, int] = {}

    def stamp(self, view: str) -> int | None:
        """The last batch whose changes the view contains; None before its first ones."""
        return self.changes.table.stamp(self._kind(view)[0])

    def append(self, batch: int, rows: Mapping[str, pa.Table]) -> None:
        """Add the changes that a batch made to some views, and stamp these, in one commit."""
        stamps = {}
        for view in rows:
            kind, _ = self._kind(view)
            before = self.changes.table.stamp(kind)
            if before is not None and before >= batch:
                raise ValueError(
                    f"view {view} contains batch {before} already; changes of batch {batch} came late"
                )
            stamps[kind] = batch
        parts = [_placed(batch, view, part) for view, part in rows.items() if len(part)]
        files = [self.changes.write(pa.concat_tables(parts).combine_chunks())] if parts else []
        if stamps:
            self.changes.commit(files, stamps)

    def rows(self, view: str) -> pa.Table:
        """The rows of the view at its stamp, each with the count it has come to."""
        net = self._net(view)
        return net.filter(pc.greater(net["n"], 0))

    def between(self, view: str, after: int, upto: int) -> pa.Table:
        """What the batches after `after` up to `upto` did to the view."""
        _, define = self._kind(view)
        rows = self.changes.read(max(after, define - 1), upto)
        return rows.filter(pc.equal(rows["view"], view))

    def due(self, view: str) -> bool:
        """Whether the changes of the view have grown past its fold."""
        stamp, after, table = self.stamp(view), self.folded(view), self._fold_of(view)
        if stamp is None or after >= stamp:
            return False
        return self._outgrown(view, after, stamp, 0 if table is None else table.rows)

    def fold(self, view: str, *, force: bool = False) -> bool:
        """Rewrite the fold of the view if its changes have grown past it; whether that was done."""
        kind, _ = self._kind(view)
        stamp = self.stamp(view)
        if stamp is None or self.folded(view) >= stamp or not (force or self.due(view)):
            return False
        table = self._fold_of(view) or self._create(view)
        add = list(write_sorted(table, self._net(view)))
        reached("view:file-written")
        table.commit(add, table.files, stamps={kind: stamp})
        reached("view:committed")
        return True

    def _outgrown(self, view: str, after: int, stamp: int, size: int) -> bool:
        """Whether the changes since a fold of this size are worth a new one; looked at now and then."""
        enough = size // 16 if stamp - after >= _MANY_BATCHES else max(_FEW_ROWS, size)
        if self.changes.at_most(after, stamp) <= enough or stamp < self._looked.get(view, 0) + _LOOK_EVERY:
            return False
        self._looked[view] = stamp
        return len(self.between(view, after, stamp)) > enough

    def folded(self, view: str) -> int:
        """The batch up to which the fold of the view, and not `changes`, holds its rows."""
        kind, define = self._kind(view)
        table = self._fold_of(view)
        stamp = table.stamp(kind) if table is not None else None
        return define - 1 if stamp is None else stamp

    def _net(self, view: str) -> pa.Table:
        stamp = self.stamp(view)
        if stamp is None:
            return VIEW_ROWS.empty_table()
        kind, define = self._kind(view)
        after, parts = define - 1, []
        table = self._fold_of(view)
        if table is not None and (table.stamp(kind) or 0) > stamp:  # another process went on
            table = newest_upto(table, stamp, kind=kind)
            if table is None:
                raise StoreError(f"view {view} was rewritten since this store was opened. Open it again.")
        folded = table.stamp(kind) if table is not None else None
        if table is not None and folded is not None:
            after, parts = folded, [table.read(file) for file in table.files]
        parts.append(self.between(view, after, stamp).select(VIEW_ROWS.names))
        return net_rows(pa.concat_tables(parts)) if len(parts[-1]) or len(parts) > 1 else parts[0]

    def define_batch(self, view: str) -> int:
        return self._kind(view)[1]

    def _kind(self, view: str) -> tuple[str, int]:
        """The stamp of a view that is alive, and its define batch."""
        known = self._definitions()
        if view not in known:
            raise StoreError(
                f"there is no view {view} in this store; views here: {', '.join(known) or 'none'}."
            )
        define = int(known[view]["batch"])
        return f"view:{view}:{define}", define

    def _fold_of(self, view: str) -> Table | None:
        name = folder_of_view(view)
        if name not in self.folds:
            folder = os.path.join(self._folder, name)
            if not os.path.isdir(os.path.join(folder, "_delta_log")):
                return None
            self.folds[name] = Table.open(folder, VIEW_ROWS, ())
        return self.folds[name]

    def _create(self, view: str) -> Table:
        name = folder_of_view(view)
        self.folds[name] = Table.create(os.path.join(self._folder, name), VIEW_ROWS, (), name=view)
        return self.folds[name]


def net_rows(rows: pa.Table) -> pa.Table:
    """Equal rows as one, with the sum of their counts; none whose sum is zero."""
    summed = rows.group_by(_KEYS).aggregate([("n", "sum")])
    summed = summed.rename_columns([*_KEYS, "n"]).select(VIEW_ROWS.names).cast(VIEW_ROWS)
    return summed.filter(pc.not_equal(summed["n"], 0))


def _placed(batch: int, view: str, rows: pa.Table) -> pa.Table:
    size = len(rows)
    first = [pa.repeat(pa.scalar(batch, pa.int64()), size), pa.repeat(view, size)]
    return pa.table([*first, *(rows.column(name) for name in VIEW_ROWS.names)], schema=CHANGES)
