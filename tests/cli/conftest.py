"""A store with the Guide in it, and the command line run in this process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oemviews.cli import run
from tests.commands import FAVORITE, Cli, Ran, guide_store


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command; what it printed and its exit code."""

    def ran(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return ran


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return guide_store(tmp_path_factory.mktemp("template"))


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Path:
    """A store of its own for each test, with the Guide as batch 1."""
    return Path(shutil.copytree(template, tmp_path / "guide.store"))


@pytest.fixture
def viewed(store: Path) -> Path:
    """The same with the view of the 1998 paper as batch 2."""
    assert run(["define", str(store), FAVORITE]) == 0
    return store
