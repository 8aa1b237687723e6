"""The HTML of answers, views and reports, as a browser shows it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oemviews as ov

ROOT = Path(__file__).parents[1]
HOSTILE = "<script>document.title = 'run'</script> & <b>\"bold\"</b>"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
# What a reader sees: the title, and the cells of every table that take up room.
LOOK = """
const seen = [...document.querySelectorAll("table")].map(t => [...t.rows].map(r => [...r.cells]
  .filter(c => c.getBoundingClientRect().width > 0).map(c => c.innerText)));
const told = {title: document.title, tables: seen, text: document.body.innerText,
  width: document.documentElement.scrollWidth};
const pre = document.createElement("pre"); pre.id = "told"; pre.textContent = JSON.stringify(told);
document.body.append(pre);
"""

Look = Callable[[str], dict[str, Any]]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Show a piece of HTML in a browser; what a reader sees of it."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no browser: install chromium")

    def looked(piece: str) -> dict[str, Any]:
        page = tmp_path / "page.html"
        page.write_text(
            f"<!doctype html><meta charset=utf-8><title>still</title><body>{piece}<script>{LOOK}</script>",
            encoding="utf-8",
        )
        command = [browser, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
        assert told is not None, done.stdout
        found: dict[str, Any] = json.loads(html.unescape(told[1]))
        return found

    return looked


@pytest.fixture
def db(tmp_path: Path) -> ov.Database:
    made = ov.create(tmp_path / "guide.store")
    made.load(ROOT / "oemviews" / "data" / "guide.oem", name="Guide")
    return made


@pytest.mark.browser
def test_an_answer(look: Look, db: ov.Database) -> None:
    seen = look(db.query("select r.Name, r.Rating from Guide.Restaurant r")._repr_html_())
    assert seen["tables"] == [
        [["Name", "Rating"], ['&7 "Baghdad Cafe"', "&8 4"], ['&11 "Hunan Palace"', '&12 "4.0"']]
    ]
    assert "2 rows" in seen["text"]


@pytest.mark.browser
def test_values_are_text_and_never_run(look: Look, db: ov.Database) -> None:
    db.apply([ov.Change(5, HOSTILE)])
    seen = look(db.query("select r.Name from Guide.Restaurant r where r.Category = 'Thai'")._repr_html_())
    assert seen["title"] == "still"
    ((_, (cell,)),) = seen["tables"]
    assert "<script>" in cell
    assert '<b>\\"bold\\"</b>' in cell


@pytest.mark.browser
def test_a_view_and_a_report(look: Look, db: ov.Database) -> None:
    view = db.define(
        "define view Favorites as Entree = select e from Guide.Restaurant r, r.Entree e "
        'where r.Name = "Baghdad Cafe" and e.Ingredient = "Mushroom" with e.Name n'
    )
    report = look(db.apply("<Ins,&10,Ingredient,&15>")._repr_html_())
    ((header, row),) = report["tables"]
    told = dict(zip(header, row, strict=True))
    assert (told["view"], told["relevant"], told["method"]) == ("Favorites", "1", "counting")
    assert report["width"] <= 1600
    seen = look(view._repr_html_())
    assert ["n", "&10", "Name", '&16 "Beef Stew"'] in seen["tables"][-1]
    assert "Favorites" in seen["text"]
