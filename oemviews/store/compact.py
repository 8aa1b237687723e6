"""Compaction: what no retained batch, no view that lags and no living reader needs is removed.

A process may be killed anywhere in it: so a commit that no longer names a file comes before the file goes,
and a checkpoint before the commits that it sums up.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.store.delta import Table
from oemviews.store.layout import VIEWS
from oemviews.store.ledger import Ledger, in_order
from oemviews.store.lock import leases
from oemviews.store.net import Ints
from oemviews.store.points import reached
from oemviews.store.state import State
from oemviews.store.versions import actions_of, versions_in

_HEADERS: Final = ("batch", "define", "drop")
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint\..*")
_SET_ASIDE: Final = ".gone-"


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did: the oldest batch still to be had, objects dropped, files removed, bytes won."""

    floor: int
    objects: int
    files: int
    bytes: int


def change_without(state: State, garbage: Ints) -> NetChange:
    """The change that takes objects away, and the edges that leave them."""
    oids = pa.array(np.unique(garbage))
    return NetChange(
        minus=state.edges(lambda edges: pc.is_in(edges["src"], oids)),
        gone=state.objects(lambda objects: pc.is_in(objects["oid"], oids)),
    )


def cut_log(log: Ledger, floor: int, stamps: Mapping[str, int]) -> None:
    """Take the rows of the batches up to `floor` out of the log, but for headers and definitions."""
    _cut(log, floor, pc.field("op").isin(_HEADERS), stamps)


def cut_changes(changes: Ledger, floor: int, folded: Mapping[str, int]) -> None:
    """Take the changes up to `floor` out, but for those that the fold of a living view does not hold yet."""
    needed = pc.scalar(False)
    for view, upto in folded.items():
        if upto < floor:
            needed = needed | ((pc.field("view") == view) & (pc.field("batch") > upto))
    _cut(changes, floor, needed, {})


def _cut(ledger: Ledger, floor: int, needed: pc.Expression, stamps: Mapping[str, int]) -> None:
    files = ledger.files(0, floor)
    if not files:
        return
    kept = (pc.field("batch") > floor) | needed
    rows = in_order(pa.concat_tables([ledger.table.read(file, filters=kept) for file in files]))
    add = [ledger.table.write(rows.combine_chunks())] if len(rows) else []
    reached("compact:log-written")
    ledger.table.commit(add, files, stamps=stamps)
    reached("compact:log-committed")


def tidy(path: str, tables: Mapping[str, Table], living: Collection[str]) -> tuple[int, int]:
    """Remove what nobody reads from the tables of a store, and folds of views that are not `living`.

    Tables and views are named by their folders. Gives the number of files removed and their bytes.
    """
    claims = leases(path)
    if not all(claims):  # a reader that is just opening may need anything
        return 0, 0
    done = [
        _tidy_table(table, [claim[name] for claim in claims if name in claim])
        for name, table in tables.items()
    ]
    read = {name for claim in claims for name in claim}
    done.append(_remove_views(Path(path, VIEWS), {Path(name).name for name in (*living, *read)}))
    return sum(files for files, _ in done), sum(won for _, won in done)


def _tidy_table(table: Table, claimed: Sequence[int]) -> tuple[int, int]:
    """Remove the files and commits of a table that neither its newest version nor a claimed one needs.

    Only the writer may do this: to it, a file that no commit names is one that a dead process has left.
    """
    oldest = min([*claimed, table.version])
    kept = {file.path for file in table.files}
    for version in versions_in(table.folder):
        if version > oldest:
            actions = actions_of(table.folder, version)
            kept |= {str(fields["path"]) for action, fields in actions if action == "remove"}
    doomed = [path for path in Path(table.folder).glob("*.parquet") if path.name not in kept]
    doomed += Path(table.folder, "_delta_log").glob("*.tmp*")
    won = _remove(doomed, "compact:file-removed")
    files, of_commits = remove_commits(table, claimed)
    return len(doomed) + files, won + of_commits


def remove_commits(table: Table, claimed: Sequence[int]) -> tuple[int, int]:
    """Remove the commits that a checkpoint sums up, but for those after the oldest claimed version."""
    oldest, log = min([*claimed, table.version]), Path(table.folder, "_delta_log")
    if oldest == table.version and len(versions_in(table.folder)) > 1:
        table.checkpoint()
    names = os.listdir(log)
    checkpoints = (int(match[1]) for name in names if (match := _CHECKPOINT.fullmatch(name)))
    summed = max((version for version in checkpoints if version <= oldest), default=0)
    old = [log / name for name in names if name[:20].isdigit() and int(name[:20]) < summed]
    won = _remove(old, "compact:commits-removed")
    if old:
        table.reopen()
    return len(old), won


def _remove_views(folder: Path, living: Collection[str]) -> tuple[int, int]:
    """Remove the folds of views that are no more: first out of the way, so that none is ever met half."""
    doomed: list[Path] = []
    for found in folder.iterdir() if folder.is_dir() else ():
        if found.name in living:
            continue
        aside = found
        if not found.name.startswith(_SET_ASIDE):
            aside = found.with_name(f"{_SET_ASIDE}{uuid4().hex}")
            found.rename(aside)
        reached("view:set-aside")
        doomed.append(aside)
    sizes = [path.stat().st_size for aside in doomed for path in aside.rglob("*") if path.is_file()]
    for aside in doomed:
        shutil.rmtree(aside, ignore_errors=True)
    return len(sizes), sum(sizes)


def _remove(paths: Sequence[Path], point: str) -> int:
    won = 0
    for path in paths:
        with contextlib.suppress(OSError):
            size = path.stat().st_size
            path.unlink()
            won += size
        reached(point)
    return won
