"""A load on Spark gives the rows, to the last number, that one reader gives."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from oemviews.documents.load import Loading, load_documents
from oemviews.documents.parallel import splits_of
from oemviews.documents.reading import Part
from oemviews.documents.source import Piece
from oemviews.errors import DocumentError
from tests.documents.loading import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def lines(seed: int, count: int) -> str:
    """Lines of all shapes that refer to each other, forwards, backwards and in vain."""
    rng = random.Random(seed)

    def node(number: int) -> Any:
        refs = [f"n{rng.randrange(count + 3)}" for _ in range(rng.randrange(3))]
        node = {"id": f"n{number}", "to": refs, "x": [[1.5, None], {}], "again": {"$ref": "#/x/1"}}
        return rng.choice([node, node, [node, "é"], number, {}])

    return "".join(json.dumps(node(n), ensure_ascii=False) + rng.choice(["\n", "\n\n"]) for n in range(count))


def tables(loading: Loading) -> tuple[list[Any], list[Any]]:
    chunks = list(loading)
    objects = pa.concat_tables([chunk.created for chunk in chunks]).sort_by("oid")
    edges = pa.concat_tables([chunk.plus for chunk in chunks]).sort_by("pos")
    return objects.to_pylist(), edges.to_pylist()


def both_ways(
    spark: SparkSession, *paths: Path, split: int, keys: Mapping[str, str] | None = None
) -> tuple[Loading, Loading]:
    def loading(**more: Any) -> Loading:
        return load_documents(paths, name="Doc", keys=keys, first_oid=7, first_pos=70, **more)

    return loading(), loading(spark=spark, split=split)


def test_splits_end_at_line_ends_and_leave_nothing_out(tmp_path: Path) -> None:
    text = lines(1, 200)
    path = written(tmp_path, "a.jsonl", text)
    small = written(tmp_path, "b.json", "{}")
    parts = [Part(Piece(path), "jsonl", 0), Part(Piece(small), "json", 1), Part(Piece(small), "json", 2)]
    splits = splits_of(parts, 500)
    assert len(splits) > 3
    pieces = [part.piece for split in splits for part in split if part.file == 0]
    data = text.encode()
    assert b"".join(data[piece.start : piece.end] for piece in pieces) == data
    assert all(data[: piece.end].endswith(b"\n") for piece in pieces)
    assert [part.file for part in splits[-1]] == [0, 1, 2], "small files share a split"


@pytest.mark.spark
def test_lines_in_parallel_equal_lines_in_sequence(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", lines(2, 300))
    here, there = both_ways(spark, path, split=4000, keys={"to": "id"})
    assert tables(here) == tables(there)
    assert here.report.references == there.report.references
    assert here.report.references.made
    assert here.report.references.unresolved
    assert (here.report.parallel, there.report.parallel > 2) == (0, True)
    assert (here.report.objects, here.report.edges) == (there.report.objects, there.report.edges)


@pytest.mark.spark
def test_many_files_in_parallel_equal_files_in_sequence(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(6):
        written(tmp_path, f"{number}.jsonl", lines(number, 60))
        written(tmp_path, f"{number}.json", json.dumps({"id": f"n{number + 60}", "to": "n1"}))
    written(tmp_path, "tree.xml", '<a id="x"><b ref="x">1</b></a>')
    written(tmp_path, "graph.oem", "<a &1 { <b &2 { <c &1> }> }>")
    here, there = both_ways(spark, tmp_path, split=3000, keys={"to": "id"})
    assert tables(here) == tables(there)
    assert here.report.references == there.report.references


@pytest.mark.spark
def test_a_fault_in_a_task_has_its_line_in_the_file(spark: SparkSession, tmp_path: Path) -> None:
    good = lines(3, 200)
    path = written(tmp_path, "a.jsonl", good + '{"a": 1, "a": 2}\n' + lines(4, 50) + "[")
    line = good.count("\n") + 1
    _, there = both_ways(spark, path, split=2000)
    with pytest.raises(DocumentError, match=f"line {line}, column 10: found the key 'a' a second time"):
        list(there)
