"""Edit logs: every op, batches, names of the log's own, exactly once, refusals (section 5 of it)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import oemviews as ov
from tests.commands import Cli
from tests.contract.conftest import jsonl, written

SOUP: list[object] = [
    {"op": "new", "oid": "soup"},
    {"op": "new", "oid": "n1", "value": "Lentil Soup"},
    {"op": "ins", "src": 3, "label": "Entree", "dst": "soup"},
    {"op": "ins", "src": "soup", "label": "Name", "dst": "n1"},
]
COMMIT = {"op": "commit"}


def names(cli: Cli, store: Path) -> list[str]:
    """The names of the entrees of Baghdad Cafe."""
    query = 'select e.Name from Guide.Restaurant r, r.Entree e where r.Name = "Baghdad Cafe"'
    asked = cli("query", store, query, "--format", "json")
    return sorted(line["Name"]["value"] for line in asked.lines)


def head(store: Path) -> int:
    with ov.open(store) as db:
        return db.batch


def test_every_op(cli: Cli, viewed: Path, tmp_path: Path) -> None:
    log = written(
        tmp_path / "all.jsonl",
        [
            {"op": "ins", "src": 10, "label": "Ingredient", "dst": 15},
            {"op": "del", "src": 9, "label": "Ingredient", "dst": 15},
            {"op": "chg", "oid": 5, "new": "Hunan Wok"},
            {"op": "chg", "oid": 8, "old": 4, "new": "four"},
            *SOUP,
            {"op": "name", "name": "Soup", "oid": "soup"},
            {"op": "name", "name": "Again", "oid": 1},
            {"op": "unname", "name": "Again"},
        ],
    )
    done = cli("apply", viewed, log, "--json")
    assert done.code == 0
    [line] = done.lines
    assert set(line) >= {"batch", "edits", "net", "new", "seconds", "views"}
    assert (line["batch"], line["edits"]) == (3, 11)
    assert line["new"] == {"soup": 30, "n1": 31}
    assert isinstance(line["seconds"], float)
    [view] = line["views"]
    assert set(view) >= {
        "view",
        "relevant",
        "dismissed",
        "statements",
        "rows",
        "added",
        "removed",
        "edges_added",
        "edges_removed",
        "method",
        "engine",
        "seconds",
    }
    assert (view["view"], view["added"], view["removed"]) == ("FavoriteEntrees", 1, 1)
    assert (view["edges_added"], view["edges_removed"]) == (3, 2)
    assert view["engine"] == "local"
    assert names(cli, viewed) == ["Beef Stew", "Lentil Soup", "Stuffed Caps"]
    asked = cli("query", viewed, "select Soup.Name", "--format", "json")
    assert asked.lines == [{"Name": {"oid": 31, "type": "string", "value": "Lentil Soup"}}]
    assert cli("query", viewed, "select &8", "--format", "json").lines[0]["&8"]["value"] == "four"
    assert cli("query", viewed, "select Again").code == 2
    assert cli("check", viewed).code == 0


def test_new_atomic_objects_of_every_type(cli: Cli, store: Path) -> None:
    values = ["x", "", 1, 1.0, 2**70, -0.5, True, False, None]
    new = [{"op": "new", "oid": f"v{n}", "value": value} for n, value in enumerate(values)]
    log = jsonl(
        *new, *({"op": "ins", "src": 1, "label": f"v{n}", "dst": f"v{n}"} for n in range(len(values)))
    )
    [line] = cli("apply", store, "-", "--json", stdin=log).lines
    with ov.open(store) as db:
        for n, value in enumerate(values):
            [told] = db.query(f"select Guide.v{n}").to_json().splitlines()
            found = json.loads(told)[f"v{n}"]
            assert (found["oid"], found["value"], type(found["value"])) == (
                line["new"][f"v{n}"],
                value,
                type(value),
            )


def test_commit_lines_end_batches_and_names_hold_across_them(cli: Cli, store: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", [SOUP[0], COMMIT, *SOUP[1:3], COMMIT, SOUP[3]])
    lines = cli("apply", store, log, "--json").lines
    assert [(line["batch"], line["edits"], line["new"]) for line in lines] == [
        (2, 1, {"soup": 30}),
        (3, 2, {"n1": 31}),
        (4, 1, {}),
    ]
    assert "Lentil Soup" in names(cli, store)


def test_batches_of_a_size(cli: Cli, store: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", SOUP)
    assert [line["edits"] for line in cli("apply", store, log, "--batch", 3, "--json").lines] == [3, 1]


def test_no_ops_are_counted(cli: Cli, store: Path) -> None:
    there, absent = {"src": 1, "label": "Restaurant", "dst": 2}, {"src": 1, "label": "x", "dst": 2}
    log = jsonl({"op": "ins", **there}, {"op": "del", **absent}, {"op": "unname", "name": "Nobody"})
    [line] = cli("apply", store, "-", "--json", stdin=log).lines
    assert (line["batch"], line["edits"], line["net"], line["noops"]) == (2, 3, 0, 3)
    assert "3 no-ops" in cli("apply", store, "-", stdin=log).out


def test_an_insert_of_an_edge_that_exists_then_its_deletion_is_a_deletion(cli: Cli, store: Path) -> None:
    edge = {"src": 3, "label": "Entree", "dst": 9}
    [line] = cli(
        "apply", store, "-", "--json", stdin=jsonl({"op": "ins", **edge}, {"op": "del", **edge})
    ).lines
    assert line["net"] == 1
    assert names(cli, store) == ["Beef Stew"]


def test_a_rerun_does_nothing_and_says_so(cli: Cli, store: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", [*SOUP[:2], COMMIT, *SOUP[2:]])
    assert len(cli("apply", store, log, "--json").lines) == 2
    again = cli("apply", store, log, "--json")
    assert (again.code, again.out, head(store)) == (0, "", 3)
    assert "a.jsonl" in again.err
    assert [line["new"] for line in cli("apply", store, log, "--json", "--again").lines] == [
        {"soup": 32, "n1": 33},
        {},
    ]


def test_a_grown_log_resumes_with_its_names(cli: Cli, store: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", SOUP[:2])
    cli("apply", store, log)
    written(log, SOUP)
    grown = cli("apply", store, log, "--json")
    assert [(line["edits"], line["new"]) for line in grown.lines] == [(2, {})]
    assert grown.err
    assert "Lentil Soup" in names(cli, store)


def test_a_mended_log_resumes_after_what_is_the_same(cli: Cli, store: Path, tmp_path: Path) -> None:
    wrong = {"op": "ins", "src": 8, "label": "Entree", "dst": "soup"}
    log = written(tmp_path / "a.jsonl", [*SOUP[:2], COMMIT, wrong])
    first = cli("apply", store, log, "--json")
    assert (first.code, len(first.lines), head(store)) == (2, 1, 2)
    assert "a.jsonl" in first.err
    assert "line 4" in first.err
    written(log, [*SOUP[:2], COMMIT, *SOUP[2:]])
    assert [line["edits"] for line in cli("apply", store, log, "--json").lines] == [2]
    assert "Lentil Soup" in names(cli, store)


def test_a_second_run_that_got_less_far_does_not_take_the_names(
    cli: Cli, store: Path, tmp_path: Path
) -> None:
    first = [
        SOUP[0],
        SOUP[2],
        COMMIT,
        {"op": "chg", "oid": 5, "old": "Thai City", "new": "Thai Town"},
        COMMIT,
    ]
    log = written(tmp_path / "a.jsonl", first)
    assert cli("apply", store, log).code == 0
    assert cli("apply", store, log, "--again").code == 2, "its second batch finds another old value"
    written(log, [*first, SOUP[1], SOUP[3]])
    assert [line["edits"] for line in cli("apply", store, log, "--json").lines] == [2]
    asked = cli(
        "query", store, 'select e from Guide.#.Entree e where e.Name like "Lentil%"', "--format", "json"
    )
    assert [line["e"]["oid"] for line in asked.lines] == [30]


def test_the_id_is_what_a_log_is_known_by(cli: Cli, store: Path, tmp_path: Path) -> None:
    one, two = written(tmp_path / "a.jsonl", SOUP), written(tmp_path / "b.jsonl", SOUP)
    assert len(cli("apply", store, one, "--id", "tonight", "--json").lines) == 1
    assert cli("apply", store, two, "--id", "tonight", "--json").lines == []
    assert cli("apply", store, "-", "--id", "tonight", "--json", stdin=jsonl(*SOUP)).lines == []
    assert len(cli("apply", store, two, "--json").lines) == 1


def test_a_batch_without_effect_is_recorded_too(cli: Cli, store: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", [{"op": "unname", "name": "Nobody"}])
    cli("apply", store, log)
    cli("apply", store, "-", stdin=jsonl({"op": "name", "name": "Nobody", "oid": 1}))
    assert cli("apply", store, log, "--json").lines == []
    assert cli("query", store, "select Nobody").code == 0


def test_standard_input_has_an_identity_only_with_an_id(cli: Cli, store: Path) -> None:
    """An edge that comes, goes and comes again by the same words is three batches."""
    for text in ("<Ins,&3,x,&9>", "<Del,&3,x,&9>", "<Ins,&3,x,&9>"):
        assert [line["net"] for line in cli("apply", store, "-", "--json", stdin=text).lines] == [1]


def test_several_logs(cli: Cli, store: Path, tmp_path: Path) -> None:
    one, two = written(tmp_path / "a.jsonl", SOUP[:1]), written(tmp_path / "b.jsonl", [SOUP[0]])
    assert [line["new"] for line in cli("apply", store, one, two, "--json").lines] == [
        {"soup": 30},
        {"soup": 31},
    ]


def test_paper_notation(cli: Cli, viewed: Path) -> None:
    text = (
        '<Ins,&10,Ingredient,&15>\n<Del,&9,Ingredient,&15>\n<Chg,&5,"Thai City","Hunan Wok">\n<Chg,&8,4,5>\n'
    )
    [line] = cli("apply", viewed, "-", "--json", stdin=text).lines
    assert (line["edits"], line["net"], line["views"][0]["added"]) == (4, 4, 1)
    assert cli("query", viewed, "select &5", "--format", "json").lines[0]["&5"]["value"] == "Hunan Wok"


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"op": "ins", "src": 999, "label": "a", "dst": 1}, "999"),
        ({"op": "ins", "src": 1, "label": "a", "dst": 999}, "999"),
        ({"op": "del", "src": 1, "label": "a", "dst": 999}, "999"),
        ({"op": "ins", "src": 5, "label": "a", "dst": 1}, "atomic"),
        ({"op": "ins", "src": 1, "label": "a", "dst": "nobody"}, "nobody"),
        ({"op": "ins", "src": 1, "dst": 2}, "label"),
        ({"op": "ins", "src": 1, "label": 7, "dst": 2}, "label"),
        ({"op": "ins", "src": True, "label": "a", "dst": 2}, "src"),
        ({"op": "ins", "src": 1.0, "label": "a", "dst": 2}, "src"),
        ({"op": "ins", "src": 0, "label": "a", "dst": 2}, "0"),
        ({"op": "ins", "src": -1, "label": "a", "dst": 2}, "-1"),
        ({"op": "ins", "src": 2**80, "label": "a", "dst": 2}, str(2**80)),
        ({"op": "chg", "oid": 3, "new": 1}, "complex"),
        ({"op": "chg", "oid": 5, "old": "Thai", "new": "x"}, "Thai City"),
        ({"op": "chg", "oid": 8, "old": 4.0, "new": 5}, "4"),
        ({"op": "chg", "oid": 8, "old": "4", "new": 5}, "4"),
        ({"op": "chg", "oid": 5}, "new"),
        ({"op": "chg", "oid": 5, "new": [1]}, "[1]"),
        ({"op": "chg", "oid": 5, "new": {"a": 1}}, "a"),
        ({"op": "chg", "oid": 999, "new": 1}, "999"),
        ({"op": "new"}, "oid"),
        ({"op": "new", "oid": "a", "value": [1]}, "value"),
        ({"op": "name", "name": "N", "oid": 999}, "999"),
        ({"op": "name", "oid": 1}, "name"),
        ({"op": "name", "name": "FavoriteEntrees", "oid": 1}, "FavoriteEntrees"),
        ({"op": "unname"}, "name"),
        ({"op": "insert", "src": 1, "label": "a", "dst": 2}, "insert"),
        ({"op": None}, "op"),
        ({}, "op"),
        ([1], "["),
        (3, "3"),
        ('{"op": "ins", "src": 1, "label": "a", "dst"', "line 2"),
        ("hello", "hello"),
        ('{"op": "chg", "oid": 5, "new": NaN}', "NaN"),
        ('{"op": "chg", "oid": 5, "new": 1e999}', "double"),
        ('{"op": "chg", "oid": 5, "oid": 7, "new": 1}', "oid"),
        ('{"op": "chg", "oid": 5, "new": "\\ud800"}', "line 2"),
        ("<Ins,&10,Ingredient>", "<Ins"),
        ("<Ins,&10,Ingredient,&15", "<Ins"),
        ("<Foo,&10,Ingredient,&15>", "<Foo"),
        ('<Chg,&5,"x","y">', "Thai City"),
        ("<Chg,&5,null,1>", "the old value null"),
        ('{"op": "chg", "oid": 5, "new": ' + "9" * 5000 + "}", "an integer of 5000 digits"),
        ("<Ins,10,Ingredient,15>", "10"),
    ],
)
def test_an_edit_that_cannot_be_refuses_its_batch(
    cli: Cli, viewed: Path, tmp_path: Path, edit: object, told: str
) -> None:
    log = written(tmp_path / "bad.jsonl", [{"op": "del", "src": 9, "label": "Ingredient", "dst": 15}, edit])
    before = cli("show", viewed, "FavoriteEntrees", "--format", "json").out
    done = cli("apply", viewed, log, "--json")
    assert (done.code, done.out) == (2, "")
    assert "bad.jsonl" in done.err
    assert "line 2" in done.err
    assert told in done.err
    assert "wanted" in done.err
    assert head(viewed) == 2
    assert cli("show", viewed, "FavoriteEntrees", "--format", "json").out == before


def test_batches_before_the_bad_one_stay_and_are_reported(cli: Cli, store: Path, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", [*SOUP, COMMIT, {"op": "chg", "oid": 1, "new": 2}, COMMIT, SOUP[0]])
    done = cli("apply", store, log, "--json")
    assert (done.code, [line["batch"] for line in done.lines], head(store)) == (2, [2], 2)
    assert "line 6" in done.err
    assert "Lentil Soup" in names(cli, store)


@pytest.mark.parametrize("text", ["", "\n\n", '{"op": "commit"}\n'])
def test_logs_with_nothing_in_them(cli: Cli, store: Path, text: str) -> None:
    assert cli("apply", store, "-", "--json", stdin=text).code == 0
    assert cli("check", store).code == 0


def test_logs_that_are_not_text(cli: Cli, store: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"op": "new", "oid": "\xff"}\n')
    (tmp_path / "b.jsonl").write_bytes(b"\x00\x01\x02" * 100)
    for log in (tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "none.jsonl", tmp_path):
        done = cli("apply", store, log)
        assert (done.code, log.name in done.err) == (2, True)
    assert head(store) == 1


def test_dry_run_stores_nothing(cli: Cli, viewed: Path, tmp_path: Path) -> None:
    log = written(
        tmp_path / "a.jsonl", [{"op": "ins", "src": 10, "label": "Ingredient", "dst": 15}, COMMIT, *SOUP]
    )
    tried = cli("apply", viewed, log, "--dry-run", "--json")
    assert tried.code == 0
    assert [line["edits"] for line in tried.lines] == [1, 4]
    assert tried.lines[0]["views"][0]["added"] == 1
    assert head(viewed) == 2
    done = cli("apply", viewed, log, "--json")
    assert [line["new"] for line in done.lines] == [line["new"] for line in tried.lines]
    assert cli("apply", viewed, "--statement", "update Guide.x := 1", "--dry-run").code == 0
    assert head(viewed) == 4


def test_a_statement_is_one_batch(cli: Cli, viewed: Path, tmp_path: Path) -> None:
    [line] = cli(
        "apply", viewed, "--statement", "update e.Ingredient += &15 from Guide.Restaurant.Entree e", "--json"
    ).lines
    assert (line["batch"], line["edits"], line["views"][0]["added"]) == (3, 3, 1)
    (tmp_path / "u.lorel").write_text('update &5 := "Hunan Wok"')
    assert cli("apply", viewed, "--statement", f"@{tmp_path / 'u.lorel'}").code == 0
    assert cli("apply", viewed, "--statement", "-", stdin="unname Guide").code == 0
    assert json.loads(cli("show", viewed, "FavoriteEntrees", "--format", "json").out)["primaries"] == []
    assert cli("apply", viewed, "--statement", "name Guide := &1").code == 0
    assert json.loads(cli("show", viewed, "FavoriteEntrees", "--format", "json").out)["primaries"] == [9, 10]
    assert cli("check", viewed).code == 0
    assert head(viewed) == 6


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--statement", "select Guide"),
        ("--statement", "update Guide := 3"),
        ("--statement", "update Nobody.x := 3"),
        ("--statement", "define view V as W = select Guide"),
        ("--statement", "update &5 := ", "-"),
        ("--statement", ""),
        ("--statement", "@/no/such/file"),
        ("--statement", "update &5 := 1", "--id", "tonight"),
        ("--statement", "update &5 := 1", "--again"),
        ("--statement", "update &5 := 1", "--batch", "5"),
        ("-", "--batch", "0"),
        ("-", "--engine", "quantum"),
    ],
)
def test_bad_uses_of_apply(cli: Cli, store: Path, arguments: tuple[str, ...]) -> None:
    assert cli("apply", store, *arguments).code == 2
    assert head(store) == 1


def test_objects_that_no_name_reaches_stay_usable_until_compact(cli: Cli, store: Path) -> None:
    cli("apply", store, "-", stdin="<Del,&3,Entree,&9>\n")
    cli("apply", store, "-", stdin="<Ins,&4,Entree,&9>\n<Del,&4,Entree,&9>\n")
    assert cli("compact", store).code == 0
    gone = cli("apply", store, "-", stdin="<Ins,&4,Entree,&9>\n")
    assert (gone.code, "&9" in gone.err) == (2, True)
