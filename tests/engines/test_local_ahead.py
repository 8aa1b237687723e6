"""Looking ahead changes nothing but the number of fetches."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from oemviews.documents.export import export
from oemviews.documents.load import load_documents
from oemviews.edits import NetChange
from oemviews.engines.local import ahead
from oemviews.engines.local.ahead import Ahead
from oemviews.engines.local.graph import LocalGraph


def tangle(seed: int, count: int) -> str:
    """Objects in a row and nested, that refer to each other."""
    rng = random.Random(seed)
    nodes = [
        {
            "id": n,
            "to": [rng.randrange(count) for _ in range(rng.randrange(3))],
            "in": [{"a": [[n], []]}] * rng.randrange(3),
        }
        for n in range(count)
    ]
    return json.dumps({"nodes": nodes, "wide": list(range(count))})


@pytest.mark.parametrize("format", ["json", "xml", "oem"])
@pytest.mark.parametrize("kept", [10, 1 << 16])
def test_a_graph_looks_the_same_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, kept: int
) -> None:
    for name, value in (("_BESIDE", 5), ("_ROWS", 20), ("_LEVELS", 3), ("_KEPT", kept)):
        monkeypatch.setattr(ahead, name, value)
    path = tmp_path / "a.json"
    path.write_text(tangle(1, 60))
    graph = LocalGraph.empty()
    for chunk in load_documents([path], name="Doc", keys={"to": "id"}, first_oid=1, first_pos=1):
        graph = graph.apply(NetChange(created=chunk.created, plus=chunk.plus))
    assert "".join(export(Ahead(graph), 1, format, name="Doc")) == "".join(
        export(graph, 1, format, name="Doc")
    )


def test_objects_are_fetched_many_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"a": {"b": [n, n]}} for n in range(1000)]))
    (chunk,) = load_documents([path], name="Doc", first_oid=1, first_pos=1)
    graph = LocalGraph.empty().apply(chunk)
    fetched = []
    original = Ahead._fetch

    def fetch(self: Ahead, oids: Sequence[int]) -> None:
        fetched.append(len(oids))
        original(self, oids)

    monkeypatch.setattr(Ahead, "_fetch", fetch)
    assert json.loads("".join(export(Ahead(graph), 1, "json", name="Doc"))) == json.loads(path.read_text())
    assert len(fetched) < 12
