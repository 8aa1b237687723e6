"""A store: the log, and what is folded from it.

The log commit of a batch is the transaction. `objects` and `edges` are folds that may lag, each with a stamp
of its own; a state is a fold with the part of the log laid over it that it lacks.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from threading import RLock
from typing import Final

import pyarrow as pa

from oemviews.edits import NetChange
from oemviews.errors import BadInput, DamagedStore
from oemviews.store.batch import JSON, BatchInfo, Counts, header_rows, log_rows
from oemviews.store.compact import Compaction, change_without, cut_changes, cut_log, remove_commits, tidy
from oemviews.store.delta import DataFile, Table
from oemviews.store.files import folder_of_view
from oemviews.store.folds import Folds, stamp
from oemviews.store.headers import DEFINITIONS, Headers, stamp_of_log
from oemviews.store.layout import CACHE, FLOOR, VIEWS, check_marker, create_tables, open_tables
from oemviews.store.ledger import Ledger
from oemviews.store.loading import in_groups, next_after, write_groups
from oemviews.store.lock import Lease, WriterLock, leases
from oemviews.store.net import Ints, net_of
from oemviews.store.points import reached
from oemviews.store.state import State
from oemviews.store.views import ViewTables

LOG_STAMP: Final = "log"


class _Claim:
    """The versions of tables that a state reads; it lives as long as the state."""

    __slots__ = ("__weakref__", "versions")

    def __init__(self, versions: Mapping[str, int]) -> None:
        self.versions = versions


class Store:
    """An open store, at one batch: `refresh` and `writing` move it to the newest.

    `head` is the last batch, 0 if there is none; `floor` the oldest one whose state can still be had.
    """

    head: int
    floor: int

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        check_marker(path)
        self._lease = Lease(path, {})  # claims all there is until the versions are known
        try:
            self._tables = open_tables(path)
        except BaseException:
            self._lease.release()
            raise
        self.close = weakref.finalize(self, self._lease.release)
        self._lock, self._depth = WriterLock(path), 0
        self.turn = RLock()  # of threads that share this store
        self._claims: weakref.WeakSet[_Claim] = weakref.WeakSet()
        self._log = Ledger(self._tables.log, "log")
        self._folds = Folds(self._tables.edges, self._tables.objects, self._log)
        self._headers = Headers(self._log)
        changes = Ledger(self._tables.changes, "changes")
        self._views = ViewTables(os.path.join(path, VIEWS), changes, self._headers.definitions)
        self._settle()

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Store:
        create_tables(os.path.abspath(path))
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        return cls(os.path.abspath(path))

    @property
    def cache(self) -> Path:
        """A folder for what can be made again from the store; whoever uses it makes it."""
        return self.path / CACHE

    @property
    def next_oid(self) -> int:
        return self._headers.of(self.head).next_oid

    @property
    def next_pos(self) -> int:
        return self._headers.of(self.head).next_pos

    def refresh(self) -> bool:
        """Move to the newest batch; whether there was a newer one."""
        with self.turn:
            before, tables = self.head, self._tables
            for table in (
                *self._views.folds.values(),
                tables.edges,
                tables.objects,
                tables.changes,
                tables.log,
            ):
                table.refresh()
            self._settle()
            return self.head != before

    def _settle(self) -> None:
        """See to it that the folds hold what a compaction took out of the log, and claim what is read."""
        self.head, self.floor = self._tables.log.stamp(LOG_STAMP) or 0, self._tables.log.stamp(FLOOR) or 0
        lagging = [table for table in (self._tables.edges, self._tables.objects) if stamp(table) < self.floor]
        for table in lagging:
            if not table.refresh() or stamp(table) < self.floor:
                raise DamagedStore(
                    f"{table.folder} ends at batch {stamp(table)}, but the log holds only what came after "
                    f"batch {self.floor}. Restore the folder from a copy of the store."
                )
        self._renew()

    def _renew(self) -> None:
        versions = {name: table.version for name, table in self._by_name().items()}
        for claim in self._claims:
            for name, version in claim.versions.items():
                versions[name] = min(version, versions.get(name, version))
        self._lease.renew(versions)

    def _by_name(self) -> dict[str, Table]:
        """The tables that are open, by their folders in the store."""
        folds = {f"{VIEWS}/{name}": table for name, table in self._views.folds.items()}
        return {**self._tables.by_name(), **folds}

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the right to write; at the start the store moves to its newest batch. May be nested.

        Threads that share the store take turns.
        """
        with self.turn:
            if not self._depth:
                self._lock.take()
            self._depth += 1
            try:
                if self._depth == 1:
                    self.refresh()
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    self._lock.release()

    def append(
        self,
        change: NetChange,
        *,
        kind: str,
        what: str,
        log_id: str | None = None,
        lines: int | None = None,
        log_hash: str | None = None,
        new: Mapping[str, int] | None = None,
        extra: Mapping[str, JSON] | None = None,
        next_oid: int | None = None,
        next_pos: int | None = None,
    ) -> BatchInfo:
        """Add a batch to the log; it is durable when this returns."""
        with self.writing():
            after = next_after(change, max(self.next_oid, next_oid or 0), max(self.next_pos, next_pos or 0))
            info = BatchInfo(
                self.head + 1,
                datetime.now(timezone.utc),
                kind,
                what,
                *after,
                log_id=log_id,
                lines=lines,
                log_hash=log_hash,
                new=new or {},
                extra=extra or {},
                counts=Counts.of(change),
            )
            return self._commit(info, [], change)

    def _commit(self, info: BatchInfo, files: list[DataFile], change: NetChange) -> BatchInfo:
        """Commit a batch: the files of it that are written already, and the rows of `change`."""
        stamps = {LOG_STAMP: info.batch}
        if info.kind in ("define", "drop"):
            stamps[DEFINITIONS] = info.batch
            info = replace(info, live=self._headers.live_after(info.kind, info.extra["view"], info.batch))
        if info.log_id is not None:
            stamps[stamp_of_log(info.log_id)] = info.batch
            info = replace(info, since=self._headers.since(info.log_id) or info.batch)
        head = header_rows(info)
        rows = pa.concat_tables([head, log_rows(info.batch, info.at, change, first=len(head))])
        self._log.commit([*files, self._log.write(rows.combine_chunks())], stamps)
        self._headers.add(info)
        self.head = info.batch
        self._renew()
        return info

    def load(
        self,
        chunks: Iterable[NetChange],
        *,
        kind: str = "load",
        what: str,
        extra: Mapping[str, JSON] | None = None,
    ) -> BatchInfo:
        """Add one batch of any size, chunk by chunk: all of it or nothing."""
        with self.writing():
            groups = iter(in_groups(chunks))
            first = list(itertools.islice(groups, 2))
            if len(first) < 2 and not self._folds.is_much(sum(map(len, first))):
                return self.append(first[0] if first else NetChange(), kind=kind, what=what, extra=extra)
            self.fold(force=True)
            tables, batch, at = self._tables, self.head + 1, datetime.now(timezone.utc)
            groups = itertools.chain((first.pop(0) for _ in range(len(first))), groups)  # none is held twice
            done = write_groups(groups, batch, at, tables.log, tables.edges, tables.objects)
            after = max(self.next_oid, done.next_oid), max(self.next_pos, done.next_pos)
            info = BatchInfo(batch, at, kind, what, *after, extra=extra or {}, counts=done.counts)
            info = self._commit(info, done.log, NetChange())
            reached("load:log-committed")
            tables.edges.commit(done.edges, stamps={"stamp": batch})
            reached("load:edges-committed")
            tables.objects.commit(done.objects, stamps={"stamp": batch})
            self._renew()
            return info

    def batches(self) -> list[BatchInfo]:
        """The headers of all batches, in order."""
        return self._headers.between(0, self.head)

    def definitions(self) -> dict[str, Mapping[str, JSON]]:
        """Live views in order of definition: what their define batch says, and its number as `batch`."""
        return self._headers.definitions()

    def consumed(self, log_id: str) -> list[BatchInfo]:
        """The batches that consumed lines of an edit log, in order."""
        return self._headers.consumed(log_id)

    def change(self, after: int, upto: int) -> NetChange:
        """The net change from the state at one batch to the state at a later one."""
        self._check(after)
        self._check(upto)
        return net_of(self._log.read(after, upto))

    def state(self, batch: int | None = None) -> State:
        """The graph at a batch, the newest unless another is asked for. Reads the log, not the folds."""
        batch = self.head if batch is None else batch
        self._check(batch)
        state = self._folds.state(batch, self._headers.of(batch).next_oid, self.floor, self._claim)
        self._renew()
        return state

    def _claim(self, versions: Mapping[str, int]) -> _Claim:
        claim = _Claim(versions)
        self._claims.add(claim)
        return claim

    def _check(self, batch: int) -> None:
        if not self.floor <= batch <= self.head:
            raise BadInput(
                f"there is no batch {batch} to be had; this store holds {self.floor} to {self.head}."
            )

    def fold(self, *, force: bool = False) -> bool:
        """Bring the folds up to the head if the tail has grown past a hundredth of them; whether it was done.

        Many small files of the log are merged too, and the commits that made them removed.
        """
        with self.writing():
            done = self._folds.fold(self.head, force=force)
            for name, ledger in (("log", self._log), ("changes", self._views.changes)):
                if ledger.merge():
                    self._renew()
                    remove_commits(ledger.table, [claim.get(name, 0) for claim in leases(str(self.path))])
            self._renew()
            return done

    def compact(self, *, keep_batches: int | None = None, garbage: Ints | None = None) -> Compaction:
        """Remove what is not needed to have the last `keep_batches` states (all states if None).

        `garbage` are oids that no name reaches: a batch takes them away first. What a view lacks and what a
        living reader reads stays. Headers of all batches stay, so that no edit log is ever applied twice.
        """
        with self.writing():
            doomed = change_without(self.state(), garbage) if garbage is not None else NetChange()
            if len(doomed):
                what = f"{len(doomed.gone)} objects that no name reaches"
                self.append(doomed, kind="compact", what=what)
            self.fold(force=True)
            views = self.definitions()
            for view in views:
                self.fold_view(view, force=True)
            floor = self._floor_to_be(keep_batches)
            if floor > self.floor:
                cut_changes(self._views.changes, floor, {view: self._views.folded(view) for view in views})
                cut_log(self._log, floor, {FLOOR: floor})
                self.floor = floor
            self._renew()
            tables = self._by_name()
            files, won = tidy(str(self.path), tables, {f"{VIEWS}/{folder_of_view(view)}" for view in views})
            return Compaction(floor, len(doomed.gone), files, won)

    def _floor_to_be(self, keep_batches: int | None) -> int:
        """The oldest batch to be kept: not later than what any view contains."""
        if keep_batches is None:
            return self.floor
        stamps = (self.view_stamp(view) or info["batch"] for view, info in self.definitions().items())
        return max(self.floor, min([self.head - max(keep_batches, 1) + 1, *stamps]))

    def append_changes(self, batch: int, rows: Mapping[str, pa.Table]) -> None:
        """Add what a batch did to some views and stamp these with it, in one durable commit."""
        with self.writing():
            self._views.append(batch, rows)
            self._renew()

    def view_stamp(self, view: str) -> int | None:
        """The last batch that a view contains; None if it was defined but never filled."""
        return self._views.stamp(view)

    def view_rows(self, view: str) -> pa.Table:
        """The rows of a view at its stamp (VIEW_ROWS), equal ones as one, with their counts."""
        return self._views.rows(view)

    def view_changes(self, view: str, after: int, upto: int) -> pa.Table:
        """What the batches after `after` up to `upto` did to a view (CHANGES)."""
        if max(after, self._views.define_batch(view) - 1) < self.floor:
            raise BadInput(
                f"what batch {after + 1} did to view {view} was compacted away; this store holds the changes "
                f"after batch {self.floor}."
            )
        return self._views.between(view, after, upto)

    def fold_due(self, view: str) -> bool:
        """Whether the changes of a view have outgrown its fold; looked at now and then."""
        return self._views.due(view)

    def fold_view(self, view: str, *, force: bool = False) -> bool:
        """Rewrite the fold of a view if its changes have outgrown it; whether that was done."""
        with self.writing():
            return self._views.fold(view, force=force)
