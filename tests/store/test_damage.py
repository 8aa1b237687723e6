"""A torn, missing or foreign file is recognised, by name, with what can be saved; and what is told works."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oemviews.errors import DamagedStore, StoreError
from oemviews.store.store import Store
from tests.store.plain import Plain, as_plain, edits, inserts


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def foreign(path: Path) -> None:
    pq.write_table(pa.table({"colour": ["red"]}), path)


def text(path: Path) -> None:
    path.write_text("not a Parquet file at all")


DAMAGES: dict[Callable[[Path], None], str] = {
    torn: "is torn or no Parquet file",
    text: "is torn or no Parquet file",
    foreign: "is not a file of this store: it lacks",
    Path.unlink: "is missing",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plain]:
    """A store of 50 batches, folded at the 25th: its tables have checkpoints and later commits."""
    rng, graph = random.Random(1), Plain()
    store = Store.create(tmp_path_factory.mktemp("template") / "store")
    for batch in range(50):
        store.append(inserts(graph, 2, rng) if batch % 2 else edits(graph, 2, rng), kind="edit", what="")
        if batch == 25:
            store.fold(force=True)
    return store.path, graph


@pytest.fixture
def graph(template: tuple[Path, Plain]) -> Plain:
    return template[1]


@pytest.fixture
def path(template: tuple[Path, Plain], tmp_path: Path) -> Path:
    return Path(shutil.copytree(template[0], tmp_path / "store"))


def one_file(path: Path, table: str) -> Path:
    return sorted((path / table).glob("*.parquet"))[0]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("table", ["edges", "objects"])
def test_a_fold_is_made_again_from_the_log(
    damage: Callable[[Path], None], table: str, path: Path, graph: Plain
) -> None:
    file = one_file(path, table)
    damage(file)
    with pytest.raises(DamagedStore, match=f"{file} {DAMAGES[damage]}.*remove {path / table} and"):
        as_plain(Store.open(path).state())
    shutil.rmtree(path / table)
    store = Store.open(path)
    assert as_plain(store.state()) == graph
    store.compact()
    assert as_plain(Store.open(path).state()) == graph


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_log_file_is_named(damage: Callable[[Path], None], path: Path) -> None:
    for file in (path / "log").glob("*.parquet"):
        damage(file)
    with pytest.raises(DamagedStore, match=f"{path / 'log'}/.* {DAMAGES[damage]}.*Restore the file"):
        Store.open(path).state()


def test_a_fold_removed_after_the_log_was_cut_cannot_be_made_again(path: Path) -> None:
    Store.open(path).compact(keep_batches=1)
    shutil.rmtree(path / "objects")
    with pytest.raises(DamagedStore, match="objects is missing, and the log was compacted"):
        Store.open(path)


def commits(path: Path) -> list[Path]:
    return sorted((path / "log" / "_delta_log").glob("*[0-9].json"))


def test_a_torn_last_commit_can_be_removed(path: Path) -> None:
    torn(commits(path)[-1])
    with pytest.raises(
        DamagedStore, match=f"{commits(path)[-1]} is torn .*remove it: all commits before it are whole"
    ):
        Store.open(path)
    commits(path)[-1].unlink()
    store = Store.open(path)
    assert store.head == 49
    assert (
        store.append(inserts(Plain(next_oid=store.next_oid), 1, random.Random(1)), kind="edit", what="").batch
        == 50
    )


def test_an_empty_last_commit_can_be_removed(path: Path) -> None:
    commits(path)[-1].write_bytes(b"")
    with pytest.raises(DamagedStore, match=r"torn \(it is empty\)"):
        Store.open(path)
    commits(path)[-1].unlink()
    assert Store.open(path).head == 49


def test_a_missing_commit_is_named(path: Path) -> None:
    missing = commits(path)[-3]
    missing.unlink()
    with pytest.raises(DamagedStore, match=f"{missing} is missing"):
        Store.open(path)


def test_a_torn_checkpoint_is_only_a_summary(path: Path, graph: Plain) -> None:
    checkpoint = sorted((path / "log" / "_delta_log").glob("*.checkpoint.parquet"))[-1]
    torn(checkpoint)
    with pytest.raises(DamagedStore, match=f"{checkpoint} is torn.*remove it and _last_checkpoint beside it"):
        Store.open(path)
    checkpoint.unlink()
    (checkpoint.parent / "_last_checkpoint").unlink()
    assert as_plain(Store.open(path).state()) == graph


@pytest.mark.parametrize("table", ["log", "changes"])
def test_a_table_that_is_missing_or_another_one(table: str, path: Path) -> None:
    shutil.rmtree(path / table)
    with pytest.raises(DamagedStore, match=f"{path / table} is missing"):
        Store.open(path)
    shutil.copytree(path / "edges", path / table)
    with pytest.raises(
        DamagedStore, match=f"{path / table} is not a table of this store: it has the columns src"
    ):
        Store.open(path)


def test_the_marker(path: Path, graph: Plain) -> None:
    marker = path / "store.json"
    marker.write_text('{"format": 99}')
    with pytest.raises(StoreError, match="has format 99, and this oemviews reads formats up to 1"):
        Store.open(path)
    marker.write_text("{")
    with pytest.raises(DamagedStore, match=r'is torn or foreign.*Write {"format": 1} into it'):
        Store.open(path)
    marker.write_text('{"format": 1}')
    assert as_plain(Store.open(path).state()) == graph


def test_files_without_an_owner_do_no_harm_and_go_with_a_compaction(path: Path, graph: Plain) -> None:
    for table in ("log", "edges", "objects", "changes"):
        (path / table / "left.parquet").write_bytes(b"half a fi")
    store = Store.open(path)
    assert as_plain(store.state()) == graph
    store.compact()
    assert not list(path.rglob("left.parquet"))
    assert as_plain(Store.open(path).state()) == graph


def test_caches_may_be_deleted(path: Path, graph: Plain) -> None:
    store = Store.open(path)
    store.cache.mkdir()
    (store.cache / "anything").write_text("x")
    shutil.rmtree(store.cache)
    assert as_plain(Store.open(path).state()) == graph
