"""The Python front door: what interface.md promises, and what happens beside the straight road."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

import oemviews as ov
from oemviews.edits import NetChange
from oemviews.front.database import Database
from oemviews.model import COMPLEX

FAVORITE = (
    "define view FavoriteEntrees as Entrees = select e from Guide.Restaurant r, r.Entree e "
    'where r.Name = "Baghdad Cafe" and e.Ingredient = "Mushroom" with e.Name n, e.Ingredient i'
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "guide.store"
    with ov.create(path) as db, as_file(files("oemviews") / "data" / "guide.oem") as guide:
        db.load(guide, name="Guide")
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "guide.store"))


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with ov.open(path) as opened:
        yield opened


def test_the_trace_of_the_paper(db: Database) -> None:
    view = db.define(FAVORITE)
    trace: list[tuple[ov.Insert | ov.Delete | ov.Change, set[int]]] = [
        (ov.Insert(10, "Ingredient", 15), {9, 10}),
        (ov.Delete(9, "Ingredient", 15), {10}),
        (ov.Change(5, "Baghdad Cafe"), {10}),
        (ov.Insert(2, "Entree", 13), {10}),
        (ov.Insert(13, "Ingredient", 15), {10, 13}),
        (ov.Insert(4, "Name", 7), {10, 13}),
        (ov.Delete(3, "Entree", 10), {10, 13}),
        (ov.Change(15, "Truffle"), set()),
        (ov.Change(19, "Mushroom"), {13}),
    ]
    for edit, primaries in trace:
        db.apply([edit])
        assert view.primaries == primaries
        assert all(checked.equal for checked in db.check())
    assert [tuple(edge) for edge in view.edges] == [
        ("n", 13, "Name", 18),
        ("i", 13, "Ingredient", 15),
        ("i", 13, "Ingredient", 17),
        ("i", 13, "Ingredient", 19),
    ]


def test_an_answer_in_every_form(db: Database) -> None:
    answer = db.query("select r, r.Name from Guide.Restaurant r")
    assert answer.oids == [2, 5, 3, 7, 4, 11]
    assert answer.rows[0]["Name"].value == "Thai City"
    assert answer.rows[0]["r"].value is COMPLEX
    assert answer.to_arrow()["Name"].to_pylist()[1] == {
        "oid": 7,
        "type": "string",
        "text": "Baghdad Cafe",
        "integer": None,
        "number": None,
    }
    frame = answer.to_pandas()
    assert frame["Name"].tolist() == ["Thai City", "Baghdad Cafe", "Hunan Palace"]
    assert frame["r.oid"].tolist() == [2, 3, 4]
    assert answer.to_json().splitlines()[0].startswith('{"r":{"oid":2,"type":"complex"}')
    assert "3 rows" in repr(answer)
    assert "<table>" in answer._repr_html_()
    assert len(answer) == 3


def test_html_is_escaped(db: Database) -> None:
    db.apply([ov.Change(5, "<script>")])
    assert "<script>" not in db.query("select &5")._repr_html_()


def test_an_answer_keeps_the_state_it_was_asked_on(db: Database) -> None:
    answer = db.query("select &5")
    db.apply([ov.Change(5, "Later")])
    assert answer.rows[0]["&5"].value == "Thai City"
    assert db.query("select &5").rows[0]["&5"].value == "Later"


def test_nothing_is_stored_if_the_block_raises(db: Database) -> None:
    def spoilt() -> None:
        with db.edits() as e:
            e.insert(3, "Entree", e.new())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        spoilt()
    assert db.batch == 1


def test_edits_in_a_block_are_one_batch(db: Database) -> None:
    with db.edits() as e:
        soup = e.new()
        e.insert(3, "Entree", soup)
        e.insert(soup, "Name", e.new("Lentil Soup"))
        e.delete(3, "Entree", 9)
        e.change(5, "Hunan Wok", old="Thai City")
        e.name("Soup", soup)
        e.unname("Nobody")
    assert e.report is not None
    assert (e.report.batch, e.report.edits, e.report.noops) == (2, 8, 1)
    assert db.names["Soup"] == e.report.new[soup]
    assert db.query("select Soup.Name").rows[0]["Name"].value == "Lentil Soup"


def test_a_batch_with_an_id_is_applied_once(db: Database) -> None:
    edit = [ov.Insert(10, "Ingredient", 15)]
    assert db.apply(edit, id="night 1").batch == 2
    assert db.apply(edit, id="night 1").batch is None
    assert db.apply(edit).batch == 3


def test_the_past_can_be_asked(db: Database) -> None:
    db.define(FAVORITE)
    db.apply("<Ins,&10,Ingredient,&15>")
    db.drop("FavoriteEntrees")
    assert db.at(batch=2).query("select FavoriteEntrees.Entrees").oids == [9]
    assert db.at(batch=3).query("select FavoriteEntrees.Entrees").oids == [9, 10]
    assert db.at(batch=1).names == {"Guide": 1}
    with pytest.raises(ov.OemError):
        db.at(batch=1).query("select FavoriteEntrees.Entrees")
    with pytest.raises(ov.BadInput, match="this store holds 0 to 4"):
        db.at(batch=99)


def test_view_changes_are_signed(db: Database) -> None:
    view = db.define(FAVORITE)
    db.apply("<Ins,&10,Ingredient,&15>")
    db.apply("<Del,&9,Ingredient,&15>")
    changes = view.changes(2, 4).to_pylist()
    primaries = [(row["batch"], row["dst"], row["n"]) for row in changes if row["role"] == "primary"]
    assert primaries == [(3, 10, 1), (4, 9, -1)]


def test_statements_of_an_edit_change_nothing(db: Database) -> None:
    view = db.define(FAVORITE)
    first = view.statements(ov.Insert(10, "Ingredient", 15))[0]
    assert str(first).startswith("ADDprim +=\nselect e")
    assert view.primaries == {9}


def test_a_load_maintains_views(db: Database, tmp_path: Path) -> None:
    view = db.define('define view Named as N = select x from Guide.# x, x.Name n where n = "New"')
    assert view.primaries == set()
    (tmp_path / "more.json").write_text('{"Name": "New"}')
    db.load(tmp_path / "more.json", name="More")
    db.update("update Guide.Restaurant += More")
    assert view.primaries == {db.names["More"]}
    assert db.check()[0].equal


def test_a_view_of_a_lost_name_is_empty_and_fills_again(db: Database) -> None:
    view = db.define(FAVORITE)
    db.update("unname Guide")
    assert view.primaries == set()
    db.apply([ov.Name("Guide", 1)])
    assert view.primaries == {9}


def test_a_crash_between_log_and_views_is_caught_up_with(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ov.open(path) as db:
        db.define(FAVORITE)
        db.define("define view Names as N = select n from FavoriteEntrees.Entrees e, e.Name n")
    program = (
        "import os, oemviews as ov\n"
        f"db = ov.open({str(path)!r})\n"
        "db._store.append_changes = lambda *_: os._exit(9)\n"
        "db.apply('<Ins,&10,Ingredient,&15>')\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 9
    with ov.open(path) as db:
        view = db.view("FavoriteEntrees")
        assert (db.batch, view.batch, view.behind, view.primaries) == (4, 3, 1, {9})
        asked = db.query("select FavoriteEntrees.Entrees")
        assert asked.oids == [9]
        assert asked.notes == [
            "the view FavoriteEntrees is 1 batch behind; the next `apply` brings it up to date"
        ]
        db.apply("<Del,&9,Ingredient,&15>")
        assert (view.batch, view.primaries) == (5, {10})
        assert "caught up with batches 4 to 4: FavoriteEntrees: +1 -0 rows" in caplog.text
        assert db.view("Names").primaries == {16}
        assert all(checked.equal for checked in db.check())


def test_a_definition_whose_filling_was_lost_is_filled(path: Path) -> None:
    with ov.open(path) as db:
        extra = {"view": "FavoriteEntrees", "statement": FAVORITE, "policy": "auto", "collection": "Entrees"}
        db._store.append(NetChange(), kind="define", what="define", extra=extra)
        db.apply("<Ins,&10,Ingredient,&15>")
        assert db.view("FavoriteEntrees").primaries == {9, 10}


def test_what_another_process_wrote_is_seen(path: Path) -> None:
    with ov.open(path) as mine, ov.open(path) as other:
        view = mine.define(FAVORITE)
        assert mine.query("select &5").rows[0]["&5"].value == "Thai City"
        other.apply([ov.Change(5, "Elsewhere"), ov.Insert(10, "Ingredient", 15)])
        assert mine.query("select &5").rows[0]["&5"].value == "Elsewhere"
        assert view.primaries == {9, 10}
        mine.apply([ov.Delete(9, "Ingredient", 15)])
        assert other.view("FavoriteEntrees").primaries == {10}
        assert other.check()[0].equal


def test_one_writer_at_a_time(path: Path) -> None:
    with ov.open(path) as mine, ov.open(path) as other:
        with mine._store.writing(), pytest.raises(ov.LockedStore, match="is being written by process"):
            other.apply([ov.Change(5, "x")])
        assert other.query("select &5").rows[0]["&5"].value == "Thai City"


def test_garbage_and_compaction(db: Database) -> None:
    db.define(FAVORITE)
    db.apply([ov.Delete(3, "Entree", 9)])
    assert db.garbage() == [9, 14, 15]
    done = db.compact()
    assert done.objects == 3
    assert db.garbage() == []
    with pytest.raises(ov.EditError):
        db.apply([ov.Insert(3, "Entree", 9)])
    assert db.check()[0].equal


def test_execute_takes_any_statement(db: Database) -> None:
    assert db.execute(FAVORITE).primaries == {9}  # type: ignore[union-attr]
    assert db.execute("select FavoriteEntrees.Entrees").oids == [9]  # type: ignore[union-attr]
    assert db.execute("update &10.Ingredient += &15").batch == 3  # type: ignore[union-attr]
    assert db.execute("drop view FavoriteEntrees") is None
    assert dict(db.views) == {}


def test_everything_prints(db: Database) -> None:
    view = db.define(FAVORITE)
    report = db.apply("<Ins,&10,Ingredient,&15>")
    guide = db.dataguide()
    for shown in (db, db.views, view, report, guide, db.batches):
        assert "<table>" in shown._repr_html_()  # type: ignore[attr-defined]
        assert len(repr(shown)) > 40
    assert "kept by counting" in view.explain()


@pytest.mark.parametrize("engine", ["sparks", "", "AUTO"])
def test_an_engine_that_is_not_there(path: Path, engine: str) -> None:
    with pytest.raises(ov.BadInput, match="the engines are auto, local, spark"):
        ov.open(path, engine=engine)  # type: ignore[arg-type]


def test_every_error_is_an_oem_error(db: Database, tmp_path: Path) -> None:
    with pytest.raises(ov.OemError):
        db.query("selec")
    with pytest.raises(ov.OemError):
        db.apply([ov.Insert(999, "x", 1)])
    with pytest.raises(ov.OemError):
        db.apply("<Ins,&1>")
    with pytest.raises(ov.OemError):
        db.load(tmp_path / "nothing.json", name="X")
    with pytest.raises(ov.OemError):
        db.view("X")
    with pytest.raises(ov.OemError):
        ov.open(tmp_path / "nowhere")
    with pytest.raises(AttributeError):
        ov.nonsense  # noqa: B018


def test_a_view_that_was_never_filled_is_evaluated_and_that_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with ov.open(path) as db:
        with monkeypatch.context() as patch:
            patch.setattr(db._store, "append_changes", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                db.define(FAVORITE)
        db.apply("<Ins,&10,Ingredient,&15>")
        assert db.view("FavoriteEntrees").primaries == {9, 10}
    assert "evaluated in full, left behind by an earlier run: FavoriteEntrees" in caplog.text


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_check_brings_lagging_views_up_to_date(path: Path) -> None:
    with ov.open(path) as db:
        view = db.define(FAVORITE)
        db._store.append(NetChange(), kind="edits", what="nothing")
        assert view.behind == 1
        assert db.check()[0].equal
        assert view.behind == 0


def test_a_query_reads_no_view_that_it_does_not_ask_for(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many views there are, their statements are not parsed for a query of the base."""
    from oemviews.views import definition

    db.define(FAVORITE)
    db.define("define view Names as n = select x from FavoriteEntrees.Entrees e, e.Name x")
    read: list[str] = []
    real = definition.define

    def define(text: str, *rest: Any, **more: Any) -> Any:
        read.append(text)
        return real(text, *rest, **more)

    monkeypatch.setattr(definition, "define", define)
    with ov.open(db.path) as again:
        assert len(again.query("select Guide.Restaurant")) == 3
        assert read == []
        assert len(again.query("select Names.n")) == 1
        assert all("Names" in text for text in read)
