"""Plans of maintenance statements: where they begin, and what they are expected to touch."""

from __future__ import annotations

import numpy as np
import pytest

from lorel import plan as op
from lorel.normal import Compare, Const, Labels, ValueOf
from lorel.plan import Plan
from lorel.planner import DELTA
from lorel.scope import Catalog
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.engines.rows import Rows
from oemviews.maintain.prepared import Prepared
from oemviews.maintain.statements import changed
from oemviews.model import COMPLEX, Value
from oemviews.views.definition import define
from tests.maintain.kit import local
from tests.oracle import OracleGraph

SIZE = 2_000
BODY = 'select e from Guide.Place p, p.Dish e where p.Kind = "Thai" and e.Contains = "salt"'


@pytest.fixture(scope="module")
def graph() -> LocalGraph:
    """Each place has a kind of its own, half are Thai, and a dish; half of these contain the salt."""
    values: dict[int, Value] = {1: COMPLEX, 2: "salt", 3: "rice"}
    edges = {(0, "Guide", 1)}
    for i in range(SIZE):
        place, kind, dish = (10 + 3 * i + k for k in range(3))
        values |= {place: COMPLEX, kind: "Thai" if i % 4 < 2 else "other", dish: COMPLEX}
        edges |= {(1, "Place", place), (place, "Kind", kind), (place, "Dish", dish)}
        edges.add((dish, "Contains", 2 + i % 2))
    return local(OracleGraph(values, edges))


@pytest.fixture
def engine(graph: LocalGraph) -> LocalEngine:
    return LocalEngine({("", "old"): graph, ("", "new"): graph})


def equals(text: str) -> Compare:
    return Compare("=", ValueOf("x"), Const(text))


@pytest.mark.parametrize(
    ("text", "label", "share"), [("Thai", "Kind", 0.5), ("salt", "Contains", 0.5), ("Thai", "Contains", 0.0)]
)
def test_how_many_edges_lead_to_a_value(engine: LocalEngine, text: str, label: str, share: float) -> None:
    """Many objects or one, seldom or often used."""
    found = engine.statistics.entering(equals(text), Labels(label), "")
    assert found == pytest.approx(share * SIZE, abs=0.02 * SIZE)


def test_a_step_back_from_a_value_is_expected_to_give_its_parents(engine: LocalEngine) -> None:
    definition = define(f"define view V = {BODY}", Catalog(frozenset({"Guide"})))
    plan, price = Prepared.of(definition).full_plan(engine)
    actual: dict[int, int] = {}
    engine.run(plan, actual=actual)
    assert price == pytest.approx(sum(actual.values()), rel=0.5)


@pytest.mark.parametrize(("size", "begins"), [(1, True), (100, True), (600, True), (1_900, False)])
def test_a_statement_begins_where_it_is_cheapest(engine: LocalEngine, size: int, begins: bool) -> None:
    """With what changed, if that is less work than to begin with the rare value; whatever comes first."""
    definition = define(f"define view V = {BODY}", Catalog(frozenset({"Guide"})), "incremental")
    ready = Prepared.of(definition)
    kind = next(name for name, reads in ready.tested.items() if "Thai" in str(reads.tests))
    statement = next(each for each in ready.at[kind] if each.state == "new")
    given = {changed(kind): Rows.of_set(kind, np.arange(11, 11 + 3 * size, 3))}
    plan, _ = ready.plan(engine, statement, (), given)
    assert isinstance(first_rows(plan), op.Given) == begins


def first_rows(plan: Plan) -> Plan:
    """The operator that brings the first rows but the names."""
    return next(node for node in op.inputs_first(plan) if isinstance(node, op.Given | op.Lookup | op.Scan))


def test_both_states_share_what_they_read(graph: LocalGraph, engine: LocalEngine) -> None:
    """A join of values: which tests pass differs, the steps do not."""
    text = "define view V = select p from Guide.Place p, p.Kind k, p.Dish d, d.Contains c where k = c"
    ready = Prepared.of(define(text, Catalog(frozenset({"Guide"})), "incremental"))
    kind = next(iter(ready.tested))
    new, old = ready.at[kind]
    given = {changed(kind): Rows.of_set(kind, np.array([11]))}
    (first, price), (second, less) = (ready.plan(engine, each, (), given) for each in (new, old))
    plans = [first, second]
    assert less < price  # what both read is counted once
    shared = {id(node) for node in op.operators(plans[0])} & {id(node) for node in op.operators(plans[1])}
    assert any(isinstance(node, op.Expand) for node in op.operators(plans[0]) if id(node) in shared)


def test_sizes_of_changes_do_not_share_estimates(engine: LocalEngine) -> None:
    """The same operators for one row and for thousands are not expected to give the same."""
    text = "define view V = select p from Guide.Place p where not exists k in p.Kind : k = 7"
    ready = Prepared.of(define(text, Catalog(frozenset({"Guide"})), "incremental"))
    statement = next(each for place, some in ready.at.items() if isinstance(place, tuple) for each in some)
    column = statement.planted
    estimates = []
    for size in (1, 1_000):
        given = {
            DELTA: Rows(
                {column.src: np.zeros(size, np.int64), column.dst: np.arange(size)}, np.ones(size, np.int64)
            )
        }
        estimates.append(ready.plan(engine, statement, (), given)[0].estimate)
    assert estimates[1] > 100 * estimates[0]
