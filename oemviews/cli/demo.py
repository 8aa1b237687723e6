"""The example of the 1998 paper: a view, an edit, the statement it gives rise to, the view afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oemviews import java
from oemviews.cli.output import data, data_table, note
from oemviews.errors import EnvironmentLacks
from oemviews.front.chooser import EngineName

if TYPE_CHECKING:
    from oemviews.front.view import View

VIEW: Final = """\
define view FavoriteEntrees as Entrees =
    select e
    from Guide.Restaurant r, r.Entree e
    where exists x in r.Name : x = "Baghdad Cafe"
      and exists y in e.Ingredient : y = "Mushroom"
    with e.Name n, e.Ingredient i"""

EDIT: Final = "<Ins,&10,Ingredient,&15>"


def run(wish: str) -> None:
    """The example on each engine that can run here, or on the one asked for."""
    data("Abiteboul, McHugh, Rys, Vassalos, Wiener: Incremental Maintenance for Materialized Views over")
    data("Semistructured Data, VLDB 1998. The Guide database, the view of example 1, the edit of example 3.")
    for engine in engines(wish):
        with tempfile.TemporaryDirectory(prefix="oemviews-demo-") as folder:
            example(engine, Path(folder, "guide.store"))


def engines(wish: str) -> Sequence[EngineName]:
    if wish == "local":
        return ("local",)
    try:
        java.require()
    except EnvironmentLacks as lack:
        if wish == "spark":
            raise
        note(f"only the local engine runs: {lack}")
        return ("local",)
    return ("spark",) if wish == "spark" else ("local", "spark")


def example(engine: EngineName, store: Path) -> None:
    """Load, define, edit and show, on one engine."""
    import oemviews as ov

    _title(f"On the {engine} engine")
    with ov.create(store, engine=engine) as db, as_file(files("oemviews") / "data" / "guide.oem") as guide:
        db.load(guide, name="Guide")
        data(VIEW)
        view = db.define(VIEW)
        _show("The view before", view)
        _title(f"The edit {EDIT}: Beef Stew gets Mushroom")
        data("The statements it gives rise to:")
        for statement in view.statements(EDIT):
            data(f"\n{statement}")
        report = db.apply(EDIT)
        data("")
        data(repr(report))
        _show("The view after", view)
        for checked in db.check():
            data(str(checked))
        data(f"engine that ran: {', '.join(dict.fromkeys(each.engine for each in report.views))}")


def _title(text: str) -> None:
    data(f"\n{text}\n{'-' * len(text)}")


def _show(title: str, view: View) -> None:
    _title(title)
    for table in view.tables():
        data_table(table)
        data("")
