"""Exports of views: children in document order, arrays as arrays, attributes as attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import oemviews as ov
from oemviews.front.applying import netted_of
from oemviews.front.database import Database

SHOPS: dict[str, list[dict[str, object]]] = {
    "shop": [
        {"zone": "Z", "tags": ["z", "a", "m"], "one": ["x"], "none": [], "grid": [[3, 1], [2]], "name": "B"},
        {"zone": "Y", "tags": ["q"], "one": "x", "name": "A"},
    ]
}
PAGE = '<doc><p id="7"><b>two</b><a>one</a><b>three</b></p><p id="8">mixed <i>it</i> end</p></doc>'


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "shops.json").write_text(json.dumps(SHOPS))
    (tmp_path / "page.xml").write_text(PAGE)
    with ov.create(tmp_path / "s") as made:
        made.load(tmp_path / "shops.json", name="J")
        made.load(tmp_path / "page.xml", name="X")
        yield made


def members(text: str) -> list[tuple[str, object]]:
    """JSON with the order of its members."""
    found: list[tuple[str, object]] = json.loads(text, object_pairs_hook=list)
    return found


def test_json_keeps_order_and_arrays_but_shows_no_label_that_is_not_in_the_view(db: Database) -> None:
    db.define("define view V as shop = select s from J.shop s with s.# x")
    wanted = {"shop": [{k: v for k, v in shop.items() if v != []} for shop in SHOPS["shop"]]}
    assert members(db.export("V")) == members(json.dumps(wanted))
    db.define("define view T as t = select s from J.shop s with s.name n, s.one o, s.tags t")
    kept = ("tags", "one", "name")
    wanted = {"t": [{k: shop[k] for k in kept} for shop in SHOPS["shop"]]}
    assert members(db.export("T")) == members(json.dumps(wanted))


def test_xml_keeps_order_attributes_and_text(db: Database) -> None:
    db.define("define view P as p = select p from X.p p with p.# y")
    assert db.export("P", "xml").strip() == PAGE.replace("doc", "P")


def test_a_view_on_a_view_an_earlier_batch_and_the_depth_of_answers(db: Database) -> None:
    db.define("define view T as t = select s from J.shop s with s.tags t, s.zone z")
    db.define("define view Q as q = select s from T.t s with s.tags t")
    db.apply([ov.New("n", "new"), ov.Insert(2, "tags", "n")])
    before, after = ["z", "a", "m"], ["z", "a", "m", "new"]
    assert json.loads(db.export("Q")) == {"q": [{"tags": after}, {"tags": ["q"]}]}
    assert json.loads(db.at(batch=db.batch - 1).export("Q"))["q"][0] == {"tags": before}
    (first, *_) = db.query("select s from T.t s where s.zone = 'Z'").json_lines(2)
    assert members(json.dumps(json.loads(first)["s"]["value"])) == [("zone", "Z"), ("tags", after)]


def test_a_lagging_view_puts_edges_that_are_gone_last(db: Database) -> None:
    db.define("define view T as t = select s from J.shop s with s.tags t")
    gone = next(oid for oid, value in db.view("T").objects.items() if value == "z")
    with db._store.writing():  # as a crash between the two commits leaves it
        netted = netted_of(db._live, [("", ov.Delete(2, "tags", gone))], {})
        db._store.append(netted.change, kind="edits", what="cut off")
    assert json.loads(db.export("T"))["t"][0] == {"tags": ["a", "m", "z"]}
