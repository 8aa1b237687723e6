"""Few objects are looked up one by one, many as arrays: views are kept alike either way."""

from __future__ import annotations

from itertools import pairwise

import pytest

from oemviews.edits import Change, Delete, Edit, Insert
from oemviews.engines.local import coerce
from oemviews.engines.local import graph as graph_module
from oemviews.model import COMPLEX, Value
from oemviews.store import values as values_module
from oemviews.views import members
from tests.maintain.kit import Kept, contents
from tests.maintain.test_property import Tally, run_case
from tests.oracle import OracleGraph

_CONSTRUCTS = ("join", "with", "comparison", "not", "closure")


@pytest.mark.parametrize("recent", [0, 512])
def test_random_views_kept_with_arrays_only(recent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (members, coerce, values_module):
        monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(values_module, "_SOME", 0)
    for name, number in (("FEW", 0), ("SOME", 0), ("RECENT", recent)):
        monkeypatch.setattr(graph_module, name, number)
    for seed in range(20):
        run_case(seed, Tally(), _CONSTRUCTS[seed % len(_CONSTRUCTS)])


def many(size: int) -> OracleGraph:
    """Objects with a value each and a neighbour, in a ring."""
    values: dict[int, Value] = {1: COMPLEX}
    edges = {(0, "N", 1)}
    for i in range(size):
        oid, atom = 10 + 2 * i, 11 + 2 * i
        values |= {oid: COMPLEX, atom: i // 2 % 5}
        edges |= {(1, "a", oid), (oid, "v", atom), (oid, "next", 10 + 2 * ((i + 1) % size))}
    return OracleGraph(values, edges)


@pytest.mark.parametrize(
    "body",
    [
        "select x from N.a x where x.v < 2 with x.next y, y.v z",
        "select x, y from N.a x, x.next y where x.v = y.v",
        "select x from N.a x where not exists y in x.next : y.v > 2 with x.% z",
    ],
)
def test_a_batch_of_hundreds_of_edits(body: str) -> None:
    """Every kind of edit at once, in more than the dictionaries of recent changes take."""
    view = Kept.of(f"define view V = {body}", many(400))
    batch: list[Edit] = [Change(11 + 2 * i, (i * 7) % 5) for i in range(0, 400, 2)]
    batch += [Delete(10 + 2 * i, "next", 12 + 2 * i) for i in range(0, 399, 3)]
    batch += [Insert(10 + 2 * i, "next", 10 + 2 * ((i * 3) % 400)) for i in range(1, 400, 3)]
    batch += [Delete(1, "a", 10 + 2 * i) for i in range(0, 400, 5)]
    delta = view.apply(batch)
    assert len(delta.appeared) + len(delta.vanished) > 50
    view.check()


def test_one_batch_and_many_small_ones_come_to_the_same() -> None:
    graph = many(300)
    text = "define view V = select x from N.a x where x.v < 2 with x.next y"
    batch: list[Edit] = [Change(11 + 2 * i, (i + 3) % 5) for i in range(300)]
    batch += [Delete(10 + 2 * i, "next", 12 + 2 * i) for i in range(0, 299, 2)]
    whole, pieces = Kept.of(text, graph), Kept.of(text, graph)
    whole.apply(batch)
    for a, b in pairwise(range(0, len(batch) + 50, 50)):
        pieces.apply(batch[a:b])
    assert contents(whole.table) == contents(pieces.table)
