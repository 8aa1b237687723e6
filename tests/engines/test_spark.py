"""The Spark engine against the oracle and against its twin, many cases in each job."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lorel.errors import OemError
from lorel.normal import ANY, Automaton, Block, Labels, NewItem, Normal, Step, blocks
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.plan import (
    Bind,
    Closure,
    Consolidate,
    Expand,
    Given,
    Join,
    Plan,
    Unit,
    columns,
    explain,
    operators,
)
from lorel.planner import DELTA, Planner, output
from lorel.printer import print_query
from oemviews.engines.local import LocalEngine
from oemviews.engines.rows import Rows
from oemviews.engines.spark.engine import Guess, SparkEngine
from oemviews.engines.spark.graph import SparkGraph
from oemviews.model import COMPLEX
from oemviews.session import settings
from oemviews.store.values import MISSING
from tests.engines.batched import INTERPRETED, answers, merged, spark_engine
from tests.engines.support import change_between, local_graph, tables
from tests.generators.graphs import random_edits
from tests.generators.queries import random_query
from tests.guide import GUIDE
from tests.oracle.edits import apply
from tests.oracle.evaluate import answer
from tests.oracle.graph import OracleGraph
from tests.worked import WORKED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NAMES = Catalog(frozenset({"N", "M"}))


def items_of(query: Normal) -> list[str]:
    return [output(i) for i in range(len(next(blocks(query)).select))]


def test_oracle_worked_queries(spark: SparkSession) -> None:
    engine = spark_engine(spark, GUIDE)
    cases = []
    with settings(spark, INTERPRETED):
        for _, text, _ in WORKED:
            query = normalise(parse_query(text), Catalog(frozenset({"Guide"})), text=text)
            cases.append((engine.table(Planner(Guess()).query(query)), items_of(query)))
        rows = answers(cases)
    for (name, _, wanted), found in zip(WORKED, rows, strict=True):
        assert {row[0][1] for row in found} == wanted, name
        assert set(found.values()) <= {1}, name


def plain_queries(rng: Random, count: int) -> list[tuple[Any, Normal]]:
    """Random queries with their canonical forms; constructing and ordering are done above the engine."""
    found: list[tuple[Any, Normal]] = []
    while len(found) < count:
        tree = random_query(rng)
        try:
            query = normalise(tree, NAMES, text=print_query(tree))
        except OemError:
            continue
        if not any(block.order_by or _constructs(block) for block in blocks(query)):
            found.append((tree, query))
    return found


def _constructs(block: Block) -> bool:
    return any(isinstance(item, NewItem) for item in block.select)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "how"), [(1, {}), (2, INTERPRETED), (3, INTERPRETED)])
def test_oracle_random_queries_on_many_graphs(spark: SparkSession, seed: int, how: dict[str, str]) -> None:
    """Each query runs on four random graphs at once, thirty queries in a job, compiled or interpreted."""
    rng = Random(seed)
    graph = merged(rng, 4)
    engine = spark_engine(spark, graph)
    queries = plain_queries(rng, 30)
    with settings(spark, how):
        cases = [(engine.table(Planner(Guess()).query(query)), items_of(query)) for _, query in queries]
        rows = answers(cases)
    for (tree, _), found in zip(queries, rows, strict=True):
        assert found == Counter(dict.fromkeys(answer(graph, tree), 1)), print_query(tree)


def counted(rows: Rows, names: tuple[str, ...]) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(rows.tuples(names), rows.counts.tolist(), strict=True):
        found[row] += count
    return Counter({row: count for row, count in found.items() if count})


def delta_plans(rng: Random, plans: int) -> list[Plan]:
    """Chains of steps, one of them the change, those before it old and those after it new."""
    found: list[Plan] = []
    for _ in range(plans):
        labels = [rng.choice((Labels("a"), Labels("b"), ANY, Labels("a%", exact=False))) for _ in range(3)]
        at = rng.randrange(3)
        steps = [
            Step(f"v{i}", label, f"v{i + 1}", state="old" if i < at else "new")
            for i, label in enumerate(labels)
        ]
        plan: Plan = Given(DELTA, (f"v{at}", f"v{at + 1}"))
        for step in steps[at + 1 :]:
            plan = Expand(plan, step, forward=True)
        for step in reversed(steps[:at]):
            plan = Expand(plan, step, forward=False)
        found.append(Consolidate(plan))
    return found


def test_twin_signed_changes_over_two_states(spark: SparkSession) -> None:
    """The same signed rows and counts as the local engine, over a state and the state after an edit."""
    rng = Random(5)
    old = merged(rng, 6)
    new = apply(old, random_edits(rng, old, 12))
    change = change_between(old, new)
    before, held = SparkGraph.of_tables(spark, *tables(old)), local_graph(old)
    mine = SparkEngine(spark, {("", "old"): before, ("", "new"): before.apply(change)})
    twin = LocalEngine({("", "old"): held, ("", "new"): held.apply(change)})
    plus, minus = sorted(new.edges - old.edges), sorted(old.edges - new.edges)
    assert plus
    assert minus
    ends = [(src, dst) for src, _, dst in [*plus, *minus]]
    given = {DELTA: Rows.of(("src", "dst"), ends, [1] * len(plus) + [-1] * len(minus))}
    plans = delta_plans(rng, 8)
    found = answers((mine.table(plan, given), columns(plan)) for plan in plans)
    for plan, rows in zip(plans, found, strict=True):
        wanted = counted(twin.run(plan, given), columns(plan))
        assert Counter({tuple(oid for _, oid in row): n for row, n in rows.items()}) == wanted, explain(plan)
    assert any(n < 0 for rows in found for n in rows.values())


def test_run_gives_rows_and_counts_what_each_operator_gave(spark: SparkSession) -> None:
    engine = spark_engine(spark, GUIDE)
    text = 'select e from Guide.Restaurant r, r.Entree e where r.Name = "Baghdad Cafe"'
    plan = Planner(Guess()).query(normalise(parse_query(text), Catalog(frozenset({"Guide"}))))
    actual: dict[int, int] = {}
    rows = engine.run(plan, actual=actual)
    assert sorted(rows.oids("#0").tolist()) == [9, 10]
    assert actual[id(plan)] == 2
    assert set(actual) == {id(node) for node in operators(plan)}
    assert engine.touched == sum(actual.values())
    engine.run(plan)
    assert engine.touched == sum(actual.values()) + 2


def test_values_come_in_the_order_asked_for(spark: SparkSession) -> None:
    engine = spark_engine(spark, GUIDE)
    values = engine.values(np.array([12, 5, 0, 8, 99, 5, 1], np.int64))
    assert values.items()[:2] + values.items()[5:] == ["4.0", "Thai City", "Thai City", COMPLEX]
    assert values.item(2) is COMPLEX
    assert values.item(3) == 4
    assert values.kind[4] == MISSING


def test_a_variable_in_capitals_is_another_one(spark: SparkSession) -> None:
    engine = spark_engine(spark, GUIDE)
    text = "select R, r from Guide.Restaurant r, r.Nearby R"
    plan = Planner(Guess()).query(normalise(parse_query(text), Catalog(frozenset({"Guide"}))))
    assert sorted(engine.run(plan).tuples(("#0", "#1"))) == [(2, 3), (3, 2)]


# ---- what comes to the driver ----


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> list[int]:
    """How many rows each call brought to the driver."""
    kind = type(spark.range(1))
    counts: list[int] = []
    whole = kind.toArrow

    def to_arrow(frame: Any) -> Any:
        table = whole(frame)
        counts.append(len(table))
        return table

    def never(frame: Any, *args: Any) -> Any:
        raise AssertionError("rows came to the driver another way")

    monkeypatch.setattr(kind, "toArrow", to_arrow)
    for name in ("collect", "toPandas", "toLocalIterator", "take", "head"):
        monkeypatch.setattr(kind, name, never)
    return counts


WIDE = OracleGraph(
    dict.fromkeys(range(1, 200), COMPLEX),
    {(0, "N", 1)}
    | {(1, "a", n) for n in range(2, 100)}  # a level of 98
    | {(n, "a", n + 100) for n in range(2, 100)}  # and another
    | {(102, "a", 1)},
)
EVERYWHERE = Automaton(1, ((0, ANY, 0),), frozenset({0}))


def test_only_bounded_frontiers_and_the_answer_come_to_the_driver(
    spark: SparkSession, brought: list[int]
) -> None:
    engine = spark_engine(spark, WIDE, limit=20)
    plan = Closure(Bind(Unit(), "&1", 1), Step("&1", EVERYWHERE, "x"), forward=True)
    table = engine.table(plan)
    assert brought
    assert max(brought) <= 21  # twenty, and the one that tells that there are more
    frontiers = len(brought)
    rows = engine.run(plan)
    assert sorted(rows.oids("x").tolist()) == [*range(1, 100), *range(102, 200)]
    assert max(brought[frontiers:-1]) <= 21
    assert brought[-1] == 197
    assert table.kinds == {"&1": "oid", "x": "oid"}


def test_a_join_brings_only_its_answer(spark: SparkSession, brought: list[int]) -> None:
    engine = spark_engine(spark, WIDE)
    step = Step("x", Labels("a"), "y")
    pairs: Plan = Join(Given("xs", ("x",)), Expand(Given("xs", ("x",)), step, forward=True))
    rows = engine.run(pairs, {"xs": Rows.of(("x",), [(1,), (2,), (3,)])})
    assert len(rows) == 100
    assert brought == [100]


def test_path_variables_walk_without_repeating_an_object(spark: SparkSession, brought: list[int]) -> None:
    ring = OracleGraph(
        dict.fromkeys((1, 2, 3), COMPLEX), {(1, "a", 2), (2, "b", 3), (3, "c", 1), (1, "d", 1)}
    )
    engine = spark_engine(spark, ring)
    plan = Closure(Given("xs", ("x",)), Step("x", EVERYWHERE, "y", via="P"), forward=True)
    given = {"xs": Rows.of(("x",), [(1,), (2,)])}
    rows = engine.run(plan, given)
    walks = zip(rows.tuples(("x", "y")), rows.values("P").items(), strict=True)
    assert sorted((*ends, path) for ends, path in walks) == [
        (1, 1, ""), (1, 2, "a"), (1, 3, "a.b"), (2, 1, "b.c"), (2, 2, ""), (2, 3, "b"),
    ]  # fmt: skip
    back = engine.run(Closure(Given("xs", ("y",)), plan.step, forward=False), {"xs": Rows.of(("y",), [(1,)])})
    walks = zip(back.tuples(("x",)), back.values("P").items(), strict=True)
    assert sorted((*ends, path) for ends, path in walks) == [(1, ""), (2, "b.c"), (3, "c")]
