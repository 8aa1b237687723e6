"""Views with walks of any length: those that are all that walks reach, and the others, against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest

from lorel.scope import Catalog
from oemviews.edits import Change, Delete, Edit, Insert, New
from oemviews.engines.local import region
from oemviews.maintain import reach
from oemviews.maintain.explain import explain
from oemviews.maintain.prepared import prepared
from oemviews.model import COMPLEX, Value
from oemviews.views.definition import define
from tests.maintain.kit import Kept
from tests.oracle import OracleGraph

Patch = pytest.MonkeyPatch

REACHED: Final = (
    "select n from N.a r, r(.b)+ n where r.p < 3",
    "select n from N.a r, r(.b)* n where r.p < 3",
    "select n from N.a r, r(.b|.c)+ n where r.p < 3 with n.p v",
    "select n from N.a r, r.# n where r.p < 3",
    "select n from N.a r, r(.b)+ n where r.p < 2 or r.q = 1",
    "select n from N.a r, r(.b)+ n where not exists (r.q)",
    "select n from N.a s, s(.c)* r, r(.b)+ n where s.p < 3",
    "select n from N.a r, r(.b)+ n where exists x in r(.c)+ : x.p = 1",
    "select n from N.a r, r(.b)+ n with n(.c)* w",
    "select n from N.a r, r(.b)* m, m(.c)* n where m.p < 3",
)
"""The starts are found in different ways: the rows are all that walks from them lead to."""

OTHERS: Final = (
    "select n from N.a r, r(.b)+ n where r.p < 3 and n.p < 2",
    "select r, n from N.a r, r(.b)+ n where r.p < 3",
    "select x from N.a r, r(.b)+ n, n.c x where r.p < 3",
    "select r from N.a r, r(.b)+ n where n.p < 3",
    "select r from N.a r where not exists x in r(.b)+ : x.p = 1",
    "select n from N.a r, r(.b)+ n where r.p = n.p",
    "select n from N.a r, r(.b.c)+ n where r.p < 3",
    "select r from N.a r where r(.b|.c)* = 1",
    "select n from N.a r, r(.b)+ n, N.a s, s(.c)+ m where n == m and r.p < 3",
)
"""Something more is asked of the rows, or the walk has states that they do not tell of."""


def graph_of(rng: Random) -> OracleGraph:
    """Thin enough that an edge matters, with cycles and self-loops."""
    count = rng.randint(6, 16)
    values: dict[int, Value] = {oid: COMPLEX for oid in range(1, count + 1)}
    edges = {(0, "N", 1)}
    edges |= {(1, "a", rng.randint(2, count)) for _ in range(rng.randint(1, 4))}
    for _ in range(rng.randint(count // 2, 2 * count)):
        edges.add((rng.randint(1, count), rng.choice("bbc"), rng.randint(1, count)))
    for oid in range(2, count + 1):
        if rng.random() < 0.6:
            atom = count + oid
            values[atom] = rng.randint(0, 5)
            edges.add((oid, rng.choice("ppq"), atom))
    return OracleGraph(values, edges)


def batch_of(rng: Random, graph: OracleGraph) -> list[Edit]:
    """One edit, or several that may undo each other."""
    complex_ = [oid for oid, value in graph.values.items() if value is COMPLEX and oid]
    atoms = [oid for oid, value in graph.values.items() if value is not COMPLEX]
    below = sorted(edge for edge in graph.edges if edge[0])
    batch: list[Edit] = []
    for number in range(rng.choice((1, 1, 2, 4, 9))):
        kind = rng.choice(("ins", "ins", "del", "del", "chg", "start", "new", "again"))
        edge = rng.choice(complex_), rng.choice("bbc"), rng.choice(complex_)
        if kind == "ins":
            batch.append(Insert(*edge))
        elif kind in ("del", "again") and below:
            gone = below.pop(rng.randrange(len(below)))
            batch.append(Delete(*gone))
            if kind == "again":
                batch.append(Insert(*gone))
        elif kind == "chg" and atoms:
            batch.append(Change(rng.choice(atoms), rng.randint(0, 5)))
        elif kind == "start":
            batch.append(Insert(1, "a", edge[2]))
        elif kind == "new":
            batch += [
                New(f"n{number}"),
                Insert(edge[0], "b", f"n{number}"),
                Insert(f"n{number}", "b", edge[2]),
            ]
    return batch


def kept_right(text: str, seeds: range) -> None:
    for seed in seeds:
        rng = Random(seed)
        view = Kept.of(f"define view V as v = {text}", graph_of(rng))
        for _ in range(8):
            view.apply(batch_of(rng, view.graph))
            view.check(fresh=False)


@pytest.mark.parametrize("text", REACHED)
def test_views_of_what_walks_reach(text: str) -> None:
    assert prepared(Kept.of(f"define view V = {text}", graph_of(Random(0))).definition).reach is not None
    kept_right(text, range(12))


@pytest.mark.parametrize("text", OTHERS)
def test_other_views_with_walks(text: str) -> None:
    assert prepared(Kept.of(f"define view V = {text}", graph_of(Random(0))).definition).reach is None
    kept_right(text, range(8))


@pytest.mark.parametrize("marks", [0, 1 << 20])
def test_the_way_of_many(marks: int, monkeypatch: Patch) -> None:
    """A few objects go the way of many: what is made for millions must be right too."""
    monkeypatch.setattr(region, "_FEW", 2)
    monkeypatch.setattr(region, "_MARKS", marks)
    monkeypatch.setattr(reach, "_FEW", 1)
    monkeypatch.setattr(reach, "_MUCH", 3)
    for text in REACHED[:5]:
        kept_right(text, range(100, 108))


@pytest.mark.slow
@pytest.mark.parametrize("text", [*REACHED, *OTHERS])
def test_many_views_with_walks(text: str) -> None:
    kept_right(text, range(1000, 1040))


# ---- how much is looked at ----


def ring(size: int) -> OracleGraph:
    """One cycle; every tenth object of it is a start if its value is low."""
    values: dict[int, Value] = {oid: COMPLEX for oid in range(1, size + 2)}
    edges = {(0, "N", 1), *((1, "a", oid) for oid in range(2, size + 2))}
    edges |= {(oid, "b", (oid - 1) % size + 2) for oid in range(2, size + 2)}
    values |= {size + oid: oid % 7 for oid in range(10, size, 10)}
    return OracleGraph(values, edges | {(oid, "p", size + oid) for oid in range(10, size, 10)})


RING: Final = "define view V as v = select n from N.a r, r(.b)+ n where r.p < 3"


def test_an_edge_to_what_is_reached_anyway_touches_next_to_nothing() -> None:
    view = Kept.of(RING, ring(2000))
    report = view.apply([Insert(100, "b", 1500)]).report
    assert (report.added, report.removed) == (0, 0)
    assert report.rows < 50
    view.check_fresh()


def test_an_edge_that_is_not_the_only_way_touches_little() -> None:
    """Two rings that meet everywhere: without one edge of one of them everything is still reached."""
    size = 2000
    double = ring(size)
    edges = double.edges | {(oid, "b", (oid + 7) % size + 2) for oid in range(2, size + 2)}
    view = Kept.of(RING, OracleGraph(double.values, edges))
    report = view.apply([Delete(1000, "b", 1001)]).report
    assert (report.added, report.removed) == (0, 0)
    assert report.rows < size
    view.check_fresh()


def test_a_ring_is_cut_and_closed_again() -> None:
    view = Kept.of(RING, ring(30))
    batches: tuple[list[Edit], ...] = (
        [Delete(25, "b", 26)],
        [Insert(25, "b", 26)],
        [Delete(25, "b", 26), Insert(25, "b", 26)],
        [Delete(25, "b", 26), Insert(24, "b", 26)],
        [Delete(1, "a", 10), Delete(9, "b", 10)],
        [Insert(19, "b", 19), Delete(19, "b", 20)],
    )
    for batch in batches:
        view.apply(batch)
        view.check()


def test_a_start_that_is_none_any_more_is_reached_from_another() -> None:
    values: dict[int, Value] = {1: COMPLEX, 2: COMPLEX, 3: COMPLEX, 4: COMPLEX, 5: 1, 6: 1}
    edges = {(0, "N", 1), (1, "a", 2), (1, "a", 3), (2, "b", 3), (3, "b", 4), (4, "b", 3)}
    view = Kept.of(RING, OracleGraph(values, edges | {(2, "p", 5), (3, "p", 6)}))
    assert set(view.state.rows) == {(3,), (4,)}
    view.apply([Change(6, 9)])
    assert set(view.state.rows) == {(3,), (4,)}
    view.apply([Delete(2, "b", 3)])
    assert set(view.state.rows) == set()
    view.check()


def test_explain_says_what_is_walked() -> None:
    text = explain(Kept.of(f"define view V = {REACHED[0]}", graph_of(Random(0))).definition)
    assert "its rows are all that r.b+ n reaches: only what an edit cuts off or adds is walked" in text


def test_a_union_of_what_walks_reach_is_kept_by_its_keys() -> None:
    text = "define view V = (select n from N.a r, r(.b)+ n) union (select n from N.a r, r(.c)+ n)"
    assert prepared(define(text, Catalog(frozenset({"N"})), "auto")).reach is None


def test_rows_that_steps_and_tests_have_found_are_not_looked_up_again() -> None:
    values: dict[int, Value] = {1: COMPLEX, 2: COMPLEX, 3: COMPLEX, 4: 1}
    edges = {(0, "N", 1), (1, "a", 2), (2, "p", 4), (3, "p", 4)}
    for text, doubtful in ((OTHERS[0], False), (f"{OTHERS[0]} and not exists (n.q)", True)):
        view = Kept.of(f"define view V = {text}", OracleGraph(values, edges))
        view.apply([Insert(2, "b", 3)])
        assert set(view.state.rows) == {(3,)}
        assert any(isinstance(key, int) for key in prepared(view.definition).plans) == doubtful
        view.apply([Delete(2, "b", 3), Insert(3, "b", 3)])
        assert not view.state.rows
        view.check()


# ---- mistakes, made on purpose ----


def keeps_nothing(patch: Patch) -> None:
    """Whatever is doubtful goes."""
    patch.setattr(reach._Batch, "kept", lambda self, doubtful: region.Met())


def keeps_by_each_other(patch: Patch) -> None:
    """What is doubtful may keep alive what is doubtful."""
    right = reach._Batch.kept

    def wrong(self: Any, doubtful: Any) -> Any:
        kept = right(self, doubtful)
        dst, src = self.ends(doubtful.oids(), self.reach.on, "new", forward=False)
        kept.fresh(dst[doubtful.among(src)])
        return kept

    patch.setattr(reach._Batch, "kept", wrong)


def doubts_only_the_next(patch: Patch) -> None:
    """An edge that went makes its far end doubtful, and nothing beyond."""
    right = reach._Batch.walked

    def wrong(self: Any, met: Any, seeds: Any, state: Any, *more: Any, **most: Any) -> Any:
        if state == "old":
            met.fresh(seeds)
            return met
        return right(self, met, seeds, state, *more, **most)

    patch.setattr(reach._Batch, "walked", wrong)


def forgets_lost_starts(patch: Patch) -> None:
    right = reach._Batch.doubtful
    patch.setattr(reach._Batch, "doubtful", lambda self, lost: right(self, lost[:0]))


def forgets_new_starts(patch: Patch) -> None:
    right = reach._Batch.came
    patch.setattr(reach._Batch, "came", lambda self, starts, stays: right(self, starts[:0], stays))


def proves_anything(patch: Patch) -> None:
    patch.setattr(reach, "_MUCH", 1)
    patch.setattr(reach._Batch, "proved", lambda self, oid: True)


MISTAKES: Final = (
    keeps_nothing,
    keeps_by_each_other,
    doubts_only_the_next,
    forgets_lost_starts,
    forgets_new_starts,
    proves_anything,
)


@pytest.mark.parametrize("mutate", MISTAKES, ids=lambda mutate: mutate.__name__)
def test_these_tests_find(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        kept_right(REACHED[0], range(100))
