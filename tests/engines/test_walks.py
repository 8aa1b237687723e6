"""Walks of any length on both engines: with their starts forgotten, beside other columns, and back again."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from lorel import plan as op
from lorel.normal import ANY, Automaton, Labels, Step
from oemviews.engines.engine import Engine
from oemviews.engines.local import closure, region
from oemviews.engines.rows import Rows
from oemviews.model import COLLECTION, COMPLEX
from tests.engines.support import local_engine
from tests.oracle.graph import OracleGraph

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A, B = Labels("a"), Labels("b")
PATHS: Final = {
    "(.a)+": Automaton(2, ((0, A, 1), (1, A, 1)), frozenset({1})),
    "(.a)*": Automaton(1, ((0, A, 0),), frozenset({0})),
    "#": Automaton(1, ((0, ANY, 0),), frozenset({0})),
    "(.a.b)+": Automaton(3, ((0, A, 1), (1, B, 2), (2, A, 1)), frozenset({2})),
    "(.a(.b)*)?": Automaton(2, ((0, A, 1), (1, B, 1)), frozenset({0, 1})),
}
X: Final = Step("x", PATHS["(.a)+"], "y")


def graph_of(rng: Random) -> OracleGraph:
    oids = range(1, 31)
    edges = {(rng.choice(oids), rng.choice("aab"), rng.choice(oids)) for _ in range(40)}
    return OracleGraph(dict.fromkeys(oids, COMPLEX), edges)


def counted(rows: Rows, names: tuple[str, ...]) -> Counter[tuple[int, ...]]:
    assert set(rows.columns) == set(names)
    return Counter(dict(zip(rows.tuples(names), rows.counts.tolist(), strict=True)))


def agree(engine: Engine, path: Automaton, forward: bool, rng: Random) -> None:
    """What the walks with their starts say, said without them."""
    step = Step("x", path, "y")
    near, far = ("x", "y") if forward else ("y", "x")
    given = {
        "all": Rows.of((near,), [(oid,) for oid in range(1, 33)]),  # two of which do not exist
        "rows": Rows.of(("g", near), [(rng.randint(1, 4), rng.randint(1, 32)) for _ in range(9)], [2] * 9),
        "back": Rows.of((far,), [(oid,) for oid in range(1, 31, 3)]),
    }
    pairs = set(engine.run(op.Closure(op.Given("all", (near,)), step, forward), given).tuples((near, far)))
    rows = op.Given("rows", ("g", near))
    began = given["rows"].tuples(("g", near))

    ends = engine.run(op.Closure(rows, step, forward, ()), given)
    assert counted(ends, (far,)) == dict.fromkeys(
        {(end,) for (_, s), (t, end) in product(began, pairs) if s == t}, 1
    )

    beside = engine.run(op.Closure(rows, step, forward, ("g",)), given)
    wanted = {(g, end) for (g, s), (t, end) in product(began, pairs) if s == t}
    assert counted(beside, ("g", far)) == dict.fromkeys(wanted, 1)

    out = op.Closure(rows, step, forward, ())
    some = op.Semi(out, op.Given("back", (far,)))
    back = engine.run(op.Closure(some, step, not forward, (), out), given)
    returned = {(s,) for _, s in began for t, end in pairs if s == t and end % 3 == 1}
    assert counted(back, (near,)) == dict.fromkeys(returned, 1)


@pytest.mark.parametrize("few", [0, 256])
@pytest.mark.parametrize("marks", [0, 1 << 20])
@pytest.mark.parametrize("name", PATHS)
def test_walks_with_their_starts_forgotten(
    name: str, few: int, marks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(region, "_FEW", few)
    monkeypatch.setattr(region, "_MARKS", marks)
    monkeypatch.setattr(closure, "_STARTS", 2)
    rng = Random(name)
    for _ in range(10):
        engine = local_engine(graph_of(rng))
        for forward in (True, False):
            agree(engine, PATHS[name], forward, rng)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["(.a)+", "(.a(.b)*)?"])
def test_walks_with_their_starts_forgotten_on_spark(spark: SparkSession, name: str) -> None:
    from tests.engines.batched import spark_engine

    rng = Random(name)
    agree(spark_engine(spark, graph_of(rng)), PATHS[name], True, rng)


def test_no_start_no_end() -> None:
    engine = local_engine(graph_of(Random(1)))
    nobody = {"rows": Rows.of(("g", "x"), [])}
    for kept, columns in (((), ("y",)), (("g",), ("g", "y"))):
        found = engine.run(op.Closure(op.Given("rows", ("g", "x")), X, True, kept), nobody)
        assert (len(found), tuple(found.columns)) == (0, columns)


def test_the_collection_of_a_view_is_marked_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its oid is far above all others."""
    monkeypatch.setattr(region, "_FEW", 0)
    met = region.Met()
    oids = Rows.of(("x",), [(COLLECTION,), (0,), (7,), (COLLECTION,)]).oids("x")
    assert sorted(met.fresh(oids).tolist()) == [0, 7, COLLECTION]
    assert met.among(oids).all()
    assert not met.among(oids + 1).any()
    assert len(met.fresh(oids)) == 0


def test_how_far_walks_reach_is_sampled() -> None:
    """Two rings, of ten and of thirty objects: a mean of what some walks find."""
    ring = {(oid, "a", oid % 10 + 1) for oid in range(1, 11)}
    ring |= {(oid, "a", (oid - 10) % 30 + 11) for oid in range(11, 41)}
    statistics = local_engine(OracleGraph(dict.fromkeys(range(1, 41), COMPLEX), ring)).statistics
    for forward in (True, False):
        assert 20 < statistics.reach(PATHS["(.a)+"], "", forward) <= 30
        assert statistics.reach(PATHS["(.a.b)+"], "", forward) == 1
