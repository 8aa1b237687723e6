"""A load: rows that stream into the log and into its folds at the same time, and become one batch at the end.

The log is committed first, and that is the moment the load exists; the folds follow. Killed before it, only
files without an owner are left; killed after it, the folds lag and are brought up from the log.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.store.batch import Counts, log_rows
from oemviews.store.delta import DataFile, Table
from oemviews.store.fold import sorted_edges, sorted_objects
from oemviews.store.points import reached

_GROUP: Final = 1_000_000
"""Rows that are written as one file of each table."""


@dataclass(slots=True)
class Written:
    """Files of a load that no version holds yet, and what they come to."""

    log: list[DataFile] = field(default_factory=list)
    edges: list[DataFile] = field(default_factory=list)
    objects: list[DataFile] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    next_oid: int = 0
    next_pos: int = 0


def in_groups(chunks: Iterable[NetChange]) -> Iterator[NetChange]:
    """Chunks put together to groups of about the size of a file."""
    group: list[NetChange] = []
    rows = 0
    for chunk in chunks:
        if len(chunk.minus) or len(chunk.changed) or len(chunk.gone):
            raise ValueError("a load only creates objects and inserts edges")
        group.append(chunk)
        rows += len(chunk)
        if rows >= _GROUP:
            yield _joined(group)
            group, rows = [], 0
    if group:
        yield _joined(group)


def _joined(changes: list[NetChange]) -> NetChange:
    return NetChange(
        created=pa.concat_tables([change.created for change in changes]),
        plus=pa.concat_tables([change.plus for change in changes]),
    )


def next_after(change: NetChange, next_oid: int, next_pos: int) -> tuple[int, int]:
    """The first free oid and pos after `change`, if these were before it."""
    oid, pos = pc.max(change.created["oid"]).as_py(), pc.max(change.plus["pos"]).as_py()
    return max(next_oid, -1 if oid is None else oid + 1), max(next_pos, -1 if pos is None else pos + 1)


def write_groups(
    groups: Iterable[NetChange], batch: int, at: datetime, log: Table, edges: Table, objects: Table
) -> Written:
    """Write every group into files of the three tables; if one cannot be written, all of them are removed."""
    written = Written()
    pending: list[Future[None]] = []
    seq = 1

    def write(table: Table, files: list[DataFile], rows: Callable[[], pa.Table]) -> None:
        files.append(table.write(rows().combine_chunks()))
        reached("load:chunk-written")

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Arrow works outside the interpreter's lock
        try:
            for group in groups:
                _finish(pending)  # so that at most two groups are in memory
                pending = [
                    pool.submit(write, log, written.log, partial(log_rows, batch, at, group, first=seq))
                ]
                if len(group.plus):
                    pending.append(
                        pool.submit(write, edges, written.edges, partial(sorted_edges, group.plus))
                    )
                if len(group.created):
                    in_order = partial(sorted_objects, group.created)
                    pending.append(pool.submit(write, objects, written.objects, in_order))
                seq += len(group)
                written.counts += Counts.of(group)
                written.next_oid, written.next_pos = next_after(group, written.next_oid, written.next_pos)
            _finish(pending)
        except BaseException:
            wait(pending)
            for table, files in ((log, written.log), (edges, written.edges), (objects, written.objects)):
                for file in files:
                    with contextlib.suppress(OSError):
                        os.unlink(table.path_of(file))
            raise
    return written


def _finish(tasks: Iterable[Future[None]]) -> None:
    for task in tasks:
        task.result()
