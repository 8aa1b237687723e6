"""The names of the Python front door, used as the contract writes them (section 1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import oemviews as ov
from tests.commands import FAVORITE


def test_the_example_of_the_contract(tmp_path: Path) -> None:
    (tmp_path / "world.json").write_text('[{"cca3": "A", "borders": ["B"]}, {"cca3": "B", "borders": []}]')
    with ov.create(tmp_path / "guide.store", engine="local") as db:
        db.load("oemviews/data/guide.oem", name="Guide")
        db.load(tmp_path / "world.json", name="World", keys={"borders": "cca3"})
        query = 'select e from Guide.Restaurant r, r.Entree e where r.Name = "Baghdad Cafe"'
        answer = db.query(query)
        assert answer.oids == [9, 10]
        assert len(list(answer.rows)) == answer.to_arrow().num_rows == len(answer.to_pandas()) == 2
        assert [json.loads(line)["e"]["oid"] for line in answer.to_json().splitlines()] == [9, 10]

        view = db.define(FAVORITE)
        assert view.statements(ov.Insert(10, "Ingredient", 15))
        edits = [ov.Insert(10, "Ingredient", 15), ov.Delete(9, "Ingredient", 15), ov.Change(5, "Hunan Wok")]
        report = db.apply(edits)
        assert view.primaries == {10}
        assert view.explain()
        assert list(db.views) == ["FavoriteEntrees"]
        assert all(each.equal for each in db.check())
        assert view.changes(report.batch - 1, report.batch)
        assert db.at(batch=3).query("select &5").to_json() != db.query("select &5").to_json()

        with db.edits() as e:
            soup = e.new()
            e.insert(3, "Entree", soup)
            e.insert(soup, "Name", e.new("Lentil Soup"))
        assert len(db.query(query).oids) == 3
        statements = view.statements(ov.Insert(10, "Ingredient", 15))
        assert repr(statements).startswith("ADDprim +=\nselect e\n")
        assert db.views.get("Nobody") is None
        for shown in (db, view, answer, report, db.views, statements):
            assert repr(shown)
            assert shown._repr_html_()


def half_done(db: ov.Database) -> None:
    with db.edits() as e:
        e.insert(3, "Entree", e.new())
        raise ZeroDivisionError


def test_a_block_that_raises_stores_nothing(store: Path) -> None:
    with ov.open(store) as db:
        with pytest.raises(ZeroDivisionError):
            half_done(db)
        assert db.batch == 1
        assert db.apply([ov.Insert(1, "x", 2)], id="mine").batch == 2
        db.apply([ov.Insert(1, "x", 2)], id="mine")
        assert db.batch == 2


def test_every_error_is_an_oem_error(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ov.OemError):
        ov.open(tmp_path / "nowhere")
    with pytest.raises(ov.OemError):
        ov.create(store)
    with ov.open(store) as db:
        for fails in (
            lambda: db.query("select"),
            lambda: db.query("select Nobody"),
            lambda: db.define("define view V as W = select Nobody"),
            lambda: db.apply([ov.Insert(999, "a", 1)]),
            lambda: db.apply("nonsense"),
            lambda: db.load(tmp_path / "no.json", name="X"),
            lambda: db.load("oemviews/data/guide.oem", name="Guide"),
            lambda: db.drop("Nobody"),
            lambda: db.at(batch=99),
            lambda: db.export("Nobody"),
            lambda: db.view("Nobody"),
        ):
            with pytest.raises(ov.OemError):
                fails()
        assert db.batch == 1
