"""What does not need Spark does not load it, and starts no Java."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest

import oemviews as ov


def modules_after(program: str, **environment: str) -> set[str]:
    """Modules that a fresh process has loaded at the end of a program."""
    text = f"import sys\n{program}\nprint(' '.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(ran.stdout.splitlines()[-1].split())


def loaded_after(program: str, **environment: str) -> set[str]:
    """Top-level packages among them."""
    return {name.split(".")[0] for name in modules_after(program, **environment)}


def test_the_language_is_pure() -> None:
    program = (
        "import lorel.parser, lorel.printer, lorel.normalise, lorel.planner\nlorel.parser.parse('select x')"
    )
    assert not loaded_after(program) & {"pyspark", "numpy", "pyarrow", "oemviews"}


def test_import_is_light() -> None:
    assert not loaded_after("import oemviews") & {"pyspark", "pandas", "deltalake", "rich", "typer"}


@pytest.mark.parametrize(
    "command",
    [
        ("query", "STORE", "select Guide.Restaurant.Name"),
        ("guide", "STORE"),
        ("define", "STORE", "define view V = select r from Guide.Restaurant r"),
        ("apply", "STORE", "--statement", "update &5 := 1"),
        ("export", "STORE", "Guide"),
        ("check", "STORE"),
        ("log", "STORE"),
        ("compact", "STORE"),
    ],
    ids=lambda command: command[0],
)
def test_commands_run_without_java(tmp_path: Path, command: tuple[str, ...]) -> None:
    store = tmp_path / "guide.store"
    with ov.create(store) as db, as_file(files("oemviews") / "data" / "guide.oem") as guide:
        db.load(guide, name="Guide")
    arguments = [str(store) if word == "STORE" else word for word in command]
    program = f"from oemviews.cli import run\nassert run({arguments!r}) == 0"
    nowhere = str(tmp_path / "no-java")
    found = loaded_after(program, JAVA_HOME=nowhere, PATH=nowhere)
    assert not found & {"pyspark", "py4j", "graphframes"}


def test_a_query_loads_only_what_it_needs(tmp_path: Path) -> None:
    store = tmp_path / "guide.store"
    with ov.create(store) as db, as_file(files("oemviews") / "data" / "guide.oem") as guide:
        db.load(guide, name="Guide")
    asked = ["query", str(store), "select Guide.Restaurant.Name"]
    found = modules_after(f"from oemviews.cli import main\ntry: main({asked!r})\nexcept SystemExit: pass")
    assert "oemviews.front.querying" in found
    assert not found & {"pandas", "rich", "lxml", "numpy.random", "numpy.ma"}
    assert not found & {
        "oemviews.maintain",
        "oemviews.views",
        "oemviews.documents.load",
        "oemviews.front.keeping",
    }
