"""Views as tables: the rows that a store keeps of them, and the graph that each view is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap64

from lorel.normal import Automaton
from oemviews.model import COLLECTION, ROOT
from oemviews.store.schema import EDGES, OBJECTS, VIEW_ROWS
from oemviews.store.values import (
    BIG,
    BINARY,
    BOOLEAN,
    INTEGER,
    NAMES,
    REAL,
    STRING,
    Bools,
    Ints,
    Values,
    column_numpy,
)
from oemviews.views.definition import Definition
from oemviews.views.state import Row, Support, ViewState, columns_of
from oemviews.views.walks import Edges, array_of

_VALUE: Final = ("type", "text", "integer", "number")
_COLUMNS: Final = tuple((spec.name, spec.type) for spec in VIEW_ROWS)


def _by_code(*codes: int) -> Bools:
    """For every code of a value whether it is one of these."""
    return np.isin(np.arange(256), codes)


_HAS_TEXT: Final = _by_code(STRING, BIG, BINARY)
_IS_WHOLE: Final = _by_code(INTEGER, BOOLEAN)
_IS_NUMBER: Final = _by_code(INTEGER, REAL, STRING, BIG)
_TYPE: Final = np.array([*NAMES, *["complex"] * (256 - len(NAMES))], dtype=object)
"""The name of the type of each code; what is missing reads as an object without a value."""


def view_rows(role: str, n: Iterable[int] | Ints | int, **columns: Any) -> pa.Table:
    """Rows of one role; columns not named are null, `variable` may be one word for all."""
    size = len(next(value for value in columns.values() if not isinstance(value, str)))
    columns |= {"role": role, "n": np.full(size, n, np.int64) if isinstance(n, int) else n}
    arrays = []
    for name, kind in _COLUMNS:
        value = columns.get(name)
        if value is None:
            arrays.append(pa.nulls(size, kind))
        elif isinstance(value, str):
            arrays.append(pa.repeat(pa.scalar(value, kind), size))
        elif isinstance(value, pa.Array):
            arrays.append(value)
        else:
            arrays.append(pa.array(value, kind, from_pandas=True))
    return pa.table(arrays, schema=VIEW_ROWS)


@lru_cache(maxsize=1)
def no_rows() -> pa.Table:
    return VIEW_ROWS.empty_table()


def primary_rows(rows: Mapping[Row, int], width: int) -> pa.Table:
    """One row a row of the view: an object, or for several items the list of their oids."""
    if width == 1:
        return view_rows("primary", list(rows.values()), dst=[row[0] for row in rows])
    texts = [orjson.dumps(row).decode("ascii") for row in rows]
    return view_rows("primary", list(rows.values()), text=texts)


def with_rows(variable: str, edges: Edges, n: int = 1) -> pa.Table:
    return view_rows("with", n, variable=variable, src=edges.src, label=edges.label, dst=edges.dst)


def object_rows(oids: Ints, values: Values, n: int = 1) -> pa.Table:
    """Delegates: objects with a copy of their values."""
    return view_rows("object", n, dst=oids, **value_columns(values))


def relevant_rows(variable: str, oids: Ints, n: int = 1) -> pa.Table:
    return view_rows("relevant", n, variable=variable, dst=oids)


def value_columns(values: Values) -> dict[str, pa.Array]:
    """The four columns of a table that a column of values is spread over."""
    kind = values.kind
    textual = _HAS_TEXT[kind]
    text = values.text if textual.any() else np.empty(len(kind), object)
    return {
        "type": pa.array(_TYPE[kind], pa.string()),
        "text": pa.array(text, pa.string(), mask=~textual),
        "integer": pa.array(values.integer, mask=~_IS_WHOLE[kind]),
        "number": pa.array(values.number, mask=~_IS_NUMBER[kind] | np.isnan(values.number)),
    }


# ---- back ----


def state_of(definition: Definition, table: pa.Table) -> ViewState:
    """The state that the rows of a view in a store describe."""
    parts = {role: table.filter(pc.equal(table["role"], role)) for role in ("primary", "with", "relevant")}
    rows = _rows_of(parts["primary"], definition.width)
    state = ViewState(rows, columns_of(rows, definition.width))
    edges = _by_variable(parts["with"])
    for step in definition.with_steps:
        mine = edges.get(step.variable)
        if not isinstance(step.step.path, Automaton):
            targets = np.empty(0, np.int64) if mine is None else _ints(mine["dst"])
            state.reached[step.variable] = Support.of(targets)
            continue
        begin = BitMap64()
        if step.column is not None:
            begin |= state.columns[step.column].oids
        elif step.step.src in state.reached:
            begin |= state.reached[step.step.src].oids
        else:
            path = next(s.step.path for s in definition.with_steps if s.variable == step.step.src)
            assert isinstance(path, Automaton)
            for q in path.accepting:
                begin |= state.walked[step.step.src][q]
        found = [] if mine is None else _tuples(mine)
        state.walked[step.variable] = _walk_again(step.step.path, begin, found)
    relevant = _by_variable(parts["relevant"])
    for key in definition.ports.keys:
        state.relevant[key] = BitMap64(_ints(relevant[key]["dst"])) if key in relevant else BitMap64()
    return state


def _rows_of(table: pa.Table, width: int) -> dict[Row, int]:
    numbers = table["n"].to_pylist()
    if width == 1:
        return {(oid,): n for oid, n in zip(table["dst"].to_pylist(), numbers, strict=True)}
    return {tuple(orjson.loads(text)): n for text, n in zip(table["text"].to_pylist(), numbers, strict=True)}


def _by_variable(table: pa.Table) -> dict[str, pa.Table]:
    names = pc.unique(table["variable"]).to_pylist()
    return {name: table.filter(pc.equal(table["variable"], name)) for name in names}


def _walk_again(
    path: Automaton, begin: BitMap64, edges: Sequence[tuple[int, str, int]]
) -> tuple[BitMap64, ...]:
    """The (object, state) pairs of a walk, from the edges that it walked."""
    out: dict[int, list[tuple[str, int]]] = {}
    for src, label, dst in edges:
        out.setdefault(src, []).append((label, dst))
    at = tuple(BitMap64() for _ in range(path.states))
    at[0].update(begin)
    pending = [(oid, 0) for oid in begin if oid in out]
    while pending:
        oid, state = pending.pop()
        for label, dst in out.get(oid, ()):
            for p, labels, q in path.moves:
                if p == state and labels.matches(label) and dst not in at[q]:
                    at[q].add(dst)
                    pending.append((dst, q))
    return at


def _ints(column: Any) -> Ints:
    return column_numpy(column).astype(np.int64, copy=False)


def _tuples(table: pa.Table) -> list[tuple[int, str, int]]:
    columns = (table[name].to_pylist() for name in ("src", "label", "dst"))
    return list(zip(*columns, strict=True))


# ---- the graph that a view is ----


def graph_tables(definition: Definition, table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(edges, objects) of a view's own graph: its name, its collection, its with edges, its delegates.

    &0 -FavoriteEntrees-> collection -Entrees-> &9 -Name-> &14
    """
    objects = table.filter(pc.equal(table["role"], "object"))
    with_ = table.filter(pc.equal(table["role"], "with"))
    unique = with_.group_by(["src", "label", "dst"]).aggregate([])
    primaries = array_of(primaries_of(definition, table))
    src = [np.array([ROOT]), np.full(len(primaries), COLLECTION), _ints(unique["src"])]
    dst = [np.array([COLLECTION]), primaries, _ints(unique["dst"])]
    label = [definition.name, *([definition.collection] * len(primaries)), *unique["label"].to_pylist()]
    edges = edge_table(np.concatenate(src), label, np.concatenate(dst))
    values = [objects[name] for name in _VALUE]
    delegates = pa.table(
        [objects["dst"], *values, pa.nulls(len(objects), pa.string())], names=OBJECTS.names
    ).cast(OBJECTS)
    return edges, pa.concat_tables([delegates, collection_object()])


def primaries_of(definition: Definition, table: pa.Table) -> list[int]:
    """The objects of all select items, each once."""
    primary = table.filter(pc.equal(table["role"], "primary"))
    rows = _rows_of(primary, definition.width)
    return sorted({oid for row in rows for oid in row})


def edge_table(src: Ints, label: Sequence[str], dst: Ints) -> pa.Table:
    """Edges of a view's graph; where they came from is all the order there is."""
    size = len(src)
    return pa.table(
        [
            pa.array(src, pa.int64()),
            pa.array(label, pa.string()),
            pa.array(dst, pa.int64()),
            pa.array(np.zeros(size, np.int64)),
            pa.nulls(size, pa.string()),
        ],
        schema=EDGES,
    )


@lru_cache(maxsize=1)
def collection_object() -> pa.Table:
    """The object that holds the primaries of a view; made when first asked for: imports stay quick."""
    return pa.Table.from_pylist([{"oid": COLLECTION, "type": "complex"}], schema=OBJECTS)
