"""The product from outside: its command line, in this process and in others, and stores to try it on.

Every command run through `cli` is held to what the contract says of all of them: an exit code from 0 to 4,
no traceback, and nothing on standard output when the input was bad (batches of a log that came before apart).
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from oemviews.cli import run
from tests.commands import FAVORITE, Cli, Ran, guide_store

Process: TypeAlias = Callable[..., Ran]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command in this process; `stdin` is what it can read."""

    def ran(*arguments: object, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert code in range(5)
        assert "Traceback" not in printed.out + printed.err
        assert "\x1b" not in printed.out + printed.err, "colour is for a terminal"
        if code >= 2 and arguments[0] not in ("apply", "doctor"):
            assert printed.out == ""
        if code >= 2:
            assert printed.err.strip(), "an error says what is wrong"
        return Ran(code, printed.out, printed.err)

    return ran


@pytest.fixture(scope="session")
def process() -> Process:
    """Run a command in a process of its own, as a shell would."""

    def ran(*arguments: object, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "oemviews", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env={**os.environ, **(env or {})},
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return ran


@pytest.fixture(scope="session")
def guide_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return guide_store(tmp_path_factory.mktemp("contract"))


@pytest.fixture(scope="session")
def viewed_template(guide_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copytree(guide_template, tmp_path_factory.mktemp("contract") / "viewed.store"))
    assert run(["define", str(path), FAVORITE]) == 0
    return path


@pytest.fixture
def store(guide_template: Path, tmp_path: Path) -> Path:
    """A store of the test's own: the Guide is batch 1."""
    return Path(shutil.copytree(guide_template, tmp_path / "guide.store"))


@pytest.fixture
def viewed(viewed_template: Path, tmp_path: Path) -> Path:
    """A store of the test's own: the Guide is batch 1, FavoriteEntrees batch 2."""
    return Path(shutil.copytree(viewed_template, tmp_path / "viewed.store"))


def jsonl(*edits: object) -> str:
    """An edit log: what is a string goes in as it stands."""
    return "".join(f"{edit if isinstance(edit, str) else json.dumps(edit)}\n" for edit in edits)


def written(path: Path, edits: Sequence[object]) -> Path:
    """The same in a file."""
    path.write_text(jsonl(*edits), "utf-8")
    return path
