"""Random queries keep their meaning on the way to the canonical form, which is what it claims to be."""

from __future__ import annotations

from random import Random

import pytest

from lorel import ast
from lorel.analysis import faults, refusals
from lorel.canonical_text import normal_text
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.printer import print_query
from tests.generators.graphs import random_graph
from tests.generators.queries import random_query, random_view
from tests.oracle import answer
from tests.oracle.graph import Item

NAMES = Catalog(frozenset({"N", "M"}))
BLOCK = 60


def _rows(rows: list[tuple[Item, ...]]) -> frozenset[tuple[Item, ...]]:
    return frozenset(rows)


def _check(query: ast.Query, rng: Random) -> None:
    text = print_query(query)
    assert parse_query(text) == query
    normal = normalise(query, NAMES, text=text)
    assert faults(normal) == [], text
    canonical = normal_text(normal)
    again = parse_query(canonical)
    for _ in range(3):
        graph = random_graph(rng)
        assert _rows(answer(graph, again)) == _rows(answer(graph, query)), f"{text}\n{canonical}\n{graph}"


@pytest.mark.parametrize("first", range(0, 240, BLOCK))
def test_queries_mean_what_their_canonical_form_means(first: int) -> None:
    for seed in range(first, first + BLOCK):
        rng = Random(seed)
        _check(random_query(rng), rng)


@pytest.mark.parametrize("first", range(0, 120, BLOCK))
def test_views_mean_what_their_canonical_form_means(first: int) -> None:
    for seed in range(first, first + BLOCK):
        rng = Random(seed)
        view = random_view(rng)
        _check(view.query, rng)
        assert refusals(normalise(view.query, NAMES)) == []
