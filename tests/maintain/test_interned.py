"""Equal parts of plans become one object, and an engine runs them once."""

from __future__ import annotations

import numpy as np

from lorel import plan as op
from lorel.normal import Compare, Const, Labels, Step, Test, ValueOf
from oemviews.engines.local import LocalEngine
from oemviews.engines.rows import Rows
from oemviews.maintain.interned import Interned
from oemviews.model import COMPLEX
from tests.engines.support import local_graph
from tests.oracle import OracleGraph

GRAPH = OracleGraph({1: COMPLEX, 2: 1, 3: True, 4: "x"}, {(1, "a", 2), (1, "a", 3), (1, "a", 4)})


def walked() -> op.Plan:
    return op.Expand(op.Given("changed", ("x",)), Step("x", Labels("a"), "y"), forward=True)


def filtered(value: int) -> op.Plan:
    test: Test = Compare("=", ValueOf("y"), Const(value))
    return op.Filter(walked(), (test,))


def test_equal_parts_are_one_and_others_are_not() -> None:
    interned = Interned()
    one, true, again = (interned(filtered(value)) for value in (1, True, 1))
    assert one is again
    assert one is not true  # though 1 == True
    assert next(op.children(one)) is next(op.children(true))
    both = interned(op.Union((filtered(True), filtered(1))))
    assert list(op.children(both)) == [true, one]
    assert next(op.children(both)) is true


def test_a_deep_plan() -> None:
    plan: op.Plan = op.Unit()
    for i in range(5_000):
        plan = op.Bind(plan, f"x{i}", i)
    interned = Interned()
    assert interned(plan) is interned(interned(plan))


def test_what_runs_share_runs_once() -> None:
    interned = Interned()
    plans = [interned(filtered(value)) for value in (1, True)]
    given = {"changed": Rows.of_set("x", np.array([1]))}
    together, apart = (LocalEngine({("", "new"): local_graph(GRAPH)}) for _ in range(2))
    found = together.run_all([(plan, given) for plan in plans])
    assert [rows.oids("y").tolist() for rows in found] == [[2], [3]]
    for plan in plans:
        apart.run(plan, given)
    assert (together.touched, apart.touched) == (1 + 3 + 1 + 1, 2 * (1 + 3 + 1))


def test_rows_of_another_run_are_not_taken_for_these() -> None:
    engine, plan = LocalEngine({("", "new"): local_graph(GRAPH)}), Interned()(filtered(1))
    runs = [(plan, {"changed": Rows.of_set("x", np.array([oid]))}) for oid in (1, 4, 1)]
    assert [len(rows) for rows in engine.run_all(runs)] == [1, 0, 1]
