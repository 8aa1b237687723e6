"""A batch comes to final state minus initial state, and one edit that cannot be refuses all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oemviews.batch import Netted, net_change
from oemviews.edits import Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.errors import EditError
from oemviews.model import COMPLEX, ROOT, Oid, Value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS, value_of
from oemviews.store.values import Bools, Ints, Strings, Values, missing_values, strings, values_of
from tests.oracle.edits import ImpossibleEdit, apply
from tests.oracle.graph import OracleGraph


@dataclass(frozen=True)
class GraphLookup:
    """The oracle's graph, asked as a batch asks; the pos of an edge is its place among the sorted edges."""

    graph: OracleGraph

    def values(self, oids: Ints) -> Values:
        found = values_of(self.graph.values.get(oid) for oid in oids.tolist())
        missing = missing_values(len(oids))
        found.kind[:] = np.where(
            [oid in self.graph.values for oid in oids.tolist()], found.kind, missing.kind
        )
        return found

    def has(self, src: Ints, labels: Sequence[str], dst: Ints) -> Bools:
        edges = zip(src.tolist(), labels, dst.tolist(), strict=True)
        return np.array([edge in self.graph.edges for edge in edges], np.bool_)

    def details(self, src: Ints, labels: Sequence[str], dst: Ints) -> tuple[Ints, Strings]:
        places = {edge: pos for pos, edge in enumerate(sorted(self.graph.edges))}
        edges = list(zip(src.tolist(), labels, dst.tolist(), strict=True))
        return np.array([places[edge] for edge in edges], np.int64), strings(edge[1] for edge in edges)

    def names(self) -> Mapping[str, Oid]:
        return self.graph.names


VALUES: dict[int, Value] = {1: COMPLEX, 2: COMPLEX, 3: "Thai City", 4: 20, 5: None}
EDGES_THERE = {(ROOT, "Guide", 1), (1, "Restaurant", 2), (2, "Name", 3), (2, "Price", 4), (2, "Price", 5)}
GUIDE = OracleGraph(VALUES, EDGES_THERE)


def netted(*edits: Edit, graph: OracleGraph = GUIDE, names: Mapping[str, int] | None = None) -> Netted:
    placed = ((f"line {number}", edit) for number, edit in enumerate(edits, 1))
    return net_change(placed, GraphLookup(graph), names or {}, graph.next_oid, 100)


def triples(table: pa.Table) -> list[tuple[int, str, int]]:
    return list(zip(*(table[name].to_pylist() for name in ("src", "label", "dst")), strict=True))


def test_one_edit_of_each_kind() -> None:
    done = netted(
        New("soup"),
        New("name", "Lentil Soup"),
        Insert(2, "Entree", "soup"),
        Insert("soup", "Name", "name"),
        Delete(2, "Price", 4),
        Change(3, "Hunan Wok", "Thai City"),
        Name("Best", 2),
    )
    assert done.new == {"soup": 6, "name": 7}
    assert (done.edits, done.noops, done.next_oid, done.next_pos) == (7, 0, 8, 103)
    change = done.change
    assert change.created.schema == OBJECTS
    assert change.created["oid"].to_pylist() == [6, 7]
    assert change.created["type"].to_pylist() == ["complex", "string"]
    assert triples(change.plus) == [(2, "Entree", 6), (6, "Name", 7), (ROOT, "Best", 2)]
    assert change.plus["pos"].to_pylist() == [100, 101, 102]
    assert change.minus.schema == EDGES
    assert triples(change.minus) == [(2, "Price", 4)]
    assert change.minus["shape"].to_pylist() == ["Price"], "what was deleted keeps its shape and pos"
    assert change.minus["pos"].to_pylist() == [sorted(EDGES_THERE).index((2, "Price", 4))]
    assert change.changed.schema == CHANGES_OF_VALUE
    assert change.changed.to_pylist()[0] | {"old_number": None} == {
        "oid": 3,
        "old_type": "string",
        "old_text": "Thai City",
        "old_integer": None,
        "old_number": None,
        "type": "string",
        "text": "Hunan Wok",
        "integer": None,
        "number": None,
    }


def test_net_is_final_minus_initial_not_a_cancelling_of_pairs() -> None:
    there = Insert(2, "Name", 3), Delete(2, "Name", 3)
    assert triples(netted(*there).change.minus) == [(2, "Name", 3)]
    assert len(netted(Delete(2, "Name", 3), Insert(2, "Name", 3)).change) == 0
    absent = Insert(1, "Name", 3), Delete(1, "Name", 3)
    assert len(netted(*absent).change) == 0


def test_noops_are_counted() -> None:
    done = netted(
        Insert(2, "Name", 3),
        Delete(1, "Name", 3),
        Unname("Nobody"),
        Name("Guide", 1),
        Change(4, 20),
        Delete(3, "x", 4),
    )
    assert (done.edits, done.noops, len(done.change)) == (6, 6, 0)


def test_one_and_one_point_nought_are_two_values() -> None:
    assert netted(Change(4, 20.0)).change.changed["type"].to_pylist() == ["real"]
    assert len(netted(Change(4, 20.0), Change(4, 20)).change) == 0


def test_values_of_new_objects_change_before_they_are_created() -> None:
    change = netted(New("n", 1), Change("n", 2)).change
    assert (change.created["integer"].to_pylist(), len(change.changed)) == ([2], 0)


def test_names_of_earlier_batches_hold() -> None:
    assert triples(netted(Insert("r", "Old", 3), names={"r": 2}).change.plus) == [(2, "Old", 3)]


def test_a_name_made_again_stands_for_the_newer_object() -> None:
    done = netted(New("a"), New("a"), Insert(1, "x", "a"))
    assert (done.new, triples(done.change.plus)) == ({"a": 7}, [(1, "x", 7)])


def test_names_move() -> None:
    change = netted(Name("Guide", 2), Unname("Guide"), Name("Guide", 3)).change
    assert (triples(change.plus), triples(change.minus)) == ([(ROOT, "Guide", 3)], [(ROOT, "Guide", 1)])


@pytest.mark.parametrize(
    ("edit", "found", "wanted"),
    [
        (Insert(99, "a", 1), "no object &99", "an object of this database"),
        (Insert(1, "a", -1), "no object &-1", "an object of this database"),
        (Insert(1, "a", 2**70), f"no object &{2**70}", "an object of this database"),
        (Delete(1, "a", 99), "no object &99", "an object of this database"),
        (Insert(3, "a", 1), 'an edge out of the atomic object &3 ("Thai City")', "a complex object"),
        (Insert(0, "a", 1), "&0, the root", "another object"),
        (Insert(1, "a", "soup"), "the name 'soup'", 'that {"op": "new"} made'),
        (Change(1, "x"), "a change of the complex object &1", "an atomic object"),
        (Change(3, "x", "Thai Town"), '&3 with the value "Thai City"', 'the old value "Thai Town"'),
        (Change(4, 21, 20.0), "&4 with the value 20", "the old value 20.0"),
        (Change(3, float("nan")), "the number nan", "a finite one"),
        (New("n", [1]), "a value of the Python type list", "an atomic value"),  # type: ignore[arg-type]
        (Name("Best", 99), "no object &99", "an object of this database"),
    ],
)
def test_an_edit_that_cannot_be_refuses_the_batch(edit: Edit, found: str, wanted: str) -> None:
    with pytest.raises(EditError) as caught:
        netted(Insert(1, "fine", 2), edit)
    assert str(caught.value).startswith(f"line 2: found {found}, wanted ")
    assert wanted in str(caught.value)


def test_the_first_fault_is_the_one_that_is_told() -> None:
    with pytest.raises(EditError, match=r"line 1: found no object &99"):
        netted(Insert(99, "a", 1), Insert(1, "a", "soup"))


def test_half_characters_are_refused() -> None:
    with pytest.raises(EditError, match="half a surrogate pair"):
        netted(Insert(1, "\ud800", 2))


REFS = st.one_of(st.integers(0, 8), st.sampled_from("ab"))
LABELS = st.sampled_from(["Name", "Price", "Restaurant"])
ATOMS = st.sampled_from([20, 20.0, "20", True, None, "Thai City", 2**70])
NAMES = st.sampled_from(["Guide", "Best"])
EDITS = st.one_of(
    st.builds(Insert, REFS, LABELS, REFS),
    st.builds(Delete, REFS, LABELS, REFS),
    st.builds(Change, REFS, ATOMS),
    st.builds(Change, REFS, ATOMS, ATOMS),
    st.builds(New, st.sampled_from("ab"), st.one_of(ATOMS, st.just(COMPLEX))),
    st.builds(Name, NAMES, REFS),
    st.builds(Unname, NAMES),
)


@given(st.lists(EDITS, max_size=12))
def test_a_batch_does_what_its_edits_do_one_by_one(batch: list[Edit]) -> None:
    try:
        expected = apply(GUIDE, batch)
    except ImpossibleEdit:
        with pytest.raises(EditError):
            netted(*batch)
        return
    change = netted(*batch).change
    plus, minus = set(triples(change.plus)), set(triples(change.minus))
    assert plus.isdisjoint(GUIDE.edges)
    assert minus <= GUIDE.edges
    assert (GUIDE.edges - minus) | plus == expected.edges
    values = dict(GUIDE.values)
    for table in (change.created, change.changed):
        for row in table.to_pylist():
            values[row["oid"]] = value_of(row["type"], row["text"], row["integer"], row["number"])
    assert [(oid, type(value), value) for oid, value in sorted(values.items())] == [
        (oid, type(value), value) for oid, value in sorted(expected.values.items())
    ]
