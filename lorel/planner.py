"""From canonical form to a plan: which end to start from, and in which order to walk.

The planner is greedy. It holds a table of bindings and the parts of the branch not yet used, and
takes next the part that is expected to give the fewest rows: a step from a bound end, forward or
backward; a look-up of a constant in the index over values; rows handed in; objects equal in value
to one already bound. Tests run as soon as their variables are bound, and a column goes as soon as
nothing left needs it.

Maintenance statements come through here too: a step that reads only the change, or variables
limited to some rows, are rows handed in, and being few they are where the plan starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from lorel import plan as op
from lorel.beyond import Beyond, taken_apart
from lorel.dnf import join
from lorel.horizon import HORIZON, in_view
from lorel.moves import DELTA, Move, Moves, Part, Statistics, bind_constants
from lorel.normal import (
    Arith,
    Block,
    Branch,
    Compare,
    Const,
    Item,
    Measure,
    Normal,
    ObjectItem,
    OidOf,
    OneOf,
    Order,
    Range,
    SetOf,
    State,
    Step,
    Test,
    Truth,
    ValueItem,
    Within,
    blocks,
    free,
    is_constant,
    item_variables,
    mentioned,
    object_variable,
    order_variables,
    scalar_variables,
)
from lorel.plan import Plan

__all__ = ["DELTA", "Planner", "Statistics", "conjunctions", "graph_of", "order_column", "output"]

NO_ENDS: Final[Mapping[str, Step]] = {}

_NO_VALUE = Arith("/", Const(1), Const(0))
"""A scalar that is always missing."""


def output(i: int) -> str:
    """The column of the i-th select item."""
    return f"#{i}"


def order_column(i: int) -> str:
    """The column of the i-th order key."""
    return f"${i}"


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans queries over graphs with these statistics; `given` has the sizes of rows handed in.

    The cheapest next part need not begin the cheapest plan: if `eager`, a plan begins with those rows.
    """

    stats: Statistics
    given: Mapping[str, float] = field(default_factory=dict)
    eager: bool = False

    # ---- queries ----

    def query(self, query: Normal, outer: Plan | None = None) -> Plan:
        """The answer as a set: columns `#0`, `#1`, ... and before them those of `outer`.

        `outer` binds the variables that the query takes from outside, each binding once. With an order, the
        keys come last, a row for each of a row's keys, and `distinct` is left to whoever puts them in order.
        """
        start = outer if outer is not None else op.Unit(estimate=1.0)
        if isinstance(query, SetOf):
            left, right = self.query(query.left, start), self.query(query.right, start)
            if query.op == "union":
                both = op.Union((left, right), estimate=left.estimate + right.estimate)
                return op.Distinct(both, estimate=both.estimate)
            kind = op.Semi if query.op == "intersect" else op.Anti
            return kind(left, right, estimate=left.estimate / 2)
        rows = self.derivations(query, start)
        if query.distinct and not query.order_by:
            graph = next(
                (graph_of(query, item.var) for item in query.select if isinstance(item, ObjectItem)), ""
            )
            return distinct_values(rows, op.columns(start), graph, state_of(query))
        return op.Distinct(rows, estimate=rows.estimate)

    def derivations(self, block: Block, outer: Plan | None = None) -> Plan:
        """The answer of a block as a bag: each row as often as there are bindings of from and where."""
        from lorel.plan_groups import grouped

        start = outer if outer is not None else op.Unit(estimate=1.0)
        if block.grouped:
            return grouped(self, block, start)
        items = tuple(replace(item, label=output(i)) for i, item in enumerate(block.select))
        return self.items(block, items, start, block.order_by)

    def bindings(self, block: Block, variables: tuple[str, ...]) -> Plan:
        """The bindings of some variables for which the block holds, each once."""
        unit = op.Unit(estimate=1.0)
        plans: list[Plan] = []
        for branch in conjunctions(block):
            rows = bind_constants(self.branch(branch, frozenset(variables), unit), variables)
            plans.append(projected(rows, variables))
        rows = union(plans)
        return op.Distinct(rows, estimate=rows.estimate)

    def items(self, block: Block, items: Sequence[Item], start: Plan, orders: Sequence[Order] = ()) -> Plan:
        """Rows of the block with one column an item, named by its label, and one an order key."""
        kept = op.columns(start)
        need = frozenset(kept).union(*map(item_variables, items), *map(order_variables, orders))
        columns = [*((name, name) for name in kept)]
        columns += [(item.var if isinstance(item, ObjectItem) else item.label, item.label) for item in items]
        columns += [(order_column(i), order_column(i)) for i in range(len(orders))]
        plans: list[Plan] = []
        for branch in conjunctions(block):
            rows = bind_constants(self.branch(branch, need, start), sorted(need))
            for item in items:
                if isinstance(item, ValueItem):
                    rows = op.Compute(rows, item.label, item.scalar, estimate=rows.estimate)
            for i, order in enumerate(orders):
                rows = self._ordered(rows, order, order_column(i))
            plans.append(op.Rename(rows, tuple(columns), estimate=rows.estimate))
        return union(plans)

    def _ordered(self, rows: Plan, order: Order, name: str) -> Plan:
        """One more column with the key: a row for each key that can be looked up, or one without a key."""
        if not order.over:
            return op.Compute(rows, name, order.scalar, required=False, estimate=rows.estimate)
        have = op.columns(rows)
        need = frozenset(have) | order_variables(order) | frozenset(scalar_variables(order.scalar))
        found: list[Plan] = []
        for branch in order.over:
            keyed = bind_constants(self.branch(branch, need, rows), sorted(need))
            keyed = op.Compute(keyed, name, order.scalar, estimate=keyed.estimate)
            found.append(projected(keyed, (*have, name)))
        keys = union(found)
        without = op.Anti(rows, projected(keys, have), estimate=rows.estimate / 2)
        missing = op.Compute(without, name, _NO_VALUE, required=False, estimate=without.estimate)
        return union([keys, missing])

    # ---- branches ----

    def branch(
        self, branch: Branch, need: frozenset[str], start: Plan, ends: Mapping[str, Step] = NO_ENDS
    ) -> Plan:
        """Extend `start` by the branch's bindings; columns are at least `need` of those it can have.

        An aggregate waits until nothing else can be done: few rows are left then. `ends` are variables that
        steps outside of the branch lead to; if nothing in it binds one, the rows come without it and are not
        all there is. A branch with walks gives a set: how often a row is derived is not counted.
        """
        from lorel.plan_walks import Linking, ends_only

        if never := [test for test in branch.tests if isinstance(test, Truth) and not test.value]:
            return _nothing(branch, need, start, never[0])
        moves = Moves(self.stats, self.given, branch, self.eager)
        branch, apart = taken_apart(branch, need.union(op.columns(start)))
        parts: list[Part] = [*branch.within, *branch.steps, *branch.ranges, *apart]
        measures, tests = list(branch.measures), list(branch.tests)
        alone = {each.variables: self.query(each.query) for each in branch.ranges if not free(each.query)}
        beyond = {part: Linking(self, part) for part in apart}
        always = _read_inside(branch) | need
        reads = {measure.name: free(measure.query) for measure in measures}
        rows = start
        while parts or measures or any(name not in op.columns(rows) for name in ends):
            later = always.union(*(reads[measure.name] for measure in measures))
            seen = (parts, tests) if rows is start else in_view(moves, rows, parts, tests)
            options = list(moves.from_rows(rows, *seen, ends))
            options += [move for part, link in beyond.items() if part in parts for move in link.moves(rows)]
            best = self._best(options, rows, parts, alone)
            if best is not None:
                rows = best.plan
                if isinstance(best.part, Compare | OneOf):  # what it has found passes it
                    tests.remove(best.part)
                else:
                    parts.remove(best.part)
                if isinstance(rows, op.Closure):
                    rows = ends_only(rows, moves, _needed(moves, parts, tests, later))
            else:
                have = set(op.columns(rows))
                measure = next((each for each in measures if reads[each.name] <= have), None)
                if measure is None:  # an end that no value gives away
                    return rows
                measures.remove(measure)
                rows = self._measured(rows, measure)
            rows = moves.filtered(rows, tests)
            rows, gone = _trimmed(moves, rows, parts, tests, later)
            if parts and gone and not (best and moves.stay_different(best.part, gone)):
                rows = op.Consolidate(rows, estimate=rows.estimate)
        rows = moves.filtered(rows, tests)
        for number, inner in enumerate(branch.absent):
            found = self._inner(inner, mentioned(inner), rows, weighed=number < HORIZON)
            rows = op.Anti(rows, found, estimate=rows.estimate / 2)
        for group in branch.choices:
            outer = frozenset(name for inner in group for name in mentioned(inner))
            found = union([self._inner(inner, outer, rows) for inner in group])
            rows = op.Semi(rows, found, estimate=rows.estimate / 2)
        return rows

    def _best(
        self, options: list[Move], rows: Plan, parts: list[Part], alone: Mapping[tuple[str, ...], Plan]
    ) -> Move | None:
        """The cheapest move; a range that takes variables from here waits until nothing else is left."""
        have = frozenset(op.columns(rows))
        ranges = [part for part in parts if isinstance(part, Range)]
        options += [_joined(rows, part, alone[part.variables]) for part in ranges if part.variables in alone]
        if not options:
            for part in [part for part in ranges if free(part.query) <= have][:1]:
                keys = tuple(sorted(free(part.query)))
                return _joined(rows, part, self.query(part.query, distinct(rows, keys)))
        return min(options, key=lambda move: move.cost, default=None)

    def _measured(self, rows: Plan, measure: Measure) -> Plan:
        keys = tuple(sorted(free(measure.query)))
        members = self.query(measure.query, distinct(rows, keys))
        graph, state = graph_of_item(measure.query), state_of(measure.query)
        first, *others = (output(i) for i in range(len(next(blocks(measure.query)).select)))
        made = op.Aggregate(
            rows, members, keys, measure.func, first, measure.name, graph, state, tuple(others)
        )
        return replace(made, estimate=rows.estimate)

    def _inner(self, inner: Branch, outer: frozenset[str], rows: Plan, *, weighed: bool = True) -> Plan:
        """The bindings of the outer variables for which an inner branch holds.

        It starts from the outer rows, or if that is `weighed` and expected to be less work on its own: from a
        rare constant, say, back to the outer variable.
        """
        keys = tuple(sorted(outer))
        start = distinct(rows, keys)
        ends = {name for step in inner.steps for name in (step.src, step.dst)}
        closures = any(step.is_closure for step in inner.steps)  # one can only start from a bound end
        if weighed and outer and outer <= ends and not inner.measures and not inner.ranges and not closures:
            walked = replace(inner, absent=(), choices=())
            starts: list[Plan] = [start, op.Unit(estimate=1.0)]
            start = min(starts, key=lambda plan: work(self.branch(walked, outer, plan)))
        best = self.branch(inner, outer, start)
        return projected(best, keys)


def _nothing(branch: Branch, need: frozenset[str], start: Plan, never: Truth) -> Plan:
    """No row, with the columns of a branch that has no binding; no edge is looked at."""
    rows: Plan = op.Filter(start, (never,), estimate=0.0)
    values = {step.via for step in branch.steps} | {measure.name for measure in branch.measures}
    for each in branch.ranges:
        items = zip(each.variables, next(blocks(each.query)).select, strict=True)
        values |= {name for name, item in items if object_variable(item) is None}
    for name in sorted(need - set(op.columns(start))):
        if name in values:
            rows = op.Compute(rows, name, _NO_VALUE, required=False)
        elif not is_constant(name):
            rows = op.Bind(rows, name, 0)
    return rows


def _joined(rows: Plan, part: Range, members: Plan) -> Move:
    """The rows with each member of a range that goes with them."""
    names = [(name, name) for name in op.columns(members)[: -len(part.variables)]]
    items = ((output(i), name) for i, name in enumerate(part.variables))
    named = op.Rename(members, (*names, *items), estimate=members.estimate)
    made = max(rows.estimate, members.estimate) if names else rows.estimate * members.estimate
    return Move(part, op.Join(rows, named, estimate=made), made)


def work(plan: Plan) -> float:
    """The rows that all operators of a plan are expected to give."""
    return sum(node.estimate for node in op.operators(plan))


def union(plans: Sequence[Plan]) -> Plan:
    if len(plans) == 1:
        return plans[0]
    return op.Union(tuple(plans), estimate=sum(plan.estimate for plan in plans))


def distinct(rows: Plan, keys: tuple[str, ...]) -> Plan:
    """The different bindings of some variables."""
    if not keys:
        return op.Unit(estimate=1.0)
    return op.Distinct(projected(rows, keys), estimate=rows.estimate)


def projected(rows: Plan, columns: tuple[str, ...]) -> Plan:
    return rows if op.columns(rows) == columns else op.Project(rows, columns, estimate=rows.estimate)


def distinct_values(rows: Plan, outer: tuple[str, ...], graph: str, state: State) -> Plan:
    """Of rows with the same values the one with the lowest oids; outer columns must be the same objects."""
    columns = op.columns(rows)
    for name in outer:
        rows = op.Compute(rows, f"{name}'", OidOf(name), required=False, estimate=rows.estimate)
    rows = op.DistinctValues(rows, graph, state, estimate=rows.estimate)
    return projected(rows, columns)


def conjunctions(block: Block) -> list[Branch]:
    """The block as a union of conjunctions: its from clause with each branch of its where clause."""
    return [join((block.from_, branch)) for branch in block.where]


def graph_of(block: Block, var: str) -> str:
    """The graph that the objects of a variable belong to."""
    for branch in (block.from_, *block.where):
        for step in branch.steps:
            if var in (step.src, step.dst):
                return step.graph
    return ""


def graph_of_item(query: Normal) -> str:
    """The graph that the objects of the first item belong to."""
    block = next(blocks(query))
    item = block.select[0]
    return graph_of(block, item.var) if isinstance(item, ObjectItem) else ""


def state_of(query: Normal) -> State:
    """The state that the steps of a query read; one that reads none is about the new one."""
    branches = (branch for block in blocks(query) for branch in (block.from_, *block.where))
    return "old" if any(step.state == "old" for branch in branches for step in branch.steps) else "new"


def _read_inside(branch: Branch) -> frozenset[str]:
    """Variables that the parts which come after the walk still read."""
    inner = [*branch.absent, *(each for group in branch.choices for each in group)]
    return frozenset(name for each in inner for name in mentioned(each))


def _trimmed(
    moves: Moves, rows: Plan, parts: list[Part], tests: list[Test], later: frozenset[str]
) -> tuple[Plan, tuple[str, ...]]:
    """Without the columns that nothing left needs, and which these were.

    If rows become equal by that and a walk is still to come, they are to be added up first, or independent
    existentials would multiply.
    """
    need = _needed(moves, parts, tests, later)
    columns = op.columns(rows)
    kept = tuple(name for name in columns if name in need)
    gone = tuple(name for name in columns if name not in need and not is_constant(name))
    return projected(rows, kept), gone


def _needed(moves: Moves, parts: list[Part], tests: list[Test], later: frozenset[str]) -> frozenset[str]:
    """The columns that something left needs."""
    need = set(later).union(*map(moves.reads, tests))
    for part in parts:
        match part:
            case Step(src=src, dst=dst):
                need |= {src, dst}
            case Within(variables=variables):
                need |= set(variables)
            case Range(variables=variables, query=query):
                need |= free(query).union(variables)
            case Beyond(near=near):
                need.add(near)
    return frozenset(need)
