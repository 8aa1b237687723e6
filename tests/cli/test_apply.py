"""`oemviews apply`: logs, statements, reports, resumption and refusals."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from tests.commands import Cli

LOG = """\
{"op": "new", "oid": "soup"}
{"op": "new", "oid": "n1", "value": "Lentil Soup"}
{"op": "ins", "src": 3, "label": "Entree", "dst": "soup"}
{"op": "ins", "src": "soup", "label": "Name", "dst": "n1"}
{"op": "commit"}
{"op": "ins", "src": "soup", "label": "Ingredient", "dst": 15}
{"op": "ins", "src": 10, "label": "Ingredient", "dst": 15}
{"op": "ins", "src": 10, "label": "Ingredient", "dst": 15}
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "tonight.jsonl"
    path.write_text(LOG)
    return path


def test_report_json(cli: Cli, viewed: Path, log: Path) -> None:
    first, second = cli("apply", viewed, log, "--json").lines
    assert {key: first[key] for key in ("batch", "edits", "net", "new")} == {
        "batch": 3,
        "edits": 4,
        "net": 4,
        "new": {"soup": 30, "n1": 31},
    }
    assert {key: second[key] for key in ("batch", "edits", "net", "noops", "new")} == {
        "batch": 4,
        "edits": 3,
        "net": 2,
        "noops": 1,
        "new": {},
    }
    (view,) = second["views"]
    assert isinstance(second["seconds"], float)
    assert isinstance(view.pop("seconds"), float)
    assert view.pop("rows") > 0
    assert view.pop("statements") >= 1
    assert view == {
        "view": "FavoriteEntrees",
        "relevant": 2,
        "dismissed": {},
        "added": 2,
        "removed": 0,
        "edges_added": 5,
        "edges_removed": 0,
        "method": "counting",
        "engine": "local",
    }


def test_dismissed_edits_have_reasons(cli: Cli, viewed: Path) -> None:
    edit = '{"op": "ins", "src": 13, "label": "Zipcode", "dst": 15}'
    (report,) = cli("apply", viewed, _file(viewed, edit), "--json").lines
    (view,) = report["views"]
    assert (view["relevant"], view["dismissed"]) == (0, {"label not in the view": 1})


def test_paper_notation_and_text_report(cli: Cli, viewed: Path) -> None:
    ran = cli("apply", viewed, _file(viewed, '<Ins,&10,Ingredient,&15>\n<Chg,&5,"Thai City","Hunan Wok">'))
    assert ran.code == 0
    assert ran.out.startswith("batch 3: 2 edits, net 2 in ")
    assert "FavoriteEntrees" in ran.out


def test_a_log_is_applied_once(cli: Cli, viewed: Path, log: Path) -> None:
    assert len(cli("apply", viewed, log, "--json").lines) == 2
    again = cli("apply", viewed, log, "--json")
    assert (again.code, again.out) == (0, "")
    assert "nothing to do" in again.err
    assert [line["batch"] for line in cli("apply", viewed, log, "--json", "--again").lines] == [5, 6]


def test_a_grown_log_goes_on_and_knows_its_names(cli: Cli, viewed: Path, log: Path) -> None:
    assert len(cli("apply", viewed, log, "--json").lines) == 2
    log.write_text(LOG + '{"op": "ins", "src": "soup", "label": "Ingredient", "dst": 17}\n')
    ran = cli("apply", viewed, log, "--json")
    assert [line["edits"] for line in ran.lines] == [1]
    assert "resumed after line 8" in ran.err
    found = cli("query", viewed, "select &30.Ingredient", "--format", "csv")
    assert found.out == "Ingredient\nMushroom\nBeef\n"


def test_a_mended_log_resumes_before_the_mended_batch(cli: Cli, viewed: Path, log: Path) -> None:
    log.write_text(LOG.replace('"src": 10', '"src": 999'))
    ran = cli("apply", viewed, log, "--json")
    assert ran.code == 2
    assert [line["batch"] for line in ran.lines] == [3]
    assert "line 7: found no object &999" in ran.err
    log.write_text(LOG)
    ran = cli("apply", viewed, log, "--json")
    assert [line["batch"] for line in ran.lines] == [4]
    assert "resumed after line 5" in ran.err


def test_id_is_what_a_log_is_known_by(cli: Cli, viewed: Path, log: Path, tmp_path: Path) -> None:
    assert len(cli("apply", viewed, log, "--id", "tonight", "--json").lines) == 2
    copy = tmp_path / "copy.jsonl.gz"
    copy.write_bytes(gzip.compress(LOG.encode()))
    assert cli("apply", viewed, copy, "--id", "tonight", "--json").out == ""
    assert len(cli("apply", viewed, copy, "--json").lines) == 2
    assert cli("apply", viewed, copy, log, "--id", "tonight").code == 2


def test_batches_of_a_size(cli: Cli, viewed: Path) -> None:
    edits = "\n".join(f'{{"op": "new", "oid": "o{i}"}}' for i in range(5))
    lines = cli("apply", viewed, _file(viewed, edits), "--batch", 2, "--json").lines
    assert [line["edits"] for line in lines] == [2, 2, 1]


def test_dry_run_stores_nothing(cli: Cli, viewed: Path, log: Path) -> None:
    lines = cli("apply", viewed, log, "--dry-run", "--json").lines
    assert [(line["batch"], line["net"]) for line in lines] == [(None, 4), (None, 2)]
    assert cli("log", viewed, "--json").lines[-1]["batch"] == 2
    assert cli("apply", viewed, "--statement", 'update &5 := "x"', "--dry-run", "--json").lines[0]["net"] == 1
    assert cli("log", viewed, "--json").lines[-1]["batch"] == 2


def test_standard_input(cli: Cli, viewed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    assert len(cli("apply", viewed, "-", "--json").lines) == 2


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ('{"op": "ins", "src": 10, "label": "x", "dst": 999}', "no object &999"),
        ('{"op": "ins", "src": 5, "label": "x", "dst": 10}', "an edge out of the atomic object &5"),
        ('{"op": "chg", "oid": 3, "new": 1}', "a change of the complex object &3"),
        ('{"op": "chg", "oid": 5, "old": "Thai", "new": 1}', 'the old value "Thai"'),
        ('{"op": "ins", "src": "nobody", "label": "x", "dst": 10}', "the name 'nobody'"),
        ('{"op": "name", "name": "FavoriteEntrees", "oid": 3}', "which is a view"),
        ('{"op": "ins", "src": 10, "la', "cut off"),
        ('{"op": "jump"}', "jump"),
        ("[1]", "wanted"),
    ],
)
def test_a_bad_edit_refuses_its_batch(cli: Cli, viewed: Path, edit: str, told: str) -> None:
    log = _file(viewed, f'{{"op": "ins", "src": 10, "label": "Ingredient", "dst": 15}}\n{edit}')
    ran = cli("apply", viewed, log, "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "edits.jsonl, line 2" in ran.err
    assert told in ran.err
    assert cli("log", viewed, "--json").lines[-1]["batch"] == 2
    assert cli("show", viewed, "FavoriteEntrees", "--format", "json").lines[0]["primaries"] == [9]


@pytest.mark.parametrize(
    ("statement", "query", "found"),
    [
        ('update &5 := "Hunan Wok"', "select &5", ["Hunan Wok"]),
        ("update &5 := 7", "select &5", ["7"]),
        (
            'update n := "Cafe" from Guide.Restaurant.Name n where n like "%Cafe"',
            "select Guide.Restaurant.Name",
            ["Thai City", "Cafe", "Hunan Palace"],
        ),
        ("update &13.Ingredient := &15", "select &13.Ingredient", ["Mushroom"]),
        ("update &13.Ingredient += &15", "select &13.Ingredient", ["Mushroom", "Beef", "Rice"]),
        ("update &13.Ingredient -= &17", "select &13.Ingredient", ["Rice"]),
        ('update &13.Note := "hot"', "select &13.Note", ["hot"]),
        (
            "update r.Price := 9 from Guide.Restaurant r",
            "select Guide.Restaurant.Price",
            ["9", "9", "9"],
        ),
        (
            "name Best := element(select r from Guide.Restaurant r where r.Rating = 4.0 and r.Price)",
            "select Best",
            ["&3"],
        ),
        (
            'update &3.Entree += oem(Name: "Soup", Price: 3)',
            "select Guide.#.Price",
            ["cheap", "12", "8.5", "3"],
        ),
    ],
)
def test_update_statements(cli: Cli, store: Path, statement: str, query: str, found: list[str]) -> None:
    ran = cli("apply", store, "--statement", statement)
    assert ran.code == 0, ran.err
    assert cli("query", store, query, "--format", "csv").out.splitlines()[1:] == found


def test_unname(cli: Cli, store: Path) -> None:
    assert cli("apply", store, "--statement", "unname Guide").code == 0
    assert cli("query", store, "select Guide").code == 2
    report = cli("apply", store, "--statement", "unname Guide", "--json").lines[0]
    assert (report["net"], report["noops"]) == (0, 1)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("update &3 := 1", "complex object"),
        ("update &5 := Guide.Restaurant.Name", "3 different values"),
        ("update &5 := Guide.Nothing", "no value for &5"),
        ("update &5 += 1", "without a label"),
        ("update &13.Ingredient -= 7", "wanted objects"),
        ("update &999.x += 1", "&999"),
        ("name N := Guide.Restaurant", "found 3 objects"),
        ("select Guide", "this updates nothing"),
        ("define view V = select r from Guide.Restaurant r", "this updates nothing"),
    ],
)
def test_refused_updates(cli: Cli, store: Path, statement: str, told: str) -> None:
    ran = cli("apply", store, "--statement", statement)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert len(cli("log", store, "--json").lines) == 1


def test_neither_log_nor_statement(cli: Cli, store: Path) -> None:
    assert cli("apply", store).code == 2
    assert cli("apply", store, "x.jsonl", "--statement", "unname Guide").code == 2
    assert cli("apply", store, "no-such-file.jsonl").code == 2


def _file(store: Path, text: str) -> Path:
    path = store.parent / "edits.jsonl"
    path.write_text(text)
    return path
