"""The tables are plain Delta and Parquet: programs that know nothing of this one read them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from oemviews.store.store import Store
from tests.store.plain import Plain, as_plain, edits, inserts


@pytest.fixture
def graph() -> Plain:
    return Plain()


@pytest.fixture
def store(tmp_path: Path, graph: Plain) -> Store:
    rng, store = random.Random(1), Store.create(tmp_path / "store")
    for batch in range(45):
        store.append(inserts(graph, 5, rng) if batch < 3 else edits(graph, 2, rng), kind="edit", what="")
        if batch % 20 == 0:
            store.fold(force=True)
    store.compact()
    return store


def test_polars_reads_log_and_folds(store: Store, graph: Plain) -> None:
    import polars as pl

    edges = pl.scan_delta(str(store.path / "edges")).collect()
    assert set(edges.select("src", "label", "dst").iter_rows()) == set(graph.edges)
    objects = pl.scan_delta(str(store.path / "objects")).collect()
    assert dict(objects.select("oid", "type").iter_rows()) == {
        o: row[0] for o, (row, _) in graph.objects.items()
    }
    log = pl.scan_delta(str(store.path / "log")).filter(pl.col("op") == "batch").collect()
    assert sorted(log["batch"].to_list()) == list(range(1, 46))


def test_polars_reads_an_earlier_version(tmp_path: Path) -> None:
    import polars as pl

    graph, store = Plain(), Store.create(tmp_path / "store")
    store.append(inserts(graph, 5, random.Random(1)), kind="edit", what="")
    store.fold(force=True)
    first = store._tables.edges.version
    store.append(inserts(graph, 5, random.Random(1)), kind="edit", what="")
    store.fold(force=True)
    assert [len(pl.read_delta(str(store.path / "edges"), version=v)) for v in (first, first + 1)] == [5, 10]


def test_duckdb_reads_the_files_of_a_state(store: Store, graph: Plain) -> None:
    import duckdb

    state = store.state()
    assert as_plain(state) == graph
    with duckdb.connect() as base:
        found = base.execute(
            "select src, label, dst from read_parquet($1)", [list(state.edge_files)]
        ).fetchall()
    assert set(found) == set(graph.edges)


def test_the_protocol_stays_one_that_every_delta_reader_knows(store: Store) -> None:
    from deltalake import DeltaTable

    for name in ("log", "edges", "objects", "changes"):
        protocol = DeltaTable(store.path / name).protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
