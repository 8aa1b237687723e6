"""What could come next in a plan: each part of a branch that is within reach, with the rows it would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from lorel import plan as op
from lorel.beyond import Beyond
from lorel.normal import (
    Automaton,
    Branch,
    Compare,
    Const,
    Labels,
    OneOf,
    Range,
    Scalar,
    State,
    Step,
    Test,
    ValueOf,
    Within,
    is_constant,
    oid_of,
    scalar_variables,
    test_variables,
)
from lorel.plan import Plan

DELTA: Final = "delta"
"""The name under which the rows of a step that reads only the change are handed in."""

_LOOK_UP: Final = 1.5
"""How much dearer a row from the index over values is: an even walk is better than a look-up."""

_HARDLY_MORE_THAN_ONE: Final = 1.1

_NO_BRANCH: Final = Branch()

Part: TypeAlias = Step | Within | Range | Beyond


class Statistics(Protocol):
    """What the planner knows of a graph; estimates, never needed for being right."""

    def edges(self, labels: Labels, graph: str) -> float: ...
    def fan_out(self, labels: Labels, graph: str) -> float: ...
    def fan_in(self, labels: Labels, graph: str) -> float: ...
    def passing(self, test: Test, graph: str) -> float: ...
    def entering(self, test: Test, labels: Labels, graph: str) -> float:
        """How many edges lead to the objects that pass: one value object may sit under very many parents."""

    def reach(self, path: Automaton, graph: str, forward: bool) -> float:
        """How many objects walks from one object lead to."""

    def objects(self, graph: str) -> float: ...


def guessed_reach(stats: Statistics, path: Automaton, graph: str, forward: bool) -> float:
    """A few levels deep, if nothing better is known: a guess that keeps closures late."""
    fan = stats.fan_out if forward else stats.fan_in
    once = sum(fan(labels, graph) for labels in {labels for _, labels, _ in path.moves})
    return min(stats.objects(graph), 1.0 + once + once * once + once * once * once)


@dataclass(frozen=True, slots=True)
class Move:
    """A part that could come next, or a test that binds a variable: the plan after it, and what it costs."""

    part: Part | Compare | OneOf
    plan: Plan
    cost: float


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves over graphs with these statistics; `given` has the sizes of rows handed in.

    `branch` is what is being planned; if `eager`, rows handed in come before all but single rows.
    """

    stats: Statistics
    given: Mapping[str, float]
    branch: Branch = _NO_BRANCH
    eager: bool = False
    _read: dict[int, tuple[Test, frozenset[str]]] = field(default_factory=dict, compare=False, repr=False)

    def reads(self, test: Test) -> frozenset[str]:
        """The variables of a test; asked again and again as the plan grows."""
        known = self._read.get(id(test))
        if known is None:
            names = frozenset(name for name in test_variables(test) if not is_constant(name))
            known = self._read[id(test)] = test, names  # with the test itself, so that its `id` stays its own
        return known[1]

    def from_rows(
        self, rows: Plan, parts: Sequence[Part], tests: Sequence[Test], ends: Mapping[str, Step]
    ) -> Iterator[Move]:
        """Every move but those that take a plan of their own: to a range, or by a walk to what lies beyond.

        `ends` are further variables that can be bound by their values, with the steps that lead to them.
        """
        have = frozenset(op.columns(rows))
        for part in parts:
            if isinstance(part, Within):
                yield self._handed_in(rows, part, part.given, part.variables)
            elif isinstance(part, Step) and part.state == "delta":
                names = (part.src, part.dst) if part.via is None else (part.src, part.dst, part.via)
                yield self._handed_in(rows, part, DELTA, names)
            elif isinstance(part, Step):
                yield from self._walks(rows, part, have)
        steps = {name: part for part in parts if isinstance(part, Step) for name in (part.src, part.dst)}
        steps |= {part.near: part.step for part in parts if isinstance(part, Beyond)} | dict(ends)
        for test in tests:
            yield from self._by_value(rows, test, have, steps)

    # ---- rows handed in ----

    def _handed_in(self, rows: Plan, part: Step | Within, name: str, variables: tuple[str, ...]) -> Move:
        given = self._given(name, variables)
        shared = set(op.columns(rows)) & set(variables)
        made = min(rows.estimate, given.estimate) if shared else rows.estimate * given.estimate
        first = self.eager and (shared or rows.estimate <= 1.0)
        plan = given if isinstance(rows, op.Unit) else op.Join(rows, given, estimate=made)
        return Move(part, plan, min(made, _LOOK_UP) if first else made)

    def _given(self, name: str, variables: tuple[str, ...]) -> Plan:
        """Rows handed in, by place; where one variable stands at two places, both hold the same object."""
        size = self.given.get(name, 1.0)
        columns = tuple(
            f"{variable}'{place}" if variable in variables[:place] else variable
            for place, variable in enumerate(variables)
        )
        given: Plan = op.Given(name, columns, estimate=size)
        if columns == variables:
            return given
        twice = [(new, old) for new, old in zip(columns, variables, strict=True) if new != old]
        same = tuple(Compare("==", ValueOf(new), ValueOf(old)) for new, old in twice)
        kept = tuple(dict.fromkeys(variables))
        return op.Project(op.Filter(given, same, estimate=size), kept, estimate=size)

    # ---- walks ----

    def _walks(self, rows: Plan, step: Step, have: frozenset[str]) -> Iterator[Move]:
        known = [name in have or is_constant(name) for name in (step.src, step.dst)]
        if not any(known):
            if isinstance(step.path, Labels):
                made = self.stats.edges(step.path, step.graph)
                yield self._joined(rows, step, op.Scan(step, estimate=made), 1.0)
            return
        start = bind_constants(rows, (step.src, step.dst))
        kind = op.Closure if step.is_closure else op.Expand
        if all(known):
            made = rows.estimate / 2
            forward = not isinstance(step.path, Labels) or self._fan(step, True) <= self._fan(step, False)
            yield Move(step, kind(start, step, forward, estimate=made), made)
            return
        forward = known[0]
        made = rows.estimate * (self._fan(step, forward) if forward else self._climbed(rows, step))
        yield Move(step, kind(start, step, forward, estimate=made), made)

    def _climbed(self, rows: Plan, step: Step) -> float:
        """How many edges a step back takes from each object: from one found by its value they may be many."""
        for node in op.operators(rows):
            if isinstance(node, op.Lookup) and node.var == step.dst and isinstance(step.path, Labels):
                return self._parents(node.var, node.test, step)
        return self._fan(step, forward=False)

    def stay_different(self, part: Part | Compare | OneOf, gone: tuple[str, ...]) -> bool:
        """Whether rows that have just taken this step hardly become equal without one of its ends.

        Adding them up would then cost more than it saves.
        """
        if not isinstance(part, Step) or not isinstance(part.path, Labels) or part.state == "delta":
            return False
        if gone == (part.src,) and not is_constant(part.dst):
            return self.stats.fan_in(part.path, part.graph) <= _HARDLY_MORE_THAN_ONE
        if gone == (part.dst,) and not is_constant(part.src):
            return self.stats.fan_out(part.path, part.graph) <= _HARDLY_MORE_THAN_ONE
        return False

    def _joined(self, rows: Plan, part: Step | Compare | OneOf, found: Plan, weight: float) -> Move:
        """Beside the rows, with nothing in common yet."""
        made = rows.estimate * found.estimate
        plan = found if isinstance(rows, op.Unit) else op.Join(rows, found, estimate=made)
        return Move(part, plan, made * weight)

    def _fan(self, step: Step, forward: bool) -> float:
        if isinstance(step.path, Automaton):
            return self.stats.reach(step.path, step.graph, forward)
        fan = self.stats.fan_out if forward else self.stats.fan_in
        return fan(step.path, step.graph)

    def reached(self, starts: float, step: Step, forward: bool) -> float:
        """How many objects walks from so many lead to, each counted once."""
        assert isinstance(step.path, Automaton)
        fan = self.stats.fan_in if forward else self.stats.fan_out
        most = sum(
            self.stats.edges(labels, step.graph) / max(1.0, fan(labels, step.graph))
            for labels in {labels for _, labels, _ in step.path.moves}
        )
        most = min(most, self.stats.objects(step.graph)) + (starts if 0 in step.path.accepting else 0.0)
        return min(starts * self._fan(step, forward), most)

    # ---- values ----

    def _by_value(
        self, rows: Plan, test: Test, have: frozenset[str], steps: Mapping[str, Step]
    ) -> Iterator[Move]:
        """Bind a variable by its value: to a constant, or to a scalar whose variables are bound."""
        if not isinstance(test, Compare | OneOf) or test.negated:
            return
        if isinstance(test, Compare) and test.op == "==":
            yield from self._same(rows, test, have, steps)
            return
        if isinstance(test, Compare) and test.op == "!=":
            return
        for var, other, graph, state in _sides(test):
            if var in have or var not in steps:
                continue
            if other is None:
                found = op.Lookup(var, test, graph, state, estimate=self.stats.passing(test, graph))
                yield self._joined(rows, test, found, max(_LOOK_UP, self._parents(var, test, steps[var])))
            elif isinstance(test, Compare) and test.op == "=":
                names = set(scalar_variables(other))
                if all(name in have or is_constant(name) for name in names):
                    made = rows.estimate * self._equal(steps[var], graph)
                    start = bind_constants(rows, names)
                    plan = op.ValueExpand(start, other, var, graph, state, estimate=made)
                    yield Move(test, plan, made * _LOOK_UP)

    def _same(
        self, rows: Plan, test: Compare, have: frozenset[str], steps: Mapping[str, Step]
    ) -> Iterator[Move]:
        """`c == w` with one side bound: the other is the same object; its own steps still have to hold."""
        for this, other in ((test.left, test.right), (test.right, test.left)):
            if not (isinstance(this, ValueOf) and isinstance(other, ValueOf)):
                continue
            if this.var in steps and this.var not in have and not is_constant(this.var):
                if other.var not in have and not is_constant(other.var):
                    continue
                start = bind_constants(rows, (other.var,))
                names = tuple((name, name) for name in op.columns(start))
                plan = op.Rename(start, (*names, (other.var, this.var)), estimate=rows.estimate)
                yield Move(test, plan, rows.estimate)

    def _parents(self, var: str, test: Test, step: Step) -> float:
        """The edges that the next step climbs from each object found by its value."""
        if var != step.dst or not isinstance(step.path, Labels):
            return 1.0
        found = max(1.0, self.stats.passing(test, step.graph))
        return self.stats.entering(test, step.path, step.graph) / found

    def _equal(self, step: Step, graph: str) -> float:
        """How many objects may share one value, from the number of edges that lead to such objects."""
        if isinstance(step.path, Automaton):
            return self.stats.objects(graph)
        return max(1.0, float(self.stats.edges(step.path, graph) ** 0.5))

    # ---- tests ----

    def filtered(self, rows: Plan, tests: list[Test]) -> Plan:
        """Run the tests whose variables are bound, and take them off the list."""
        have = set(op.columns(rows))
        ready = [test for test in tests if self.reads(test) <= have]
        if not ready:
            return rows
        share = 1.0
        for test in ready:
            tests.remove(test)
            share *= self._selectivity(test)
        start = bind_constants(rows, (name for test in ready for name in test_variables(test)))
        return op.Filter(start, tuple(ready), estimate=rows.estimate * share)

    def _selectivity(self, test: Test) -> float:
        if isinstance(test, Compare | OneOf) and not test.negated:
            for var, other, graph, _ in _sides(test):
                if other is None:
                    return self._share(var, test, graph)
        return 0.5

    def _share(self, var: str, test: Compare | OneOf, graph: str) -> float:
        """Which part of the objects of a variable passes a test against constants.

        Objects handed in for a variable that is tested are those for which the test may come out either way.
        """
        if any(var in part.variables for part in self.branch.within):
            return 0.5
        ends = {step.dst: step.path for step in self.branch.steps if isinstance(step.path, Labels)}
        if var in ends and not (isinstance(test, Compare) and test.op == "!="):
            edges = self.stats.edges(ends[var], graph)
            return min(1.0, self.stats.entering(test, ends[var], graph) / max(1.0, edges) + 0.001)
        return min(1.0, self.stats.passing(test, graph) / max(1.0, self.stats.objects(graph)) + 0.01)


def bind_constants(rows: Plan, names: Iterable[str]) -> Plan:
    """The rows with a column for every constant among the names."""
    for name in dict.fromkeys(names):
        if is_constant(name) and name not in op.columns(rows):
            rows = op.Bind(rows, name, oid_of(name), estimate=rows.estimate)
    return rows


def _sides(test: Compare | OneOf) -> Iterator[tuple[str, Scalar | None, str, State]]:
    """(variable, what it is compared with or None for constants, graph, state) for each plain side."""
    if isinstance(test, OneOf):
        if isinstance(test.scalar, ValueOf) and not is_constant(test.scalar.var):
            yield test.scalar.var, None, test.scalar.graph, test.scalar.state
        return
    for this, other in ((test.left, test.right), (test.right, test.left)):
        if isinstance(this, ValueOf) and not is_constant(this.var) and test.op != "==":
            yield this.var, None if isinstance(other, Const) else other, this.graph, this.state
