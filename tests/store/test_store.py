"""What a store keeps: batches, definitions, consumed logs, rows of views."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from oemviews.edits import NetChange
from oemviews.errors import BadInput, StoreError
from oemviews.store.schema import EDGES
from oemviews.store.store import Store
from tests.store.plain import Plain, as_plain, inserts, rows, view_row


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def define(store: Store, view: str, statement: str = "select …") -> int:
    return store.append(
        NetChange(), kind="define", what=view, extra={"view": view, "statement": statement}
    ).batch


def primaries(store: Store, view: str) -> dict[int, int]:
    return {row["dst"]: row["n"] for row in store.view_rows(view).to_pylist()}


def test_a_new_store_is_empty(store: Store) -> None:
    assert (store.head, store.floor, store.next_oid, store.next_pos) == (0, 0, 1, 0)
    assert as_plain(store.state()) == Plain()
    assert store.batches() == []
    assert store.definitions() == {}
    assert not store.refresh()


def test_a_batch_is_there_for_whoever_opens_next(store: Store) -> None:
    graph = Plain()
    info = store.append(
        inserts(graph, 9, random.Random(1)), kind="edit", what="nine objects", new={"soup": 3}
    )
    again = Store.open(store.path)
    assert again.batches() == [info]
    assert (again.head, again.next_oid, again.next_pos) == (1, 10, 9)
    assert as_plain(again.state()) == graph
    assert info.counts.created == info.counts.plus == 9
    assert info.new == {"soup": 3}


def test_oids_that_a_batch_used_up_are_not_handed_out_again(store: Store) -> None:
    store.append(NetChange(), kind="edit", what="made and lost", next_oid=7, next_pos=5)
    assert (store.next_oid, store.next_pos) == (7, 5)


def test_definitions_are_those_alive_in_their_order(store: Store) -> None:
    for view in ("B", "A", "C"):
        define(store, view)
    store.append(NetChange(), kind="drop", what="drop A", extra={"view": "A"})
    store.append(NetChange(), kind="edit", what="something else")
    again = define(store, "B", "another")
    found = Store.open(store.path).definitions()
    assert list(found) == ["C", "B"]
    assert found["B"] == {"view": "B", "statement": "another", "batch": again}


def test_each_log_knows_its_own_batches(store: Store) -> None:
    for lines, log in enumerate(["a", "b", "a", None, "a"]):
        store.append(
            NetChange(), kind="edit", what="", log_id=log, lines=lines, log_hash=f"h{lines}", new={"n": lines}
        )
    found = Store.open(store.path)
    assert [(info.batch, info.lines, info.log_hash, info.new) for info in found.consumed("a")] == [
        (1, 0, "h0", {"n": 0}),
        (3, 2, "h2", {"n": 2}),
        (5, 4, "h4", {"n": 4}),
    ]
    assert found.consumed("c") == []


def test_compaction_forgets_states_but_no_batch_and_no_log(store: Store) -> None:
    graph = Plain()
    for lines in range(6):
        store.append(inserts(graph, 3, random.Random(lines)), kind="edit", what="", log_id="a", lines=lines)
    before = store.batches()
    done = store.compact(keep_batches=2)
    assert done.floor == store.floor == 5
    found = Store.open(store.path)
    assert found.batches() == before
    assert [info.lines for info in found.consumed("a")] == list(range(6))
    with pytest.raises(BadInput, match="no batch 4 to be had; this store holds 5 to 6"):
        found.state(4)
    with pytest.raises(BadInput, match="no batch 4"):
        found.change(4, 6)
    assert len(found.change(5, 6).created) == 3


def test_compaction_keeps_what_a_lagging_view_needs(store: Store) -> None:
    store.append_changes(define(store, "V"), {"V": view_row(1)})
    for _ in range(5):
        store.append(NetChange(), kind="edit", what="")
    assert store.compact(keep_batches=1).floor == 1
    store.append_changes(6, {"V": view_row(2)})
    assert store.compact(keep_batches=1).floor == 6
    assert primaries(Store.open(store.path), "V") == {1: 1, 2: 1}


def test_changes_of_a_view_that_were_compacted_away_are_not_passed_over(store: Store) -> None:
    for batch in (define(store, "V"), 2, 3, 4):
        if batch > 1:
            store.append(NetChange(), kind="edit", what="")
        store.append_changes(batch, {"V": view_row(batch)})
    store.compact(keep_batches=2)
    assert store.view_changes("V", 3, 4)["dst"].to_pylist() == [4]
    with pytest.raises(BadInput, match=r"what batch 3 did to view V was compacted away; .* after batch 3"):
        store.view_changes("V", 2, 4)
    late = define(store, "W")
    store.append_changes(late, {"W": view_row(1)})
    assert len(store.view_changes("W", 0, late)) == 1


def test_garbage_goes_as_a_batch_that_can_be_gone_back_behind(store: Store) -> None:
    graph = Plain()
    store.append(inserts(graph, 20, random.Random(5)), kind="edit", what="")
    store.fold(force=True)
    before = as_plain(store.state())
    doomed = np.array([4, 11, 20])
    assert store.compact(garbage=doomed).objects == 3
    after = as_plain(store.state())
    assert set(before.objects) - set(after.objects) == {4, 11, 20}
    assert not any(src in doomed for src, _, _ in after.edges)
    assert as_plain(store.state(1)) == before
    assert store.batches()[-1].kind == "compact"
    assert store.next_oid == 21


def test_changes_of_all_views_are_one_commit_and_stamp_each(store: Store) -> None:
    batch = max(define(store, view) for view in ("A", "B", "C"))
    assert store.view_stamp("A") is None
    version = store._tables.changes.version
    store.append_changes(batch, {"A": view_row(1), "B": view_row(2).slice(0, 0)})
    assert store._tables.changes.version == version + 1
    assert [store.view_stamp(view) for view in "ABC"] == [batch, batch, None]
    with pytest.raises(ValueError, match="contains batch 3 already"):
        store.append_changes(batch, {"A": view_row(1)})
    with pytest.raises(StoreError, match="no view D in this store; views here: A, B, C"):
        store.append_changes(batch, {"D": view_row(1)})


def test_rows_of_a_view_are_net_with_and_without_its_fold(store: Store) -> None:
    batch = define(store, "V")
    store.append_changes(batch, {"V": pa.concat_tables([view_row(oid) for oid in (1, 2, 2, 3)])})
    batch = store.append(NetChange(), kind="edit", what="").batch
    store.append_changes(batch, {"V": pa.concat_tables([view_row(1, -1), view_row(2, -1), view_row(4)])})
    assert primaries(store, "V") == {2: 1, 3: 1, 4: 1}
    assert not store.fold_view("V")
    assert store.fold_view("V", force=True)
    assert not store.fold_view("V", force=True)
    assert primaries(Store.open(store.path), "V") == {2: 1, 3: 1, 4: 1}
    assert store.view_changes("V", 1, 2)["n"].to_pylist() == [-1, -1, 1]
    assert len(store.view_changes("V", 0, 2)) == 7


def test_a_view_defined_anew_starts_anew(store: Store) -> None:
    store.append_changes(define(store, "V"), {"V": view_row(1)})
    store.fold_view("V", force=True)
    store.append(NetChange(), kind="drop", what="", extra={"view": "V"})
    with pytest.raises(StoreError, match="no view V in this store; views here: none"):
        store.view_rows("V")
    batch = define(store, "V")
    assert store.view_stamp("V") is None
    assert primaries(store, "V") == {}
    store.append_changes(batch, {"V": view_row(2)})
    assert primaries(store, "V") == {2: 1}
    assert len(store.view_changes("V", 0, batch)) == 1
    store.fold_view("V", force=True)
    assert primaries(Store.open(store.path), "V") == {2: 1}


def test_a_view_that_catches_up_late_keeps_its_changes_in_order(store: Store) -> None:
    first = max(define(store, "A"), define(store, "B"))
    for batch in range(first, first + 70):
        store.append_changes(batch, {"A": view_row(batch)})
    for batch in range(first, first + 70):
        store.append_changes(batch, {"B": view_row(batch)})
    store.fold()
    for view in "AB":
        assert store.view_changes(view, first + 9, first + 19)["dst"].to_pylist() == list(
            range(first + 10, first + 20)
        )
    assert len(store._tables.changes.files) < 80


def test_log_files_are_merged_and_nothing_changes(store: Store) -> None:
    graph, rng = Plain(), random.Random(2)
    states = [Plain()]
    for _ in range(70):
        store.append(inserts(graph, 1, rng), kind="edit", what="")
        states.append(graph.copy())
    assert len(store._tables.log.files) == 70
    assert not store.fold()
    assert len(store._tables.log.files) < 10
    again = Store.open(store.path)
    assert all(as_plain(again.state(batch)) == states[batch] for batch in range(0, 71, 7))
    assert [info.batch for info in again.batches()] == list(range(1, 71))


def test_a_merged_file_does_not_make_a_tail_look_long(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oemviews.store.folds._FEW_ROWS", 100)
    graph, rng = Plain(), random.Random(2)
    folded = []
    for batch in range(1, 131):
        store.append(inserts(graph, 1, rng), kind="edit", what="")
        if store.fold():
            folded.append(batch)
    assert folded == [34, 68, 102]  # three rows a batch, and more than a hundred make a fold
    assert as_plain(store.state()) == graph


def test_a_view_is_folded_when_its_changes_outgrow_it(store: Store) -> None:
    batch = define(store, "V")
    store.append_changes(batch, {"V": pa.concat_tables([view_row(oid) for oid in range(1, 101)])})
    done = []
    for later in range(1, 200):
        store.append_changes(batch + later, {"V": view_row(100 + later)})
        if store.fold_view("V"):
            done.append(later)
    assert len(done) == 3
    assert len(primaries(Store.open(store.path), "V")) == 299


def test_labels_cost_nothing_each(store: Store) -> None:
    count = 30_000
    edges = rows(EDGES, [(0, f"key {number}", number, number, None) for number in range(1, count + 1)])
    store.append(NetChange(plus=edges), kind="edit", what="")
    store.fold(force=True)
    assert len(list(store.path.rglob("*"))) < 60
    store.append(NetChange(minus=edges.slice(0, count - 1)), kind="edit", what="")
    store.fold(force=True)
    assert store.state().edges()["label"].to_pylist() == [f"key {count}"]


def test_a_load_that_fails_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oemviews.store.loading._GROUP", 10)
    graph = Plain()

    def broken() -> object:
        yield inserts(graph, 10, random.Random(1))
        yield inserts(graph, 10, random.Random(1))
        raise RuntimeError("the document ends here")

    with pytest.raises(RuntimeError, match="the document ends here"):
        store.load(broken(), what="")  # type: ignore[arg-type]
    assert store.head == 0
    assert not list(store.path.rglob("[!0]*.parquet"))


def test_making_a_store_where_something_is(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a store already"):
        Store.create(store.path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match=r"holds other files \(letter.txt\)"):
        Store.create(tmp_path / "other")
    with pytest.raises(BadInput, match="is a file"):
        Store.create(tmp_path / "other" / "letter.txt")
    with pytest.raises(StoreError, match=r"no store at .*oemviews init"):
        Store.open(tmp_path / "nowhere")
