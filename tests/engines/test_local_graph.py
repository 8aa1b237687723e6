"""A graph in arrays against a plain model of it, over random changes, in every layer."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from lorel.normal import ANY, Compare, Const, Labels, OneOf, ValueOf
from oemviews.edits import NetChange
from oemviews.engines.local import LocalGraph
from oemviews.engines.local import graph as graph_module
from oemviews.engines.local.adjacency import Adjacency, sorted_order
from oemviews.model import COLLECTION, COMPLEX, ROOT, Value, compare, same_value
from oemviews.store.values import MISSING, Ints, values_of
from tests.engines.support import change_between, edge_rows, local_graph, object_rows
from tests.oracle.graph import OracleGraph

LABELS = ("a", "b", "ab", "c%")
ATOMS: tuple[Value, ...] = (
    1, 4, 4.0, "4", "4.0", "x", "", True, False, None, b"zz", 2**70, 10**400, 2**53, 2**53 + 1, float(2**53),
    -0.0, 0, "é", "1e999", "x" * 300,
)  # fmt: skip
WANTED = (Labels("a"), Labels("nowhere"), Labels("a%", exact=False), ANY, Labels("%b", exact=False))


def oids_of(items: list[int]) -> Ints:
    return np.array(items, np.int64)


def a_value(rng: Random) -> Value:
    return COMPLEX if rng.random() < 0.4 else rng.choice(ATOMS)


def a_graph(rng: Random) -> OracleGraph:
    values = {oid: a_value(rng) for oid in range(1, rng.randint(2, 12))}
    complex_ = [ROOT, *(oid for oid, value in values.items() if value is COMPLEX)]
    many = range(rng.randint(0, 25))
    return OracleGraph(
        values, {(rng.choice(complex_), rng.choice(LABELS), rng.choice(list(values))) for _ in many}
    )


def changed(rng: Random, graph: OracleGraph, times: int) -> OracleGraph:
    values, edges = dict(graph.values), set(graph.edges)
    for _ in range(times):
        kind = rng.choice(("plus", "plus", "minus", "minus", "value", "new"))
        complex_ = [oid for oid, value in values.items() if value is COMPLEX]
        atomic = [oid for oid, value in values.items() if value is not COMPLEX]
        if kind == "plus":
            label = rng.choice((*LABELS, f"new{rng.randrange(3)}"))
            edges.add((rng.choice(complex_), label, rng.choice([oid for oid in values if oid])))
        elif kind == "minus" and edges:
            edges.discard(rng.choice(sorted(edges)))
        elif kind == "value" and atomic:
            values[rng.choice(atomic)] = rng.choice(ATOMS)
        else:
            values[max(values) + 1] = a_value(rng)
    return OracleGraph(values, edges)


def check_joined(model: OracleGraph, graph: LocalGraph, oids: list[int], labels: Labels) -> None:
    """Whether an edge is there is the same from either end."""
    label = graph.book.one(labels)
    if label is None:
        return
    pairs = [(src, dst) for src in oids for dst in oids[:7]]
    src, dst = (oids_of([pair[i] for pair in pairs]) for i in range(2))
    expected = [(a, labels.text, b) in model.edges for a, b in pairs]
    assert graph.joined(0, src, label, dst).tolist() == expected
    assert graph.joined(1, dst, label, src).tolist() == expected


def check_edges(model: OracleGraph, graph: LocalGraph, oids: list[int]) -> None:
    named = graph.book.names
    for labels in WANTED:
        fits = [edge for edge in model.edges if labels.matches(edge[1])]
        row, label, other = graph.out(oids_of(oids), labels)
        expected = sorted(
            (i, name, dst) for i, oid in enumerate(oids) for src, name, dst in fits if src == oid
        )
        assert sorted(zip(row.tolist(), named(label).tolist(), other.tolist(), strict=True)) == expected
        row, label, other = graph.into(oids_of(oids), labels)
        expected = sorted(
            (i, name, src) for i, oid in enumerate(oids) for src, name, dst in fits if dst == oid
        )
        assert sorted(zip(row.tolist(), named(label).tolist(), other.tolist(), strict=True)) == expected
        check_joined(model, graph, oids, labels)
        src_, label, dst_ = graph.scan(labels)
        assert sorted(zip(src_.tolist(), named(label).tolist(), dst_.tolist(), strict=True)) == sorted(fits)


def check_places(model: OracleGraph, graph: LocalGraph, rng: Random) -> None:
    strays = [(rng.randrange(9), rng.choice((*LABELS, "never")), rng.randrange(9)) for _ in range(5)]
    asked = rng.sample([*sorted(model.edges), *strays], k=rng.choice((0, 1, min(60, len(model.edges)))))
    src, labels, dst = ([edge[i] for edge in asked] for i in range(3))
    assert graph.has(oids_of(src), labels, oids_of(dst)).tolist() == [edge in model.edges for edge in asked]  # type: ignore[arg-type]
    there = [edge for edge in asked if edge in model.edges]
    pos, shape = graph.details(
        oids_of([edge[0] for edge in there]),
        [edge[1] for edge in there],
        oids_of([edge[2] for edge in there]),
    )
    assert pos.tolist() == [7 * src + dst for src, _, dst in there]
    assert shape.tolist() == [f"{label}{dst % 3}" if dst % 3 else None for _, label, dst in there]


def check_objects(model: OracleGraph, graph: LocalGraph, rng: Random, oids: list[int]) -> None:
    values = graph.values(oids_of(oids))
    for i, oid in enumerate(oids):
        if oid not in model.values:
            assert values.kind[i] == MISSING
        else:
            assert same_value(values.item(i), model.values[oid])
            assert model.values[oid] is not COMPLEX or values.integer[i] == oid
    asked = [rng.choice(ATOMS) for _ in range(rng.choice((1, 3, 60)))]
    row, oid_ = graph.equal(values_of(asked))
    equal = [(i, oid) for i, a in enumerate(asked) for oid, b in model.values.items() if compare("=", a, b)]
    assert sorted(zip(row.tolist(), oid_.tolist(), strict=True)) == sorted(equal)
    constants = [value for value in ATOMS if not isinstance(value, bytes)]
    for op in ("=", "<", "<=", ">", ">="):
        constant = Const(rng.choice(constants))  # type: ignore[arg-type]
        passing = [oid for oid, value in model.values.items() if compare(op, value, constant.value)]
        assert graph.lookup(Compare(op, ValueOf("x"), constant)).tolist() == sorted(passing)
        passing = [oid for oid, value in model.values.items() if compare(op, constant.value, value)]
        assert graph.lookup(Compare(op, constant, ValueOf("x"))).tolist() == sorted(passing)
    several = tuple(Const(rng.choice(constants)) for _ in range(3))  # type: ignore[arg-type]
    passing = [o for o, value in model.values.items() if any(compare("=", value, c.value) for c in several)]
    assert graph.lookup(OneOf(ValueOf("x"), several)).tolist() == sorted(passing)


def check(model: OracleGraph, graph: LocalGraph, rng: Random) -> None:
    """The graph answers every question as the model does."""
    assert (graph.edge_count, graph.object_count) == (len(model.edges), len(model.values) - 1)
    assert graph.oid_bound > max(model.values, default=0) or not graph.object_count
    oids = [rng.randrange(max(model.values) + 3) for _ in range(rng.choice((0, 1, 1, 2, 5, 100)))]
    check_edges(model, graph, oids)
    check_places(model, graph, rng)
    check_objects(model, graph, rng, oids)
    for oid in model.values:
        children = [(label, dst) for label, dst, _, _ in graph.children(oid)]
        assert sorted(children) == sorted((label, dst) for src, label, dst in model.edges if src == oid)
        assert oid == ROOT or graph.shape(oid) == ("array" if oid % 5 == 0 else None)
    edges, objects = graph.tables()
    assert edges.sort_by([("src", "ascending"), ("label", "ascending"), ("dst", "ascending")]) == edge_rows(
        sorted(model.edges, key=lambda edge: (edge[0], edge[1].encode(), edge[2]))
    )
    assert objects == object_rows(model.values)


@pytest.mark.parametrize("seed", range(60))
def test_layers_equal_the_model(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    monkeypatch.setattr(graph_module, "RECENT", rng.choice((0, 3, 8, 512)))
    monkeypatch.setattr(graph_module, "SOME", rng.choice((0, 3, 512)))
    model = a_graph(rng)
    graph = local_graph(model)
    states = [(model, graph)]
    for _ in range(rng.randint(1, 5)):
        later = changed(rng, model, rng.choice((1, 1, 3, 70)))
        graph = graph.apply(change_between(model, later))
        model = later
        states.append((model, graph))
    for each, state in states:  # old ones are as they were
        check(each, state, rng)


def test_worked_into_the_base() -> None:
    """A layer that outgrows the base becomes part of a new one."""
    model = OracleGraph({}, ())
    later = OracleGraph(dict.fromkeys(range(1, 40_001), COMPLEX), {(0, "a", oid) for oid in range(1, 40_001)})
    graph = LocalGraph.empty().apply(change_between(model, later))
    assert graph.layer is None
    assert graph.edge_count == 40_000
    assert len(graph.out(oids_of([0]), Labels("a")).row) == 40_000


def test_an_edge_put_back_counts_once() -> None:
    model = OracleGraph({1: COMPLEX, 2: COMPLEX}, {(1, "a", 2)})
    edge = edge_rows([(1, "a", 2)])
    moved = edge.set_column(3, edge.schema.field("pos"), [[99]])
    graph = local_graph(model).apply(NetChange(minus=edge, plus=moved))
    assert graph.children(1) == [("a", 2, 99, "a2")]
    assert graph.apply(NetChange(minus=moved)).children(1) == []


def test_objects_that_are_gone() -> None:
    values: dict[int, Value] = {1: COMPLEX, 2: "x", 3: "x"}
    graph = local_graph(OracleGraph(values, ())).apply(NetChange(gone=object_rows({2: "x"})))
    assert graph.values(oids_of([2, 3])).kind[0] == MISSING
    assert graph.lookup(Compare("=", ValueOf("x"), Const("x"))).tolist() == [3]
    assert graph.object_count == 2


def test_the_graph_of_a_view_has_one_very_large_oid() -> None:
    edges = edge_rows([(ROOT, "V", COLLECTION), (COLLECTION, "item", 7)])
    graph = LocalGraph.of_tables(edges, object_rows({7: "x"}))
    assert graph.names() == {"V": COLLECTION}
    assert graph.out(oids_of([COLLECTION]), ANY).other.tolist() == [7]
    assert graph.into(oids_of([7] * 300), Labels("item")).other.tolist() == [COLLECTION] * 300


def test_large_oids_are_not_taken_for_small_ones() -> None:
    graph = local_graph(OracleGraph({1: COMPLEX, 2: 5}, {(1, "a", 2)}))
    far = oids_of([2**31 + 1, 2**38, 1])
    assert graph.out(far, Labels("a")).row.tolist() == [2]
    assert graph.values(far).missing.tolist() == [True, True, False]


def test_rows_too_wide_to_pack_are_sorted_too() -> None:
    wide = oids_of([COLLECTION, 3, COLLECTION])
    assert sorted_order(oids_of([1, 1, 0]), wide, wide).tolist() == [2, 1, 0]
    adjacency = Adjacency.of(wide, oids_of([1, 1, 0]), wide)
    assert adjacency.near.tolist() == [COLLECTION, 3, COLLECTION]
    assert adjacency.find(wide, 1, wide).tolist() == [2, 1, 2]


def test_nothing_at_all() -> None:
    graph = LocalGraph.empty()
    assert graph.names() == {}
    assert graph.out(oids_of([0, 5]), ANY).row.tolist() == []
    assert graph.values(oids_of([])).items() == []
    assert len(graph.equal(values_of([1, "x"]))[0]) == 0
