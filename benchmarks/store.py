"""What durability costs: batches, opening, folding.

    python benchmarks/store.py [--edges 10000000] [--batches 1000] [--seed 1]

Batches are timed as a program sees them, from the call to the moment they are on the disk, with the folding
that follows a batch left out and shown on a line of its own. Opening is timed in a fresh process each time,
imports apart. Beside the figures: what plain `write` and `fsync` of one small file cost on the same disk.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from oemviews.edits import NetChange
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.store import Store

CHUNK = 200_000
LABELS = np.array(["Name", "Price", "Rating", "Entree", "Ingredient", "Address", "Zipcode", "Nearby"])
OPENING = """
import sys, time
import deltalake, numpy, pyarrow.dataset, pyarrow.parquet
from oemviews.store.store import Store
start = time.perf_counter()
store = Store.open(sys.argv[1])
store.head, store.next_oid, store.definitions(), store.state()
print(time.perf_counter() - start)
"""


def inserts(
    store: Store, count: int, rng: np.random.Generator, *, per_object: int = 1
) -> Iterator[NetChange]:
    """So many new edges in chunks: one to a new object each, and others among the objects that are there."""
    oid, pos = store.next_oid, store.next_pos
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        new = max(1, size // per_object)
        created = np.arange(oid, oid + new)
        dst = np.concatenate([created, rng.integers(1, oid + new, size - new)])
        src = np.concatenate([np.maximum(created // 8, 1), rng.integers(1, oid + new, size - new)])
        text = pa.array(rng.integers(0, 50_000, new)).cast(pa.string())
        objects = [
            created,
            pa.repeat("string", new),
            text,
            pa.nulls(new, pa.int64()),
            text.cast(pa.float64()),
        ]
        labels = pa.array(rng.choice(LABELS, size))
        edges = [src, labels, dst, np.arange(pos, pos + size), pa.nulls(size, pa.string())]
        yield NetChange(
            created=pa.table([*objects, pa.nulls(new, pa.string())], schema=OBJECTS),
            plus=pa.table(edges, schema=EDGES),
        )
        oid, pos = oid + new, pos + size


def seconds(act: Callable[[], object], times: int) -> tuple[float, float]:
    """Median and worst."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), max(taken)


def plain_sync(folder: Path) -> float:
    def act() -> None:
        with open(folder / "plain", "wb") as file:
            file.write(b"x" * 4000)
            os.fsync(file.fileno())

    return seconds(act, 50)[0]


def append(store: Store, count: int, rng: np.random.Generator) -> None:
    store.append(next(inserts(store, count, rng)), kind="edit", what="benchmark")


def batches(folder: Path, earlier: int, rng: np.random.Generator) -> None:
    store = Store.create(folder / "batches")
    for after in (10, earlier):
        while store.head < after:
            append(store, 1, rng)
            store.fold()
        for size in (1, 100, 10_000):
            median, worst = seconds(partial(append, store, size, rng), 21)
            what = f"batch of {size:>6} edits after {after:>5} batches"
            print(f"{what}   {median * 1e3:8.1f} ms   worst {worst * 1e3:.1f} ms")
        start = time.perf_counter()
        store.fold()
        taken = time.perf_counter() - start
        print(f"  the fold that follows                         {taken * 1e3:8.1f} ms")


def opening(folder: Path, edges: int, rng: np.random.Generator) -> Store:
    store = Store.create(folder / "big")
    start = time.perf_counter()
    store.load(inserts(store, edges, rng, per_object=2), what="benchmark")
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    what = f"load of {edges:,} edges, {store.next_oid - 1:,} objects"
    print(f"{what}   {taken:.1f} s, {edges / taken:,.0f} edges/s")
    print(f"  peak memory of the process so far   {peak:,.0f} MB")
    command = [sys.executable, "-c", OPENING, str(store.path)]
    runs = [float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(5)]
    print(f"open, imports apart   {statistics.median(runs) * 1e3:.1f} ms, worst {max(runs) * 1e3:.1f} ms")
    return store


def folding(store: Store, count: int, rng: np.random.Generator) -> None:
    """Half insertions, half deletions of edges that are there."""
    plus = next(inserts(store, count // 2, rng))
    some = pa.concat_tables([store.state().edges()]).take(
        rng.choice(store.next_pos // 2, count // 2, replace=False)
    )
    store.append(NetChange(created=plus.created, plus=plus.plus, minus=some), kind="edit", what="benchmark")
    start = time.perf_counter()
    store.fold(force=True)
    print(f"fold of a tail of {count:,} edits   {time.perf_counter() - start:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--batches", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        print(f"write and fsync of 4 kB, alone   {plain_sync(Path(folder)) * 1e3:.2f} ms")
        batches(Path(folder), asked.batches, rng)
        folding(opening(Path(folder), asked.edges, rng), 100_000, rng)


if __name__ == "__main__":
    main()
