"""No room for a file: the act is refused in a sentence, and the state before it stays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oemviews.store.store import Store
from tests.store.life import prepare
from tests.store.plain import Plain, as_plain

# A limit on the size of a file gives the same error as a full disk, at the same places.
PROGRAM = """
import resource, sys
from oemviews.errors import OemError
from oemviews.store.store import Store
from tests.store.life import ACTS, small_sizes
if sys.argv[2] == "load":
    small_sizes()
store = Store.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    ACTS[sys.argv[2]](store)
except OemError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Plain]]:
    path = tmp_path_factory.mktemp("template") / "store"
    return path, prepare(path)


@pytest.mark.parametrize("limit", [300, 1500])
@pytest.mark.parametrize("act", ["append", "load", "fold", "changes", "compact"])
def test_a_disk_that_is_full(
    act: str, limit: int, template: tuple[Path, list[Plain]], tmp_path: Path
) -> None:
    path, history = shutil.copytree(template[0], tmp_path / "store"), template[1]
    command = [sys.executable, "-c", PROGRAM, str(path), act, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("StoreError cannot "), done.stderr
    assert "othing of" in done.stdout
    store = Store.open(path)
    assert store.head == len(history) - 1
    assert all(as_plain(store.state(batch)) == history[batch] for batch in range(len(history)))
    assert store.view_stamp("Kept") == store.head - 1
