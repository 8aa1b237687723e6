"""The order in which a plan runs, what does not run at all, and what is let go."""

from __future__ import annotations

import numpy as np
import pytest

from lorel import plan as op
from lorel.normal import Labels, Step, Truth
from oemviews.engines.local import LocalEngine
from oemviews.engines.rows import Rows
from oemviews.model import COMPLEX
from tests.engines.support import local_graph
from tests.oracle import OracleGraph

GRAPH = OracleGraph({1: COMPLEX, 2: COMPLEX, 3: "x"}, {(0, "N", 1), (1, "a", 2), (2, "a", 3)})
NEVER = (Truth(False),)


def engine() -> LocalEngine:
    return LocalEngine({("", "new"): local_graph(GRAPH)})


def step(input_: op.Plan, src: str, dst: str) -> op.Plan:
    return op.Expand(input_, Step(src, Labels("a"), dst), forward=True)


def given(name: str = "x") -> op.Plan:
    return op.Given("some", (name,))


SOME = {"some": Rows.of_set("x", np.array([1, 2]))}


def test_inputs_come_first_and_each_once() -> None:
    shared = step(given(), "x", "y")
    plan = op.Union((op.Project(shared, ("y",)), op.Project(shared, ("y",))))
    order = list(op.inputs_first(plan))
    assert len(order) == 5
    assert all(order.index(part) < order.index(node) for node in order for part in op.children(node))


@pytest.mark.parametrize("kind", [op.Semi, op.Anti])
def test_nothing_runs_to_be_compared_with_nothing(kind: type[op.Semi] | type[op.Anti]) -> None:
    actual: dict[int, int] = {}
    left, right = op.Filter(given(), NEVER), step(given(), "x", "y")
    plan = op.Union((kind(left, right), op.Project(step(given(), "x", "y"), ("x",))))
    assert sorted(engine().run(plan, SOME, actual).oids("x").tolist()) == [1, 2]
    assert id(left) in actual
    assert id(right) not in actual


def test_what_is_needed_elsewhere_too_does_run() -> None:
    shared = op.Project(step(given(), "x", "y"), ("x",))
    plan = op.Union((op.Semi(op.Filter(given(), NEVER), shared), shared))
    assert sorted(engine().run(plan, SOME).oids("x").tolist()) == [1, 2]


def test_a_statement_ends_where_nothing_can_come_any_more() -> None:
    nothing = op.Filter(given(), NEVER)
    plan = op.Consolidate(op.Rename(step(step(nothing, "x", "y"), "y", "z"), (("z", "#0"), ("x", "#1"))))
    running = engine()
    (rows,) = running.run_all([(plan, SOME)])
    assert {name: rows.oids(name).tolist() for name in rows.columns} == {"#0": [], "#1": []}
    assert running.touched == 2  # the rows handed in


def test_one_empty_part_of_a_union_ends_nothing() -> None:
    nothing = op.Project(step(op.Filter(given(), NEVER), "x", "y"), ("x",))
    for plan in (op.Union((nothing, given())), op.Anti(given(), nothing)):
        assert sorted(engine().run_all([(plan, SOME)])[0].oids("x").tolist()) == [1, 2]


def test_a_plan_may_be_thousands_of_operators_deep() -> None:
    plan = given()
    for _ in range(5_000):
        plan = op.Filter(plan, (Truth(True),))
    assert len(engine().run(plan, SOME)) == 2
