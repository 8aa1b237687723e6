"""Small graphs as tables, changes and engines; answers of an engine in the words of the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lorel.normal import Normal, blocks
from lorel.planner import Planner, output
from oemviews.edits import NetChange
from oemviews.engines.engine import Engine
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.engines.rows import Rows
from oemviews.model import ROOT, Value, same_value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS, columns_of
from oemviews.store.values import NAMES, Values
from tests.oracle.graph import Edge, Item, OracleGraph


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.table(arrays, schema=schema)


def edge_rows(edges: Iterable[Edge]) -> pa.Table:
    """Edges as a table; pos and shape follow from the edge, so that a test can tell what they must be."""
    return _table(
        [(s, label, d, 7 * s + d, f"{label}{d % 3}" if d % 3 else None) for s, label, d in edges], EDGES
    )


def object_rows(values: Mapping[int, Value]) -> pa.Table:
    found = sorted((oid, value) for oid, value in values.items() if oid != ROOT)
    return _table(
        [(oid, *columns_of(value), "array" if oid % 5 == 0 else None) for oid, value in found], OBJECTS
    )


def tables(graph: OracleGraph) -> tuple[pa.Table, pa.Table]:
    """(edges, objects)."""
    return edge_rows(sorted(graph.edges)), object_rows(graph.values)


def change_between(old: OracleGraph, new: OracleGraph) -> NetChange:
    """What leads from one graph to another; objects may come, not go."""
    both = [oid for oid in new.values if oid in old.values]
    changed = [oid for oid in both if not same_value(old.values[oid], new.values[oid])]
    rows = [(oid, *columns_of(old.values[oid]), *columns_of(new.values[oid])) for oid in changed]
    return NetChange(
        created=object_rows({oid: value for oid, value in new.values.items() if oid not in old.values}),
        plus=edge_rows(sorted(new.edges - old.edges)),
        minus=edge_rows(sorted(old.edges - new.edges)),
        changed=_table(rows, CHANGES_OF_VALUE),
    )


def local_graph(graph: OracleGraph) -> LocalGraph:
    return LocalGraph.of_tables(*tables(graph))


def local_engine(graph: OracleGraph) -> LocalEngine:
    held = local_graph(graph)
    return LocalEngine({("", "new"): held, ("", "old"): held})


def answer_of(engine: Engine, query: Normal) -> list[tuple[Item, ...]]:
    """The rows of a query as the oracle writes them, in no order."""
    rows = engine.run(Planner(engine.statistics).query(query))
    width = len(next(blocks(query)).select)
    return list(zip(*(_items(rows, output(i)) for i in range(width)), strict=True))


def _items(rows: Rows, name: str) -> list[Item]:
    column = rows.columns[name]
    if isinstance(column, Values):
        return [
            ("value", NAMES[kind], value)
            for kind, value in zip(column.kind.tolist(), column.items(), strict=True)
        ]
    return [("oid", oid) for oid in column.tolist()]
