"""Several plans as one job on Spark: the same rows as each alone, and nothing mixed up between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lorel.normal import Labels, Step
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.plan import Consolidate, Distinct, Expand, Given, Plan, Project
from lorel.planner import Planner
from oemviews.engines.rows import Rows
from oemviews.engines.spark import engine as spark_engine_module
from oemviews.engines.spark.engine import Guess, SparkEngine
from oemviews.session import settings
from oemviews.store.values import Values
from tests.engines.batched import INTERPRETED, spark_engine
from tests.guide import GUIDE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Runs = list[tuple[Plan, dict[str, Rows]]]


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[SparkEngine]:
    with settings(spark, INTERPRETED):
        yield spark_engine(spark, GUIDE)


def query(text: str) -> Plan:
    return Planner(Guess()).query(normalise(parse_query(text), Catalog(frozenset({"Guide"})), text=text))


def seen(rows: Rows) -> Counter[tuple[Any, ...]]:
    columns = [
        [repr(each) for each in column.items()] if isinstance(column, Values) else column.tolist()
        for _, column in sorted(rows.columns.items())
    ]
    found: Counter[tuple[Any, ...]] = Counter()
    for row in zip(rows.counts.tolist(), *columns, strict=True):
        found[row] += 1
    return found


@pytest.fixture
def actions(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was brought to the driver: a list that grows by one with each action."""
    found: list[str] = []
    frame = type(spark.range(1))
    real = frame.toArrow

    def counted(self: Any) -> Any:
        found.append("toArrow")
        return real(self)

    monkeypatch.setattr(frame, "toArrow", counted)
    return found


def step(given: str, label: str) -> Plan:
    return Expand(Given(given, ("src",)), Step("src", Labels(label), "dst"), forward=True)


def test_plans_of_different_columns_are_one_job(engine: SparkEngine, actions: list[str]) -> None:
    runs: Runs = [
        (query("select r, n from Guide.Restaurant r, r.Name n"), {}),
        (query('select r.Name || "!" from Guide.Restaurant r'), {}),
        (step("from", "Entree"), {"from": Rows.of(("src",), [(oid,) for oid in GUIDE.values])}),
        (step("from", "Name"), {"from": Rows.of(("src",), [(oid,) for oid in GUIDE.values], None)}),
        (query("select r from Guide.Nothing r"), {}),
    ]
    found = engine.run_all(runs)
    assert len(actions) == 1
    alone = [engine.run(plan, given) for plan, given in runs]
    assert list(map(seen, found)) == list(map(seen, alone))
    assert all(len(rows) for rows in found[:4])
    assert not len(found[4])


@pytest.mark.parametrize("end", [Consolidate, Distinct])
@pytest.mark.parametrize("signed", [False, True])
def test_what_all_plans_end_with_is_done_for_each_of_them(
    engine: SparkEngine, actions: list[str], end: type[Consolidate] | type[Distinct], signed: bool
) -> None:
    """Equal rows of two plans stay apart; equal rows of one are added up, to nothing at times."""
    oids = sorted(GUIDE.values)
    twice = [(oid,) for oid in oids] * 2
    counts = [1] * len(oids) + [(-1 if oid % 2 else 2) if signed else 1 for oid in oids]
    plans = [end(Project(step("from", label), ("src",))) for label in ("Entree", "Name", "Entree")]
    runs: Runs = [(plan, {"from": Rows.of(("src",), twice, counts)}) for plan in plans]
    found = engine.run_all(runs)
    assert len(actions) == 1
    assert list(map(seen, found)) == [seen(engine.run(plan, given)) for plan, given in runs]
    assert len(found[0])
    assert seen(found[0]) == seen(found[2])


def test_rows_given_are_counted_as_touched(engine: SparkEngine) -> None:
    runs: Runs = [(query("select r from Guide.Restaurant r"), {})] * 2
    before = engine.touched
    found = engine.run_all(runs)
    assert engine.touched - before == sum(map(len, found)) > 0


def test_a_few_objects_handed_in_become_literals(engine: SparkEngine) -> None:
    """A scan with a list needs no join; rows that count otherwise than once do."""
    oids = sorted(GUIDE.values)
    once = Rows.of(("src",), [(oid,) for oid in oids])
    twice = Rows.of(("src",), [(oid,) for oid in oids] * 2)
    frames = [engine.frame(step("from", "Entree"), {"from": rows}) for rows in (once, twice)]
    plans = [frame._jdf.queryExecution().optimizedPlan().toString() for frame in frames]  # type: ignore[operator]
    assert ["Join" in plan for plan in plans] == [False, True]
    found = [seen(engine.run(step("from", "Entree"), {"from": rows})) for rows in (once, twice)]
    assert found[0]
    assert found[1] == {row: 2 for row in found[0]}


def test_values_of_objects_few_and_many(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order asked for, also twice, and missing where there is no such object."""
    asked = np.array([17, 10**6, 0, 17, 3, 16], np.int64)
    few = engine.values(asked)
    assert [few.item(i) for i in (0, 3, 5)] == ["Beef", "Beef", "Beef Stew"]
    assert few.missing.tolist() == [False, True, False, False, False, False]
    monkeypatch.setattr(spark_engine_module, "LITERALS", 2)
    many = engine.values(asked)
    assert many.kind.tolist() == few.kind.tolist()
    assert many.text.tolist() == few.text.tolist()
    assert not len(engine.values(np.empty(0, np.int64)))


def test_more_joins_than_spark_gets_through_are_several_jobs(
    engine: SparkEngine, actions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_engine_module, "_MOST_JOINS", 2)
    given = {"from": Rows.of(("src",), [(oid,) for oid in GUIDE.values])}
    runs: Runs = [(step("from", label), given) for label in ("Entree", "Name", "Price")]
    found = engine.run_all(runs)
    assert len(actions) == 2
    assert list(map(seen, found)) == [seen(engine.run(plan, rows)) for plan, rows in runs]
