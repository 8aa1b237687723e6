"""A batch in one view: relevance, statements, rows, adjuncts, RelevantOids. Nothing is changed yet."""

from __future__ import annotations

from collections import Counter
from time import perf_counter
from typing import Final

from oemviews.engines.engine import Engine
from oemviews.engines.rows import Rows
from oemviews.maintain.adjuncts import adjuncts
from oemviews.maintain.changes import Changes
from oemviews.maintain.cost import Choice, choose, too_many
from oemviews.maintain.delta import ViewDelta
from oemviews.maintain.prepared import Prepared, prepared
from oemviews.maintain.reach import Reach, changes
from oemviews.maintain.relevance import Relevance, relevance
from oemviews.maintain.report import ViewReport
from oemviews.maintain.upkeep import surplus, upkeep
from oemviews.views.definition import Definition, Method, select_variables
from oemviews.views.state import Row, ViewState

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
    choice = choose(ready, engine, state, found)
    rows, method, reason = _rows(ready, state, engine, choice, found)
    touched = engine.touched - touched  # by the statements: with edges and RelevantOids are not their rows
    columns = _columns(definition, state, rows)
    moved = {i: state.columns[i].preview(n) for i, n in columns.items()}
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
        ViewReport(definition.name),
        surplus(definition, state, engine, gained) if exact else {},
    )
    delta.shown = frozenset(found.shown).difference(delta.objects[1]) if found.shown else frozenset()
    added, removed = delta.edges
    delta.report = ViewReport(
        definition.name,
        found.relevant,
        dict(found.dismissed),
        choice.statements,
        touched,
        len(delta.appeared),
        len(delta.vanished),
        len(added),
        len(removed),
        method,
        engine.name,
        perf_counter() - started,
        reason,
        choice.predicted if choice.statements else None,
        choice.recompute,
    )
    return delta


# ---- rows ----


def _rows(
    ready: Prepared, state: ViewState, engine: Engine, choice: Choice, found: Relevance
) -> tuple[dict[Row, int], Method, str]:
    """Signed numbers of derivations, how they were found, and why in full if so."""
    method = ready.definition.method
    if choice.reason:
        return _recomputed(ready, state, engine), "full", choice.reason
    if not choice.statements:
        return {}, method, ""
    if ready.reach is not None:
        return _reached(ready.reach, state, engine, choice, found), method, ""
    if method == "counting":
        return _counted(ready, engine, choice), method, ""
    keys, there = _keys(engine, choice)
    reason = too_many(ready, engine, choice, len(keys))
    if reason:
        return _recomputed(ready, state, engine), "full", reason
    rows = _rechecked(ready, state, engine, keys)
    rows |= {row: 1 for row in there if row not in state.rows}
    if len(state.rows) >= _ALL_KEYS and state.rows.keys() <= keys:
        return rows, "full", "every row of the view had to be checked again"
    return rows, method, ""


def _found(engine: Engine, choice: Choice) -> list[Rows]:
    """What each statement gives."""
    return engine.run_all([(run.plan, run.given) for run in choice.runs])


def _counted(ready: Prepared, engine: Engine, choice: Choice) -> dict[Row, int]:
    """The sum of what all statements give."""
    total: Counter[Row] = Counter()
    outputs = ready.outputs()
    for run, found in zip(choice.runs, _found(engine, choice), strict=True):
        for row, n in zip(found.tuples(outputs), found.counts.tolist(), strict=True):
            total[row] += n * (run.statement.sign or 1)
    return {row: n for row, n in total.items() if n}


def _keys(engine: Engine, choice: Choice) -> tuple[set[Row], set[Row]]:
    """The rows that the batch could touch, and apart from them those that are there now for sure."""
    keys: set[Row] = set()
    there: set[Row] = set()
    for run, found in zip(choice.runs, _found(engine, choice), strict=True):
        statement = run.statement
        sure = statement.sure and statement.state == "new"
        (there if sure else keys).update(found.tuples(select_variables(statement.block)))
    return keys - there, there


def _reached(
    reach: Reach, state: ViewState, engine: Engine, choice: Choice, found: Relevance
) -> dict[Row, int]:
    """What comes to and goes from a view that is what walks reach."""
    starts = zip(choice.runs, _found(engine, choice), strict=True)
    # inside of a query that a variable ranges over, the start goes by the name of the query's item
    suspects = [
        (run.statement.state, rows.oids(select_variables(run.statement.block)[0])) for run, rows in starts
    ]
    came, went = changes(reach, engine, state, found, suspects)
    return {(oid,): 1 for oid in came.tolist()} | {(oid,): -1 for oid in went.tolist()}


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


def _columns(definition: Definition, state: ViewState, rows: dict[Row, int]) -> dict[int, dict[int, int]]:
    """For each column the signed numbers of rows that hold an object."""
    if len(state.columns) == 1 and definition.method == "recheck":  # each row is there once, or not at all
        return {0: {row[0]: n for row, n in rows.items()}} if rows else {}
    found: list[dict[int, int]] = [{} for _ in state.columns]
    for row, n in rows.items():
        before = state.rows.get(row, 0)
        sign = (before + n > 0) - (before > 0)
        if sign:
            for counts, oid in zip(found, row, strict=True):
                counts[oid] = counts.get(oid, 0) + sign
    return {i: {oid: n for oid, n in counts.items() if n} for i, counts in enumerate(found) if counts}
