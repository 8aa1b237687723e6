"""Random lives of a store against its plain twin: at every retained batch both hold the same graph."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from oemviews.store.store import Store
from tests.store.life import small_sizes
from tests.store.plain import Plain, as_plain, difference, edits, in_any_order, inserts, without


@pytest.mark.parametrize("seed", range(12))
def test_every_retained_state_and_change_is_that_of_the_twin(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_sizes(monkeypatch.setattr)
    rng = random.Random(seed)
    store, graph = Store.create(tmp_path / "store"), Plain()
    history = [graph.copy()]
    for _ in range(40):
        step = rng.random()
        if step < 0.55:
            store.append(edits(graph, rng.randrange(6), rng), kind="edit", what="edits")
        elif step < 0.65:
            sizes = [rng.randrange(1, 25) for _ in range(rng.randrange(1, 5))]
            store.load([inserts(graph, size, rng) for size in sizes], what="load")
        elif step < 0.75:
            store.fold(force=rng.random() < 0.7)
        elif step < 0.85:
            store = Store.open(tmp_path / "store")
        elif step < 0.95:
            store.compact(keep_batches=rng.choice((None, 2, 5, 10)))
        else:
            garbage = set(graph.objects) - graph.reached()
            store.compact(keep_batches=rng.choice((None, 8)), garbage=np.array(sorted(garbage), np.int64))
            graph = without(graph, garbage)
        if store.head == len(history):
            history.append(graph.copy())
        assert store.head == len(history) - 1
        assert as_plain(store.state()) == graph
        assert (store.next_oid, store.next_pos) >= (graph.next_oid, 0)
        graph.next_oid, graph.next_pos = store.next_oid, max(graph.next_pos, store.next_pos)
    for batch in range(store.floor, store.head + 1):
        assert as_plain(store.state(batch)) == history[batch]
        assert in_any_order(store.change(batch, store.head)) == in_any_order(
            difference(history[batch], graph)
        )
    assert [info.batch for info in store.batches()] == list(range(1, store.head + 1))
