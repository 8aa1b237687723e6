"""Random scripts through the front door: whatever comes between batches, views equal a fresh evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import oemviews as ov
from lorel.printer import print_statement
from oemviews.front.database import Database
from tests.generators.graphs import random_edits, random_graph
from tests.generators.queries import random_view
from tests.guide import as_edits
from tests.oracle.edits import apply

SEEDS = 24
ON_VIEWS = (
    "define view On as o = select x from {view}.{label} x where x.a",
    "define view On as o = select y from {view}.{label} x, x.% y with y.# z",
    "define view On as o = select x from {view}.{label} x where not (x.b = 1) with x.% z",
)


class _Killed(Exception):
    """The process ended here."""


def _lose(batch: int, rows: Mapping[str, pa.Table]) -> None:
    raise _Killed


def _defined(db: Database, rng: Random) -> list[str]:
    """Some random views, and a view on one of them; what cannot be a view is left out."""
    names = []
    for name in ("V", "W"):
        try:
            names.append(db.define(print_statement(random_view(rng, name))).name)
        except ov.OemError:
            continue
    if names:
        below = db.view(names[0])
        text = rng.choice(ON_VIEWS).format(view=below.name, label=f"`{below.collection}`")
        names.append(db.define(text).name)
    return names


@pytest.mark.parametrize("seed", range(SEEDS))
def test_views_equal_a_fresh_evaluation_after_every_batch(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    graph = random_graph(rng, 10)
    db = ov.create(tmp_path / "random.store")
    db.apply(as_edits(graph))
    names = _defined(db, rng)
    for _ in range(6):
        edits = random_edits(rng, graph)
        graph = apply(graph, edits)
        fate = rng.choice(("kept", "kept", "killed", "reopened", "elsewhere"))
        if fate == "killed":
            db._store.append_changes = _lose  # type: ignore[method-assign]
            with pytest.raises(_Killed) if names else nullcontext():
                db.apply(edits)
            db.close()
            db = ov.open(tmp_path / "random.store")
        elif fate == "elsewhere":
            with ov.open(tmp_path / "random.store") as other:
                other.apply(edits)
        else:
            db.apply(edits)
        if fate == "reopened":
            db.close()
            db = ov.open(tmp_path / "random.store")
        for checked in db.check():
            assert checked.equal, f"seed {seed}, {fate}: {checked}"
    db.close()
