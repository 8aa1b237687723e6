"""From a plan to a frame: one short function an operator. Lazy: only a closure runs jobs here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Final

import numpy as np
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from lorel import plan as op
from lorel.normal import Labels, State, Step, ValueOf, is_constant, values_read
from lorel.plan import Plan
from oemviews.engines.rows import Rows
from oemviews.engines.spark import values as v
from oemviews.engines.spark.aggregate import aggregated, distinct_by_value
from oemviews.engines.spark.arrow import given_table
from oemviews.engines.spark.closure import LIMIT, LITERALS, closure, ends, fetched
from oemviews.engines.spark.graph import SparkGraph
from oemviews.engines.spark.scalars import Valued, computed, filtered, valued
from oemviews.engines.spark.table import ONE, Kind, N, Table, among, consolidated, distinct, joined, united
from oemviews.store.values import Values

_UNIT: Final = Rows({}, np.ones(1, np.int64))


@dataclass(frozen=True, slots=True)
class Lowering:
    """What lowering needs besides the plan, and what it has made so far, by `id(operator)`."""

    spark: SparkSession
    graphs: Mapping[tuple[str, State], SparkGraph]
    given: Mapping[str, Rows]
    limit: int = LIMIT
    broadcast_below: float = 0.0
    observed: dict[int, Observation] | None = None
    made: dict[int, Table] = field(default_factory=dict)

    def graph(self, name: str, state: State) -> SparkGraph:
        return self.graphs[name, state]

    def table(self, plan: Plan) -> Table:
        """The table of a plan; one that occurs twice is made once."""
        if id(plan) not in self.made:
            table = lower(plan, self)
            if self.observed is not None:
                seen = self.observed[id(plan)] = Observation(f"op{len(self.observed)}")
                table = replace(table, frame=table.frame.observe(seen, F.count(F.lit(1)).alias("rows")))
            self.made[id(plan)] = table
        return self.made[id(plan)]

    def rows(self, plan: Plan) -> Table:
        """The table as the side of a join that is sent to the other, if it is expected to be small."""
        table = self.table(plan)
        return replace(table, frame=F.broadcast(table.frame)) if self.is_small(plan) else table

    def is_small(self, plan: Plan) -> bool:
        return plan.estimate < self.broadcast_below


@singledispatch
def lower(plan: Plan, to: Lowering) -> Table:
    """The table that an operator gives."""
    raise TypeError(f"no such operator: {type(plan).__name__}")


@lower.register
def _(plan: op.Unit, to: Lowering) -> Table:
    return given_table(to.spark, _UNIT, ())


@lower.register
def _(plan: op.Given, to: Lowering) -> Table:
    return given_table(to.spark, to.given[plan.name], plan.columns)


@lower.register
def _(plan: op.Bind, to: Lowering) -> Table:
    return _bound(to.table(plan.input), plan)


def _bound(table: Table, plan: op.Bind) -> Table:
    return replace(
        table,
        kinds={**table.kinds, plan.var: "oid"},
        known={**table.known, plan.var: frozenset({plan.oid})},
        places={**table.places, plan.var: f"{plan.oid}L"},
    )


@lower.register
def _(plan: op.Lookup, to: Lowering) -> Table:
    objects = to.graph(plan.graph, plan.state).objects
    table = Table(objects.alias("t0"), {plan.var: "oid"}, places={plan.var: "t0.oid"}, count=ONE, relations=1)
    value = ValueOf(plan.var, plan.graph, plan.state)
    rows = Valued(table, {value: v.of_object("t0.")})
    return rows.keep(rows.test(plan.test))


@lower.register
def _(plan: op.Scan, to: Lowering) -> Table:
    edges = _edges(plan.step, to)
    return _extended(Table(edges, {}, count=ONE), plan.step, edges, alone=True)


@lower.register
def _(plan: op.Expand, to: Lowering) -> Table:
    edges = _edges(plan.step, to)
    start = (_constants(plan.input, edges) or _listed(plan.input, edges, to)) if to.observed is None else None
    if start is not None:
        return _extended(start, plan.step, edges, alone=True)
    return _extended(to.rows(plan.input).opened(), plan.step, edges, alone=False)


def _constants(plan: Plan, edges: DataFrame) -> Table | None:
    """The one row of a plan that only binds constants, which takes no join; None of any other plan."""
    if isinstance(plan, op.Unit):
        return Table(edges, {}, count=ONE)
    start = _constants(plan.input, edges) if isinstance(plan, op.Bind) else None
    return None if start is None or not isinstance(plan, op.Bind) else _bound(start, plan)


def _listed(plan: Plan, edges: DataFrame, to: Lowering) -> Table | None:
    """Rows handed in, if they are few objects, each once: literals in the scan say it all, without a join."""
    if not isinstance(plan, op.Given) or len(plan.columns) != 1 or is_constant(plan.columns[0]):
        return None
    rows, name = to.given[plan.name], plan.columns[0]
    column = rows.columns.get(name, next(iter(rows.columns.values())))
    if isinstance(column, Values) or len(column) > LITERALS or (rows.counts != 1).any():
        return None
    oids = frozenset(column.tolist())
    return Table(edges, {}, {name: oids}, count=ONE) if len(oids) == len(column) else None


def _edges(step: Step, to: Lowering) -> DataFrame:
    assert isinstance(step.path, Labels)
    return to.graph(step.graph, step.state).edges([step.path])


def _extended(table: Table, step: Step, edges: DataFrame, *, alone: bool) -> Table:
    """The open table joined with edges on the ends it has; `alone`, the edges with its constants."""
    ends = {"src": step.src, "dst": step.dst}
    for end, var in ends.items():
        if var in table.known and len(table.known[var]) <= LITERALS:
            edges = edges.filter(among(end, table.known[var]))
    if step.src == step.dst:
        edges = edges.filter("src = dst")
    name = table.next
    bound = [f"{name}.{end} = {table.place(var)}" for end, var in ends.items() if var in table.kinds]
    if step.via is not None and step.via in table.kinds:
        bound.append(f"{name}.label = {table.place(step.via)}.text")
    edges = edges.alias(name)
    whole = (
        replace(table, frame=edges, relations=1) if alone else table.joined_with(edges, " AND ".join(bound))
    )
    new = {var: f"{name}.{end}" for end, var in reversed(ends.items()) if var not in table.kinds}
    oids: dict[str, Kind] = {var: "oid" for var in (step.src, step.dst) if var in new}
    whole = replace(whole, kinds={**table.kinds, **oids}, places={**table.places, **new})
    if step.via is None or step.via in table.kinds:
        return whole
    return whole.with_column(step.via, v.of_text(F.expr(f"{name}.label")).struct)


@lower.register
def _(plan: op.Closure, to: Lowering) -> Table:
    graph = to.graph(plan.step.graph, plan.step.state)
    table = to.table(plan.input)
    few = to.observed is None and plan.input.estimate < to.limit and not _is_local(plan.input)
    rows = fetched(table, to.spark, to.limit) if few else table.settled()
    if plan.kept is None:
        return closure(rows, plan.step, plan.forward, graph, to.limit)
    if plan.kept:
        pairs = closure(rows, plan.step, plan.forward, graph, to.limit)
        return distinct(pairs.keep((*plan.kept, plan.ends[1])))
    found = ends(rows, plan.step, plan.forward, graph, to.limit)
    if plan.back is None:
        return found
    return joined(found, to.table(plan.back.input).keep(plan.ends[1:]), "left_semi")


def _is_local(plan: Plan) -> bool:
    """Whether the rows of a plan are known without a job."""
    return isinstance(plan, op.Unit | op.Given) or (isinstance(plan, op.Bind) and _is_local(plan.input))


@lower.register
def _(plan: op.Filter, to: Lowering) -> Table:
    return filtered(to.table(plan.input), plan.tests, to.graph, small=to.is_small(plan.input))


@lower.register
def _(plan: op.Compute, to: Lowering) -> Table:
    return computed(to.rows(plan.input), plan.name, plan.scalar, plan.required, to.graph)


@lower.register
def _(plan: op.Join, to: Lowering) -> Table:
    return joined(to.rows(plan.left), to.rows(plan.right))


@lower.register
def _(plan: op.ValueExpand, to: Lowering) -> Table:
    refs = list(values_read(plan.scalar))
    rows = valued(to.table(plan.input), refs, to.graph, frozenset(refs))
    table = rows.table
    names = [F.expr(each) for each in (*table.named, f"{table.count} AS {N}")]
    frame = table.frame.select(*names, rows.scalar(plan.scalar).struct.alias("x"))
    objects = to.graph(plan.graph, plan.state).objects
    found = Table(
        equal_objects(frame, objects), {**table.kinds, plan.var: "oid"}, table.known, table.positive
    )
    return replace(found, places={plan.var: "oid"}).settled()


def equal_objects(rows: DataFrame, objects: DataFrame) -> DataFrame:
    """Every row with every object whose value equals its `x`, by disjoint cases that are each a plain join.

    Coerced equality is not transitive, so no single key would do.
    """
    x = v.of_struct(F.col("x"))
    kind, text, integer, number = (F.col(name) for name in ("type", "text", "integer", "number"))
    strings = rows.filter(x.type == "string").join(objects.filter(kind == "string"), x.text == text)
    wholes = objects.filter(kind == "integer")
    short = rows.filter((x.type == "integer") & x.integer.isNotNull()).join(wholes, x.integer == integer)
    long = rows.filter((x.type == "integer") & x.integer.isNull()).join(wholes, x.text == text)
    mixed = (x.type != kind) | (kind == "real")
    numbers = rows.filter(x.number.isNotNull()).join(objects, (x.number == number) & mixed)
    others = objects.filter(kind.isin("boolean", "null", "binary"))
    same = (x.type == kind) & x.integer.eqNullSafe(integer) & x.text.eqNullSafe(text)
    atoms = rows.filter(x.type.isin("boolean", "null", "binary")).join(others, same)
    whole = rows.filter(x.type == "complex").join(
        objects.filter(kind == "complex"), x.integer == F.col("oid")
    )
    frame = strings
    for part in (short, long, numbers, atoms, whole):
        frame = frame.union(part)
    return frame


@lower.register
def _(plan: op.Semi, to: Lowering) -> Table:
    return joined(to.table(plan.left), _present(to.rows(plan.right)), "left_semi")


@lower.register
def _(plan: op.Anti, to: Lowering) -> Table:
    return joined(to.table(plan.left), _present(to.rows(plan.right)), "left_anti")


def _present(table: Table) -> Table:
    """The rows whose counts come to more than zero; rows that are all counted up are left as they are."""
    return table if table.positive else distinct(table)


@lower.register
def _(plan: op.Union, to: Lowering) -> Table:
    return united([to.table(each).keep(op.columns(plan)) for each in plan.inputs])


@lower.register
def _(plan: op.Project, to: Lowering) -> Table:
    return to.table(plan.input).keep(plan.columns)


@lower.register
def _(plan: op.Rename, to: Lowering) -> Table:
    return to.table(plan.input).select(plan.names)


@lower.register
def _(plan: op.Consolidate, to: Lowering) -> Table:
    return consolidated(to.table(plan.input))


@lower.register
def _(plan: op.Distinct, to: Lowering) -> Table:
    return distinct(to.table(plan.input))


@lower.register
def _(plan: op.DistinctValues, to: Lowering) -> Table:
    return distinct_by_value(to.table(plan.input), plan, to.graph)


@lower.register
def _(plan: op.Aggregate, to: Lowering) -> Table:
    return aggregated(to.rows(plan.input), to.table(plan.rows), plan, to.graph)
