"""One short function an operator, each from binding tables to a binding table."""

from __future__ import annotations

from functools import singledispatch
from typing import Final

import numpy as np

from lorel import plan as op
from lorel.normal import is_constant, oid_of
from lorel.plan import Plan
from oemviews.engines.local.aggregate import aggregated
from oemviews.engines.local.closure import walked_from
from oemviews.engines.local.conditions import passing
from oemviews.engines.local.expand import expanded, scanned
from oemviews.engines.local.keys import (
    common_keys,
    consolidated,
    distinct,
    groups,
    matches,
    member,
    row_keys,
    stacked,
    take,
    taken,
)
from oemviews.engines.local.running import Running
from oemviews.engines.local.scalars import column_of, scalar_values
from oemviews.engines.rows import Column, Rows
from oemviews.store.values import Values

_ONE: Final = np.ones(1, np.int64)


@singledispatch
def execute(plan: Plan, run: Running) -> Rows:
    """The rows of one operator; its inputs are run first."""
    raise TypeError(f"found {type(plan).__name__}, wanted an operator of lorel.plan")


# ---- where rows come from ----


@execute.register
def _(plan: op.Unit, run: Running) -> Rows:
    return Rows({}, _ONE)


@execute.register
def _(plan: op.Given, run: Running) -> Rows:
    rows = run.given[plan.name]
    if set(plan.columns) <= set(rows.columns):
        rows = Rows({name: rows.columns[name] for name in plan.columns}, rows.counts)
    else:  # the rows of a change come as (src, dst), or (src, dst, label), whatever a step calls them
        rows = Rows(dict(zip(plan.columns, rows.columns.values(), strict=False)), rows.counts)
    for name in plan.columns:
        if is_constant(name):
            rows = take(rows, rows.oids(name) == oid_of(name))
    return rows


@execute.register
def _(plan: op.Lookup, run: Running) -> Rows:
    return Rows.of_set(plan.var, run.graph(plan.graph, plan.state).lookup(plan.test))


@execute.register
def _(plan: op.Scan, run: Running) -> Rows:
    return scanned(plan.step, run.graph(plan.step.graph, plan.step.state))


# ---- rows extended ----


@execute.register
def _(plan: op.Bind, run: Running) -> Rows:
    rows = run(plan.input)
    return _extended(rows, plan.var, np.full(len(rows), plan.oid, np.int64))


@execute.register
def _(plan: op.Expand, run: Running) -> Rows:
    graph = run.graph(plan.step.graph, plan.step.state)
    return expanded(run(plan.input), plan.step, plan.forward, graph)


@execute.register
def _(plan: op.Closure, run: Running) -> Rows:
    return walked_from(plan, run)


@execute.register
def _(plan: op.Compute, run: Running) -> Rows:
    rows = run(plan.input)
    values = scalar_values(plan.scalar, rows, run.values_at)
    rows = _extended(rows, plan.name, values)
    return take(rows, ~values.missing) if plan.required and values.missing.any() else rows


@execute.register
def _(plan: op.ValueExpand, run: Running) -> Rows:
    rows = run(plan.input)
    row, oid = run.graph(plan.graph, plan.state).equal(scalar_values(plan.scalar, rows, run.values_at))
    return _extended(take(rows, row), plan.var, oid)


@execute.register
def _(plan: op.Aggregate, run: Running) -> Rows:
    rows, members = run(plan.input), run(plan.rows)
    return _extended(rows, plan.name, aggregated(plan, rows, members, run.values_at))


def _extended(rows: Rows, name: str, column: Column) -> Rows:
    return Rows({**rows.columns, name: column}, rows.counts)


# ---- rows chosen ----


@execute.register
def _(plan: op.Filter, run: Running) -> Rows:
    rows = run(plan.input)
    for test in plan.tests:
        if not len(rows):
            break
        keep = passing(test, rows, run.values_at)
        rows = rows if keep.all() else take(rows, keep)
    return rows


@execute.register
def _(plan: op.Semi, run: Running) -> Rows:
    return _agreeing(plan, run, wanted=True)


@execute.register
def _(plan: op.Anti, run: Running) -> Rows:
    return _agreeing(plan, run, wanted=False)


def _agreeing(plan: op.Semi | op.Anti, run: Running, *, wanted: bool) -> Rows:
    left = run(plan.left)
    if not len(left):
        return left
    right = run(plan.right)
    if (right.counts <= 0).any():
        right = distinct(right)
    shared = [name for name in left.columns if name in right.columns]
    keep = member(*common_keys(left, right, shared)) == wanted
    return left if keep.all() else take(left, keep)


# ---- rows put together ----


@execute.register
def _(plan: op.Join, run: Running) -> Rows:
    left = run(plan.left)
    right = run(plan.right)
    shared = [name for name in left.columns if name in right.columns]
    if shared:
        at, other = matches(*common_keys(left, right, shared))
    else:
        at = np.repeat(np.arange(len(left)), len(right))
        other = np.tile(np.arange(len(right)), len(left))
    more = {name: column for name, column in right.columns.items() if name not in left.columns}
    columns = {**taken(left.columns, at), **taken(more, other)}
    return Rows(columns, left.counts[at] * right.counts[other])


@execute.register
def _(plan: op.Union, run: Running) -> Rows:
    parts = [run(part) for part in plan.inputs]
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    columns = {name: stacked([part.columns[name] for part in parts]) for name in parts[0].columns}
    return Rows(columns, np.concatenate([part.counts for part in parts]))


@execute.register
def _(plan: op.Project, run: Running) -> Rows:
    rows = run(plan.input)
    return Rows({name: column_of(name, rows) for name in plan.columns}, rows.counts)


@execute.register
def _(plan: op.Rename, run: Running) -> Rows:
    rows = run(plan.input)
    return Rows({new: column_of(old, rows) for old, new in plan.names}, rows.counts)


@execute.register
def _(plan: op.Consolidate, run: Running) -> Rows:
    return consolidated(run(plan.input))


@execute.register
def _(plan: op.Distinct, run: Running) -> Rows:
    return distinct(run(plan.input))


@execute.register
def _(plan: op.DistinctValues, run: Running) -> Rows:
    rows = distinct(run(plan.input))
    if len(rows) <= 1:
        return rows
    columns = list(rows.columns.values())
    worth = [c if isinstance(c, Values) else run.values_at(c, plan.graph, plan.state) for c in columns]
    oids = [column for column in columns if not isinstance(column, Values)]
    first = np.lexsort([column for column in reversed(oids)]) if oids else np.arange(len(rows))
    rows = take(rows, first)
    order, starts = groups(row_keys([values.take(first) for values in worth], len(rows)))
    return take(rows, order[starts[:-1]])
