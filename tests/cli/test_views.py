"""define, drop, views, show, explain, check: shapes of the JSON and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from oemviews.cli import run
from oemviews.store.schema import VIEW_ROWS
from oemviews.store.store import Store
from tests.commands import FAVORITE, Cli

INSERT = "<Ins,&10,Ingredient,&15>"


def test_define_says_how_it_is_kept(cli: Cli, store: Path) -> None:
    ran = cli("define", store, FAVORITE)
    assert (ran.code, ran.out) == (0, "")
    assert "defined FavoriteEntrees: 1 primary object, 2 edges; engine: local" in ran.err
    assert "kept by counting, because" in ran.err


def test_show_json(cli: Cli, viewed: Path) -> None:
    assert cli("show", viewed, "FavoriteEntrees", "--format", "json").lines == [
        {
            "view": "FavoriteEntrees",
            "collection": "Entrees",
            "batch": 2,
            "primaries": [9],
            "edges": [
                {"variable": "n", "src": 9, "label": "Name", "dst": 14},
                {"variable": "i", "src": 9, "label": "Ingredient", "dst": 15},
            ],
            "objects": [
                {"oid": 9, "type": "complex"},
                {"oid": 14, "type": "string", "value": "Stuffed Caps"},
                {"oid": 15, "type": "string", "value": "Mushroom"},
            ],
        }
    ]


def test_show_json_of_several_items(cli: Cli, store: Path) -> None:
    statement = "define view Pairs as Pair = select r, e from Guide.Restaurant r, r.Entree e with e.Name n"
    assert cli("define", store, statement).code == 0
    (shown,) = cli("show", store, "Pairs", "--format", "json").lines
    assert shown["rows"] == [{"r": 3, "e": 9}, {"r": 3, "e": 10}, {"r": 4, "e": 10}, {"r": 4, "e": 13}]
    assert shown["primaries"] == [3, 4, 9, 10, 13]


def test_show_table_and_oem(cli: Cli, viewed: Path) -> None:
    table = cli("show", viewed, "FavoriteEntrees").out
    assert '&14 "Stuffed Caps"' in table
    assert cli("show", viewed, "FavoriteEntrees", "--format", "oem").out.startswith("<FavoriteEntrees")


def test_views_json(cli: Cli, viewed: Path) -> None:
    assert cli("views", viewed, "--json").lines == [
        {
            "view": "FavoriteEntrees",
            "statement": FAVORITE,
            "policy": "auto",
            "method": "counting",
            "batch": 2,
            "primaries": 1,
            "edges": 2,
        }
    ]
    assert "FavoriteEntrees" in cli("views", viewed).out


def test_a_view_is_a_database(cli: Cli, viewed: Path) -> None:
    ran = cli("query", viewed, "select FavoriteEntrees.Entrees.Name", "--format", "csv")
    assert ran.out == "Name\nStuffed Caps\n"


def test_a_view_on_a_view(cli: Cli, viewed: Path) -> None:
    on_view = "define view Names as N = select n from FavoriteEntrees.Entrees e, e.Name n"
    assert cli("define", viewed, on_view).code == 0
    assert cli("apply", viewed, "--statement", "update &10.Ingredient += &15").code == 0
    assert cli("show", viewed, "Names", "--format", "json").lines[0]["primaries"] == [14, 16]
    assert cli("check", viewed).code == 0
    refused = cli("drop", viewed, "FavoriteEntrees")
    assert refused.code == 2
    assert "drop Names first" in refused.err
    assert cli("drop", viewed, "Names").code == 0
    assert cli("drop", viewed, "FavoriteEntrees").code == 0
    assert cli("views", viewed, "--json").lines == []


def test_policies(cli: Cli, store: Path) -> None:
    assert cli("define", store, FAVORITE, "--policy", "full").code == 0
    assert cli("views", store, "--json").lines[0]["policy"] == "full"
    report = cli("apply", store, "--statement", "update &10.Ingredient += &15", "--json").lines[0]
    assert report["views"][0]["method"] == "full"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("define view V = select r from Nowhere.Restaurant r", "nothing is named 'Nowhere'"),
        ("define view Guide = select r from Guide.Restaurant r", "already taken"),
        ("define view V = select r from Guide.Restaurant r with s.Name n", "a with path starts"),
        ("define view V = select r from Guide.Restaurant r order by r", "order by"),
        ("define view V = select count(Guide.Restaurant)", ""),
        ("define view V = select r from Guide.Restaurant r group by r", "group by"),
        ("select Guide", "defines no view"),
        ("define view", "line 1"),
    ],
)
def test_refused_definitions(cli: Cli, store: Path, statement: str, told: str) -> None:
    ran = cli("define", store, statement)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert len(cli("log", store, "--json").lines) == 1


def test_a_view_defined_twice(cli: Cli, viewed: Path) -> None:
    ran = cli("define", viewed, FAVORITE)
    assert ran.code == 2
    assert "already taken by a view" in ran.err


@pytest.mark.parametrize("command", ["drop", "show", "explain"])
def test_no_such_view(cli: Cli, viewed: Path, command: str) -> None:
    ran = cli(command, viewed, "FavouriteEntrees")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'FavoriteEntrees'?" in ran.err


def test_explain_shows_the_statements_of_an_edit(cli: Cli, viewed: Path) -> None:
    ran = cli("explain", viewed, "FavoriteEntrees", "--edit", INSERT)
    assert ran.code == 0
    assert "kept by counting" in ran.out
    assert (
        "ADDprim +=\n"
        "select e\n"
        "from Guide.Restaurant r, r.Entree e\n"
        "where e == &10\n"
        '  and exists x in r.Name : x = "Baghdad Cafe"\n'
        '  and exists &15 in &10.Ingredient : &15 = "Mushroom"' in ran.out
    )
    assert cli("log", viewed, "--json").lines[-1]["batch"] == 2


def test_explain_of_a_text_that_is_no_edit(cli: Cli, viewed: Path) -> None:
    ran = cli("explain", viewed, "FavoriteEntrees", "--edit", "<Ins,&10>")
    assert ran.code == 2
    assert "wanted" in ran.err


def test_check_of_equal_views(cli: Cli, viewed: Path) -> None:
    ran = cli("check", viewed, "--json")
    assert (ran.code, ran.lines) == (0, [{"view": "FavoriteEntrees", "equal": True}])
    assert "equal to a fresh evaluation" in cli("check", viewed).out


def test_check_and_repair_of_a_spoilt_view(cli: Cli, viewed: Path) -> None:
    _spoil(viewed)
    ran = cli("check", viewed, "--json")
    assert ran.code == 1
    assert ran.lines == [
        {
            "view": "FavoriteEntrees",
            "equal": False,
            "missing": [9],
            "extra": [{"variable": "n", "src": 10, "label": "Name", "dst": 16}],
            "stale": [14],
        }
    ]
    import oemviews as ov

    with ov.open(viewed) as db:
        (found,) = db.repair()
        assert found.missing == (9,)
        assert db.check()[0].equal
    assert run(["check", str(viewed)]) == 0


def _spoil(path: Path) -> None:
    """Take the primary away, add an edge, and give a delegate another value."""
    rows = [
        {"role": "primary", "dst": 9, "n": -1},
        {"role": "with", "variable": "n", "src": 10, "label": "Name", "dst": 16, "n": 1},
        {"role": "object", "dst": 14, "type": "string", "text": "Stuffed Caps", "n": -1},
        {"role": "object", "dst": 14, "type": "string", "text": "Old", "n": 1},
    ]
    from oemviews.edits import NetChange

    store = Store.open(path)
    with store.writing():
        info = store.append(NetChange(), kind="edits", what="nothing")
        columns = {name: [row.get(name) for row in rows] for name in VIEW_ROWS.names}
        import pyarrow as pa

        store.append_changes(info.batch, {"FavoriteEntrees": pa.table(columns, schema=VIEW_ROWS)})
    store.close()
