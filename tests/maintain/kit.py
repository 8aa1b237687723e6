"""Graphs of the oracle on the engines, and a view kept beside its evaluation from scratch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyroaring import BitMap64

from lorel import ast
from lorel.parser import parse
from lorel.scope import Catalog
from oemviews.edits import Edit, NetChange
from oemviews.engines.engine import Engine
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.maintain.changes import changes_of
from oemviews.maintain.delta import ViewDelta
from oemviews.maintain.maintain import maintain
from oemviews.model import ROOT, Value, same_value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS, columns_of, value_of
from oemviews.views.definition import Definition, define
from oemviews.views.materialise import Materialised, materialise
from oemviews.views.state import ViewState
from tests import oracle
from tests.oracle import OracleGraph

_VALUE = ("type", "text", "integer", "number")


def object_table(values: Mapping[int, Value]) -> pa.Table:
    rows = [
        dict(zip(("oid", *_VALUE), (oid, *columns_of(value)), strict=True))
        for oid, value in values.items()
        if oid != ROOT
    ]
    return pa.Table.from_pylist(rows, schema=OBJECTS)


def edge_table(edges: Iterable[tuple[int, str, int]]) -> pa.Table:
    rows = [{"src": s, "label": label, "dst": d, "pos": i} for i, (s, label, d) in enumerate(sorted(edges))]
    return pa.Table.from_pylist(rows, schema=EDGES)


def local(graph: OracleGraph) -> LocalGraph:
    return LocalGraph.of_tables(edge_table(graph.edges), object_table(graph.values))


def net_between(old: OracleGraph, new: OracleGraph) -> NetChange:
    """Final state minus initial state."""
    changed = [
        dict(
            zip(
                CHANGES_OF_VALUE.names,
                (oid, *columns_of(old.values[oid]), *columns_of(value)),
                strict=True,
            )
        )
        for oid, value in new.values.items()
        if oid in old.values and not same_value(old.values[oid], value)
    ]
    return NetChange(
        created=object_table({oid: v for oid, v in new.values.items() if oid not in old.values}),
        plus=edge_table(new.edges - old.edges),
        minus=edge_table(old.edges - new.edges),
        changed=pa.Table.from_pylist(changed, schema=CHANGES_OF_VALUE),
    )


def contents(table: pa.Table) -> dict[str, Any]:
    """The rows of a view as plain sets, added up: what a store would read back."""
    total: dict[tuple[Any, ...], int] = {}
    for row in table.to_pylist():
        n = row.pop("n")
        key = tuple(row.values())
        total[key] = total.get(key, 0) + n
    assert all(n >= 0 for n in total.values()), {key: n for key, n in total.items() if n < 0}
    kept = [dict(zip(table.column_names, key, strict=False)) for key, n in total.items() if n]
    return {
        "primary": {row["text"] or row["dst"] for row in kept if row["role"] == "primary"},
        "with": {(r["variable"], r["src"], r["label"], r["dst"]) for r in kept if r["role"] == "with"},
        "object": {
            r["dst"]: (r["type"], value_of(r["type"], r["text"], r["integer"], r["number"]))
            for r in kept
            if r["role"] == "object"
        },
        "objects": sum(1 for r in kept if r["role"] == "object"),
        "relevant": {(r["variable"], r["dst"]) for r in kept if r["role"] == "relevant"},
    }


@dataclass
class Kept:
    """A view maintained batch by batch on the local engine, with the graph as the oracle sees it."""

    definition: Definition
    query: ast.Query
    graph: OracleGraph
    local: LocalGraph
    state: ViewState
    table: pa.Table

    @classmethod
    def of(cls, text: str, graph: OracleGraph, policy: str = "incremental") -> Kept:
        statement = parse(text)
        assert isinstance(statement, ast.DefineView)
        definition = define(text, Catalog(frozenset(graph.names)), policy, stored=True)
        here = local(graph)
        made = materialise(definition, LocalEngine({("", "new"): here}))
        return cls(definition, statement.query, graph, here, made.state, made.table)

    def apply(
        self, batch: Iterable[Edit], names: dict[str, int] | None = None, *, exact: bool = False
    ) -> ViewDelta:
        new = oracle.apply(self.graph, batch, names)
        net = net_between(self.graph, new)
        after = self.local.apply(net)
        engine: Engine = LocalEngine({("", "old"): self.local, ("", "new"): after})
        delta = maintain(self.definition, self.state, engine, changes_of({"": net}), exact=exact)
        delta.install()
        self.table = pa.concat_tables([self.table, delta.table])
        self.graph, self.local = new, after
        return delta

    def check(self, *, fresh: bool = True) -> None:
        """Rows, with edges, objects and values equal evaluation from scratch; RelevantOids holds enough."""
        wanted = oracle.view(self.graph, self.query)
        rows = {tuple(item[1] for item in row) for row in wanted.rows}
        assert set(self.state.rows) == rows
        assert all(n > 0 for n in self.state.rows.values())
        stored = contents(self.table)
        edges = {edge[1:] for edge in stored["with"]}
        assert edges == wanted.visible_edges
        shown = {step.variable: step.shown for step in self.definition.with_steps}
        by_name: dict[str, set[tuple[int, str, int]]] = {}
        for variable, *edge in stored["with"]:
            by_name.setdefault(shown[variable], set()).add(tuple(edge))
        if len(self.definition.blocks) == 1:
            for variable, found in wanted.edges.items():
                if not variable.startswith("_"):
                    assert by_name.get(variable, set()) == found, variable
        objects = {oid: (_type(value), value) for oid, value in wanted.objects.items()}
        assert stored["object"] == objects
        assert stored["objects"] == len(objects)
        for variable, oids in oracle.relevant(self.graph, self.query).items():
            mine = [key for key in self.state.relevant if shown.get(key.split("/")[0], key) == variable]
            if mine and (len(self.definition.blocks) == 1 or variable not in wanted.edges):
                assert oids <= set(BitMap64().union(*(self.state.relevant[key] for key in mine))), variable
        for key, members in self.state.relevant.items():
            assert {oid for name, oid in stored["relevant"] if name == key} == set(members), key
        if fresh:
            self.check_fresh()

    def check_fresh(self) -> None:
        """A view just made has the same counts and the same sets."""
        made: Materialised = materialise(self.definition, LocalEngine({("", "new"): self.local}))
        assert made.state.rows == self.state.rows
        for variable, targets in made.state.reached.items():
            kept = self.state.reached[variable]
            assert (kept.oids, kept.more) == (targets.oids, targets.more)
        assert made.state.walked == self.state.walked
        for key, oids in made.state.relevant.items():
            assert oids <= self.state.relevant[key], key


def _type(value: Value) -> str:
    from oemviews.model import type_of

    return type_of(value)
