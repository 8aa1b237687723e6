"""On which engine a view is filled when it is defined: chosen as for a query, told with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import oemviews as ov
from oemviews.front import chooser, querying
from tests.guide import GUIDE, as_edits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "define view Dishes = select r, e from Guide.Restaurant r, r.Entree e with r.Name n, e.Ingredient i"


def test_a_small_view_is_filled_locally(tmp_path: Path) -> None:
    with ov.create(tmp_path / "guide.store") as db:
        db.apply(as_edits(GUIDE))
        assert db.define(VIEW).filled.startswith("local (about ")


def test_an_engine_asked_for_is_told_as_that(tmp_path: Path) -> None:
    with ov.create(tmp_path / "guide.store", engine="local") as db:
        db.apply(as_edits(GUIDE))
        assert db.define(VIEW).filled == "local (asked for)"


@pytest.mark.spark
def test_a_view_with_many_rows_to_touch_is_filled_on_spark(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filled on either engine it is the same view."""
    found = {}
    for most in (chooser.MOST_ROWS, 0):
        for module in (chooser, querying):
            monkeypatch.setattr(module, "MOST_ROWS", most)
        with ov.create(tmp_path / f"{most}.store") as db:
            db.apply(as_edits(GUIDE))
            view = db.define(VIEW)
            found[view.filled.split()[0]] = view.primaries, {(e.src, e.label, e.dst) for e in view.edges}
    assert found["spark"] == found["local"]
    assert found["spark"][0]
