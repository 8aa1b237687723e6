"""Folding: a net change goes into the files of `edges` and `objects`, and only touched files are rewritten.

Each file is sorted, edges by (label, src), objects by oid; files may overlap. New rows become
a file of their own, joined with the other small files when those are many.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.store.delta import DataFile, Table
from oemviews.store.net import edges_in, ints, with_values
from oemviews.store.points import reached
from oemviews.store.schema import EDGES

FULL: Final = 1_000_000
"""Rows of a full file."""
_SMALL: Final = FULL // 4
_MANY: Final = 8

EDGE_BOUNDS: Final = ("label", "src", "dst")
OBJECT_BOUNDS: Final = ("oid",)


def sorted_edges(edges: pa.Table) -> pa.Table:
    """Edges in the order of their files."""
    return edges.sort_by([("label", "ascending"), ("src", "ascending")])


def sorted_objects(objects: pa.Table) -> pa.Table:
    """Objects in the order of their files; they mostly come so."""
    oids = ints(objects["oid"])
    return objects if (oids[1:] > oids[:-1]).all() else objects.sort_by("oid")


def fold_edges(table: Table, change: NetChange, stamp: int) -> None:
    """Take `minus` out of the edges, then put `plus` in."""
    labels = sorted(pc.unique(change.minus["label"]).to_pylist())
    src = np.sort(ints(change.minus["src"]))

    def touched(file: DataFile) -> bool:
        low, high = file.low, file.high
        near = "label" not in low or bisect_left(labels, low["label"]) < bisect_right(labels, high["label"])
        return near and bool(
            np.searchsorted(src, low["src"]) < np.searchsorted(src, high["src"], side="right")
        )

    def rewritten(rows: pa.Table) -> pa.Table | None:
        gone = edges_in(rows, change.minus)
        return rows.filter(pa.array(~gone)) if gone.any() else None

    _fold(table, touched if len(src) else None, rewritten, change.plus, sorted_edges, stamp, "edges")


def fold_objects(table: Table, change: NetChange, stamp: int) -> None:
    """Take what is gone out of the objects, put the new values in, then the new objects."""
    gone = change.gone["oid"].combine_chunks()
    oids = np.sort(np.concatenate([ints(change.changed["oid"]), ints(change.gone["oid"])]))

    def touched(file: DataFile) -> bool:
        return bool(
            np.searchsorted(oids, file.low["oid"]) < np.searchsorted(oids, file.high["oid"], side="right")
        )

    def rewritten(rows: pa.Table) -> pa.Table | None:
        here = change.changed.filter(pc.is_in(change.changed["oid"], rows["oid"].combine_chunks()))
        left = rows.filter(pc.invert(pc.is_in(rows["oid"], gone))) if len(gone) else rows
        return with_values(left, here) if len(here) or len(left) < len(rows) else None

    _fold(table, touched if len(oids) else None, rewritten, change.created, sorted_objects, stamp, "objects")


def _fold(
    table: Table,
    touched: Callable[[DataFile], bool] | None,
    rewritten: Callable[[pa.Table], pa.Table | None],
    fresh: pa.Table,
    in_order: Callable[[pa.Table], pa.Table],
    stamp: int,
    name: str,
) -> None:
    """Rewrite the touched files, add the fresh rows, commit it all with the stamp."""
    joined = _to_join(table.files) if len(fresh) else []
    joined_paths = {file.path for file in joined}

    def changed_file(file: DataFile) -> tuple[DataFile, DataFile | None] | None:
        rows = rewritten(table.read(file))
        if rows is None:
            return None
        return file, table.write(rows.combine_chunks()) if len(rows) else None

    others = [f for f in table.files if f.path not in joined_paths and touched is not None and touched(f)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Arrow works outside the interpreter's lock
        done = [pair for pair in pool.map(changed_file, others) if pair is not None]
    add = [new for _, new in done if new is not None]
    remove = [old for old, _ in done]
    if len(fresh):
        parts = [fresh]
        for file in joined:
            rows = table.read(file)
            again = rewritten(rows) if touched is not None and touched(file) else None
            parts.append(rows if again is None else again)
        remove += joined
        add += write_sorted(table, in_order(pa.concat_tables(parts)))
    reached(f"fold:{name}-written")
    table.commit(add, remove, stamps={"stamp": stamp})
    reached(f"fold:{name}-committed")


def _to_join(files: Iterable[DataFile]) -> list[DataFile]:
    """Small files to be put together, if they are many or come to little; never more than fill two files."""
    small = sorted((file for file in files if file.rows < _SMALL), key=lambda file: file.rows)
    upto = np.searchsorted(np.cumsum([file.rows for file in small]), 2 * FULL)
    return small[:upto] if len(small) >= _MANY or sum(file.rows for file in small) < _SMALL else []


def fold_load(table: Table, pieces: Iterable[NetChange], stamp: int) -> None:
    """Put the rows of a load in, piece by piece, in one commit."""
    edges = table.schema.equals(EDGES)
    fresh = (sorted_edges(piece.plus) if edges else sorted_objects(piece.created) for piece in pieces)
    add = [table.write(rows.combine_chunks()) for rows in fresh if len(rows)]
    name = "edges" if edges else "objects"
    reached(f"fold:{name}-written")
    table.commit(add, stamps={"stamp": stamp})
    reached(f"fold:{name}-committed")


def write_sorted(table: Table, rows: pa.Table) -> Iterator[DataFile]:
    """Write sorted rows as full files."""
    for start in range(0, len(rows), FULL):
        yield table.write(rows.slice(start, FULL).combine_chunks())
