"""Edit logs as files: compressed by any name, cut off, through a pipe."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
import zstandard

from tests.commands import Cli
from tests.contract.conftest import Process, jsonl
from tests.contract.test_edit_logs import SOUP, head, names


@pytest.mark.parametrize("pack", ["plain", "gzip", "zstd"])
def test_compressed_logs(cli: Cli, store: Path, tmp_path: Path, pack: str) -> None:
    data = jsonl(*SOUP).encode()
    path = tmp_path / {"plain": "a.jsonl", "gzip": "a.jsonl.gz", "zstd": "a.jsonl.zst"}[pack]
    path.write_bytes({"plain": data, "gzip": gzip.compress(data), "zstd": zstandard.compress(data)}[pack])
    assert cli("apply", store, path).code == 0
    assert "Lentil Soup" in names(cli, store)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_compressed_log_may_be_called_anything(
    cli: Cli, store: Path, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "tonight").write_bytes(pack(jsonl(*SOUP).encode()))
    assert cli("apply", store, tmp_path / "tonight").code == 0
    assert "Lentil Soup" in names(cli, store)


def test_a_log_through_a_named_pipe(process: Process, store: Path, tmp_path: Path) -> None:
    """As a shell makes one for `apply STORE <(...)`; like standard input it has no identity of its own."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for edges in (1, 0):
        writer = Thread(target=pipe.write_bytes, args=(b"<Ins,&3,Entree,&13>\n",))
        writer.start()
        [line] = process("apply", store, pipe, "--json").lines
        writer.join()
        assert (line["edits"], line["net"]) == (1, edges)


def test_a_compressed_log_that_is_cut_off(cli: Cli, store: Path, tmp_path: Path) -> None:
    data = jsonl(*SOUP * 50).encode()
    for name, packed in [("a.gz", gzip.compress(data)), ("a.zst", zstandard.compress(data))]:
        (tmp_path / name).write_bytes(packed[: len(packed) // 2])
        done = cli("apply", store, tmp_path / name)
        assert (done.code, name in done.err) == (2, True)
    assert head(store) == 1
