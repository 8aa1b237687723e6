"""An answer that stays on Spark: the frame of its plan, with the values of its objects joined in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lorel.normal import Normal
from lorel.planner import output
from oemviews.answers.evaluate import Evaluation, graphs_of_item

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def frame_of(evaluation: Evaluation, query: Normal, labels: Sequence[str]) -> DataFrame:
    """One struct column an item, as `Answer.to_arrow` has them; nothing runs."""
    from pyspark.sql import functions as F

    from oemviews.engines.spark.engine import SparkEngine

    engine = evaluation.engine
    assert isinstance(engine, SparkEngine), "a frame of another engine"
    table = engine.table(evaluation.plan(query))
    frame, columns = table.frame, []
    for i, label in enumerate(labels):
        name = output(i)
        if table.kinds[name] == "value":
            columns.append(_cell(F.lit(None).cast("bigint"), table.col(name)).alias(label))
            continue
        objects = engine.graphs[graphs_of_item(query, i)[0], "new"].objects
        value = F.struct("type", "text", "integer", "number").alias(f"value{i}")
        named = objects.select(objects["oid"].alias(f"oid{i}"), value)
        frame = frame.join(named, table.col(name) == F.col(f"oid{i}"), "left")
        columns.append(_cell(table.col(name), F.col(f"value{i}")).alias(label))
    return frame.select(*columns)


def _cell(oid: Column, value: Column) -> Column:
    from pyspark.sql import functions as F

    parts = [value[name].alias(name) for name in ("type", "text", "integer", "number")]
    return F.struct(oid.alias("oid"), *parts)
