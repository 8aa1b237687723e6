"""One act in the life of a store, as a process of its own that may be killed in the middle.

python -m tests.store.life STORE ACT
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from oemviews.edits import NetChange
from oemviews.store import folds, ledger, loading
from oemviews.store.store import Store
from tests.store.plain import Plain, edits, inserts, view_row

KEPT = 3
"""Batches that the act `compact` keeps."""


def prepare(path: Path) -> list[Plain]:
    """Make a store with folds behind its head, a view that lags and a dropped one; its states by batch."""
    rng, store, graph = random.Random(7), Store.create(path), Plain()
    history = [graph.copy()]

    def done() -> None:
        history.append(graph.copy())

    store.load([inserts(graph, 30, rng), inserts(graph, 10, rng)], what="load")
    done()
    for view in ("Dropped", "Kept"):
        define = store.append(NetChange(), kind="define", what=view, extra={"view": view})
        done()
        store.append_changes(define.batch, {view: pa.concat_tables([view_row(oid) for oid in range(1, 6)])})
    store.fold_view("Dropped", force=True)
    store.append(NetChange(), kind="drop", what="Dropped", extra={"view": "Dropped"})
    done()
    store.fold(force=True)
    for oid in range(10, 16):
        info = store.append(edits(graph, 5, rng), kind="edit", what="edits", log_id="a.log", lines=oid)
        done()
        if oid < 15:
            store.append_changes(
                info.batch, {"Kept": pa.concat_tables([view_row(oid), view_row(oid - 9, -1)])}
            )
    return history


def small_sizes(put: Callable[[object, str, int], None] = setattr) -> None:
    """Sizes at which a small store does all that a big one does."""
    for module, name, size in ((folds, "_FEW_ROWS", 20), (loading, "_GROUP", 20), (ledger, "MERGED", 4)):
        put(module, name, size)
    put(folds, "_STEP", 30)


def added(graph: Plain) -> NetChange:
    """What `append` and `load` add to a graph, in the process that dies and in the one that looks."""
    return inserts(graph, 50, random.Random(8))


def _added(store: Store) -> NetChange:
    return added(Plain(next_oid=store.next_oid, next_pos=store.next_pos))


ACTS: dict[str, Callable[[Store], object]] = {
    "append": lambda store: store.append(_added(store), kind="edit", what="act", log_id="a.log"),
    "load": lambda store: store.load([_added(store)], what="act"),
    "fold": lambda store: store.fold(force=True),
    "merge": lambda store: store.fold(),
    "changes": lambda store: store.append_changes(store.head, {"Kept": view_row(40)}),
    "fold_view": lambda store: store.fold_view("Kept", force=True),
    "compact": lambda store: store.compact(keep_batches=KEPT),
}

if __name__ == "__main__":
    small_sizes()
    if sys.argv[2] == "create":
        Store.create(sys.argv[1])
    else:
        ACTS[sys.argv[2]](Store.open(sys.argv[1]))
