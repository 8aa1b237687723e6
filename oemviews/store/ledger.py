"""A table that only grows, batch by batch: the log, and the changes of the views.

Each file is in order of batch, and those of the log do not overlap, so that reading a range of batches is
picking files.
Small files are merged 64 at a time, and merged ones again, so that their number stays near
64 times the logarithm of the number of batches.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from oemviews.store.delta import DataFile, Table
from oemviews.store.net import Ints, ints
from oemviews.store.points import reached

MERGED: Final = 64
_BIG: Final = 250_000
"""A file of more rows is left as it is."""
_KEPT_ROWS: Final = 20_000
_KEPT_FILES: Final = 4 * MERGED


class Ledger:
    """A table by batch, with its newest small files kept in memory."""

    def __init__(self, table: Table, point: str) -> None:
        self.table, self._point = table, point
        self._kept: OrderedDict[str, pa.Table] = OrderedDict()
        self._numbered: tuple[str, Ints] = "", np.empty(0, np.int64)

    def write(self, rows: pa.Table) -> DataFile:
        """Write rows of one batch, not yet part of the table."""
        file = self.table.write(rows)
        self._keep(file, rows)
        reached(f"{self._point}:file-written")
        return file

    def commit(self, files: Iterable[DataFile], stamps: Mapping[str, int]) -> None:
        self.table.commit(files, stamps=stamps)
        reached(f"{self._point}:committed")

    def files(self, after: int, upto: int) -> list[DataFile]:
        """Files with rows of the batches after `after` up to `upto`, in order."""
        found = (
            file for file in self.table.files if file.low["batch"] <= upto and file.high["batch"] > after
        )
        return sorted(found, key=_place)

    def read(self, after: int, upto: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Rows of the batches after `after` up to `upto`, in order of (batch, seq)."""
        names = self.table.schema.names if columns is None else columns
        parts = [self.part(file, after, upto).select(names) for file in self.files(after, upto)]
        schema = pa.schema([self.table.schema.field(name) for name in names])
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def at_most(self, after: int, upto: int) -> int:
        """A bound on the rows of the batches after `after` up to `upto` that costs nothing to know."""
        return sum(file.rows for file in self.files(after, upto))

    def count(self, after: int, upto: int) -> int:
        """The rows of the batches after `after` up to `upto`; files that hold others too are looked into."""
        rows = 0
        for file in self.files(after, upto):
            if file.low["batch"] > after and file.high["batch"] <= upto:
                rows += file.rows
            else:
                start, end = np.searchsorted(self._batches(file), [after, upto], side="right")
                rows += int(end - start)
        return rows

    def _batches(self, file: DataFile) -> Ints:
        """The batch of each row of a file. The last one is kept: it is asked for again after every batch."""
        if self._numbered[0] != file.path:
            self._numbered = file.path, ints(self.table.read(file, ["batch"])["batch"])
        return self._numbered[1]

    def part(self, file: DataFile, after: int, upto: int) -> pa.Table:
        """The rows of one file that belong to the batches after `after` up to `upto`."""
        rows = self._rows(file)
        if file.low["batch"] > after and file.high["batch"] <= upto:
            return rows
        start, end = np.searchsorted(ints(rows["batch"]), [after, upto], side="right")
        return rows.slice(start, end - start)

    def headers(self, file: DataFile) -> pa.Table:
        """The rows of a file, of a big one only the headers: small ones are soon read again as a whole."""
        if file.rows <= _KEPT_ROWS:
            return self._rows(file)
        return self.table.read(file, ["op", "text"], filters=[("op", "==", "batch")])

    def merge(self) -> bool:
        """Merge neighbouring small files of about the same span, where 64 have gathered; whether any had."""
        runs = list(self._runs())
        for run in runs:
            rows = in_order(pa.concat_tables([self._rows(file) for file in run]))
            merged = self.table.write(rows.combine_chunks())
            self._keep(merged, rows)
            reached("merge:file-written")
            self.table.commit([merged], run, stamps={}, same_rows=True)
            reached("merge:committed")
            for file in run:
                self._kept.pop(file.path, None)
        return bool(runs)

    def _runs(self) -> Iterator[list[DataFile]]:
        run: list[DataFile] = []
        for file in sorted(self.table.files, key=_place):
            if run and (file.rows > _BIG or _level(file) != _level(run[0])):
                if len(run) >= MERGED:
                    yield run
                run = []
            if file.rows <= _BIG:
                run.append(file)
        if len(run) >= MERGED:
            yield run

    def _rows(self, file: DataFile) -> pa.Table:
        rows = self._kept.get(file.path)
        if rows is None:
            rows = self.table.read(file)
            self._keep(file, rows)
        return rows

    def _keep(self, file: DataFile, rows: pa.Table) -> None:
        if len(rows) <= _KEPT_ROWS:
            self._kept[file.path] = rows
            if len(self._kept) > _KEPT_FILES:
                self._kept.popitem(last=False)


def in_order(rows: pa.Table) -> pa.Table:
    """Rows by batch; those of one batch as they are. Changes of a view that lags come late."""
    batches = ints(rows["batch"])
    if (batches[1:] >= batches[:-1]).all():
        return rows
    return rows.take(np.argsort(batches, kind="stable"))


def _place(file: DataFile) -> tuple[Any, Any]:
    return file.low["batch"], file.low.get("seq", 0)


def _level(file: DataFile) -> int:
    """How often a file was merged, by the batches it spans: 0 below 64, 1 below 64 * 64, ..."""
    span, level = file.high["batch"] - file.low["batch"] + 1, 0
    while span >= MERGED:
        span, level = span // MERGED, level + 1
    return level
