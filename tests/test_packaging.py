"""What is shipped: every file that the packages read at run time, and the front door of the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("package", ["lorel", "oemviews"])
def test_every_data_file_is_package_data(package: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"][package]
    folder = ROOT / package
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    data = [file for file in files if not file.endswith((".py", ".pyc"))]
    assert "py.typed" in data
    assert not [file for file in data if not any(fnmatch(file, pattern) for pattern in patterns)]


def test_make_alone_lists_every_target() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("no make")
    listed = subprocess.run([make, "--silent"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    assert set(re.findall(r"^  make (\w+)", listed, re.MULTILINE)) == set(phony[1].split()) - {"java"}
