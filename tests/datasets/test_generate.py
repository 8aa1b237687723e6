"""Generated Guides: sound graphs, of the size asked for, the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from datasets.generate import DISTRICT, guide_documents, guide_graph, write_guide
from oemviews.edits import NetChange
from oemviews.model import ROOT
from oemviews.store.schema import EDGES, OBJECTS, columns_of, value_of
from tests.documents.loading import loaded


def _tables(chunks: list[NetChange]) -> tuple[pa.Table, pa.Table]:
    return pa.concat_tables([c.created for c in chunks]), pa.concat_tables([c.plus for c in chunks])


@pytest.mark.parametrize("asked", [1, 2_000, 400_000])
def test_a_graph_is_sound(asked: int) -> None:
    objects, edges = _tables(list(guide_graph(asked, first_oid=5, first_pos=7)))
    assert objects.schema == OBJECTS
    assert edges.schema == EDGES
    oids = objects["oid"].to_numpy()
    assert np.array_equal(np.sort(oids), np.arange(5, 5 + len(oids)))
    assert np.array_equal(edges["pos"].to_numpy(), np.arange(7, 7 + len(edges)))
    assert edges.group_by(["src", "label", "dst"]).aggregate([]).num_rows == len(edges)
    complexes = objects.filter(pc.equal(objects["type"], "complex"))["oid"].to_numpy()
    assert np.isin(edges["src"].to_numpy(), [ROOT, *complexes]).all()
    assert np.isin(edges["dst"].to_numpy(), oids).all()
    assert edges.filter(pc.equal(edges["src"], ROOT)).select(["label", "dst"]).to_pylist() == [
        {"label": "Guide", "dst": 5}
    ]
    if asked > 10_000:
        assert abs(len(edges) / asked - 1) < 0.02


def test_values_stand_in_their_columns() -> None:
    objects, _ = _tables(list(guide_graph(2_000)))
    for row in objects.to_pylist():
        value = (row["type"], row["text"], row["integer"], row["number"])
        assert columns_of(value_of(*value)) == value


def test_the_seed_decides() -> None:
    one, again, other = (_tables(list(guide_graph(1_000, seed=seed))) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_nearby_stays_in_the_district() -> None:
    _, edges = _tables(list(guide_graph(5_000)))
    restaurants = edges.filter(pc.equal(edges["label"], "Restaurant"))["dst"].to_pylist()
    district = {oid: n // DISTRICT for n, oid in enumerate(restaurants)}
    nearby = edges.filter(pc.equal(edges["label"], "Nearby")).to_pylist()
    assert nearby
    assert all(district[row["src"]] == district[row["dst"]] and row["src"] != row["dst"] for row in nearby)


def test_fan_in_is_bounded_if_asked() -> None:
    def largest(**option: int) -> int:
        _, edges = _tables(list(guide_graph(20_000, **option)))
        used = edges.filter(pc.equal(edges["label"], "Ingredient"))["dst"].value_counts()
        return max(count.as_py() for count in used.field("counts"))

    assert largest() > 100
    assert largest(fan_in=4) <= 4


@pytest.mark.parametrize("suffix", ["jsonl", "json", "xml"])
def test_documents_load(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"guide.{suffix}"
    write_guide(path, 20)
    assert path.read_bytes()
    xml = suffix == "xml"  # the attribute `Nearby` there, values of the key `Id` elsewhere
    _, report = loaded(path, keys=None if xml else {"Nearby": "Id"}, idrefs=["Nearby"] if xml else ())
    near = sum(len(document["Nearby"]) for document in guide_documents(20))
    assert (report.references.made, report.references.unresolved) == (near, 0)
