"""`%%lorel` in a notebook."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import oemviews as ov
from oemviews.answers.answer import Answer
from oemviews.jupyter import Lorel, load_ipython_extension


@pytest.fixture
def db(tmp_path: Path) -> Any:
    with (
        ov.create(tmp_path / "guide.store") as opened,
        as_file(files("oemviews") / "data" / "guide.oem") as guide,
    ):
        opened.load(guide, name="Guide")
        yield opened


def test_a_cell_runs_on_the_one_database(db: ov.Database) -> None:
    magic = Lorel(SimpleNamespace(user_ns={"db": db, "other": 3}))
    found = magic("", "select Guide.Restaurant.Name")
    assert isinstance(found, Answer)
    assert found.oids == [5, 7, 11]


def test_a_line_chooses_a_database_or_opens_a_store(db: ov.Database) -> None:
    magic = Lorel(SimpleNamespace(user_ns={"db": db}))
    assert magic("db") is db
    assert magic(str(db.path)).names == {"Guide": 1}
    assert magic("", "update &5 := 1").batch == 2


def test_errors_are_shown_not_raised(db: ov.Database) -> None:
    magic = Lorel(SimpleNamespace(user_ns={"db": db}))
    fault = magic("", "select Guid.<")
    assert "<pre" in fault._repr_html_()
    assert "line 1" in repr(fault)
    assert "quotation" in repr(magic("'guide.store", "select Guide"))
    assert "wanted one" in repr(Lorel(SimpleNamespace(user_ns={}))("", "select Guide"))


def test_the_extension_registers_the_magic() -> None:
    registered: list[tuple[object, str, str]] = []
    shell = SimpleNamespace(user_ns={}, register_magic_function=lambda *given: registered.append(given))
    load_ipython_extension(shell)
    ov.load_ipython_extension(shell)
    assert [given[1:] for given in registered] == [("line_cell", "lorel")] * 2
