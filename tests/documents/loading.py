"""Documents loaded into graphs in memory, for the tests of this folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oemviews.documents.columns import Ints
from oemviews.documents.exportable import GraphOfTables
from oemviews.documents.json_out import write_json
from oemviews.documents.load import LoadReport, load_documents
from oemviews.model import ROOT, Oid


def loaded(
    *paths: Path, keys: Mapping[str, str] | None = None, format: str | None = None, idrefs: Sequence[str] = ()
) -> tuple[GraphOfTables, LoadReport]:
    """What these files come to under the name `Doc`."""
    loading = load_documents(
        paths, name="Doc", keys=keys, format=format, idrefs=idrefs, first_oid=1, first_pos=1
    )
    return GraphOfTables.of_changes(loading), loading.report


def root_of(graph: GraphOfTables) -> Oid:
    ((label, oid, _, _),) = graph.children(ROOT)
    assert label == "Doc"
    return oid


def exported(graph: GraphOfTables) -> str:
    return "".join(write_json(graph, root_of(graph)))


def pairs(text: str) -> Any:
    """A JSON text with the order of keys and the types of numbers made visible to `==`."""
    return json.loads(
        text, object_pairs_hook=tuple, parse_int=lambda n: ("int", n), parse_float=lambda n: float(n)
    )


def parse_lines(text: str) -> list[Any]:
    return [pairs(line) for line in text.rstrip("\n").split("\n")]


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


def ints(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, np.int64)
