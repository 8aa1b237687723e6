"""The DataGuide: paths, bounds, and what it proves."""

from __future__ import annotations

from oemviews.answers.dataguide import Limits, guide_of
from oemviews.model import COMPLEX, ROOT, Value
from tests.engines.support import local_graph
from tests.guide import GUIDE
from tests.oracle.graph import Edge, OracleGraph


def test_the_guide_of_the_guide() -> None:
    guide = guide_of(local_graph(GUIDE), {"Guide": 1})
    address = guide.find(("Guide", "Restaurant", "Address"))
    assert address is not None
    assert (address.objects, address.edges, address.types) == (3, 3, {"complex": 1, "string": 2})
    assert set(address.samples) == {"Mountain View", "Menlo Park"}
    assert set(guide.labels(("Guide", "Restaurant", "Entree"))) == {"Name", "Ingredient", "Price"}


def test_cycles_end_in_references() -> None:
    guide = guide_of(local_graph(GUIDE), {"Guide": 1}, Limits(depth=50))
    round_trip = guide.find(("Guide", "Restaurant", "Nearby", "Nearby"))
    assert round_trip is not None
    assert round_trip.same_as == ("Guide", "Restaurant", "Nearby")
    far = ("Guide", "Restaurant", *["Nearby"] * 9, "Name")
    assert guide.find(far) is not None
    assert len(list(guide.nodes())) < 60


def test_what_it_proves() -> None:
    guide = guide_of(local_graph(GUIDE), {"Guide": 1}, Limits(depth=50))
    assert guide.proves_empty(("Guide", "Restaurant", "Nmae"))
    assert guide.proves_empty(("Guide", "Restaurant", "Nearby", "Nearby", "Street"))
    assert guide.proves_empty(("Menu",))
    assert not guide.proves_empty(("Guide", "Restaurant", "Address", "Street"))
    assert not guide.proves_empty(())


def test_where_it_was_cut_it_proves_nothing() -> None:
    guide = guide_of(local_graph(GUIDE), {"Guide": 1}, Limits(depth=2))
    assert guide.notes
    assert not guide.proves_empty(("Guide", "Restaurant", "Nmae"))
    assert not guide.proves_empty(("Guide", "Restaurant", "Address", "Street"))
    assert guide.proves_empty(("Guide", "Hotel"))


def test_irregular_data_is_bounded() -> None:
    values: dict[int, Value] = {1: COMPLEX, **{oid: oid for oid in range(2, 3_000)}}
    edges: list[Edge] = [(ROOT, "N", 1), *((1, f"key {oid}", oid) for oid in range(2, 3_000))]
    guide = guide_of(local_graph(OracleGraph(values, edges)), {"N": 1})
    assert len(list(guide.nodes())) == 41
    assert "2,958 more labels" in repr(guide)
    assert not guide.proves_empty(("N", "key 2999"))


def test_a_deep_chain_is_bounded() -> None:
    size = 3_000
    values: dict[int, Value] = {oid: COMPLEX for oid in range(1, size)}
    edges: list[Edge] = [(ROOT, "N", 1), *((oid, "n", oid + 1) for oid in range(1, size - 1))]
    guide = guide_of(local_graph(OracleGraph(values, edges)), {"N": 1}, Limits(depth=10**6, nodes=100))
    assert len(list(guide.nodes())) == 100
    assert guide.notes
