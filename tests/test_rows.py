"""Rows inside queries: ranges over several items, objects united with values, the element of a group."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import oemviews as ov
from lorel import ast
from lorel.analysis import faults
from lorel.canonical_text import normal_text
from lorel.errors import LorelMeaningError
from lorel.normal import NewItem, Normal, blocks, is_mixed
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.planner import Planner, output
from lorel.printer import print_query
from oemviews.answers.evaluate import Evaluation
from oemviews.engines.engine import Engine
from tests.engines.support import local_engine
from tests.engines.test_local import item_of
from tests.generators.graphs import NAMES, random_graph
from tests.generators.queries import random_row_query, random_row_view
from tests.guide import GUIDE
from tests.oracle import OracleGraph, answer
from tests.oracle.graph import Item

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GUIDE_NAMES = Catalog(frozenset({"Guide"}))
RANDOM_NAMES = Catalog(frozenset(NAMES))

RANGES = [
    "select x.n from x in (select n: r.Name, p: r.Price from Guide.Restaurant r) where x.p < 20",
    "select x from x in (select n: r.Name, p: r.Price from Guide.Restaurant r)",
    "select x from x in (select r.Name, r.Price from Guide.Restaurant r"
    " union select r.Name, r.Rating from Guide.Restaurant r)",
    "select g.i from g in (select i, n: count(e) from Guide.Restaurant.Entree e, e.Ingredient i group by i)"
    " where g.n > 1",
    "select r, count(select e, i from r.Entree e, e.Ingredient i) from Guide.Restaurant r",
    "select count(select distinct type-of(e), r.Name from Guide.Restaurant r, r.Entree e)",
    "select x.r.Name from x in (select r, e from Guide.Restaurant r, r.Entree e) where x.e.Price < 9",
    "select r from Guide.Restaurant r"
    ' where exists x in (select e, i from r.Entree e, e.Ingredient i) : (x.i = "Beef" and x.e.Price > 8)',
    "select r from Guide.Restaurant r"
    ' where for all x in (select e, i from r.Entree e, e.Ingredient i) : x.i = "Beef"',
    "select r from Guide.Restaurant r"
    ' where not exists (select e, i from r.Entree e, e.Ingredient i where i = "Rice")',
    "select x.%.Name from x in (select r, e from Guide.Restaurant r, r.Entree e)",
    "select y.z.a from y in (select z: x, k: 5"
    " from x in (select a: r.Name, b: r.Price from Guide.Restaurant r))",
    "select type-of(x), is-atomic(x) from x in (select r, r.Name from Guide.Restaurant r)",
    "select element(select r.Name, r.Price from Guide.Restaurant r where r.Price = 12)",
    "select oem(a: x, b: x.n) from x in (select n: r.Name, p: r.Price from Guide.Restaurant r)",
    "select x.e{f}.Name, f from x in (select r, e from Guide.Restaurant r, r.Entree e)",
    "select x.r from x in (select r, s: &99 from Guide.Restaurant r)",
    "select x.r from x in (select r, s: r.Price / 0 from Guide.Restaurant r)",
]
MIXED = [
    "select r.Name from Guide.Restaurant r union select 5",
    'select r.Name, 1 from Guide.Restaurant r union select "x", r.Price from Guide.Restaurant r',
    "(select r.Name from Guide.Restaurant r union select 5) intersect"
    " (select 5 union select r.Name from Guide.Restaurant r where r.Price = 12)",
    '(select r.Name from Guide.Restaurant r union select 5) except select "Thai City"',
    'select r.Name from Guide.Restaurant r intersect select "Thai City"',
    'select r.Name from Guide.Restaurant r except select "Thai City"',
    "select oem(f: (select r.Name union select 3)) from Guide.Restaurant r",
    "select r from Guide.Restaurant r where r.Rating in (select r.Price union select 4)",
    "select r from Guide.Restaurant r"
    " where r = (select s from Guide.Restaurant s where s.Price = 12 union select 4)",
    "select 1 + (select r.Price union select 4) from Guide.Restaurant r",
    "select x from x in (select Guide.Restaurant.Name intersect select 3)",
]
ALIKE = [
    "select (select v from Guide.Restaurant).Name, count(v) from Guide.Restaurant v"
    " group by (select v from Guide.Restaurant).Name",
    "select v.Name, count(v) + count(v) from Guide.Restaurant v group by v.Name order by count(v) + count(v)",
]
"""A from path inside without a variable gets a name: another one in each place."""

ELEMENTS = [
    "select i, element(e) from Guide.Restaurant.Entree e, e.Ingredient i group by i",
    "select i, element(e.Name), count(e) from Guide.Restaurant.Entree e, e.Ingredient i group by i",
    "select i, element(e.Price) + 1 as p from Guide.Restaurant.Entree e, e.Ingredient i group by i",
    "select i, element(type-of(e)) from Guide.Restaurant.Entree e, e.Ingredient i group by i",
    "select i from Guide.Restaurant.Entree e, e.Ingredient i group by i order by element(e.Price)",
    "select g.x.Name"
    " from g in (select i, x: element(e) from Guide.Restaurant.Entree e, e.Ingredient i group by i)",
]


def rows_of(engine: Engine, query: Normal) -> list[tuple[Item, ...]]:
    columns = Evaluation(engine).columns(query)
    return [tuple(item_of(column.cell(i)) for column in columns) for i in range(len(columns[0]))]


def agree(graph: OracleGraph, tree: ast.Query, catalog: Catalog) -> int:
    """The same rows from the engine, from the oracle, and from the oracle for the canonical form."""
    text = print_query(tree)
    query = normalise(tree, catalog, text=text)
    assert faults(query) == [], text
    found, wanted = rows_of(local_engine(graph), query), set(answer(graph, tree))
    assert len(found) == len(set(found)), text
    assert set(found) == wanted, f"{text}\n{graph}"
    canonical = normal_text(query)
    assert set(answer(graph, parse_query(canonical))) == wanted, f"{text}\n{canonical}\n{graph}"
    return len(found)


@pytest.mark.parametrize("text", [*RANGES, *MIXED, *ALIKE, *ELEMENTS])
def test_rows_in_the_guide(text: str) -> None:
    empty = "&99" in text or "/ 0" in text or "intersect select" in text
    assert bool(agree(GUIDE, parse_query(text), GUIDE_NAMES)) is not empty


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_random_rows_agree(first: int) -> None:
    for seed in range(first, first + 60):
        rng = Random(seed)
        tree = random_row_view(rng).query if seed % 2 else random_row_query(rng)
        for _ in range(2):
            agree(random_graph(rng), tree, RANDOM_NAMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select x from x in (select r, e from Guide.R r, r.E e) where x = 3", "name one of its items: r, e"),
        ("select x from x in (select r, e from Guide.R r, r.E e) where x == r", "name one of its items"),
        ("select x.f from x in (select r, e from Guide.R r, r.E e)", "no item 'f'"),
        ("select x.# from x in (select r, e from Guide.R r, r.E e)", "this row has r, e"),
        ("select x.%@L from x in (select r, e from Guide.R r, r.E e)", "this row has r, e"),
        ("select x from x in (select a: r, a: e from Guide.R r, r.E e)", "labelled 'a'"),
        ("select x.% from x in (select r, n: 1 from Guide.R r)", "not all values"),
        ("select sum(select r.Name, r.Price from Guide.R r)", "rows can be counted"),
        ("select x from x in (select r, e from Guide.R r, r.E e) order by x", "order by a field"),
        ("select r from Guide.R r, x in (select s, t: 1 from r.S s) order by x", "no value for an order"),
        ("select count(x.r) from x in (select r, e from Guide.R r, r.E e) group by x", "no value for a key"),
        ("select x.r, count(x) from x in (select r, e from Guide.R r) group by x.r", "over a group"),
        ("select x from x in (select Guide.R union select 3)", "selects with `union`"),
        ("select count(select Guide.R union select 3)", "counts with `\\+`"),
    ],
)
def test_what_a_row_cannot_be_is_said(text: str, message: str) -> None:
    with pytest.raises(LorelMeaningError, match=message):
        normalise(parse_query(text), Catalog(frozenset({"Guide", "r", "e"})), text=text)


def test_a_label_variable_in_a_query_that_stays_apart_is_no_unquote() -> None:
    """Such a query was tried as part of the one around it: the names of that try are free again."""
    text = "select x from x in (select distinct y from Guide.%@L y where L like 'R%')"
    query = normalise(parse_query(text), GUIDE_NAMES)
    assert "@L" in normal_text(query)


def test_a_mixed_answer_in_all_its_forms(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text('{"a": [{"n": 1, "p": 2}, {"n": 3}]}')
    with ov.create(tmp_path / "store") as db:
        db.load(tmp_path / "g.json", name="N")
        found = db.query("select N.a.n union select 7")
        first, second = db.query("select N.a.n").oids
        assert found.oids == [first, second]
        assert [row["n"].value for row in found] == [1, 3, 7]
        assert found.to_pandas()["n.oid"].tolist()[:2] == [first, second]
        assert [cell["oid"] for cell in found.to_arrow()["n"].to_pylist()] == [first, second, None]
        assert found.to_json().splitlines()[2] == '{"n":{"type":"integer","value":7}}'
        db.update("update x.card += (select y.n, y.p from N.a y) from N.a x where x.n = 3")
        assert [row["n"].value for row in db.query("select N.a.card.n")] == [1]


@pytest.mark.spark
@pytest.mark.slow
def test_twin_rows_on_spark(spark: SparkSession) -> None:
    """Queries on the Guide in one job, random ones in another; objects united with values by themselves."""
    from oemviews.engines.spark.engine import Guess
    from oemviews.session import settings
    from tests.engines.batched import INTERPRETED, answers, merged, spark_engine

    def check(graph: OracleGraph, trees: list[ast.Query], catalog: Catalog) -> None:
        engine, cases = spark_engine(spark, graph), []
        for tree in trees:
            query = normalise(tree, catalog)
            names = [output(i) for i in range(len(next(blocks(query)).select))]
            cases.append((engine.table(Planner(Guess()).query(query)), names))
        for tree, rows in zip(trees, answers(cases), strict=True):
            assert rows == Counter(dict.fromkeys(answer(graph, tree), 1)), print_query(tree)

    rng = Random(5)
    with settings(spark, INTERPRETED):
        check(GUIDE, [parse_query(text) for text in (RANGES[0], *RANGES[3:5], ELEMENTS[0])], GUIDE_NAMES)
        found = (random_row_query(rng) for _ in range(40))
        check(
            merged(rng, 3),
            [tree for tree in found if is_plain(normalise(tree, RANDOM_NAMES))][:5],
            RANDOM_NAMES,
        )
        engine, tree = spark_engine(spark, GUIDE), parse_query(MIXED[0])
        assert set(rows_of(engine, normalise(tree, GUIDE_NAMES))) == set(answer(GUIDE, tree))


def is_plain(query: Normal) -> bool:
    """Nothing is left to do above the engine: nothing is constructed, put in order or mixed."""
    items = (item for block in blocks(query) for item in block.select)
    ordered = any(block.order_by for block in blocks(query))
    return not (is_mixed(query) or ordered or any(isinstance(item, NewItem) for item in items))
