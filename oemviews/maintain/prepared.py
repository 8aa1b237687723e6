"""Statements made ready to run: planned once for each view, statement and size of the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from lorel import plan as op
from lorel.normal import Block, Normal, SetOf, Within
from lorel.planner import DELTA, Planner, output
from oemviews.engines.engine import Engine
from oemviews.engines.rows import Rows
from oemviews.maintain.affected import affected, affected_of, tested
from oemviews.maintain.interned import Interned
from oemviews.maintain.reach import Reach, reach_of
from oemviews.maintain.relevance import Met, Relevance
from oemviews.maintain.statements import Place, Statement, Tested, changed, counting, size_class
from oemviews.store.values import string_values
from oemviews.views.definition import Definition, select_variables
from oemviews.views.materialise import full_plan
from oemviews.views.state import Row

Given: TypeAlias = Mapping[str, Rows]
Statements: TypeAlias = dict[Place | str, list[Statement]]


def keys_given(member: int) -> str:
    return f"keys {member}"


@dataclass(eq=False)
class Prepared:
    """The statements of a view by where a change meets them, and the plans made so far."""

    definition: Definition
    tested: dict[str, Tested]
    at: Statements
    reach: Reach | None = None  # of a view that is all that walks from some starts reach
    starts_at: Statements = field(default_factory=dict)  # the statements that give its starts
    plans: dict[object, tuple[op.Plan, float]] = field(default_factory=dict)
    parts: dict[object, Interned] = field(default_factory=dict)

    @classmethod
    def of(cls, definition: Definition) -> Prepared:
        at = _by_place((counting if definition.method == "counting" else affected)(definition))
        reach = reach_of(definition.query) if definition.method == "recheck" else None
        starts_at = _by_place(affected_of(reach.starts)) if reach is not None else {}
        return cls(definition, tested(definition), at, reach, starts_at)

    # ---- what meets what ----

    def runs(self, found: Relevance) -> Iterator[tuple[Statement, tuple[str, ...], dict[str, Rows]]]:
        """Each statement that a change meets, with the variables it leaves to others and the rows planted.

        Of a view that is what walks reach only those that give its starts.
        """
        at = self.at if self.reach is None else self.starts_at
        for port, met in found.edges.items():
            if port.part != "prim":
                continue
            for statement in at.get((port.variable, port.move), ()):
                part = met
                if statement.name == "keys":
                    part = met.went if statement.state == "old" else met.came
                if len(part):
                    yield statement, (), {DELTA: _planted(statement, part)}
        for variable in found.values:
            given: dict[tuple[str, ...], dict[str, Rows]] = {}  # the same for the old and the new state
            for statement in at.get(variable, ()):
                others = tuple(name for name in statement.earlier if name in found.values)
                if others not in given:
                    names = (variable, *others)
                    given[others] = {changed(name): Rows.of_set(name, found.values[name]) for name in names}
                yield statement, others, given[others]

    # ---- plans ----

    def plan(
        self, engine: Engine, statement: Statement, others: tuple[str, ...], given: Given
    ) -> tuple[op.Plan, float]:
        """The plan of a statement, and the rows it is expected to touch."""
        sizes = {name: size_class(len(rows)) for name, rows in given.items()}
        key = (statement, others, *sizes.values())
        known = self.plans.get(key)
        if known is None:
            statistics, given_sizes = engine.statistics, {name: float(size) for name, size in sizes.items()}
            planners = [Planner(statistics, given_sizes, eager=eager) for eager in (True, False)]
            plans = [_planned(planner, statement, statement.without(others)) for planner in planners]
            plan, _ = min(map(priced, plans), key=lambda plan: plan[1])
            # the statements for the old and the new state of values run together: they share what is equal
            together = self.parts.setdefault((statement.place, *sizes.items()), Interned())
            shared = together.operators() if isinstance(statement.place, str) else set()
            plan = together(plan)
            rows = (max(1.0, node.estimate) for node in op.operators(plan) if id(node) not in shared)
            known = self.plans[key] = plan, sum(rows)
        return known

    def recheck_plan(self, engine: Engine, keys: int) -> tuple[op.Plan, float]:
        """The plan that evaluates the view for some rows only, in the new state."""
        size = size_class(keys)
        known = self.plans.get(size)
        if known is None:
            members = {keys_given(i): float(size) for i in range(len(self.definition.blocks))}
            query = limited(self.definition.query, *members)
            known = self.plans[size] = priced(Planner(engine.statistics, members).query(query))
        return known

    def full_plan(self, engine: Engine) -> tuple[op.Plan, float]:
        """The plan that evaluates all of the view."""
        known = self.plans.get("full")
        if known is None:
            known = self.plans["full"] = priced(full_plan(self.definition, engine.statistics))
        return known

    def keys_of(self, keys: list[Row]) -> dict[str, Rows]:
        """Rows handed in to `recheck_plan`: for each block the keys under the names of its variables."""
        given = {}
        for member, block in enumerate(self.definition.blocks):
            variables = select_variables(block)
            names = tuple(dict.fromkeys(variables))
            places = [variables.index(name) for name in names]
            mine = keys
            if len(names) < len(variables):  # `select r, r`: only rows that hold the same object twice
                first = [variables.index(name) for name in variables]
                mine = [key for key in keys if all(key[i] == key[j] for i, j in enumerate(first))]
            given[keys_given(member)] = Rows.of(names, [tuple(key[i] for i in places) for key in mine])
        return given

    def outputs(self) -> list[str]:
        return [output(i) for i in range(self.definition.width)]


def _by_place(statements: Iterable[Statement]) -> Statements:
    at: Statements = {}
    for statement in statements:
        at.setdefault(statement.place, []).append(statement)
    return at


_PREPARED: WeakKeyDictionary[Definition, Prepared] = WeakKeyDictionary()


def prepared(definition: Definition) -> Prepared:
    """The statements of a view, made when they are first asked for."""
    known = _PREPARED.get(definition)
    if known is None:
        known = _PREPARED[definition] = Prepared.of(definition)
    return known


def _planned(planner: Planner, statement: Statement, block: Block) -> op.Plan:
    if statement.name == "prim":
        rows = planner.derivations(block)
        return op.Consolidate(rows, estimate=rows.estimate)
    return planner.bindings(block, tuple(dict.fromkeys(select_variables(block))))


def priced(plan: op.Plan) -> tuple[op.Plan, float]:
    """A plan with the rows that its operators are expected to give: at least one each, or why run it."""
    return plan, sum(max(1.0, node.estimate) for node in op.operators(plan))


def _planted(statement: Statement, met: Met) -> Rows:
    step = statement.planted
    columns = {step.src: met.src, step.dst: met.dst}
    if step.via is not None:
        columns[step.via] = string_values(met.edges().labels())  # type: ignore[assignment]
    counts = met.sign if statement.name == "prim" else np.ones(len(met), np.int64)
    return Rows(columns, counts)


def limited(query: Normal, *given: str) -> Normal:
    """The query for the rows handed in only, under one name for all its blocks or one name for each."""
    names = cycle(given)

    def visit(part: Normal) -> Normal:
        if isinstance(part, SetOf):
            left = visit(part.left)
            return replace(part, left=left, right=visit(part.right))
        variables = tuple(dict.fromkeys(select_variables(part)))
        within = (Within(variables, next(names)),)
        return replace(part, with_=(), from_=replace(part.from_, within=within))

    return visit(query)
