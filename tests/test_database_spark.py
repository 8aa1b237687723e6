"""The front door on Spark: the same answers and the same views, as frames, graphs and SQL."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import oemviews as ov
from oemviews.front.database import Database
from tests.test_database import FAVORITE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Database:
    db = ov.create(tmp_path / "guide.store", engine="spark", spark=spark)
    with as_file(files("oemviews") / "data" / "guide.oem") as guide:
        db.load(guide, name="Guide")
    return db


def test_answers_views_and_sql(db: Database, spark: SparkSession) -> None:
    answer = db.query("select r, r.Name from Guide.Restaurant r")
    assert answer.engine == "spark"
    frame = answer.to_spark()
    assert [row["Name"]["text"] for row in frame.orderBy("r.oid").collect()] == [
        "Thai City",
        "Baghdad Cafe",
        "Hunan Palace",
    ]
    assert frame.schema.simpleString() == spark.createDataFrame(answer.to_arrow()).schema.simpleString()
    ordered = db.query("select n from Guide.Restaurant.Name n order by n").to_spark()
    assert [row["n"]["oid"] for row in ordered.collect()] == [7, 11, 5]

    view = db.define(FAVORITE)
    report = db.apply("<Ins,&10,Ingredient,&15>")
    assert report.views[0].engine == "spark"
    assert view.primaries == {9, 10}
    assert all(checked.equal for checked in db.check())
    sql = (
        "select dst from FavoriteEntrees v join FavoriteEntrees_edges e on v.oid = e.src where label = 'Name'"
    )
    assert sorted(row["dst"] for row in spark.sql(sql).collect()) == [14, 16]
    db.drop("FavoriteEntrees")
    assert not spark.catalog.tableExists("FavoriteEntrees")


def test_a_view_that_lags_by_several_batches_catches_up(db: Database) -> None:
    view = db.define(FAVORITE)
    on_view = db.define("define view Names as N = select n from FavoriteEntrees.Entrees e, e.Name n")
    for edit in ("<Ins,&10,Ingredient,&15>", "<Del,&9,Ingredient,&15>"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(db._keeper, "keep", lambda *_: [])
            patch.setattr(db._keeper, "catch_up", lambda: None)
            db.apply(edit)
    assert (view.behind, view.primaries) == (2, {9})
    assert all(checked.equal for checked in db.check())
    assert (view.behind, view.primaries, on_view.primaries) == (0, {10}, {16})


def test_the_database_as_frames(db: Database) -> None:
    assert {"id", "type", "value"} <= set(db.vertices.columns)
    assert {"src", "dst", "label"} <= set(db.edges.columns)
    assert db.vertices.filter("id = 5").first()["value"] == "Thai City"  # type: ignore[index]
    assert db.edges.filter("label = 'Restaurant'").count() == 3
    db.apply([ov.Change(5, "Later")])
    assert db.at(batch=1).vertices.filter("id = 5").first()["value"] == "Thai City"  # type: ignore[index]


@pytest.mark.jar
def test_the_database_as_a_graph(db: Database) -> None:
    found = db.graph.find("(a)-[x]->(b); (b)-[y]->(a)").filter("x.label = 'Nearby' and y.label = 'Nearby'")
    assert {(row["a"]["id"], row["b"]["id"]) for row in found.collect()} == {(2, 3), (3, 2)}
    view = db.define(FAVORITE)
    assert view.graph.edges.filter("label = 'Entrees'").count() == 1
    db.apply([ov.Delete(3, "Entree", 9)])
    assert db.garbage() == [9, 14, 15]
    db.load_graph(view.graph, name="Copy")
    assert len(db.query("select Copy.item")) > 0
