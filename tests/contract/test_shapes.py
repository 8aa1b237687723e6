"""The JSON that programs read, key by key (section 4 of the contract), and the other formats of an answer."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

import oemviews as ov
from tests.commands import FAVORITE, Cli
from tests.contract.conftest import Process

FOUR = {"oid": 8, "type": "integer", "value": 4}
CAFE = {"oid": 7, "type": "string", "value": "Baghdad Cafe"}
CAPS = {"oid": 14, "type": "string", "value": "Stuffed Caps"}


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        (
            'select e from Guide.Restaurant.Entree e where e.Name = "Stuffed Caps"',
            [{"e": {"oid": 9, "type": "complex"}}],
        ),
        ('select n from Guide.Restaurant.Entree.Name n where n like "Stuffed%"', [{"n": CAPS}]),
        ("select count(Guide.Restaurant)", [{"count": {"type": "integer", "value": 3}}]),
        ("count(Guide.Restaurant)", [{"count": {"type": "integer", "value": 3}}]),
        ("select r.Rating from Guide.Restaurant r where r.Price = 12", [{"Rating": FOUR}]),
        ("select Stars: r.Rating from Guide.Restaurant r where r.Price = 12", [{"Stars": FOUR}]),
        ("select r.Rating as Stars from Guide.Restaurant r where r.Price = 12", [{"Stars": FOUR}]),
        ("select &29", [{"&29": {"oid": 29, "type": "real", "value": 8.5}}]),
        ("select Guide.Nothing", []),
        (
            "select r, r.Name from Guide.Restaurant r where r.Price = 12",
            [{"r": {"oid": 3, "type": "complex"}, "Name": CAFE}],
        ),
        ("select 1 + 1 as two", [{"two": {"type": "integer", "value": 2}}]),
        ("select 1 / 0 as none", []),
    ],
)
def test_query_json(cli: Cli, guide_template: Path, query: str, lines: list[object]) -> None:
    done = cli("query", guide_template, query, "--format", "json")
    assert (done.code, done.lines) == (0, lines)


def test_depth(cli: Cli, guide_template: Path) -> None:
    def value(query: str, depth: int) -> object:
        [line] = cli("query", guide_template, query, "--format", "json", "--depth", depth).lines
        [cell] = line.values()
        return cell.get("value", "absent")

    assert value("select &9", 0) == "absent"
    assert value("select &9", 1) == {"Name": "Stuffed Caps", "Ingredient": "Mushroom"}
    deep = value("select &3", 3)
    assert isinstance(deep, dict)
    assert deep["Address"] == {"Street": "El Camino Real", "City": "Palo Alto", "Zipcode": 92310}
    assert [entree["Name"] for entree in deep["Entree"]] == ["Stuffed Caps", "Beef Stew"]
    assert deep["Nearby"]["Nearby"] == {"$oid": 3}
    assert value("select &14", 3) == "Stuffed Caps"


def test_csv(cli: Cli, guide_template: Path) -> None:
    done = cli("query", guide_template, "select r, r.Name from Guide.Restaurant r", "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.out)))
    assert len(rows) == 4
    assert {len(row) for row in rows} == {len(rows[0])}
    assert any("Thai City" in row for row in rows)


def test_arrow(process: Process, guide_template: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [
        sys.executable,
        "-m",
        "oemviews",
        "query",
        str(guide_template),
        "select Guide.#.Name",
        "--format",
        "arrow",
    ]
    out = subprocess.run(command, capture_output=True, check=True).stdout
    with pa.ipc.open_stream(out) as reader:
        assert reader.read_all().num_rows == 6


def test_oem_can_be_loaded_again(cli: Cli, store: Path, tmp_path: Path) -> None:
    told = cli("query", store, "select Guide.Restaurant.Entree", "--format", "oem", "--depth", 3).out
    (tmp_path / "a.oem").write_text(told)
    assert cli("load", store, tmp_path / "a.oem", "--name", "Copy").code == 0
    assert len(cli("query", store, "select Copy.#.Ingredient", "--format", "json").lines) == 3


def test_table_names_its_columns(cli: Cli, guide_template: Path) -> None:
    done = cli("query", guide_template, "select Stars: r.Rating from Guide.Restaurant r")
    assert "Stars" in done.out
    assert '"4.0"' in done.out


def test_explain_prints_the_plan(cli: Cli, guide_template: Path) -> None:
    done = cli("query", guide_template, "select Guide.Restaurant.Name", "--explain")
    assert done.code == 0
    assert "Name" in done.out + done.err


def test_at_an_earlier_batch(cli: Cli, store: Path) -> None:
    cli("apply", store, "--statement", 'update &5 := "Hunan Wok"')
    for at, value in [(("--at", 1), "Thai City"), (("--at", 2), "Hunan Wok"), ((), "Hunan Wok")]:
        assert cli("query", store, "select &5", "--format", "json", *at).lines[0]["&5"]["value"] == value
    assert cli("query", store, "select Guide", "--at", 0).code == 2
    assert cli("query", store, "select Guide", "--at", 3).code == 2
    assert cli("query", store, "select Guide", "--at", -1).code == 2


def test_show_json(cli: Cli, viewed: Path) -> None:
    done = cli("show", viewed, "FavoriteEntrees", "--format", "json")
    shown = json.loads(done.out)
    objects = sorted(shown.pop("objects"), key=lambda each: each["oid"])
    assert shown == {
        "view": "FavoriteEntrees",
        "collection": "Entrees",
        "batch": 2,
        "primaries": [9],
        "edges": [
            {"variable": "n", "src": 9, "label": "Name", "dst": 14},
            {"variable": "i", "src": 9, "label": "Ingredient", "dst": 15},
        ],
    }
    assert objects == [
        {"oid": 9, "type": "complex"},
        CAPS,
        {"oid": 15, "type": "string", "value": "Mushroom"},
    ]


def test_show_json_of_several_items(cli: Cli, store: Path) -> None:
    cli(
        "define",
        store,
        "define view V as W = select r, r.Rating as Stars from Guide.Restaurant r with r.Name n",
    )
    shown = json.loads(cli("show", store, "V", "--format", "json").out)
    assert sorted(shown["rows"], key=str) == [{"r": 3, "Stars": 8}, {"r": 4, "Stars": 12}]
    assert shown["primaries"] == [3, 4, 8, 12]


@pytest.mark.parametrize("format", ["table", "oem"])
def test_show_in_other_formats(cli: Cli, viewed: Path, format: str) -> None:
    done = cli("show", viewed, "FavoriteEntrees", "--format", format)
    assert done.code == 0
    assert "Stuffed Caps" in done.out


def test_views_json(cli: Cli, viewed: Path) -> None:
    [line] = cli("views", viewed, "--json").lines
    assert {key: line[key] for key in ("view", "policy", "method", "batch", "primaries", "edges")} == {
        "view": "FavoriteEntrees",
        "policy": "auto",
        "method": "counting",
        "batch": 2,
        "primaries": 1,
        "edges": 2,
    }
    assert line["statement"] == FAVORITE
    cli("apply", viewed, "-", stdin="<Ins,&10,Ingredient,&15>")
    [line] = cli("views", viewed, "--json").lines
    assert (line["batch"], line["primaries"], line["edges"]) == (3, 2, 5)


def test_check_json(cli: Cli, viewed: Path) -> None:
    assert cli("check", viewed, "--json").lines == [{"view": "FavoriteEntrees", "equal": True}]


def test_log_json(cli: Cli, viewed: Path) -> None:
    lines = cli("log", viewed, "--json").lines
    assert [line["batch"] for line in lines] == [1, 2]
    assert all(line["time"] and line["what"] for line in lines)


def test_the_front_door_gives_the_same_shapes(cli: Cli, viewed: Path) -> None:
    with ov.open(viewed) as db:
        query = "select r, r.Name from Guide.Restaurant r"
        told = [json.loads(line) for line in db.query(query).to_json().splitlines()]
        assert told == cli("query", viewed, query, "--format", "json").lines
        assert json.loads(json.dumps(db.views["FavoriteEntrees"].to_json())) == json.loads(
            cli("show", viewed, "FavoriteEntrees", "--format", "json").out
        )
