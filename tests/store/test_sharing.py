"""One writer, many readers, and a compaction that waits for none of them."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from oemviews.edits import NetChange
from oemviews.errors import LockedStore
from oemviews.store.store import Store
from tests.store.plain import Plain, as_plain, edits, inserts, view_row

HOLD = """
import sys
from oemviews.store.store import Store
store = Store.open(sys.argv[1])
with store.writing():
    print("held", flush=True)
    sys.stdin.readline()
"""
READ = """
import sys
from oemviews.store.store import Store
store = Store.open(sys.argv[1])
state = store.state()
print(state.batch, len(state.edges()), flush=True)
sys.stdin.readline()
print(store.head, len(state.edges()), len(store.state(1).edges()), flush=True)
"""


def python(program: str, store: Store) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(store.path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def test_a_second_writer_hears_who_the_first_is(store: Store) -> None:
    with python(HOLD, store) as other:
        assert line_of(other) == "held"
        with pytest.raises(LockedStore, match=f"process {other.pid} on {socket.gethostname()}, since 20"):
            store.append(NetChange(), kind="edit", what="")
        assert as_plain(store.state()) == Plain()
        other.kill()
    assert store.append(NetChange(), kind="edit", what="").batch == 1


def test_writing_may_be_nested_and_ends_with_the_outermost(store: Store) -> None:
    second = Store.open(store.path)
    with store.writing():
        store.append(NetChange(), kind="edit", what="")
        with pytest.raises(LockedStore, match=f"process {os.getpid()}"):
            second.append(NetChange(), kind="edit", what="")
    assert second.head == 0
    assert second.append(NetChange(), kind="edit", what="").batch == 2


def test_the_stamp_is_a_fence_where_no_lock_was(store: Store) -> None:
    first, second = (Store.open(store.path) for _ in range(2))
    first.append(NetChange(), kind="edit", what="")
    with pytest.raises(LockedStore, match="another writer committed"):
        second._tables.log.commit(stamps={"log": 1})
    second.refresh()
    assert second.append(NetChange(), kind="edit", what="").batch == 2


def test_a_reader_stays_at_its_batch_until_it_refreshes(store: Store) -> None:
    graph, rng = Plain(), random.Random(3)
    store.append(inserts(graph, 10, rng), kind="edit", what="")
    reader, seen = Store.open(store.path), graph.copy()
    for _ in range(30):
        store.append(edits(graph, 3, rng), kind="edit", what="")
    store.fold(force=True)
    assert reader.head == 1
    assert as_plain(reader.state()) == seen
    assert reader.refresh()
    assert reader.head == 31
    assert as_plain(reader.state()) == graph


def test_compaction_leaves_living_readers_their_files(store: Store) -> None:
    graph, rng = Plain(), random.Random(4)
    store.append(inserts(graph, 10, rng), kind="edit", what="")
    store.fold(force=True)
    with python(READ, store) as reader:
        assert line_of(reader) == "1 10"
        for _ in range(3):
            store.append(inserts(graph, 200, rng), kind="edit", what="")
            store.compact(keep_batches=1)
        assert reader.stdin is not None
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert line_of(reader) == "1 10 10"
    many = len(list((store.path / "edges").glob("*.parquet")))
    store.compact(keep_batches=1)
    assert len(list((store.path / "edges").glob("*.parquet"))) < many
    assert as_plain(store.state()) == graph


def test_a_state_in_use_outlives_compactions_by_its_own_process(store: Store) -> None:
    graph, rng = Plain(), random.Random(6)
    store.append(inserts(graph, 10, rng), kind="edit", what="")
    store.fold(force=True)
    held, seen = store.state(), graph.copy()
    store.append(edits(graph, 9, rng), kind="edit", what="")
    store.compact(keep_batches=1)
    assert as_plain(held) == seen
    files = held.edge_files
    del held
    store.compact(keep_batches=1)
    assert not any(map(os.path.exists, files))


def test_a_reader_that_compaction_overtook_finds_its_way(store: Store) -> None:
    graph, rng = Plain(), random.Random(9)
    reader = Store.open(store.path)
    reader.close()  # as where a lease cannot be had, on a read-only disk
    for batch in range(1, 30):
        store.append(inserts(graph, 5, rng), kind="edit", what="")
        if batch % 10 == 0:
            store.compact(keep_batches=1)
    assert reader.refresh()
    assert as_plain(reader.state()) == graph


def test_a_writer_goes_on_after_another_one_compacted(store: Store) -> None:
    graph, rng = Plain(), random.Random(10)
    for _ in range(15):
        store.append(inserts(graph, 2, rng), kind="edit", what="")
    second, reader = Store.open(store.path), Store.open(store.path)
    second.compact()  # no commit to the log, but those it has are summed up
    assert reader.consumed("a.log") == []
    assert reader.definitions() == {}
    for _ in range(30):
        store.append(inserts(graph, 2, rng), kind="edit", what="")
    assert second.refresh()
    for each in (store, second, Store.open(store.path)):
        assert each.head == 45
        assert as_plain(each.state()) == graph


def test_a_dropped_view_leaves_no_folder_after_compaction(store: Store) -> None:
    for view in ("A", "B"):
        batch = store.append(NetChange(), kind="define", what="", extra={"view": view}).batch
        store.append_changes(batch, {view: view_row(1)})
        store.fold_view(view, force=True)
    store.append(NetChange(), kind="drop", what="", extra={"view": "A"})
    assert len(os.listdir(store.path / "views")) == 2
    path = store.path
    store.close()
    store = Store.open(path)
    store.compact(keep_batches=1)
    assert len(os.listdir(path / "views")) == 1
    assert store.view_rows("B")["dst"].to_pylist() == [1]
