"""init, load, guide, export, log, compact, doctor: what they print and how they end."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import Cli

WORLD = '[{"cca3": "AUT", "borders": ["DEU", "XXX"]}, {"cca3": "DEU", "borders": ["AUT"]}]'


def test_init_says_what_it_made(cli: Cli, tmp_path: Path) -> None:
    ran = cli("init", tmp_path / "new.store")
    assert (ran.code, ran.out) == (0, "")
    assert "made" in ran.err


def test_init_of_a_folder_that_is_there(cli: Cli, store: Path) -> None:
    ran = cli("init", store)
    assert (ran.code, ran.out) == (2, "")
    assert "already there" in ran.err


@pytest.mark.parametrize("command", [("query", "select X"), ("log",), ("guide",), ("views",), ("compact",)])
def test_no_store(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    ran = cli(command[0], tmp_path / "nowhere", *command[1:])
    assert (ran.code, ran.out) == (3, "")
    assert "oemviews init" in ran.err


def test_a_folder_that_is_no_store(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("x")
    assert cli("log", tmp_path).code == 3


def test_load_and_export_give_the_document_back(cli: Cli, store: Path, tmp_path: Path) -> None:
    document = {"b": [1, 1.0, []], "a": {"x y": "é"}, "empty": [], "none": None}
    (tmp_path / "d.json").write_text(json.dumps(document))
    assert cli("load", store, tmp_path / "d.json", "--name", "D").code == 0
    ran = cli("export", store, "D")
    assert list(json.loads(ran.out)) == list(document)
    assert json.loads(ran.out) == document


def test_keys_become_edges_and_the_rest_is_counted(cli: Cli, store: Path, tmp_path: Path) -> None:
    (tmp_path / "world.json").write_text(WORLD)
    ran = cli("load", store, tmp_path / "world.json", "--name", "World", "--key", "borders=cca3")
    assert ran.code == 0
    assert "2 references became edges" in ran.err
    assert "1 reference found nothing and stay strings, such as borders 'XXX'" in ran.err
    found = cli(
        "query", store, 'select c.borders.cca3 from World.item c where c.cca3 = "AUT"', "--format", "csv"
    )
    assert found.out == "cca3\nDEU\n"
    assert json.loads(cli("export", store, "World").out) == json.loads(WORLD)


@pytest.mark.parametrize(
    ("content", "told"),
    [("{", "line 1, column 2"), ('{"a": 1, "a": 2}', "'a'"), ("", "empty"), ('{"a": NaN}', "line 1")],
)
def test_a_bad_document_stores_nothing(
    cli: Cli, store: Path, tmp_path: Path, content: str, told: str
) -> None:
    (tmp_path / "bad.json").write_text(content)
    ran = cli("load", store, tmp_path / "bad.json", "--name", "Bad")
    assert (ran.code, ran.out) == (2, "")
    assert "bad.json" in ran.err
    assert told in ran.err
    assert len(cli("log", store, "--json").lines) == 1


def test_a_name_that_is_taken(cli: Cli, viewed: Path, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text("{}")
    for name in ("Guide", "FavoriteEntrees"):
        ran = cli("load", viewed, tmp_path / "d.json", "--name", name)
        assert ran.code == 2
        assert f"'{name}' is already taken" in ran.err


def test_a_folder_with_nothing_to_load(cli: Cli, store: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert cli("load", store, tmp_path / "empty", "--name", "E").code == 2


def test_a_compressed_file_and_a_folder(cli: Cli, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b'{"v": 1}\n{"v": 2}\n'))
    (folder / "b.xml").write_text("<r><v>3</v></r>")
    assert cli("load", store, folder, "--name", "All").code == 0
    found = cli("query", store, "select All.#.v", "--format", "json")
    assert [line["v"]["value"] for line in found.lines] == [1, 2, "3"]


@pytest.mark.parametrize("key", ["borders", "=x", "x="])
def test_a_key_that_is_no_pair(cli: Cli, store: Path, tmp_path: Path, key: str) -> None:
    (tmp_path / "d.json").write_text("{}")
    ran = cli("load", store, tmp_path / "d.json", "--name", "D", "--key", key)
    assert ran.code == 2
    assert "LABEL=KEYLABEL" in ran.err


@pytest.mark.parametrize("format", ["json", "xml", "oem"])
def test_export_of_a_view(cli: Cli, viewed: Path, format: str) -> None:
    ran = cli("export", viewed, "FavoriteEntrees", "--format", format)
    assert ran.code == 0
    assert "Stuffed Caps" in ran.out


def test_export_of_nothing(cli: Cli, store: Path) -> None:
    ran = cli("export", store, "Guid")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'Guide'?" in ran.err


def test_export_past_its_limit_prints_nothing(cli: Cli, store: Path) -> None:
    ran = cli("export", store, "Guide", "--max-size", 20)
    assert (ran.code, ran.out) == (2, "")
    assert "oem" in ran.err


def test_guide(cli: Cli, store: Path) -> None:
    ran = cli("guide", store, "Guide")
    line = next(line for line in ran.out.splitlines() if line.startswith("Guide.Restaurant.Address "))
    assert line.split(maxsplit=2)[1:] == ["3", "complex 1, string 2   Mountain View, Menlo Park"]
    assert cli("guide", store, "Guid").code == 2


def test_log(cli: Cli, viewed: Path) -> None:
    lines = cli("log", viewed, "--json").lines
    assert [(line["batch"], line["kind"]) for line in lines] == [(1, "load"), (2, "define")]
    assert "define view FavoriteEntrees" in cli("log", viewed).out


def test_compact_drops_what_no_name_reaches(cli: Cli, viewed: Path) -> None:
    assert cli("apply", viewed, "--statement", "update Guide.Restaurant := Guide.Nowhere").code == 0
    ran = cli("compact", viewed)
    assert ran.code == 0
    assert "dropped 28 objects" in ran.err
    assert len(cli("query", viewed, "select Guide.#", "--format", "json").lines) == 1
    assert cli("check", viewed).code == 0


def test_doctor_lists_what_it_looked_at(cli: Cli) -> None:
    ran = cli("doctor")
    assert ran.code in (0, 4)
    for what in ("Python", "Java", "Spark", "GraphFrames JAR", "Write"):
        assert what in ran.out


def test_doctor_without_java(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ran = cli("doctor")
    assert ran.code == 4
    assert "JAVA_HOME" in ran.err


def test_spark_without_java_is_a_sentence(store: Path, tmp_path: Path) -> None:
    """In a process of its own: where a session is live, no new Java is needed."""
    command = [sys.executable, "-c", "from oemviews.cli import main; main()"]
    arguments = ["query", str(store), "select Guide", "--engine", "spark"]
    lacking = {**os.environ, "JAVA_HOME": str(tmp_path)}
    ran = subprocess.run([*command, *arguments], env=lacking, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "Spark needs Java" in ran.stderr


def test_the_demo_runs_without_java(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ran = cli("demo")
    assert ran.code == 0
    assert "only the local engine runs" in ran.err
    assert "exists &15 in &10.Ingredient" in ran.out
    assert "engine that ran: local" in ran.out
    assert cli("demo", "--engine", "spark").code == 4


FIRST = ("demo", "doctor", "init", "load", "guide", "query", "shell", "define", "drop")
COMMANDS = (*FIRST, "views", "show", "explain", "apply", "check", "export", "log", "compact")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(cli: Cli, command: str) -> None:
    ran = cli(command, "--help")
    assert ran.code == 0
    assert f"Example: oemviews {command}" in ran.out


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("query",), ("init",), ("query", "s", "q", "--format", "x")]
)
def test_usage_errors(cli: Cli, arguments: tuple[str, ...]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Usage" in ran.err
