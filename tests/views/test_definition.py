"""Which statements can be views, how they are kept, and what is refused by name."""

from __future__ import annotations

import pytest

from lorel.errors import LorelMeaningError, RefusedError
from lorel.scope import Catalog
from oemviews.errors import BadInput
from oemviews.views.definition import define

CATALOG = Catalog(frozenset({"Guide"}), {"Cheap": "item"})


def kept(query: str) -> str:
    return define(f"define view V as item = {query}", CATALOG).method


@pytest.mark.parametrize(
    "query",
    [
        "select r from Guide.Restaurant r",
        "select r, e from Guide.Restaurant r, r.Entree e where e.Price < r.Price",
        "select r from Guide.Restaurant r where r.Price < 20 or not r.Rating = 4 with r.# w",
        "(select r from Guide.Restaurant r) union (select s from Guide.Bar s)",
        "select x from Cheap.item r, r.%@L x where L = 'Name'".replace("'", '"'),
    ],
)
def test_counted(query: str) -> None:
    assert kept(query) == ("recheck" if "not" in query else "counting")


@pytest.mark.parametrize(
    "query",
    [
        "select r from Guide.# r",
        "select r from Guide.Restaurant r where not exists (r.Price)",
        "select r from Guide.Restaurant r where for all p in r.Price : p < 20",
        "select r from Guide.Restaurant r where count(r.Entree) = 2",
        "(select r from Guide.Restaurant r) except (select s from Guide.Bar s)",
        "(select r from Guide.Restaurant r) intersect (select s from Guide.Bar s)",
        "select r from r in (Guide.Restaurant except Guide.Bar)",
    ],
)
def test_rechecked(query: str) -> None:
    assert kept(query) == "recheck"


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("select count(r.Entree) from Guide.Restaurant r", "an aggregate in select"),
        ("select r, count(e) from Guide.Restaurant r, r.Entree e group by r", "an aggregate in select"),
        ("select r from Guide.Restaurant r group by r", "group by"),
        ("select oem(a: r.Name) from Guide.Restaurant r", "oem"),
        ("select r from Guide.Restaurant r order by r.Name", "order by"),
        ("select distinct r.Name from Guide.Restaurant r", "distinct"),
        ("select r from Guide.#@P r", "a path variable"),
        ("select x from Guide.Restaurant r, r.unquote(r.Label) x", "unquote"),
        ("select r.Price + 1 from Guide.Restaurant r", "a computed value in select"),
    ],
)
def test_refused_by_name(query: str, what: str) -> None:
    with pytest.raises(RefusedError, match=f"a view cannot have {what}"):
        define(f"define view V = {query}", CATALOG)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define view V = select x from Gide.Restaurant x", "did you mean 'Guide'"),
        ("define view Guide = select x from Guide.Restaurant x", "already taken by an object"),
        ("define view Cheap = select x from Guide.Restaurant x", "already taken by a view"),
        (
            "define view V = select x from Guide.Restaurant r, r.Entree x with r.Name n",
            "starts from what is selected",
        ),
        ("define view V = select x from V.V x", "nothing is named 'V'"),
        ("select x from Guide.Restaurant x", "defines no view"),
    ],
)
def test_bad_definitions_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(LorelMeaningError, match=message) as found:
        define(text, CATALOG)
    assert "line 1, column" in str(found.value)


def test_an_unknown_policy() -> None:
    with pytest.raises(BadInput, match="the policies are auto, incremental, strict, full"):
        define("define view V = select x from Guide.Restaurant x", CATALOG, "lazy")


def test_a_stored_view_outlives_the_names_it_was_defined_on() -> None:
    text = "define view V = select x from Gone.Restaurant x"
    assert define(text, CATALOG, stored=True).method == "counting"


def test_with_variables_of_one_name_on_two_sides() -> None:
    view = define(
        "define view V = (select r from Guide.R r with r.n w) union (select s from Guide.S s with s.m.k w)",
        CATALOG,
    )
    assert [step.shown for step in view.with_steps] == ["w", "w", "w"]
    assert len({step.variable for step in view.with_steps}) == 3


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("", True),
        (" with x.b y, y.c z", True),
        (" with x.b y, y.b z", False),
        (" with x.b y, x.% z", False),
        (" with x(.b|.c)* y, y.d z", True),
        (" with x(.b|.c)* y, y.c z", False),
    ],
)
def test_whether_an_edge_can_belong_to_two_with_variables(paths: str, expected: bool) -> None:
    made = define(f"define view V = select x from N.a x{paths}", Catalog(frozenset({"N"})))
    assert made.one_holder == expected
