"""A batch in one view: relevance, statements, rows, adjuncts, RelevantOids. Nothing is changed yet."""

from __future__ import annotations

from collections import Counter
from time import perf_counter
from typing import Final

from oemviews.engines.engine import Engine
from oemviews.maintain.adjuncts import adjuncts
from oemviews.maintain.changes import Changes
from oemviews.maintain.cost import Choice, choose, too_many
from oemviews.maintain.delta import ViewDelta
from oemviews.maintain.prepared import Prepared, prepared
from oemviews.maintain.relevance import Relevance, relevance
from oemviews.maintain.report import ViewReport
from oemviews.maintain.upkeep import surplus, upkeep
from oemviews.views.definition import Definition, Method, select_variables
from oemviews.views.state import Edge, Row, ViewState

_ALL_KEYS: Final = 32
"""A view of fewer rows has all its keys affected too easily for it to be worth a word."""


def maintain(
    definition: Definition, state: ViewState, engine: Engine, changes: Changes, *, exact: bool = False
) -> ViewDelta:
    """What a batch changes in a view. The engine holds every graph it reads, in the old and the new state.

    RelevantOids stays sound; with `exact`, which costs a walk over all of it, it is also as small as can be.
    """
    started, touched = perf_counter(), engine.touched
    ready = prepared(definition)
    found = relevance(definition, ready.tested, state, changes)
    choice = choose(ready, engine, found)
    rows, method, reason = _rows(ready, state, engine, choice)
    columns = _columns(state, rows)
    moved = {i: state.columns[i].preview(n) for i, n in columns.items()}
    plus, minus = _planted_edges(found)
    gained = upkeep(definition, state, engine, found)
    delta = ViewDelta(
        definition,
        state,
        engine,
        rows,
        columns,
        adjuncts(definition, state, engine, moved, found.edges),
        gained,
        frozenset(),
        plus,
        minus,
        ViewReport(definition.name),
        surplus(definition, state, engine, gained) if exact else {},
    )
    delta.shown = frozenset(found.shown).difference(delta.objects[1]) if found.shown else frozenset()
    added, removed = delta.edges
    delta.report = ViewReport(
        definition.name,
        found.relevant,
        dict(found.dismissed),
        len(choice.runs),
        engine.touched - touched,
        len(delta.appeared),
        len(delta.vanished),
        len(added),
        len(removed),
        method,
        engine.name,
        perf_counter() - started,
        reason,
        choice.predicted if choice.runs else None,
        choice.recompute,
    )
    return delta


# ---- rows ----


def _rows(
    ready: Prepared, state: ViewState, engine: Engine, choice: Choice
) -> tuple[dict[Row, int], Method, str]:
    """Signed numbers of derivations, how they were found, and why in full if so."""
    method = ready.definition.method
    if choice.reason:
        return _recomputed(ready, state, engine), "full", choice.reason
    if not choice.runs:
        return {}, method, ""
    if method == "counting":
        return _counted(ready, engine, choice), method, ""
    keys = _keys(engine, choice)
    reason = too_many(ready, engine, choice, len(keys))
    if reason:
        return _recomputed(ready, state, engine), "full", reason
    rows = _rechecked(ready, state, engine, keys)
    if len(state.rows) >= _ALL_KEYS and state.rows.keys() <= keys:
        return rows, "full", "every row of the view had to be checked again"
    return rows, method, ""


def _counted(ready: Prepared, engine: Engine, choice: Choice) -> dict[Row, int]:
    """The sum of what all statements give."""
    total: Counter[Row] = Counter()
    outputs = ready.outputs()
    for run in choice.runs:
        found = engine.run(run.plan, run.given)
        for row, n in zip(found.tuples(outputs), found.counts.tolist(), strict=True):
            total[row] += n * (run.statement.sign or 1)
    return {row: n for row, n in total.items() if n}


def _keys(engine: Engine, choice: Choice) -> set[Row]:
    """The rows that the batch could touch."""
    keys: set[Row] = set()
    for run in choice.runs:
        found = engine.run(run.plan, run.given)
        keys.update(found.tuples(select_variables(run.statement.block)))
    return keys


def _rechecked(ready: Prepared, state: ViewState, engine: Engine, keys: set[Row]) -> dict[Row, int]:
    """rows' = (rows - keys) + eval(statement, new, {select in keys})."""
    if not keys:
        return {}
    listed = sorted(keys)
    plan, _ = ready.recheck_plan(engine, len(listed))
    there = set(engine.run(plan, ready.keys_of(listed)).tuples(ready.outputs()))
    return {row: 1 if row in there else -1 for row in listed if (row in there) != (row in state.rows)}


def _recomputed(ready: Prepared, state: ViewState, engine: Engine) -> dict[Row, int]:
    """The difference between a fresh evaluation and the rows kept."""
    plan, _ = ready.full_plan(engine)
    found = engine.run(plan)
    fresh = dict(zip(found.tuples(ready.outputs()), found.counts.tolist(), strict=True))
    rows = {row: n - state.rows.get(row, 0) for row, n in fresh.items() if n != state.rows.get(row, 0)}
    return rows | {row: -n for row, n in state.rows.items() if row not in fresh}


def _columns(state: ViewState, rows: dict[Row, int]) -> dict[int, dict[int, int]]:
    """For each column the signed numbers of rows that hold an object."""
    found: dict[int, Counter[int]] = {}
    for row, n in rows.items():
        before = state.rows.get(row, 0)
        sign = (before + n > 0) - (before > 0)
        if sign:
            for i, oid in enumerate(row):
                found.setdefault(i, Counter())[oid] += sign
    return {i: {oid: n for oid, n in counts.items() if n} for i, counts in found.items()}


def _planted_edges(found: Relevance) -> tuple[frozenset[Edge], frozenset[Edge]]:
    """Edges of with steps that the batch put into the graph, and that it took from it."""
    plus: set[Edge] = set()
    minus: set[Edge] = set()
    for port, met in found.edges.items():
        if port.part == "adj":
            edges = zip(met.src.tolist(), met.labels, met.dst.tolist(), strict=True)
            for edge, sign in zip(edges, met.sign.tolist(), strict=True):
                (plus if sign > 0 else minus).add(edge)
    return frozenset(plus), frozenset(minus)
