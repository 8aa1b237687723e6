"""A process is killed at every named write point; the next one finds the state before the act or after it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from oemviews.errors import StoreError
from oemviews.store.points import POINTS, VARIABLE
from oemviews.store.store import Store
from tests.store.life import ACTS, KEPT, added, prepare, small_sizes
from tests.store.plain import Plain, as_plain

ACT_OF = {
    "create": "create",
    "log": "append",
    "load": "load",
    "merge": "merge",
    "changes": "changes",
    "fold": "fold",
    "view": "fold_view",
    "view:set-aside": "compact",
    "compact": "compact",
}


def act_of(point: str) -> str:
    return ACT_OF.get(point) or ACT_OF[point.split(":")[0]]


def killed_at(point: str, store: Path) -> None:
    command = [sys.executable, "-m", "tests.store.life", str(store), act_of(point)]
    done = subprocess.run(command, env={**os.environ, VARIABLE: point}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Plain]]]:
    path = tmp_path_factory.mktemp("template") / "store"
    with pytest.MonkeyPatch.context() as patch:
        small_sizes(patch.setattr)
        yield path, prepare(path)


def primaries(store: Store) -> Counter[int]:
    return Counter({row["dst"]: row["n"] for row in store.view_rows("Kept").to_pylist()})


@pytest.mark.parametrize("point", [point for point in POINTS if point != "create:made"])
def test_killed_at(point: str, template: tuple[Path, list[Plain]], tmp_path: Path) -> None:
    source, history = template
    path, act = tmp_path / "store", act_of(point)
    shutil.copytree(source, path)
    before = primaries(Store.open(path))
    after = before + Counter([40]) if act == "changes" else before
    killed_at(point, path)

    store, graph = Store.open(path), history[-1].copy()
    grown = [*history]
    if store.head == len(history):
        assert act in ("append", "load")
        added(graph)
        grown.append(graph.copy())
    assert store.head == len(grown) - 1
    for batch in range(store.floor, store.head + 1):
        assert as_plain(store.state(batch)) == grown[batch]
    assert primaries(store) in (before, after)
    lines = [info.lines for info in store.consumed("a.log")]
    assert lines == [
        10,
        11,
        12,
        13,
        14,
        15,
        *([None] if act == "append" and len(grown) > len(history) else []),
    ]

    if act != "changes" or primaries(store) == before:
        ACTS[act](store)
    if act in ("append", "load"):
        added(graph)
    assert as_plain(store.state()) == graph
    assert as_plain(Store.open(path).state()) == graph
    assert primaries(store) == after
    store.compact(keep_batches=KEPT)
    named = {*store.state().edge_files, *store.state().object_files}
    found = {str(file) for name in ("edges", "objects") for file in (path / name).glob("*.parquet")}
    assert found == named
    assert as_plain(Store.open(path).state()) == graph


def test_killed_while_a_store_is_made(tmp_path: Path) -> None:
    path = tmp_path / "store"
    killed_at("create:made", path)
    with pytest.raises(StoreError, match=r"not a store.*do it again"):
        Store.open(path)
    assert Store.create(path).head == 0
