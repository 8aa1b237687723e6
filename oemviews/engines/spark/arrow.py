"""Binding tables across the border: rows handed in become a frame, a frame's rows come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lorel.normal import is_constant, oid_of
from oemviews.engines.rows import Column, Rows
from oemviews.engines.spark.closure import LIMIT, LITERALS
from oemviews.engines.spark.graph import frame_of
from oemviews.engines.spark.table import Kind, N, Table, column_name
from oemviews.store.values import (
    BIG,
    BINARY,
    BOOLEAN,
    C_COMPLEX,
    INTEGER,
    MISSING,
    NAMES,
    STRING,
    Values,
    column_numpy,
    from_columns,
)

_STRUCT: Final = pa.struct(
    [("type", pa.string()), ("text", pa.string()), ("integer", pa.int64()), ("number", pa.float64())]
)


def given_table(spark: SparkSession, rows: Rows, names: Sequence[str]) -> Table:
    """Rows handed in, as columns `names`.

    The rows of a change come as (src, dst, label), whatever a step calls them: then by place.
    """
    found = rows.columns
    if not set(names) <= set(found):
        found = dict(zip(names, found.values(), strict=False))
    columns = {name: found[name] for name in names}
    arrays = {column_name(name): _array(column) for name, column in columns.items()}
    frame = frame_of(spark, pa.table({**arrays, N: pa.array(rows.counts, pa.int64())}))
    kinds: dict[str, Kind] = {
        name: "value" if isinstance(column, Values) else "oid" for name, column in columns.items()
    }
    known = {
        name: frozenset(oids.tolist())
        for name, column in columns.items()
        if not isinstance(column, Values) and len(oids := np.unique(column)) <= LITERALS
    }
    if len(rows) <= LIMIT:
        frame = F.broadcast(frame)
    for name in filter(is_constant, names):
        frame = frame.filter(F.col(column_name(name)) == oid_of(name))
    return Table(frame, kinds, known, bool((rows.counts > 0).all()))


def _array(column: Column) -> pa.Array:
    if not isinstance(column, Values):
        return pa.array(column, pa.int64())
    kind = column.kind
    whole = np.isin(kind, (INTEGER, BOOLEAN, C_COMPLEX))
    parts = [
        pa.array([None if code == MISSING else NAMES[code] for code in kind.tolist()], pa.string()),
        pa.array(column.text, pa.string(), mask=~np.isin(kind, (STRING, BINARY, BIG))),
        pa.array(column.integer, pa.int64(), mask=~whole),
        pa.array(column.number, pa.float64(), mask=np.isnan(column.number)),
    ]
    missing = pa.array(kind == MISSING)
    return pa.StructArray.from_arrays(parts, fields=list(_STRUCT), mask=missing)


def rows_of(table: pa.Table, kinds: Mapping[str, Kind]) -> Rows:
    """The rows of a collected frame."""
    columns: dict[str, Column] = {}
    for name, kind in kinds.items():
        column = table[column_name(name)]
        columns[name] = column_numpy(column).astype(np.int64) if kind == "oid" else values_of(column)
    return Rows(columns, column_numpy(table[N]).astype(np.int64))


def values_of(column: pa.ChunkedArray) -> Values:
    """A column of structs; null is MISSING."""
    types, text, integer, number = (
        pc.struct_field(column, name) for name in ("type", "text", "integer", "number")
    )
    known = from_columns(types.fill_null("null"), text, integer, number)
    gone = column_numpy(types.is_null()).astype(np.bool_)
    kind = np.where(gone, MISSING, known.kind).astype(np.uint8)
    return Values(kind, known.integer, known.number, known.text)
