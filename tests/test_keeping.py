"""Views beside the graph in memory and in the store: what a fold makes of RelevantOids."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

import oemviews as ov
from lorel.printer import print_statement
from oemviews.edits import Edit
from oemviews.front.database import Database
from oemviews.store import views
from oemviews.store.store import Store
from oemviews.views.materialise import materialise
from oemviews.views.state import ViewState
from oemviews.views.tables import state_of
from tests.generators.graphs import random_edits, random_graph
from tests.generators.queries import random_view
from tests.guide import as_edits
from tests.oracle.edits import apply


def _states(db: Database, view: str = "V") -> tuple[ViewState, ViewState, ViewState]:
    """A view in memory, in the store, and made afresh."""
    definition = db._live.definitions[view]
    kept = db._keeper._held_at(definition).state
    stored = state_of(definition, db._store.view_rows(view))
    fresh = materialise(definition, db._live.snapshot().engine("local", definition.graphs)).state
    return kept, stored, fresh


@pytest.mark.parametrize("seed", range(12))
def test_relevant_oids_are_sound_always_and_exact_after_a_fold(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    graph = random_graph(rng, 10)
    db = ov.create(tmp_path / "random.store")
    db.apply(as_edits(graph))
    while not db.views:
        with suppress(ov.OemError):  # not every random statement can be a view
            db.define(print_statement(random_view(rng, "V")))
    for number in range(8):
        edits = random_edits(rng, graph)
        graph = apply(graph, edits)
        folds = number % 3 == 2
        monkeypatch.setattr(Store, "fold_due", lambda store, view, due=folds: due)
        db.apply(edits)
        kept, stored, fresh = _states(db)
        assert kept.relevant == stored.relevant
        assert all(oids <= kept.relevant[key] for key, oids in fresh.relevant.items())
        if folds:
            assert kept.relevant == fresh.relevant
            db.close()
            db = ov.open(tmp_path / "random.store")
            assert _states(db)[0].relevant == fresh.relevant
    db.close()


def test_a_view_whose_changes_outgrow_its_fold_gets_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_FEW_ROWS", 20)
    monkeypatch.setattr(views, "_LOOK_EVERY", 1)
    with ov.create(tmp_path / "small.store") as db:
        db.apply([ov.New("r"), ov.Name("R", "r")])
        db.define("define view V as v = select x from R.a x where x.b")
        spare = []
        for oid in range(2, 42, 2):  # new objects are numbered on from 1
            there: list[Edit] = [ov.New("x"), ov.New("y"), ov.Insert(1, "a", "x"), ov.Insert("x", "b", "y")]
            for edits in (there, [ov.Delete(1, "a", oid)]):
                db.apply(edits)
                kept, stored, fresh = _states(db)
                assert kept.relevant == stored.relevant
                spare.append(kept.relevant != fresh.relevant)
        assert True in spare
        assert False in spare[spare.index(True) :]


def test_relevant_oids_are_exact_after_compaction(tmp_path: Path) -> None:
    with ov.create(tmp_path / "small.store") as db:
        db.apply([ov.New("r"), ov.Name("R", "r"), ov.New("s"), ov.Insert("r", "s", "s")])
        db.define("define view V as v = select x from R.a x where x.b")
        db.define("define view W as w = select y from V.v x, x.b y")
        db.apply([ov.New("x"), ov.New("y"), ov.Insert(1, "a", "x"), ov.Insert("x", "b", "y")])
        db.apply([ov.Insert(2, "kept", 3), ov.Delete(1, "a", 3)])  # still reached: no garbage
        kept, _, fresh = _states(db)
        assert kept.relevant != fresh.relevant
        db.compact()
        for kept, stored, fresh in (_states(db), _states(db, "W")):
            assert kept.relevant == stored.relevant == fresh.relevant
        batch = db.batch
        db.compact()
        assert db.batch == batch, "what is exact needs no batch"
        db.apply([ov.Delete(2, "kept", 3)])  # now garbage
        db.compact()
        assert not db.garbage()
        kept, stored, fresh = _states(db)
        assert kept.relevant == stored.relevant == fresh.relevant
        assert all(each.equal for each in db.check())
