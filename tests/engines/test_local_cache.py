"""Arrays over a store: built once, mapped afterwards, replaced when the files change, never in the way."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from oemviews.edits import NetChange
from oemviews.engines.local import LocalGraph
from oemviews.engines.local import cache as mapped
from oemviews.store.store import Store
from tests.engines.support import change_between
from tests.engines.test_local_graph import a_graph, changed, check
from tests.oracle.graph import OracleGraph

NOTHING = OracleGraph({}, ())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def write(store: Store, change: NetChange) -> None:
    with store.writing():
        store.append(change, kind="edit", what="test")


@pytest.mark.parametrize("seed", range(3))
def test_files_with_a_tail_equal_the_model(store: Store, seed: int) -> None:
    rng = Random(seed)
    model = a_graph(rng)
    write(store, change_between(NOTHING, model))
    for number in range(3):
        later = changed(rng, model, 5)
        write(store, change_between(model, later))
        model = later
        if number == 0:
            store.fold(force=True)
        for _ in range(2):  # built, then mapped
            check(model, LocalGraph.of_state(store.state(), store.cache), rng)
        check(model, LocalGraph.of_state(store.state()), rng)


def test_mapped_again_and_retired(store: Store) -> None:
    rng = Random(1)
    model = a_graph(rng)
    write(store, change_between(NOTHING, model))
    store.fold(force=True)
    first = store.state()
    assert not mapped.at_hand(first, store.cache)
    opened = LocalGraph.of_state(first, store.cache)
    assert mapped.at_hand(first, store.cache)
    later = changed(rng, model, 20)
    write(store, change_between(model, later))
    store.fold(force=True)
    LocalGraph.of_state(store.state(), store.cache)
    assert [folder.name for folder in store.cache.iterdir()] == [mapped.digest(store.state())]
    check(model, opened, rng)  # what was mapped stays readable


def test_a_torn_folder_is_built_again(store: Store) -> None:
    rng = Random(2)
    model = a_graph(rng)
    write(store, change_between(NOTHING, model))
    store.fold(force=True)
    LocalGraph.of_state(store.state(), store.cache)
    folder = store.cache / mapped.digest(store.state())
    (folder / "out_near.npy").write_bytes(b"")
    check(model, LocalGraph.of_state(store.state(), store.cache), rng)
    assert (folder / "out_near.npy").stat().st_size > 0
    (folder / "meta.json").write_text("{")
    check(model, LocalGraph.of_state(store.state(), store.cache), rng)


def test_a_cache_that_cannot_be_written(store: Store, tmp_path: Path) -> None:
    rng = Random(3)
    model = a_graph(rng)
    write(store, change_between(NOTHING, model))
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    check(model, LocalGraph.of_state(store.state(), blocked), rng)
