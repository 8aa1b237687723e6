"""The generators give what they promise: the same for a seed, applicable edits, answers with rows."""

from __future__ import annotations

from random import Random

from tests.generators.graphs import random_edits, random_graph
from tests.generators.queries import random_query, random_view
from tests.generators.syntax import random_statement
from tests.generators.wide import wide_query, wide_view
from tests.oracle import answer, apply


def test_a_seed_gives_the_same_again() -> None:
    for make in (random_query, random_view, random_statement, wide_query, wide_view):
        assert make(Random(3)) == make(Random(3))
    assert random_graph(Random(3)).edges == random_graph(Random(3)).edges


def test_edits_can_be_applied_one_batch_after_another() -> None:
    for seed in range(300):
        rng = Random(seed)
        graph = random_graph(rng)
        for _ in range(4):
            graph = apply(graph, random_edits(rng, graph))


def test_edits_do_something_and_sometimes_nothing() -> None:
    changed = 0
    for seed in range(200):
        rng = Random(seed)
        graph = random_graph(rng)
        after = apply(graph, random_edits(rng, graph, most=1))
        changed += (after.edges, after.values) != (graph.edges, graph.values)
    assert 60 < changed < 195


def test_many_answers_are_not_empty() -> None:
    found = 0
    for seed in range(200):
        rng = Random(seed)
        query = random_view(rng).query if seed % 2 else random_query(rng)
        found += any(answer(random_graph(rng), query) for _ in range(4))
    assert found > 70
