"""A load far bigger than the memory it may use, and the fold of one that was killed; under a hard limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oemviews.store.points import VARIABLE
from oemviews.store.store import Store

CHUNKS, ROWS, MEGABYTES = 60, 100_000, 900
PROGRAM = f"""
import resource, sys
import numpy as np, pyarrow as pa
from oemviews.edits import NetChange
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.store import Store

def chunk(number):
    size = {ROWS}
    oids = np.arange(1 + number * size, 1 + (number + 1) * size)
    texts = pa.array([f"a text of some length, one of many that all differ, number {{oid}}" for oid in oids])
    nothing = [pa.nulls(size, kind) for kind in (pa.int64(), pa.float64(), pa.string())]
    edges = [oids // 10, pa.repeat("Name", size), oids, oids, pa.nulls(size, pa.string())]
    created = pa.table([oids, pa.repeat("string", size), texts, *nothing], schema=OBJECTS)
    return NetChange(created=created, plus=pa.table(edges, schema=EDGES))

store = Store.open(sys.argv[1])
limit = {MEGABYTES} << 20
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
if store.head == 0:
    store.load(map(chunk, range({CHUNKS})), what="more than fits")
else:
    store.fold(force=True)
"""


@pytest.mark.slow
def test_load_and_fold_in_bounded_memory(tmp_path: Path) -> None:
    path = Store.create(tmp_path / "store").path
    command = [sys.executable, "-c", PROGRAM, str(path)]
    system = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}  # other pools set address space aside
    loaded = subprocess.run(
        command, env={**system, VARIABLE: "load:log-committed"}, capture_output=True, check=False
    )
    assert loaded.returncode == -signal.SIGKILL, loaded.stderr.decode()
    subprocess.run(command, env=system, check=True)
    store = Store.open(path)
    assert store._tables.edges.rows == store._tables.objects.rows == CHUNKS * ROWS
    assert len(store.state().tail) == 0
