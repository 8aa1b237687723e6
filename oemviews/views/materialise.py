"""A view from scratch: rows, what its with paths bring along, delegates, RelevantOids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from lorel import plan as op
from lorel.normal import Automaton
from lorel.planner import Planner, Statistics, output
from oemviews.engines.engine import Engine
from oemviews.store.schema import VIEW_ROWS
from oemviews.views import tables
from oemviews.views.definition import Definition, WithStep
from oemviews.views.members import bitmap_of
from oemviews.views.ports import Ports, Sets, grow
from oemviews.views.state import Row, Support, ViewState, columns_of, starts
from oemviews.views.walks import Edges, array_of, edges_from

_NONE: Final = BitMap64()


@dataclass(frozen=True)
class Materialised:
    """A view just evaluated; its table is made when it is asked for."""

    definition: Definition
    state: ViewState
    edges: dict[str, list[Edges]] = field(repr=False)
    engine: Engine = field(repr=False)

    @cached_property
    def table(self) -> pa.Table:
        """All rows of the view, as a store keeps them."""
        objects = array_of(self.state.objects())
        values = self.engine.values(objects, self.definition.item_graph)
        parts = [
            tables.primary_rows(self.state.rows, self.definition.width),
            *(tables.with_rows(name, part) for name, found in self.edges.items() for part in found),
            tables.object_rows(objects, values),
            *(tables.relevant_rows(name, array_of(oids)) for name, oids in self.state.relevant.items()),
        ]
        return pa.concat_tables(parts) if parts else VIEW_ROWS.empty_table()


def materialise(definition: Definition, engine: Engine) -> Materialised:
    """Evaluate a view in the new state of its graphs."""
    rows = rows_of(definition, engine)
    state = ViewState(rows, columns_of(rows, definition.width))
    edges = {
        step.variable: list(_with_edges(definition, state, engine, step)) for step in definition.with_steps
    }
    state.relevant = relevant_of(definition.ports, engine)
    return Materialised(definition, state, edges, engine)


def rows_of(definition: Definition, engine: Engine) -> dict[Row, int]:
    """The rows of a view with the number of their derivations; 1 if it is not kept by counting."""
    found = engine.run(full_plan(definition, engine.statistics))
    names = [output(i) for i in range(definition.width)]
    return dict(zip(found.tuples(names), found.counts.tolist(), strict=True))


def full_plan(definition: Definition, statistics: Statistics) -> op.Plan:
    """The plan that evaluates the whole view."""
    planner = Planner(statistics)
    if definition.method != "counting":
        return planner.query(definition.query)
    plans = tuple(planner.derivations(block) for block in definition.blocks)
    every = plans[0] if len(plans) == 1 else op.Union(plans, estimate=sum(plan.estimate for plan in plans))
    return op.Consolidate(every, estimate=every.estimate)


def _with_edges(definition: Definition, state: ViewState, engine: Engine, step: WithStep) -> Iterator[Edges]:
    """The edges of a with variable; puts what it reaches into the state."""
    begin = BitMap64().union(*starts(definition, state, step))
    path, graph = step.step.path, step.step.graph
    if not isinstance(path, Automaton):
        edges = edges_from(engine, begin, path, graph)
        state.reached[step.variable] = Support.of(edges.dst)
        yield edges
        return
    at = tuple(BitMap64() for _ in range(path.states))
    walked: set[tuple[int, str, int]] = set()
    pending = {0: begin}
    at[0].update(begin)
    while pending:
        p, oids = pending.popitem()
        for source, labels, q in path.moves:
            if source != p:
                continue
            edges = edges_from(engine, oids, labels, graph)
            walked.update(edges.tuples())
            fresh = bitmap_of(edges.dst) - at[q]
            if fresh:
                at[q].update(fresh)
                pending[q] = pending[q] | fresh if q in pending else fresh
    state.walked[step.variable] = at
    columns = list(zip(*walked, strict=True)) or [(), (), ()]
    label = np.array(columns[1], dtype=object)
    yield Edges(np.array(columns[0], np.int64), label, np.array(columns[2], np.int64))


def relevant_of(system: Ports, engine: Engine) -> Sets:
    """RelevantOids of a view: the least solution of its ports, conditions ignored."""
    seeds = {key: BitMap64([oid]) for key, oid in system.constants.items()}
    found = grow(system, {}, seeds, lambda oids, labels, graph: edges_from(engine, oids, labels, graph).dst)
    return {key: found.get(key, _NONE).copy() for key in system.keys}  # one set may have flowed into another
