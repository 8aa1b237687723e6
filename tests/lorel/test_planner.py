"""Plans of maintenance statements and odd queries: rows handed in, constants, loops, shared parts."""

from __future__ import annotations

import pytest

from lorel import plan as op
from lorel.canonical_text import normal_text
from lorel.normal import (
    Block,
    Branch,
    Compare,
    Const,
    Labels,
    ObjectItem,
    Step,
    ValueOf,
    Within,
)
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.plan import explain
from lorel.planner import DELTA, Planner, output
from oemviews.engines.rows import Rows
from oemviews.model import COMPLEX
from tests.engines.support import answer_of, local_engine
from tests.guide import GUIDE
from tests.lorel.test_cases import GuideStatistics
from tests.oracle.graph import OracleGraph

A, B = Labels("a"), Labels("b")
LOOP = OracleGraph(
    {1: COMPLEX, 2: COMPLEX}, [(0, "N", 1), (1, "a", 1), (1, "a", 2), (2, "a", 1), (1, "b", 2)]
)


def _run(block: Block, graph: OracleGraph, **given: Rows) -> set[tuple[int, ...]]:
    engine = local_engine(graph)
    sizes = {name: float(len(rows)) for name, rows in given.items()}
    rows = engine.run(Planner(engine.statistics, sizes).query(block), given)
    return set(rows.tuples([output(i) for i in range(len(block.select))]))


def test_a_step_from_a_variable_to_itself() -> None:
    block = Block((ObjectItem("x", "x"),), Branch(steps=(Step("x", A, "x"),)))
    assert _run(block, LOOP) == {(1,)}


def test_a_changed_edge_from_a_variable_to_itself() -> None:
    block = Block((ObjectItem("x", "x"),), Branch(steps=(Step("x", A, "x", state="delta"),)))
    changed = Rows.of(("src", "dst"), [(1, 1), (1, 2)])
    assert _run(block, LOOP, **{DELTA: changed}) == {(1,)}


def test_a_changed_edge_with_constant_ends() -> None:
    steps = (Step("&1", A, "&2", state="delta"), Step("&2", A, "y"))
    block = Block((ObjectItem("y", "y"),), Branch(steps=steps))
    assert _run(block, LOOP, **{DELTA: Rows.of(("src", "dst"), [(1, 2), (1, 1)])}) == {(1,)}
    assert _run(block, LOOP, **{DELTA: Rows.of(("src", "dst"), [(2, 1)])}) == set()


def test_rows_handed_in_limit_variables() -> None:
    step = Step("&1", A, "x")
    block = Block((ObjectItem("x", "x"),), Branch(steps=(step,), within=(Within(("x",), "kept"),)))
    assert _run(block, LOOP, kept=Rows.of(("x",), [(2,), (7,)])) == {(2,)}


def test_rows_handed_in_limit_constants() -> None:
    within = (Within(("&1", "x"), "kept"),)
    block = Block((ObjectItem("x", "x"),), Branch(steps=(Step("&1", A, "x"),), within=within))
    assert _run(block, LOOP, kept=Rows.of(("p", "q"), [(1, 2), (2, 1)])) == {(2,)}


def test_both_ends_constant() -> None:
    there = Block((ObjectItem("x", "&1"),), Branch(steps=(Step("&1", A, "&2"),)))
    gone = Block((ObjectItem("x", "&1"),), Branch(steps=(Step("&2", B, "&1"),)))
    assert _run(there, LOOP) == {(1,)}
    assert _run(gone, LOOP) == set()


@pytest.mark.parametrize(
    ("text", "oids"),
    [
        ("select &10", {10}),
        ("select &99", set()),
        ("select x from &99 x", set()),
        ("select &10 where &10.Price < 20", {10}),
        ('select r from Guide.Restaurant r where &5 = "Thai City"', {2, 3, 4}),
        ('select r from Guide.Restaurant r where &5 = "Thai"', set()),
        ("select r from Guide.Restaurant r where r == &3", {3}),
        ("select r from Guide.Restaurant r where exists (&99)", set()),
        ("select r from Guide.Restaurant r where for all x in &99 : 0 = 1", {2, 3, 4}),
        ("select &99(.Name)?", set()),
        ("select r from Guide.Restaurant r where count(&99) = 0 and count(&1) = 1", {2, 3, 4}),
        (
            "select r from Guide.Restaurant r "
            "where count(select e from r.Entree e where count(e.Ingredient) = count(r.Entree)) = 1",
            {4},
        ),
        ("select r from Guide.Restaurant r where exists c in (count(r.Entree)) : c = 2", {3, 4}),
        ("select r from Guide.Restaurant r, a in (r.Price + 1)", {3}),
        ("select r from Guide.Restaurant r where r in (select s from Guide.%.Nearby s union &4)", {2, 3, 4}),
    ],
)
def test_odd_queries(text: str, oids: set[int]) -> None:
    query = normalise(parse_query(text), Catalog(frozenset({"Guide"})), text=text)
    assert {row[0][1] for row in answer_of(local_engine(GUIDE), query)} == oids


def test_many_conditions_are_planned_in_no_time() -> None:
    """A plan shares its parts: each `not` doubles what a tree would hold."""
    text = "select r from Guide.Restaurant r where " + " and ".join(f"not (r.a{i} = {i})" for i in range(40))
    plan = Planner(GuideStatistics()).query(normalise(parse_query(text), Catalog(frozenset({"Guide"}))))
    assert len(op.operators(plan)) < 400
    assert len(explain(plan).splitlines()) < 500


def test_explain_shows_what_was() -> None:
    query = normalise(parse_query("select Guide.Restaurant"), Catalog(frozenset({"Guide"})))
    engine = local_engine(GUIDE)
    actual: dict[int, int] = {}
    plan = Planner(engine.statistics).query(query)
    engine.run(plan, actual=actual)
    assert "Expand _1.Restaurant _2  [~3, was 3]" in explain(plan, actual)


def test_a_maintenance_statement_reads_like_the_paper() -> None:
    """Example 3 of the 1998 paper, with `==` for the test of identity."""
    name = Branch((Step("r", Labels("Name"), "x"),), (Compare("=", ValueOf("x"), Const("Baghdad Cafe")),))
    edge = Branch(
        (Step("&10", Labels("Ingredient"), "&15"),), (Compare("=", ValueOf("&15"), Const("Mushroom")),)
    )
    tie = Compare("==", ValueOf("e"), ValueOf("&10"))
    where = Branch(name.steps + edge.steps, (*name.tests, *edge.tests, tie))
    steps = (
        Step("&0", Labels("Guide"), "_1"),
        Step("_1", Labels("Restaurant"), "r"),
        Step("r", Labels("Entree"), "e"),
    )
    statement = Block((ObjectItem("e", "e"),), Branch(steps), (where,))
    assert normal_text(statement) == (
        "select e\n"
        "from Guide.Restaurant r, r.Entree e\n"
        'where exists x in r.Name : x = "Baghdad Cafe"\n'
        '  and exists &15 in &10.Ingredient : &15 = "Mushroom"\n'
        "  and e == &10"
    )


def test_a_statement_over_a_change_says_which_state_it_reads() -> None:
    steps = (
        Step("&0", Labels("Guide"), "g", state="old"),
        Step("g", Labels("Restaurant"), "r", state="delta"),
    )
    where = Branch((Step("r", Labels("Name"), "x"),), (Compare("=", ValueOf("x"), Const("a")),))
    block = Block((ObjectItem("r", "r"),), Branch(steps, within=(Within(("r",), "RelevantOids"),)), (where,))
    assert normal_text(block) == (
        "select r\n"
        "from old Guide g, delta g.Restaurant r, r in RelevantOids\n"
        'where exists x in new r.Name : x = "a"'
    )
