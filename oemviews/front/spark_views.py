"""Views as temporary views of a Spark session, for SQL beside Lorel.

FavoriteEntrees          oid, type, text, integer, number     one row a primary object
Pairs                    one column an item, its oids         a view that selects several items
FavoriteEntrees_edges    variable, src, label, dst            the edges that came along
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from oemviews.answers.cells import unique
from oemviews.store.schema import columns_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from oemviews.front.view import View


def register(spark: SparkSession, views: Iterable[View]) -> None:
    """Make or replace the temporary views of some views; they show the state of now."""
    for view in views:
        spark.createDataFrame(_rows(view)).createOrReplaceTempView(_quoted(view.name))
        edges = {name: [getattr(edge, name) for edge in view.edges] for name in _EDGES.names}
        table = pa.table(edges, schema=_EDGES)
        spark.createDataFrame(table).createOrReplaceTempView(_quoted(f"{view.name}_edges"))


def forget(spark: SparkSession, name: str) -> None:
    """Take the temporary views of a view away."""
    for each in (name, f"{name}_edges"):
        spark.catalog.dropTempView(each)


def _rows(view: View) -> pa.Table:
    if view.definition.width > 1:
        labels = unique(view.definition.labels)
        rows = view.rows
        return pa.table({label: pa.array([row[label] for row in rows], pa.int64()) for label in labels})
    values = view.objects
    found = [(oid, *columns_of(values[oid])) for oid in sorted(view.primaries)]
    columns = list(zip(*found, strict=True)) or [()] * len(_OBJECTS)
    return pa.table(
        [pa.array(c, kind) for c, kind in zip(columns, _OBJECTS.types, strict=True)], schema=_OBJECTS
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_OBJECTS = pa.schema(
    [
        ("oid", pa.int64()),
        ("type", pa.string()),
        ("text", pa.string()),
        ("integer", pa.int64()),
        ("number", pa.float64()),
    ]
)
_EDGES = pa.schema(
    [("variable", pa.string()), ("src", pa.int64()), ("label", pa.string()), ("dst", pa.int64())]
)
