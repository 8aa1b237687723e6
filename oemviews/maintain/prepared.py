"""Statements made ready to run: planned once for each view, statement and size of the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from lorel import plan as op
from lorel.normal import Normal, SetOf, Within
from lorel.planner import DELTA, Planner, output
from oemviews.engines.engine import Engine
from oemviews.engines.rows import Rows
from oemviews.maintain.affected import affected, tested
from oemviews.maintain.relevance import Met, Relevance
from oemviews.maintain.statements import Place, Statement, Tested, changed, counting
from oemviews.store.values import string_values, strings
from oemviews.views.definition import Definition, select_variables
from oemviews.views.materialise import full_plan
from oemviews.views.state import Row

Given: TypeAlias = Mapping[str, Rows]


def size_class(n: int) -> int:
    """Changes of about the same size are planned alike.

    >>> [size_class(n) for n in (0, 1, 5, 99, 100_000)]
    [1, 1, 10, 100, 100000]
    """
    size = 1
    while size < n:
        size *= 10
    return size


def keys_given(member: int) -> str:
    return f"keys {member}"


@dataclass(eq=False)
class Prepared:
    """The statements of a view by where a change meets them, and the plans made so far."""

    definition: Definition
    tested: dict[str, Tested]
    at: dict[Place | str, list[Statement]]
    plans: dict[object, tuple[op.Plan, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, definition: Definition) -> Prepared:
        at: dict[Place | str, list[Statement]] = {}
        for statement in (counting if definition.method == "counting" else affected)(definition):
            at.setdefault(statement.place, []).append(statement)
        return cls(definition, tested(definition), at)

    # ---- what meets what ----

    def runs(self, found: Relevance) -> Iterator[tuple[Statement, tuple[str, ...], dict[str, Rows]]]:
        """Each statement that a change meets, with the variables it leaves to others and the rows planted."""
        for port, met in found.edges.items():
            if port.part != "prim":
                continue
            for statement in self.at.get((port.variable, port.move), ()):
                part = met
                if statement.name == "keys":
                    part = met.part(-1 if statement.state == "old" else 1)
                if len(part):
                    yield statement, (), {DELTA: _planted(statement, part)}
        for variable in found.values:
            for statement in self.at.get(variable, ()):
                others = tuple(name for name in statement.earlier if name in found.values)
                names = (variable, *others)
                yield (
                    statement,
                    others,
                    {changed(name): Rows.of_set(name, found.values[name]) for name in names},
                )

    # ---- plans ----

    def plan(
        self, engine: Engine, statement: Statement, others: tuple[str, ...], given: Given
    ) -> tuple[op.Plan, float]:
        """The plan of a statement, and the rows it is expected to touch."""
        sizes = {name: size_class(len(rows)) for name, rows in given.items()}
        key = (statement, others, *sizes.values())
        known = self.plans.get(key)
        if known is None:
            planner = Planner(engine.statistics, {name: float(size) for name, size in sizes.items()})
            block = statement.without(others)
            if statement.name == "prim":
                rows = planner.derivations(block)
                known = priced(op.Consolidate(rows, estimate=rows.estimate))
            else:
                known = priced(planner.bindings(block, tuple(dict.fromkeys(select_variables(block)))))
            self.plans[key] = known
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


_PREPARED: WeakKeyDictionary[Definition, Prepared] = WeakKeyDictionary()


def prepared(definition: Definition) -> Prepared:
    """The statements of a view, made when they are first asked for."""
    known = _PREPARED.get(definition)
    if known is None:
        known = _PREPARED[definition] = Prepared.of(definition)
    return known


def priced(plan: op.Plan) -> tuple[op.Plan, float]:
    """A plan with the rows that its operators are expected to give: at least one each, or why run it."""
    return plan, sum(max(1.0, node.estimate) for node in op.operators(plan))


def _planted(statement: Statement, met: Met) -> Rows:
    step = statement.planted
    columns = {step.src: met.src, step.dst: met.dst}
    if step.via is not None:
        columns[step.via] = string_values(strings(met.labels))  # type: ignore[assignment]
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
