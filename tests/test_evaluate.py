"""Answers, put in order and with their constructed objects, against the oracle."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from lorel import ast
from lorel.normalise import normalise
from lorel.parser import parse_query
from lorel.printer import print_query
from lorel.scope import Catalog
from oemviews.answers.cells import Cell
from oemviews.answers.evaluate import Evaluation
from tests.engines.support import local_engine
from tests.generators.graphs import NAMES, random_graph
from tests.generators.queries import random_query
from tests.guide import GUIDE
from tests.oracle.evaluate import Row, answer, ordered_answer
from tests.oracle.graph import Item, OracleGraph

CASES = 400


def evaluated(graph: OracleGraph, query: ast.Query, names: frozenset[str]) -> list[Row]:
    """The rows of the product, in the oracle's words and in the product's order."""
    text = print_query(query)
    columns = Evaluation(local_engine(graph)).columns(
        normalise(query, Catalog(names), text=text, lenient=True)
    )
    return [tuple(_item(column.cell(i)) for column in columns) for i in range(len(columns[0]))]


def _item(cell: Cell) -> Item:
    if cell.oid is not None:
        return ("oid", cell.oid)
    if cell.fields is not None:
        return ("new", frozenset((label, _item(part)) for label, part in cell.fields))
    return ("value", cell.type, cell.value)


def _same(found: list[Row], graph: OracleGraph, query: ast.Query) -> bool:
    if not isinstance(query, ast.Select) or not query.order_by:
        return set(found) == set(answer(graph, query)) and len(found) == len(set(found))
    rows = iter(found)
    groups = ordered_answer(graph, query)
    return all(set(islice(rows, len(group))) == group for group in groups) and not list(rows)


@pytest.mark.parametrize("block", range(8))
def test_random_queries(block: int) -> None:
    constructed = ordered = 0
    for seed in range(block * CASES // 8, (block + 1) * CASES // 8):
        rng = Random(seed)
        graph, query = random_graph(rng), random_query(rng)
        found = evaluated(graph, query, frozenset(NAMES))
        assert _same(found, graph, query), f"seed {seed}: {print_query(query)}"
        constructed += "oem(" in print_query(query)
        ordered += isinstance(query, ast.Select) and bool(query.order_by)
    assert constructed >= 1
    assert ordered >= 1


@pytest.mark.parametrize(
    "text",
    [
        "select r.Name from Guide.Restaurant r order by r.Rating desc, r.Name",
        "select r, r.Price from Guide.Restaurant r order by r.Price",
        "select n from Guide.Restaurant.Entree.Name n order by n desc",
        "select i, count(e) from Guide.Restaurant.Entree e, e.Ingredient i group by i order by i desc",
        "select oem(n: r.Name, d: (select e.Name, e.Price from r.Entree e)) from Guide.Restaurant r",
        "select oem(inner: oem(n: r.Name), k: count(r.Entree)) from Guide.Restaurant r",
        "select oem(n: r.Name) from Guide.Restaurant r union select oem(n: r.Name) from Guide.Restaurant r",
        "select distinct e.Ingredient from Guide.Restaurant.Entree e order by e.Ingredient",
    ],
)
def test_on_the_guide(text: str) -> None:
    query = parse_query(text)
    assert _same(evaluated(GUIDE, query, frozenset({"Guide"})), GUIDE, query)
