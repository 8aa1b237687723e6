"""Paths that a summary rules out: the answer stays what it is, and no edge is looked at."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import oemviews as ov
from lorel import plan as op
from lorel.normal import Labels, Normal
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.planner import Planner
from lorel.printer import print_query
from lorel.pruning import Pruned, pruned
from oemviews.answers.dataguide import Limits, guide_of
from oemviews.answers.evaluate import Evaluation
from oemviews.answers.kept_guide import keep, kept
from oemviews.answers.known_paths import KnownPaths, lacks
from oemviews.engines.local import LocalEngine, LocalGraph
from tests.engines.support import change_between, local_engine, local_graph
from tests.engines.test_local import item_of
from tests.generators.graphs import NAMES, random_edits, random_graph
from tests.generators.queries import random_query
from tests.guide import GUIDE
from tests.oracle import answer, apply

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEEP = Limits(depth=50)
READS = (op.Scan, op.Expand, op.Closure, op.Lookup, op.ValueExpand)
GUIDE_NAMES = Catalog(frozenset({"Guide"}))


def known(graph: LocalGraph, *, guide: bool = True, limits: Limits = DEEP) -> KnownPaths:
    return KnownPaths(lambda _: graph, guide_of(graph, graph.names(), limits) if guide else None)


def left_of(text: str, *, guide: bool = True) -> tuple[Normal, Pruned]:
    query = normalise(parse_query(text), GUIDE_NAMES, text=text)
    return query, pruned(query, known(local_graph(GUIDE), guide=guide))


def reads(query: Normal) -> list[op.Plan]:
    plan = Planner(local_engine(GUIDE).statistics).query(query)
    return [node for node in op.operators(plan) if isinstance(node, READS)]


# ---- what goes ----


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("select Guide.Restaurant.Foo", "Guide.Restaurant.Foo"),
        ("select x from Guide.Restaurant.Name.# y, y.Name x", "Guide.Restaurant.Name.#.Name"),
        ("select r from Guide.Restaurant r where r.Street = 1", "Guide.Restaurant.Street"),
        ("select r from Guide.Restaurant r where r.Entree(.Street|.Zip%)+ = 1", None),
        ("select i, count(x) from Guide.Street i, i.Name x group by i", "Guide.Street"),
        ("select r from Guide.Restaurant r order by r.Name except select Guide.Restaurant", None),
        (
            "select r from Guide.Restaurant r, x in (select distinct r.City) where x = r",
            "Guide.Restaurant.City",
        ),
        ("select r.Street.Name from Guide.Restaurant r where r.Street < 4 or r.City > 4", None),
    ],
)
def test_what_no_path_leads_to_is_not_looked_for(text: str, why: str | None) -> None:
    query, left = left_of(text)
    expected = answer(GUIDE, parse_query(text))
    if "except" not in text:
        assert not expected
        assert reads(query)
        assert not reads(left.query)
        assert any(note.endswith(": empty") for note in left.notes)
    if why is not None:
        assert f"no path {why} in the data: empty" in left.notes
    engine = local_engine(GUIDE)
    columns = Evaluation(engine).columns(left.query)
    assert len(columns[0]) == len(expected)


def test_a_label_that_no_edge_has_needs_no_guide() -> None:
    _, left = left_of("select r from Guide.Restaurant r where r.Foo = 1", guide=False)
    assert left.notes == ("no path Guide.Restaurant.Foo in the data: empty",)
    assert not reads(left.query)
    _, left = left_of("select Guide.Restaurant.Street", guide=False)
    assert reads(left.query)  # the label is there, below an address


def test_absence_of_what_cannot_be_there_holds() -> None:
    _, left = left_of("select r from Guide.Restaurant r where not exists (r.Street)")
    assert left.notes == ("no path Guide.Restaurant.Street in the data: what must be absent is",)
    plan = Planner(local_engine(GUIDE).statistics).query(left.query)
    assert not any(isinstance(node, op.Anti) for node in op.operators(plan))
    assert len(Evaluation(local_engine(GUIDE)).columns(left.query)[0]) == 3


def test_only_the_empty_disjunct_goes() -> None:
    _, left = left_of('select r from Guide.Restaurant r where r.City = "x" or r.Category = "Thai"')
    assert left.notes == ("no path Guide.Restaurant.City in the data: this alternative is empty",)
    assert len(Evaluation(local_engine(GUIDE)).columns(left.query)[0]) == 1


def test_counts_of_what_cannot_be_there_are_zero() -> None:
    _, left = left_of("select r, count(r.Street) from Guide.Restaurant r")
    columns = Evaluation(local_engine(GUIDE)).columns(left.query)
    assert [columns[1].cell(i).value for i in range(3)] == [0, 0, 0]


def test_a_cut_guide_proves_nothing_below() -> None:
    graph = local_graph(GUIDE)
    query = normalise(parse_query("select Guide.Restaurant.City"), GUIDE_NAMES)
    assert pruned(query, known(graph)).notes
    assert not pruned(query, known(graph, limits=Limits(depth=2))).notes


def test_labels_of_the_newest_changes_count() -> None:
    graph = local_graph(GUIDE)
    later = apply(GUIDE, [ov.Insert(2, "Foo", 3)])
    assert lacks(graph, Labels("Foo"))
    assert lacks(graph, Labels("Fo%", exact=False))
    moved = graph.apply(change_between(GUIDE, later))
    assert not lacks(moved, Labels("Foo"))
    assert not lacks(moved, Labels("Fo%", exact=False))
    assert lacks(graph, Labels("Foo"))  # they share their labels, not their edges


# ---- whole answers ----


@pytest.mark.parametrize("limits", [Limits(depth=50), Limits(depth=2), Limits(labels=1), None])
def test_answers_stay_the_same(limits: Limits | None) -> None:
    """Against the oracle, on graphs that came about by changes; many parts must really have been left out."""
    gone = 0
    for seed in range(120):
        rng = Random(seed)
        graph, query = random_graph(rng, rng.choice((3, 6, 8))), random_query(rng)
        held = local_graph(graph)
        later = apply(graph, random_edits(rng, graph))
        held, graph = held.apply(change_between(graph, later)), later
        guide = None if limits is None else guide_of(held, held.names(), limits)
        left = pruned(normalise(query, Catalog(frozenset(NAMES))), KnownPaths(lambda _, g=held: g, guide))
        gone += bool(left.notes)
        columns = Evaluation(LocalEngine({("", "new"): held})).columns(left.query)
        rows = {tuple(item_of(column.cell(i)) for column in columns) for i in range(len(columns[0]))}
        assert rows == set(answer(graph, query)), f"{seed}: {print_query(query)}\n{graph}"
    assert gone >= (10 if limits is None else 25)


# ---- kept guides ----


def test_a_guide_is_kept_with_its_references_and_cuts(tmp_path: Path) -> None:
    guide = guide_of(local_graph(GUIDE), {"Guide": 1}, Limits(depth=4))
    keep(guide, tmp_path / "guide-1.json")
    keep(guide, tmp_path / "guide-2.json")
    again = kept(tmp_path / "guide-2.json")
    assert again is not None
    shape = [(node.path, node.same_as, bool(node.cut), list(node.children)) for node in guide.nodes()]
    assert [(n.path, n.same_as, bool(n.cut), list(n.children)) for n in again.nodes()] == shape
    assert kept(tmp_path / "guide-1.json") is None
    (tmp_path / "guide-2.json").write_text("[[5, 1]]")
    assert kept(tmp_path / "guide-2.json") is None


def test_a_guide_that_was_made_serves_the_queries_of_its_batch(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text('{"a": {"b": 1}, "c": {"d": {"b": 2}}}')
    with ov.create(tmp_path / "store") as db:
        db.load(tmp_path / "g.json", name="N")
        text = "select N.c.b"
        assert "no path" not in db.query(text).explain()
        db.dataguide()
        plan = db.query(text).explain()
        assert "no path N.c.b in the data: empty" in plan.splitlines()
        assert "Expand" not in plan
        assert len(db.query(text)) == 0
        [c], [b] = db.query("select N.c").oids, db.query("select N.a.b").oids
        db.apply([ov.Insert(c, "b", b)])
        assert db.query(text).oids == [b]
        assert "no path" not in db.query(text).explain()
        db.dataguide()
        db.apply([ov.Delete(c, "b", b)])
        assert len(db.query(text)) == 0
        db.dataguide()
    with ov.open(tmp_path / "store") as db:
        assert "no path N.c.b in the data: empty" in db.query(text).explain()


@pytest.mark.spark
@pytest.mark.slow
def test_twin_of_what_is_left_on_spark(spark: SparkSession) -> None:
    """Empty branches have the columns, and the kinds of columns, that others have."""
    from oemviews.session import settings
    from tests.engines.batched import INTERPRETED, spark_engine

    texts = (
        "select L, count(x) from Guide.Street.%@L x group by L",
        "select r, count(r.Street) from Guide.Restaurant r where not exists (r.Street)",
        "select r.Street, 1 from Guide.Restaurant r union select r.Name, 2 from Guide.Restaurant r",
    )
    engine = spark_engine(spark, GUIDE)
    for text in texts:
        _, left = left_of(text)
        assert left.notes
        with settings(spark, INTERPRETED):
            columns = Evaluation(engine).columns(left.query)
        rows = {tuple(item_of(column.cell(i)) for column in columns) for i in range(len(columns[0]))}
        assert rows == set(answer(GUIDE, parse_query(text))), text
