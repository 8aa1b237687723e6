"""What lies beyond a walk: which parts of a branch are taken apart, and how they are planned."""

from __future__ import annotations

import pytest

from lorel import plan as op
from lorel.beyond import taken_apart
from lorel.normal import Branch, ObjectItem, blocks
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.plan import explain
from lorel.planner import Planner, conjunctions
from tests.lorel.test_cases import GuideStatistics

NAMES = Catalog(frozenset({"Guide"}))


def apart(text: str) -> list[tuple[str, int]]:
    """The variables that are near walks, with the number of steps beyond each."""
    block = next(blocks(normalise(parse_query(text), NAMES)))
    need = [item.var for item in block.select if isinstance(item, ObjectItem)]
    return sorted(
        (each.near, len(each.branch.steps)) for each in taken_apart(conjunctions(block)[0], need)[1]
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("select n from Guide.Restaurant r, r(.Nearby)+ n where r.Price < 6", [("n", 3)]),
        ("select r from Guide.Restaurant r, r(.Nearby)+ n where n.Price < 6", [("r", 1)]),
        ("select r from Guide.Restaurant r, r(.Nearby)+ n", [("r", 0)]),
        ("select r, n from Guide.Restaurant r, r(.Nearby)+ n", []),
        ("select n from Guide.Restaurant r, r(.Nearby)+ n where r.Price = n.Price", []),
        ("select n from Guide.Restaurant r, r.#@P n where path-of(P) = 'a'", []),
        ("select c from Guide.Restaurant a, a(.x)+ b, b(.y)+ c where a.Price < 6", [("c", 4)]),
        ("select b from Guide.Restaurant a, a(.x)+ b, b(.y)+ c where a.Price < 6", [("b", 0), ("b", 3)]),
        ("select n from Guide.Restaurant r, r(.Nearby)+ n where not exists (r.Price)", [("n", 2)]),
        ("select n from Guide.Restaurant r, r(.Nearby)+ n where count(r.Entree) > n.Price", []),
        ("select n from Guide.Restaurant r, r.Entree e, e(.Ingredient)* n, n.Name x where x = 1", [("n", 3)]),
    ],
)
def test_what_is_taken_apart(text: str, wanted: list[tuple[str, int]]) -> None:
    assert apart(text) == wanted


def test_two_walks_to_one_object_are_two_conditions_on_it() -> None:
    text = "select n from Guide.Restaurant r, r(.Nearby)+ n, n(.Entree)+ e where e.Price < 6 and r.Price < 9"
    block = next(blocks(normalise(parse_query(text), NAMES)))
    rest, beyond = taken_apart(conjunctions(block)[0], ["n"])
    assert rest == Branch()
    assert sorted((each.near, each.far, each.outward) for each in beyond) == [
        ("n", "e", True),
        ("n", "r", False),
    ]


def test_nothing_is_lost() -> None:
    text = (
        'select x from Guide.Restaurant r, r(.Nearby)+ n, n.Name x where r.Price < 6 and x = "Thai" and 1 = 1'
    )
    block = next(blocks(normalise(parse_query(text), NAMES)))
    whole = conjunctions(block)[0]
    rest, (beyond,) = taken_apart(whole, ["x"])
    assert {*rest.steps, *beyond.branch.steps, beyond.step} == set(whole.steps)
    assert {*rest.tests, *beyond.branch.tests} == set(whole.tests)


def planned(text: str, **given: float) -> op.Plan:
    return Planner(GuideStatistics(), given).query(normalise(parse_query(text), NAMES))


def test_pairs_are_made_only_where_both_ends_are_asked_for() -> None:
    ends = planned("select n from Guide.Restaurant r, r(.Nearby)+ n")
    assert "Closure r.Nearby+ n, ends" in explain(ends)
    both = planned("select r, n from Guide.Restaurant r, r(.Nearby)+ n")
    assert "Closure r.Nearby+ n  [" in explain(both)
    beside = planned("select g, n from Guide g, g.Restaurant r, r(.Nearby)+ n")
    assert [op.columns(node) for node in op.operators(beside) if isinstance(node, op.Closure)] == [("g", "n")]


def test_what_lies_beyond_is_searched_from_the_cheaper_side() -> None:
    rare = planned('select r from Guide.Restaurant r where r(.Nearby)+ = "Thai City"')
    (walk,) = [node for node in op.operators(rare) if isinstance(node, op.Closure)]
    assert not walk.forward
    assert isinstance(walk.input, op.Lookup)
    there_and_back = planned(
        'select r from Guide.Restaurant r where r.Name = "x" and not (r(.Nearby)+ != "y")'
    )
    assert [node.back is None for node in op.operators(there_and_back) if isinstance(node, op.Closure)] == [
        False,
        True,
    ]
    assert "backward, back" in explain(there_and_back)
