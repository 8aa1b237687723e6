"""`oemviews query`: formats, options, and statements that are refused."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.commands import Cli

EXAMPLE = (
    'select e from Guide.Restaurant r, r.Entree e where r.Name = "Baghdad Cafe" and e.Ingredient = "Mushroom"'
)


def test_an_object_a_row(cli: Cli, store: Path) -> None:
    ran = cli("query", store, EXAMPLE, "--format", "json")
    assert (ran.code, ran.lines) == (0, [{"e": {"oid": 9, "type": "complex"}}])


def test_atomic_objects_have_values(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select n from Guide.Restaurant.Entree.Name n", "--format", "json")
    assert ran.lines[0] == {"n": {"oid": 14, "type": "string", "value": "Stuffed Caps"}}


def test_values_without_objects(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select count(Guide.Restaurant)", "--format", "json")
    assert ran.lines == [{"count": {"type": "integer", "value": 3}}]


def test_every_type(cli: Cli, store: Path, tmp_path: Path) -> None:
    document = tmp_path / "types.json"
    document.write_text('{"a": [1, 1.0, "1", true, null, 123456789012345678901234567890, {}]}')
    assert cli("load", store, document, "--name", "T").code == 0
    ran = cli("query", store, "select T.a", "--format", "json")
    shown = [(line["a"]["type"], line["a"].get("value")) for line in _exact(ran.out)]
    assert shown == [
        ("integer", 1),
        ("real", 1.0),
        ("string", "1"),
        ("boolean", True),
        ("null", None),
        ("integer", 123456789012345678901234567890),
        ("complex", None),
    ]
    assert '"type":"null","value":null' in ran.out.replace(" ", "")


def _exact(text: str) -> list[dict[str, dict[str, object]]]:
    import json

    return [json.loads(line) for line in text.splitlines()]


def test_labels_are_keys_and_repeat_with_a_number(cli: Cli, store: Path) -> None:
    query = "select r.Name, e.Name, cost: e.Price from Guide.Restaurant r, r.Entree e"
    ran = cli("query", store, query, "--format", "json")
    assert [list(line) for line in ran.lines] == [["Name", "Name2", "cost"]] * 2


def test_depth(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select r from Guide.Restaurant r", "--format", "json", "--depth", 1)
    assert ran.lines[0]["r"] == {
        "oid": 2,
        "type": "complex",
        "value": {
            "Name": "Thai City",
            "Category": "Thai",
            "Address": ["Mountain View", "Menlo Park"],
            "Zipcode": "92310",
            "Price": "cheap",
            "Nearby": {"$oid": 3},
        },
    }


def test_depth_ends_cycles(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select r from Guide.Restaurant r", "--format", "json", "--depth", 9)
    assert ran.lines[0]["r"]["value"]["Nearby"]["Nearby"] == {"$oid": 2}


def test_depth_shows_arrays_as_they_were_written(cli: Cli, store: Path, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('{"x": {"a": 1, "none": [], "one": [2], "nested": [[3]], "o": {}}}')
    assert cli("load", store, tmp_path / "d.json", "--name", "D").code == 0
    (line,) = cli("query", store, "select D.x", "--format", "json", "--depth", 3).lines
    assert line["x"]["value"] == {"a": 1, "none": [], "one": [2], "nested": [[3]], "o": {}}
    assert list(line["x"]["value"]) == ["a", "none", "one", "nested", "o"]


def test_depth_has_a_bound(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select Guide", "--format", "json", "--depth", 5000)
    assert (ran.code, ran.out) == (2, "")


def test_constructed_objects(cli: Cli, store: Path) -> None:
    query = "select place: oem(name: r.Name, dishes: (select e.Name from r.Entree e)) from Guide.Restaurant r"
    ran = cli("query", store, query, "--format", "json")
    found = sorted(ran.lines, key=lambda line: line["place"]["value"]["name"])
    assert [line["place"] for line in found] == [
        {"type": "complex", "value": {"name": "Baghdad Cafe", "dishes": ["Stuffed Caps", "Beef Stew"]}},
        {"type": "complex", "value": {"name": "Hunan Palace", "dishes": ["Beef Stew", "Egg Fried Rice"]}},
        {"type": "complex", "value": {"name": "Thai City"}},
    ]


def test_csv(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select r, r.Name, r.Rating from Guide.Restaurant r", "--format", "csv")
    assert list(csv.reader(io.StringIO(ran.out))) == [
        ["r", "Name", "Rating"],
        ["&3", "Baghdad Cafe", "4"],
        ["&4", "Hunan Palace", "4.0"],
    ]


def test_oem(cli: Cli, store: Path, tmp_path: Path) -> None:
    ran = cli("query", store, EXAMPLE, "--format", "oem")
    (tmp_path / "answer.oem").write_text(ran.out)
    assert cli("load", store, tmp_path / "answer.oem", "--name", "Again").code == 0
    again = cli("query", store, "select Again.e.Ingredient", "--format", "json")
    assert [line["Ingredient"]["value"] for line in again.lines] == ["Mushroom"]


def test_arrow_on_standard_output(store: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "oemviews",
        "query",
        str(store),
        "select Guide.Restaurant.Name",
        "--format",
        "arrow",
    ]
    out = subprocess.run(command, capture_output=True, check=True).stdout
    table = pa.ipc.open_stream(out).read_all()
    assert [row["Name"]["text"] for row in table.to_pylist()] == ["Thai City", "Baghdad Cafe", "Hunan Palace"]


def test_table_is_the_data_and_the_rest_is_beside_it(cli: Cli, store: Path) -> None:
    ran = cli("query", store, EXAMPLE)
    assert ran.out.split() == ["e", "──", "&9"]
    assert "1 row; engine: local" in ran.err


def test_explain(cli: Cli, store: Path) -> None:
    ran = cli("query", store, EXAMPLE, "--explain")
    assert ran.out.startswith("engine: local (")
    assert "Expand" in ran.out
    assert ", was 1]" in ran.out


def test_at_an_earlier_batch(cli: Cli, store: Path) -> None:
    assert cli("apply", store, "--statement", 'update &5 := "Hunan Wok"').code == 0
    now, then = (cli("query", store, "select &5", "--format", "csv", *more).out for more in ([], ["--at", 1]))
    assert (now, then) == ("&5\nHunan Wok\n", "&5\nThai City\n")


@pytest.mark.parametrize("batch", [7, -1])
def test_at_a_batch_that_is_not_there(cli: Cli, store: Path, batch: int) -> None:
    ran = cli("query", store, EXAMPLE, "--at", batch)
    assert (ran.code, ran.out) == (2, "")
    assert f"no batch {batch}" in ran.err


def test_from_a_file_and_from_standard_input(
    cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.lorel").write_text(EXAMPLE)
    assert cli("query", store, f"@{tmp_path / 'q.lorel'}", "--format", "csv").out == "e\n&9\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(EXAMPLE.encode())))
    assert cli("query", store, "-", "--format", "csv").out == "e\n&9\n"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select", "line 1, column 7"),
        ("select Guid.Restaurant", "did you mean 'Guide'?"),
        ("select r.Name from Guide.Restaurant s", "nothing is named 'r' here"),
        ('select r from Guide.Restaurant r where r.Name = "open', "(line 1"),
        ('update &5 := "x"', "oemviews apply STORE --statement"),
        ("name X := Guide.Restaurant", "oemviews apply STORE --statement"),
        ("define view V = select r from Guide.Restaurant r", "oemviews define STORE"),
        ("drop view V", "oemviews drop STORE"),
        ("@no/such/file", "cannot read the statement"),
        ("", "found nothing"),
    ],
)
def test_bad_statements(cli: Cli, store: Path, statement: str, told: str) -> None:
    ran = cli("query", store, statement)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "statement",
    [
        "select " + "(" * 5_000 + "1" + ")" * 5_000,
        "select r from Guide.Restaurant r where " + "not " * 20_000 + "r.Name",
        "select r from Guide.Restaurant r where r.Name in {" + ", ".join(map(str, range(10_000))) + "}",
        "select " + ", ".join(f"Guide.l{i}" for i in range(40)),
        "select " + ", ".join("Guide.Restaurant" for _ in range(2_000)),
        "select 1 from " + ", ".join(f"Guide.Restaurant r{i}" for i in range(2_000)),
        "select r from Guide.Restaurant r order by " + ", ".join(f"r.l{i}" for i in range(60)),
        "select r from Guide.Restaurant r order by " + ", ".join(f"r.l{i}" for i in range(2_000)),
    ],
    ids=["brackets", "negations", "a big set", "many items", "very many", "ranges", "order", "long order"],
)
def test_large_statements_end_in_an_answer_or_a_sentence(cli: Cli, store: Path, statement: str) -> None:
    ran = cli("query", store, statement)
    assert ran.code in (0, 2)
    assert "Traceback" not in ran.err


def test_a_label_that_no_edge_has(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select Guide.Restaurant.Nmae", "--format", "json")
    assert (ran.code, ran.out) == (0, "")
    assert "no edge is labelled 'Nmae'; did you mean 'Name'? labels here: Address, " in ran.err


def test_a_label_that_is_elsewhere(cli: Cli, store: Path) -> None:
    ran = cli("query", store, "select Guide.Restaurant.Street", "--format", "json")
    assert "nothing lies at Guide.Restaurant.Street; labels at Guide.Restaurant: Address, " in ran.err


def test_debug_adds_the_traceback(store: Path) -> None:
    command = [sys.executable, "-m", "oemviews", "query", str(store), "select Nope", "--debug"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2
    assert "Traceback" in ran.stderr
    assert "nothing is named 'Nope'" in ran.stderr
