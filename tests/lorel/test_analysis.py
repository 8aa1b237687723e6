"""What may be a view, how it can be kept, and what a canonical form is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lorel.analysis import Linear, NotLinear, faults, is_canonical, linearity, refusals, steps_of
from lorel.normal import Block, Branch, Labels, Normal, ObjectItem, Step
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query

GUIDE = Catalog(frozenset({"Guide"}))
R = "select r from Guide.Restaurant r"


def _normal(text: str) -> Normal:
    return normalise(parse_query(text), GUIDE, text=text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("select count(r.Entree) from Guide.Restaurant r", ["an aggregate in select"]),
        (
            "select c, count(r) from Guide.# r, r.Category c group by c",
            ["an aggregate in select", "group by"],
        ),
        ("select oem(a: r.Name) from Guide.Restaurant r", ["oem(...) or struct(...) in select"]),
        ("select r.Price + 1 from Guide.Restaurant r", ["a computed value in select"]),
        ("select L from Guide.Restaurant.%@L x", ["a computed value in select"]),
        (f"{R} order by r.Name", ["order by"]),
        ("select distinct r from Guide.Restaurant r", ["distinct"]),
        ("select x from Guide.#@P x", ["a path variable"]),
        (f"{R} where exists x in r.#@P : P = 3", ["a path variable"]),
        ("select r.unquote(r.Label) from Guide.Restaurant r", ["unquote"]),
    ],
)
def test_what_a_view_may_not_contain(text: str, names: list[str]) -> None:
    found = refusals(_normal(text))
    assert [each.name for each in found] == names
    assert all(each.why and each.instead for each in found)


@pytest.mark.parametrize(
    "text",
    [
        R,
        f"{R} with r.# w",
        f"{R} where count(r.Entree) = 2",
        f"{R} where not (r.Price < 20)",
        f"{R} where for all a in r.Address : a = 1",
        f"{R} where r.#.City = 1 or r(.a|.b)* = 2",
        f"{R} union select s from Guide.Bar s",
        f"{R} except select s from Guide.Bar s",
        "select r, e from Guide.Restaurant r, r.Entree e where r.Price in (select distinct e.Price)",
        "select x from Guide.Restaurant.%@L x where L = 3",
        'select r.unquote("a b") from Guide.Restaurant r',
    ],
)
def test_what_a_view_may_contain(text: str) -> None:
    assert refusals(_normal(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        R,
        f"{R} where r.Price < 20 or r.Rat% = 4",
        f"{R}, r.Nearby s where r.Name = s.Name and not (s == r)",
        f"{R} union select s from Guide.Bar s",
        "select p from Guide.Restaurant.Price p where not (p < 20)",
        f"{R} with r.# w",
    ],
)
def test_linear(text: str) -> None:
    assert linearity(_normal(text)) == Linear()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"{R} where not (r.Price < 20)", "absent"),
        (f"{R} where for all a in r.Address : a = 1", "absent"),
        ("select x from Guide.# x", "endlessly"),
        (f"{R} where r.Nearby+.Name = 1", "endlessly"),
        (f"{R} where count(r.Entree) = 2", "aggregate"),
        (f"{R} where r in (select s from Guide.# s union select t from Guide.a t)", "query inside"),
        (f"{R} except select s from Guide.Bar s", "except"),
        (f"{R} where " + " and ".join(f"(r.a = {i} or r.b = {i})" for i in range(7)), "alternatives"),
    ],
)
def test_not_linear(text: str, word: str) -> None:
    found = linearity(_normal(text))
    assert isinstance(found, NotLinear)
    assert any(word in reason for reason in found.reasons)


def test_canonical_forms_are_checked() -> None:
    good = _normal(f"{R}, r.Entree e where e.Price < 20 with r.Name n")
    assert is_canonical(good)
    assert isinstance(good, Block)
    twice = Branch(steps=(*good.from_.steps, good.from_.steps[-1]))
    wrong = {
        "bound twice": replace(good, from_=twice),
        "nothing binds": replace(good, select=(ObjectItem("x", "x"),), with_=()),
        "branches": replace(good, where=()),
        "with reads": replace(good, with_=(Step("nobody", Labels("a"), "w"),)),
    }
    for fault, block in wrong.items():
        assert any(fault in each for each in faults(block)), fault


def test_steps_of_orders_and_groups_are_steps() -> None:
    """What an order or an aggregate looks up belongs to the graphs that a query reads."""
    for text in (
        "select r from Guide.R r order by r.Price",
        "select r, count(r.Price) from Guide.R r group by r",
        "select r, count(r.Price) + 1 as n from Guide.R r group by r",
    ):
        found = steps_of(_normal(text))
        assert "Price" in {step.path.text for step in found if isinstance(step.path, Labels)}, text
