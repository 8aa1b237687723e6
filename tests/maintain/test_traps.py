"""The traps of maintenance, each with its smallest case: what a plausible shortcut gets wrong."""

from __future__ import annotations

from typing import Any

from oemviews.edits import Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.model import COMPLEX, ROOT, Value
from tests.maintain.kit import Kept, contents
from tests.oracle import OracleGraph


def graph(edges: str, **values: Value) -> OracleGraph:
    """`N-a-1 1-b-2`: a name stands for &100; objects are complex unless a value is given."""
    found: set[tuple[int, str, int]] = set()
    for edge in edges.split():
        src, label, dst = edge.split("-")
        if src in ("N", "G"):
            found |= {(ROOT, src, 100), (100, label, int(dst))}
        else:
            found.add((int(src), label, int(dst)))
    atoms = {int(name[1:]): value for name, value in values.items()}
    oids = {oid for src, _, dst in found for oid in (src, dst)} - {ROOT}
    return OracleGraph({**dict.fromkeys(oids, COMPLEX), **atoms}, found)


def kept(statement: str, base: OracleGraph) -> Kept:
    view = Kept.of(f"define view V as item = {statement}", base)
    view.check()
    return view


def primaries(view: Kept, *batch: Edit) -> set[Any]:
    view.apply(batch)
    view.check()
    found: set[Any] = contents(view.table)["primary"]
    return found


def edges(view: Kept) -> set[str]:
    return {f"{src}-{label}-{dst}" for _, src, label, dst in contents(view.table)["with"]}


def test_trap_1_a_second_derivation_keeps_the_object() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 N-a-2 1-b-9 2-b-9"))
    assert primaries(view, Delete(1, "b", 9)) == {9}
    assert primaries(view, Delete(2, "b", 9)) == set()


def test_trap_2_an_edge_used_at_two_steps() -> None:
    view = kept("select y from N.c r, r.a x, x.a y", graph("N-c-1 1-a-1"))
    assert primaries(view, Delete(1, "a", 1)) == set()
    assert primaries(view, Insert(1, "a", 1)) == {1}


def test_trap_3_an_edge_at_a_where_step() -> None:
    view = kept("select r from N.a r where r.Price < 20", graph("N-a-1 1-x-2", o2=12))
    assert primaries(view, Insert(1, "Price", 2)) == {1}


def test_trap_4_an_edge_below_the_primary_itself() -> None:
    view = kept("select r from N.a r with r.n w", graph("N-a-1 1-x-5"))
    view.apply([Insert(1, "n", 5)])
    view.check()
    assert edges(view) == {"1-n-5"}


def test_trap_5_another_edge_still_leads_there() -> None:
    view = kept("select r from N.a r with r.n w, w.n t", graph("N-a-1 N-a-2 1-n-5 2-n-5 5-n-6"))
    assert primaries(view, Delete(100, "a", 1)) == {2}
    assert edges(view) == {"2-n-5", "5-n-6"}


def test_trap_6_the_copied_value_of_an_adjunct() -> None:
    view = kept("select r from N.a r with r.n w", graph("N-a-1 1-n-5", o5="old"))
    view.apply([Change(5, "new")])
    view.check()
    assert contents(view.table)["object"][5] == ("string", "new")


def test_trap_7_no_operator_but_equality() -> None:
    view = kept("select r from N.a r where r.Price < 20", graph("N-a-1 1-Price-2", o2=12))
    assert primaries(view, Change(2, 25)) == set()
    assert primaries(view, Change(2, 19)) == {1}


def test_trap_7_two_variables_compared() -> None:
    view = kept("select r from N.a r where r.p = r.q", graph("N-a-1 1-p-2 1-q-3", o2=1, o3=2))
    assert primaries(view, Change(2, 2)) == {1}
    assert primaries(view, Change(3, 7)) == set()


def test_trap_8_relevant_oids_grow() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 3-x-9"))
    assert primaries(view, Insert(100, "a", 3)) == set()
    assert primaries(view, Insert(3, "b", 9)) == {9}


def test_trap_9_two_deletions_in_one_batch() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 1-b-9"))
    assert primaries(view, Delete(100, "a", 1), Delete(1, "b", 9)) == set()


def test_trap_9_two_insertions_in_one_batch() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 3-x-9"))
    assert primaries(view, Insert(100, "a", 3), Insert(3, "b", 9)) == {9}


def test_trap_10_primary_and_adjunct() -> None:
    view = kept("select r from G.R r with r.Nearby s", graph("G-R-2 G-R-3 2-Nearby-3 3-Nearby-2"))
    assert primaries(view, Delete(100, "R", 3)) == {2}
    assert edges(view) == {"2-Nearby-3"}
    assert set(contents(view.table)["object"]) == {2, 3}


def test_trap_11_an_edge_held_by_two_variables() -> None:
    view = kept("select r from N.a r with r.n w, w.n t", graph("N-a-1 N-a-2 1-n-2 2-n-1"))
    delta = view.apply([Delete(100, "a", 2)])
    view.check()
    assert edges(view) == {"1-n-2", "2-n-1"}
    assert (delta.report.edges_added, delta.report.edges_removed) == (0, 0)


def test_trap_12_one_object_under_both_sides_of_a_comparison() -> None:
    view = kept("select r from N.a r where r.p = r.q", graph("N-a-1 1-p-2 1-q-2", o2=1))
    assert primaries(view, Change(2, 5)) == {1}
    assert primaries(view, Change(2, None)) == {1}


def test_trap_13_repeated_insertion_and_absent_deletion() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 1-b-9"))
    assert primaries(view, Insert(1, "b", 9), Insert(1, "b", 9), Delete(1, "c", 9)) == {9}
    assert view.state.rows == {(9,): 1}
    assert primaries(view, Delete(1, "b", 9)) == set()


def test_trap_14_two_labels_are_two_edges() -> None:
    view = kept("select x from N.c r, r.% x", graph("N-c-1 1-a-2 1-b-2"))
    assert primaries(view, Delete(1, "a", 2)) == {2}
    assert primaries(view, Delete(1, "b", 2)) == set()


def test_trap_15_a_cycle_does_not_keep_itself() -> None:
    view = kept("select r from N.a r with r.# w", graph("N-a-1 1-n-2 2-n-3 3-n-2"))
    assert edges(view) == {"1-n-2", "2-n-3", "3-n-2"}
    view.apply([Delete(1, "n", 2)])
    view.check()
    assert edges(view) == set()


def test_trap_16_lost_in_one_alternative_kept_in_another() -> None:
    base = graph("N-a-1 1-p-2 1-q-3", o2=1, o3=1)
    view = kept("select r from N.a r where r.p = 1 or r.q = 1", base)
    assert primaries(view, Change(2, 9)) == {1}
    assert primaries(view, Delete(1, "q", 3)) == set()


def test_trap_17_a_change_of_type_alone() -> None:
    view = kept('select r from N.a r where r.p = "4.0"', graph("N-a-1 1-p-2", o2="4"))
    assert primaries(view) == set()
    assert primaries(view, Change(2, 4)) == {1}


def test_trap_18_a_subgraph_built_before_it_is_linked() -> None:
    view = kept("select x from N.a r, r.b x where x.p = 1", graph("N-a-1 7-z-8"))
    assert primaries(view, Insert(7, "b", 8), New("p", 1), Insert(8, "p", "p")) == set()
    assert primaries(view, Insert(100, "a", 7)) == {8}


# ---- other cases that must hold ----


def test_a_view_without_a_match_fills_later() -> None:
    view = kept("select r from N.a r where r.p = 1 with r.n w", graph("N-b-1 1-p-2 1-n-3", o2=1))
    assert primaries(view) == set()
    assert primaries(view, Insert(100, "a", 1)) == {1}


def test_the_root_name_disappears_and_returns() -> None:
    view = kept("select x from N.a r, r.b x with x.n w", graph("N-a-1 1-b-9 9-n-8"))
    assert primaries(view, Unname("N")) == set()
    assert edges(view) == set()
    assert primaries(view, Name("N", 100)) == {9}
    assert edges(view) == {"9-n-8"}


def test_a_batch_that_cancels_itself() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 1-b-9 1-c-8", o9=1))
    delta = view.apply([Insert(1, "b", 8), Change(9, 2), Delete(1, "b", 8), Change(9, 1)])
    view.check()
    assert not delta
    assert len(delta.table) == 0


def test_present_then_inserted_then_deleted_is_a_deletion() -> None:
    view = kept("select x from N.a r, r.b x", graph("N-a-1 1-b-9"))
    assert primaries(view, Insert(1, "b", 9), Delete(1, "b", 9)) == set()


def test_negation_an_insertion_removes_and_a_deletion_adds() -> None:
    view = kept("select r from N.a r where not exists (r.b)", graph("N-a-1 N-a-2 2-b-3"))
    assert primaries(view, Insert(1, "b", 3)) == set()
    assert primaries(view, Delete(2, "b", 3)) == {2}


def test_a_label_never_seen_before_can_matter() -> None:
    view = kept("select x from N.# r, r.% x", graph("N-a-1 1-b-2 3-c-4"))
    assert primaries(view, Insert(2, "brand new", 3)) == {1, 2, 3, 4}


def test_rows_of_several_items() -> None:
    view = kept("select r, x from N.a r, r.b x with r.n w, x.n v", graph("N-a-1 N-a-2 1-b-9 2-b-9 9-n-8"))
    assert primaries(view, Delete(2, "b", 9)) == {"[1,9]"}
    assert primaries(view, Delete(1, "b", 9)) == set()


def test_an_object_that_the_statement_names_is_created_later() -> None:
    view = kept("select i: &101 from N.a x", graph("N-a-1"))
    assert primaries(view) == set()
    delta = view.apply([New("later", 5)])
    view.check()
    assert set(view.state.rows) == {(101,)}
    assert delta.report.reason == "&101, which the statement names, is new"
