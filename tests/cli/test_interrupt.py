"""Long work: a progress line on a terminal only, and Ctrl-C, which ends it and leaves the store whole."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import oemviews as ov
from oemviews.edits import NetChange
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.store import Store

LENGTH = 300_000
ALL = "select x from L.# x"  # as many levels as the chain is long
IMPATIENT = "import oemviews.cli.output as o; o._PATIENCE = 0.1; from oemviews.cli import main; main()"


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects that lead one to the next: a walk along them takes long, and little memory."""
    path, oids = tmp_path_factory.mktemp("chain") / "s", np.arange(1, LENGTH + 1)
    empty = [pa.nulls(LENGTH, OBJECTS.field(name).type) for name in ("text", "integer", "number", "shape")]
    objects = pa.table([oids, ["complex"] * LENGTH, *empty], schema=OBJECTS)
    edges = pa.table(
        [np.arange(LENGTH), ["L"] + ["next"] * (LENGTH - 1), oids, oids, pa.nulls(LENGTH, pa.string())],
        schema=EDGES,
    )
    store = Store.create(path)
    store.append(NetChange(created=objects, plus=edges), kind="load", what="a chain")
    store.close()
    return path


def started(*arguments: object, stderr: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", IMPATIENT, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)


def read_until(handle: int, word: bytes) -> bytes:
    """What comes until a word does, or the end."""
    text = b""
    while word not in text:
        try:
            piece = os.read(handle, 4096)
        except OSError:  # how the end of a terminal is told
            break
        if not piece:
            break
        text += piece
    return text


def test_progress_shows_on_a_terminal_and_an_interrupt_ends_the_work(chain: Path) -> None:
    ours, theirs = pty.openpty()
    running = started("query", chain, ALL, stderr=theirs)
    os.close(theirs)
    shown = read_until(ours, b" rows")
    assert b"asking: " in shown
    assert b" s; " in shown
    running.send_signal(signal.SIGINT)
    rest = read_until(ours, b"\n")
    out, _ = running.communicate(timeout=60)
    rest += read_until(ours, b"the end")
    os.close(ours)
    assert (running.returncode, out) == (130, b"")
    last = rest.replace(b"\r\n", b"\n").split(b"\033[K")[-1]
    assert last.count(b"\n") == 1, last
    assert last.rstrip().endswith(b"interrupted")
    with ov.open(chain) as db:
        assert db.batch == 1


def test_no_progress_where_nobody_watches(chain: Path) -> None:
    running = started("query", chain, "select count(L.#)", "--format", "json", stderr=subprocess.PIPE)
    out, err = running.communicate(timeout=300)
    assert (running.returncode, err) == (0, b"")
    assert json.loads(out)["count"]["value"] == LENGTH


def test_an_interrupted_log_holds_whole_batches_and_resumes(store: Path, tmp_path: Path) -> None:
    edits, log = 2_000, tmp_path / "long.jsonl"
    log.write_text("".join(f'{{"op": "chg", "oid": 5, "new": {i}}}\n' for i in range(edits)))
    running = started("apply", store, log, "--batch", 1, "--json", stderr=subprocess.PIPE)
    assert running.stdout is not None
    reported = [json.loads(running.stdout.readline())["batch"] for _ in range(3)]
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err.startswith(b"error: interrupted; no batch is ever stored in part")
    assert err.count(b"\n") == 1
    reported += [json.loads(line)["batch"] for line in out.splitlines()]
    with ov.open(store) as db:
        assert db.batch - reported[-1] in (0, 1)  # one may be stored and not reported yet
        assert db.query("select &5").rows[0]["&5"].value == db.batch - 2
        (next_, *_) = db.apply_log(log, batch=edits)
        assert next_.edits == edits - (db.batch - 2)
        assert db.query("select &5").rows[0]["&5"].value == edits - 1
