"""One Delta table: its files, its stamps, and commits that are durable when they return.

Parquet files and commits are our own; delta-rs opens tables, reads what others have committed and sums up
commits in checkpoints (docs/decisions/0003). A stamp is an application transaction of the table, so it is in
the same commit as the files and outlives checkpoints; a commit beside one of another writer is refused.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.errors import DamagedStore, LockedStore, StoreError
from oemviews.store.commits import add_action, commit_file, remove_action, write_commit
from oemviews.store.damage import faults_of
from oemviews.store.files import read_parquet, storing, sync, write_parquet

if TYPE_CHECKING:
    from deltalake import DeltaTable

CHECKPOINT_EVERY: Final = 40
_CONFIGURATION: Final = {
    "delta.checkpointInterval": str(CHECKPOINT_EVERY),
    "delta.enableExpiredLogCleanup": "false",
}
_LONGEST: Final = 64
"""Longer strings are left out of the statistics."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table, with the bounds of the columns its table is searched by."""

    path: str
    rows: int
    size: int
    low: Mapping[str, Any]
    high: Mapping[str, Any]


class Table:
    """A table at one version; `refresh` moves it to the newest."""

    def __init__(self, folder: str, schema: pa.Schema, bounds: Sequence[str], delta: DeltaTable) -> None:
        self.folder, self.schema, self.bounds, self._delta = folder, schema, tuple(bounds), delta
        self.version = delta.version()  # `_delta` itself may lag behind commits of our own
        self.files: tuple[DataFile, ...] = ()
        self._stamps: dict[str, int | None] = {}
        self._list_files()

    @classmethod
    def create(cls, folder: str, schema: pa.Schema, bounds: Sequence[str], *, name: str = "") -> Table:
        from deltalake import DeltaTable

        os.makedirs(folder, exist_ok=True)
        with storing(folder):
            delta = DeltaTable.create(folder, schema, name=name or None, configuration=_CONFIGURATION)
            sync(commit_file(folder, 0))
            for made in (os.path.join(folder, "_delta_log"), folder, os.path.dirname(folder)):
                sync(made)
        return cls(folder, schema, bounds, delta)

    @classmethod
    def open(cls, folder: str, schema: pa.Schema, bounds: Sequence[str]) -> Table:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        try:
            table = cls(folder, schema, bounds, DeltaTable(folder))
        except (DeltaError, OSError, ValueError, pa.ArrowInvalid) as error:
            raise DamagedStore(faults_of(folder) or f"{folder} cannot be read: {error}") from error
        table._check()
        return table

    def at(self, version: int) -> Table:
        """The same table at an earlier version."""
        from deltalake import DeltaTable

        return Table(self.folder, self.schema, self.bounds, DeltaTable(self.folder, version=version))

    @property
    def name(self) -> str:
        return self._delta.metadata().name or ""

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    def stamp(self, kind: str = "stamp") -> int | None:
        """The newest number committed under `kind`; those of our own commits are known."""
        from deltalake.exceptions import DeltaError

        if kind not in self._stamps:
            try:
                self._stamps[kind] = self._delta.transaction_version(kind)
            except (DeltaError, OSError):  # a compaction has removed commits that it is read from
                self.reopen(self.version)
                self._stamps[kind] = self._delta.transaction_version(kind)
        return self._stamps[kind]

    def reopen(self, version: int | None = None) -> None:
        """Read the table's own log again, so that it rests on the newest checkpoint."""
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        try:
            self._delta = DeltaTable(self.folder, version=version)
        except (DeltaError, OSError) as error:
            fault = (
                faults_of(self.folder) or f"{self.folder} was compacted since it was opened. Open it again."
            )
            raise DamagedStore(fault) from error

    def refresh(self) -> bool:
        """Move to the newest version; whether there was a newer one."""
        from deltalake.exceptions import DeltaError

        before, following = self.version, commit_file(self.folder, self.version + 1)
        if not os.path.exists(following) and _summed_up(self.folder) <= before:
            return False
        with contextlib.suppress(DeltaError, OSError):
            self._delta.update_incremental()
        if self._delta.version() <= before:  # a compaction has removed commits in between
            self.reopen()
        if self._delta.version() <= before:
            return False
        self.version = self._delta.version()
        self._stamps.clear()
        self._list_files()
        return True

    def paths(self) -> tuple[str, ...]:
        """The files of this version, as paths of the file system."""
        return tuple(self.path_of(file) for file in self.files)

    def path_of(self, file: DataFile) -> str:
        return os.path.join(self.folder, file.path)

    def read(
        self, file: DataFile, columns: Sequence[str] | None = None, *, filters: object = None
    ) -> pa.Table:
        return read_parquet(self.path_of(file), self.schema, columns, filters=filters)

    def write(self, rows: pa.Table) -> DataFile:
        """Write rows into a file that no version holds yet."""
        if rows.schema != self.schema:  # raw commits do not check it
            raise ValueError(f"rows for {self.folder} have the columns {rows.schema}, not {self.schema}")
        with storing(f"{len(rows)} rows into {self.folder}"):
            path, size = write_parquet(self.folder, rows)
        low, high = _bounds(rows, self.bounds)
        return DataFile(path, len(rows), size, low, high)

    def commit(
        self,
        add: Iterable[DataFile] = (),
        remove: Iterable[DataFile] = (),
        *,
        stamps: Mapping[str, int],
        about: Mapping[str, Any] | None = None,
        same_rows: bool = False,
    ) -> None:
        """One durable commit: files come and go and each kind of `stamps` gets its number, or nothing is."""
        add, remove = tuple(add), tuple(remove)
        now, version = int(time.time() * 1000), self.version + 1
        actions = [
            *(add_action(f.path, f.size, now, _stats(f), data_change=not same_rows) for f in add),
            *(remove_action(f.path, f.size, now, data_change=not same_rows) for f in remove),
        ]
        with storing(f"a commit to {self.folder}"):
            if add:
                sync(self.folder)
            try:
                write_commit(self.folder, version, now, actions, stamps, about or {})
            except FileExistsError as error:
                raise LockedStore(
                    f"another writer committed to {self.folder} at the same time; nothing of this batch was "
                    "stored. Try again."
                ) from error
        gone = {file.path for file in remove}
        self.files = (*(file for file in self.files if file.path not in gone), *add)
        self.version = version
        self._stamps.update(stamps)
        if version % CHECKPOINT_EVERY == 0:
            with contextlib.suppress(StoreError):  # the commit itself is made
                self.checkpoint()

    def checkpoint(self) -> None:
        """Sum up all commits so far, so that they are not needed to read this version."""
        from deltalake.exceptions import DeltaError

        log = os.path.join(self.folder, "_delta_log")
        try:
            if self._delta.version() < self.version:
                self._delta.update_incremental()
            self._delta.create_checkpoint()
            for name in (f"{self.version:020d}.checkpoint.parquet", "_last_checkpoint", ""):
                sync(os.path.join(log, name))
        except (DeltaError, OSError) as error:
            raise StoreError(f"cannot sum up {self.folder}: {error}. Nothing is lost by it.") from error

    def _list_files(self) -> None:
        found = pa.table(self._delta.get_add_actions(flatten=True))
        columns = {
            (side, bound): found.column(f"{side}.{bound}").to_pylist()
            if f"{side}.{bound}" in found.column_names
            else None
            for side in ("min", "max")
            for bound in self.bounds
        }

        def bounds(side: str, row: int) -> dict[str, Any]:
            known = ((bound, columns[side, bound]) for bound in self.bounds)
            return {
                bound: values[row]
                for bound, values in known
                if values is not None and values[row] is not None
            }

        self.files = tuple(
            DataFile(path, rows, size, bounds("min", row), bounds("max", row))
            for row, (path, rows, size) in enumerate(
                zip(
                    *(found.column(name).to_pylist() for name in ("path", "num_records", "size_bytes")),
                    strict=True,
                )
            )
        )

    def _check(self) -> None:
        """Refuse a table of other columns, or with an empty commit, which would pass for one without effect.

        Files are looked at when they are read.
        """
        for version in range(_summed_up(self.folder) + 1, self.version + 1):
            commit = commit_file(self.folder, version)
            if os.path.exists(commit) and os.path.getsize(commit) == 0:
                raise DamagedStore(faults_of(self.folder))
        found = pa.schema(self._delta.schema().to_arrow())
        if [field.name for field in found] != self.schema.names:
            raise DamagedStore(
                f"{self.folder} is not a table of this store: it has the columns {', '.join(found.names)}, "
                f"not {', '.join(self.schema.names)}."
            )


def _summed_up(folder: str) -> int:
    """The version of the newest checkpoint."""
    try:
        with open(os.path.join(folder, "_delta_log", "_last_checkpoint"), "rb") as file:
            return int(orjson.loads(file.read())["version"])
    except (OSError, orjson.JSONDecodeError, KeyError):
        return -1


def _bounds(rows: pa.Table, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    for name in names:
        both = pc.min_max(rows.column(name)).as_py()
        if all(
            value is not None and (isinstance(value, int) or len(value) <= _LONGEST)
            for value in both.values()
        ):
            low[name], high[name] = both["min"], both["max"]
    return low, high


def _stats(file: DataFile) -> str:
    return orjson.dumps({"numRecords": file.rows, "minValues": file.low, "maxValues": file.high}).decode()
