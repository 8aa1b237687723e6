"""Aggregates over the distinct members of each group, and rows that are distinct by their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lorel.normal import ValueOf
from lorel.plan import Aggregate, DistinctValues
from oemviews.engines.spark import values as v
from oemviews.engines.spark.scalars import GraphOf, Valued, valued
from oemviews.engines.spark.table import ONE, Kind, Table, as_kinds, column_name, distinct, struct_of
from oemviews.engines.spark.values import Value

_DECIMAL: Final = "decimal(38,0)"


def aggregated(table: Table, rows: Table, node: Aggregate, graph_of: GraphOf) -> Table:
    """`table` with one more value column; if no row matches, count and sum are 0, the others missing."""
    members = distinct(rows.keep(dict.fromkeys((*node.keys, node.arg, *node.others))))
    both: dict[str, Kind] = {
        key: "oid" if table.kinds[key] == members.kinds[key] == "oid" else "value" for key in node.keys
    }
    table = as_kinds(table, {**table.kinds, **both}).settled()
    members = as_kinds(members, {**members.kinds, **both})
    grouped = _measured(members, node, graph_of)
    if node.keys:
        frame = table.frame.join(grouped, _same_keys(both), "left")
    else:
        frame = table.frame.crossJoin(grouped)
    value = F.col("m_value")
    if node.func in ("count", "sum"):
        value = F.coalesce(value, v.of_constant(0).struct)
    return replace(table, frame=frame).with_column(node.name, value)


def _same_keys(keys: dict[str, Kind]) -> Column:
    condition = F.lit(True)
    for key, kind in keys.items():
        mine, other = F.col(column_name(key)), F.col(f"m_{column_name(key)}")
        condition = condition & (mine == other if kind == "oid" else mine.eqNullSafe(other))
    return condition


def _measured(members: Table, node: Aggregate, graph_of: GraphOf) -> DataFrame:
    """One row a group: its keys and `m_value`."""
    ref = ValueOf(node.arg, node.graph, node.state)
    read = valued(members, [ref] if node.func != "count" else [], graph_of, frozenset())
    keys = [read.table.col(key).alias(f"m_{column_name(key)}") for key in node.keys]
    groups, many = read.table.frame.groupBy(*keys), F.count(read.table.col(node.arg))
    if node.func == "count":
        return groups.agg(v.of_integer(many).struct.alias("m_value"))
    value = read.values[ref]
    if node.func == "element":
        return groups.agg(F.when(many == 1, F.first(value.struct)).alias("m_value"))
    return _of_numbers(read, value, keys, node.func)


def _of_numbers(read: Valued, value: Value, keys: Sequence[Column], func: str) -> DataFrame:
    """sum, avg, min or max of the members that convert to a number."""
    rows = read.table.frame.filter(value.number.isNotNull())
    whole = F.when(
        value.type == "integer", F.coalesce(value.integer.cast(_DECIMAL), value.text.try_cast(_DECIMAL))
    )
    fields = {"whole": whole, "number": value.number, "exact": value.type == "integer", "text": value.text}
    rows = rows.select(
        *keys, value.integer.alias("m_integer"), *(c.alias(f"m_{n}") for n, c in fields.items())
    )
    groups = rows.groupBy(*(column for column in rows.columns if column.startswith("m_v_")))
    if func in ("min", "max"):
        return groups.agg(_extreme(func).alias("m_value"))
    result = groups.agg(
        F.bool_and("m_exact").alias("all_exact"),
        F.bool_or(F.col("m_exact") & F.col("m_whole").isNull()).alias("too_long"),
        F.try_sum("m_whole").cast(_DECIMAL).alias("whole"),
        _added(F.sort_array(F.collect_list("m_number"))).alias("real"),
        F.count("m_number").alias("members"),
    )
    return _total(result, func)


def _added(numbers: Column) -> Column:
    """The sum of doubles, with what each addition loses added up too (Neumaier): the order does not tell."""

    def add(state: Column, x: Column) -> Column:
        total = state.getField("total")
        new = total + x
        lost = F.when(F.abs(total) >= F.abs(x), (total - new) + x).otherwise((x - new) + total)
        return F.struct(new.alias("total"), (state.getField("lost") + lost).alias("lost"))

    zero = F.struct(F.lit(0.0).alias("total"), F.lit(0.0).alias("lost"))
    return F.aggregate(numbers, zero, add, lambda state: state.getField("total") + state.getField("lost"))


def _total(result: DataFrame, func: str) -> DataFrame:
    keys = [column for column in result.columns if column.startswith("m_v_")]
    failed = F.raise_error(F.lit(v.TOO_LONG)).cast(_DECIMAL)
    lost = F.col("all_exact") & (F.col("too_long") | F.col("whole").isNull())
    whole = F.when(F.col("members") > 0, F.when(lost, failed).otherwise(F.col("whole")))
    if func == "avg":
        total = F.when(F.col("all_exact"), whole.cast("double")).otherwise(F.col("real"))
        value = v.of_real(F.when(F.col("members") > 0, total / F.col("members"))).struct
    else:
        short = whole.try_cast("bigint")
        text = F.when(short.isNull(), whole.cast("string"))
        exact = struct_of(F.lit("integer"), text, short, whole.cast("double"))
        value = F.when(F.col("all_exact"), exact).otherwise(v.of_real(F.col("real")).struct)
    return result.select(*keys, F.when(F.col("members") > 0, value).alias("m_value"))


def _extreme(func: str) -> Column:
    """The least or greatest number; of equal 4 and 4.0 the integer."""
    exact = F.col("m_exact")
    value = struct_of(
        F.when(exact, "integer").otherwise("real"),
        F.when(exact, F.col("m_text")),
        F.when(exact, F.col("m_integer")),
        F.col("m_number"),
    )
    place = F.coalesce(F.col("m_whole"), F.col("m_number").try_cast(_DECIMAL))
    preferred = ~exact if func == "min" else exact
    by = F.struct(F.col("m_number"), place, preferred)
    return F.min_by(value, by) if func == "min" else F.max_by(value, by)


def distinct_by_value(table: Table, node: DistinctValues, graph_of: GraphOf) -> Table:
    """Of the rows with the same typed values the one with the lowest oids."""
    positive = distinct(table)
    oids = [name for name, kind in table.kinds.items() if kind == "oid"]
    if not oids:
        return positive
    refs = {name: ValueOf(name, node.graph, node.state) for name in oids}
    read = valued(positive, refs.values(), graph_of, frozenset())
    table = read.table
    worth = [
        F.coalesce(read.values[ref].struct, _itself(table.col(name))).alias(f"w_{i}")
        for i, (name, ref) in enumerate(refs.items())
    ]
    others = [table.col(name).alias(column_name(name)) for name in table.kinds if name not in refs]
    oid_columns = [table.col(name).alias(column_name(name)) for name in oids]
    lowest = F.min(F.struct(*oid_columns)).alias("lowest")
    kept = table.frame.groupBy(*others, *worth).agg(lowest)
    places = {name: f"lowest.`{column_name(name)}`" for name in oids}
    return Table(kept, table.kinds, table.known, places=places, count=ONE).settled()


def _itself(oid: Column) -> Column:
    """An object without a value counts as its own."""
    return struct_of(F.lit("complex"), None, oid, None)
