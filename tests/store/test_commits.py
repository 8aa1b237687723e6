"""Commits written by hand: as delta-rs reads them, whole or not at all, and never over another one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from deltalake import DeltaTable

from oemviews.errors import StoreError
from oemviews.store.commits import commit_file, write_commit
from oemviews.store.delta import CHECKPOINT_EVERY, Table
from oemviews.store.schema import VIEW_ROWS

ROWS = VIEW_ROWS.empty_table()


def made(tmp_path: Path) -> Table:
    return Table.create(str(tmp_path / "t"), VIEW_ROWS, ())


def test_delta_rs_reads_files_stamps_and_notes(tmp_path: Path) -> None:
    table = made(tmp_path)
    first, second = table.write(ROWS), table.write(ROWS)
    table.commit([first], stamps={"stamp": 7})
    table.commit([second], [first], stamps={"stamp": 8, "é\n": 2}, about={"why": "test"})
    other = DeltaTable(table.folder)
    assert other.version() == table.version == 2
    assert [os.path.basename(uri) for uri in other.file_uris()] == [second.path]
    assert (other.transaction_version("stamp"), other.transaction_version("é\n")) == (8, 2)
    assert other.history(1)[0]["why"] == "test"


def test_a_version_is_never_written_twice_and_nothing_is_left_over(tmp_path: Path) -> None:
    table = made(tmp_path)
    before = Path(commit_file(table.folder, 0)).read_bytes()
    with pytest.raises(FileExistsError):
        write_commit(table.folder, 0, 1, [], {"stamp": 1}, {})
    assert Path(commit_file(table.folder, 0)).read_bytes() == before
    assert [path.name for path in Path(table.folder, "_delta_log").iterdir()] == [f"{0:020d}.json"]


def test_checkpoints_come_now_and_then_and_one_that_fails_takes_no_commit_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(tmp_path)
    for number in range(1, CHECKPOINT_EVERY + 1):
        table.commit(stamps={"stamp": number})
    assert Path(table.folder, "_delta_log", f"{CHECKPOINT_EVERY:020d}.checkpoint.parquet").exists()
    assert Table.open(table.folder, VIEW_ROWS, ()).stamp() == CHECKPOINT_EVERY

    def failing(self: Table) -> None:
        raise StoreError("no room for it")

    monkeypatch.setattr(Table, "checkpoint", failing)
    last = 2 * CHECKPOINT_EVERY
    for number in range(CHECKPOINT_EVERY + 1, last + 1):
        table.commit(stamps={"stamp": number})
    assert Table.open(table.folder, VIEW_ROWS, ()).stamp() == last
