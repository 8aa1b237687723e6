"""Every command with its options: exit codes, streams, stores that are missing, locked or damaged."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import oemviews as ov
from oemviews.store import files
from tests.commands import FAVORITE, Cli
from tests.contract.conftest import Process

COMMANDS = {
    "load": ("no.json", "--name", "X"),
    "guide": (),
    "query": ("select Guide",),
    "define": ("define view V as W = select Guide",),
    "drop": ("V",),
    "views": (),
    "show": ("V",),
    "explain": ("V",),
    "apply": ("-",),
    "check": (),
    "export": ("Guide",),
    "log": (),
    "compact": (),
    "shell": (),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_that_is_missing_or_something_else(cli: Cli, tmp_path: Path, command: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    for path in ("nowhere", "folder", "file"):
        done = cli(command, tmp_path / path, *COMMANDS[command])
        assert (done.code, path in done.err) == (3, True)
    assert not (tmp_path / "nowhere").exists()
    assert not list((tmp_path / "folder").iterdir())


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--no-such-option", "--format=quantum"])
def test_wrong_options(cli: Cli, guide_template: Path, command: str, option: str) -> None:
    assert cli(command, guide_template, *COMMANDS[command], option).code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("init",),
        ("load",),
        ("query",),
        ("define",),
        ("drop",),
        ("show",),
        ("explain",),
        ("apply",),
        ("export",),
        ("compact",),
        ("query", "a", "b", "c"),
        ("demo", "--engine", "quantum"),
        ("--nonsense",),
    ],
)
def test_wrong_usage(cli: Cli, arguments: tuple[str, ...]) -> None:
    if arguments:
        assert cli(*arguments).code == 2


def test_init(cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path / "s").code == 0
    assert cli("init", tmp_path / "s").code == 2
    assert cli("views", tmp_path / "s", "--json").lines == []
    assert cli("log", tmp_path / "s", "--json").lines == []
    assert cli("check", tmp_path / "s").code == 0
    assert cli("guide", tmp_path / "s").code == 0
    assert cli("compact", tmp_path / "s").code == 0
    assert cli("query", tmp_path / "s", "select Guide").code == 2
    (tmp_path / "file").write_text("x")
    assert cli("init", tmp_path / "file").code == 2


def test_load_with_every_option(cli: Cli, store: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('{"c": [{"k": "x", "r": "y"}, {"k": "y", "r": "gone", "s": "x"}]}')
    options = ("--name", "A", "--format", "json", "--key", "r=k", "--key", "s=k")
    done = cli("load", store, tmp_path / "a.txt", *options)
    assert (done.code, done.out) == (0, "")
    assert "gone" in done.err
    assert len(cli("query", store, "select A.c.r.k union select A.c.s.k", "--format", "json").lines) == 2
    (tmp_path / "b.xml").write_text('<a><b id="1"/><c r="1" s="1"/></a>')
    assert cli("load", store, tmp_path / "b.xml", "--name", "B", "--idref", "r", "--idref", "s").code == 0
    assert len(cli("query", store, "select B.b intersect select B.c.s", "--format", "json").lines) == 1
    for format, text in {"jsonl": "1\n2\n", "oem": "<X &1 { <a &2 1> }>", "xml": "<a/>"}.items():
        (tmp_path / format).write_text(text)
        assert cli("load", store, tmp_path / format, "--name", f"F{format}", "--format", format).code == 0
    assert cli("check", store).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("no.json", "--name", "X"),
        ("good.json", "--name", "Guide"),
        ("good.json", "--name", "FavoriteEntrees"),
        ("good.json",),
        ("bad.json", "--name", "X"),
        ("good.json", "bad.json", "--name", "X"),
        ("empty", "--name", "X"),
        ("good.json", "--name", "X", "--key", "nonsense"),
        ("good.json", "--name", "X", "--format", "xml"),
        ("good.json", "--name", ""),
        ("latin.json", "--name", "X"),
        ("unknown.dat", "--name", "X"),
    ],
)
def test_loads_that_store_nothing(cli: Cli, viewed: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "good.json").write_text('{"a": 1}')
    (tmp_path / "bad.json").write_text('{"a": }')
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    (tmp_path / "unknown.dat").write_bytes(b"\x00\x01")
    (tmp_path / "empty").mkdir()
    files = [tmp_path / word if "." in word or word == "empty" else word for word in arguments]
    assert cli("load", viewed, *files).code == 2
    assert len(cli("log", viewed, "--json").lines) == 2


def test_define_and_drop(cli: Cli, viewed: Path) -> None:
    for policy in ("auto", "incremental", "strict", "full"):
        statement = f"define view P{policy} as W = select r from Guide.Restaurant r where r.Price < 20"
        assert cli("define", viewed, statement, "--policy", policy).code == 0
    assert [line["policy"] for line in cli("views", viewed, "--json").lines] == [
        "auto",
        "auto",
        "incremental",
        "strict",
        "full",
    ]
    over = "define view Over as W = select e.Name from FavoriteEntrees.Entrees e"
    assert cli("define", viewed, over).code == 0
    assert cli("drop", viewed, "FavoriteEntrees").code == 2, "a view still reads it"
    assert cli("drop", viewed, "Over").code == 0
    assert cli("drop", viewed, "FavoriteEntrees").code == 0
    assert cli("drop", viewed, "FavoriteEntrees").code == 2
    assert cli("show", viewed, "FavoriteEntrees").code == 2
    assert cli("query", viewed, "select FavoriteEntrees").code == 2
    assert cli("define", viewed, FAVORITE).code == 0, "the name is free again"
    assert cli("check", viewed).code == 0


@pytest.mark.parametrize(
    "statement",
    [
        FAVORITE,
        "define view Guide as W = select Guide.Restaurant",
        "define view V as W = select Nowhere.x",
        "define view V as W = select r from Guide.Restaurant r with s.Name n",
        "define view V as W = select V.W",
        "define view V as W = ",
        "define view V as W = select count(Guide.Restaurant)",
        "define view V as W = select r from Guide.Restaurant r order by r.Name",
        "select Guide",
        "drop view FavoriteEntrees",
        "",
        "@nowhere.lorel",
    ],
)
def test_definitions_that_are_refused(cli: Cli, viewed: Path, statement: str) -> None:
    assert cli("define", viewed, statement).code == 2
    assert len(cli("log", viewed, "--json").lines) == 2


def test_views_on_views_follow(cli: Cli, viewed: Path) -> None:
    over = "define view Over as O = select n from FavoriteEntrees.Entrees e, e.Name n"
    assert cli("define", viewed, over).code == 0
    again = 'define view Again as A = select x from Over.O x where x like "Beef%"'
    assert cli("define", viewed, again).code == 0
    [line] = cli("apply", viewed, "-", "--json", stdin="<Ins,&10,Ingredient,&15>").lines
    assert [(view["view"], view["added"]) for view in line["views"]] == [
        ("FavoriteEntrees", 1),
        ("Over", 1),
        ("Again", 1),
    ]
    asked = cli("query", viewed, "select Again.A", "--format", "json").lines
    assert asked == [{"A": {"oid": 16, "type": "string", "value": "Beef Stew"}}]
    assert [line["equal"] for line in cli("check", viewed, "--json").lines] == [True] * 3
    assert json.loads(cli("export", viewed, "Over").out) == {"O": ["Stuffed Caps", "Beef Stew"]}


def test_a_view_whose_name_disappears_is_empty_and_fills_again(cli: Cli, viewed: Path) -> None:
    def primaries() -> object:
        return json.loads(cli("show", viewed, "FavoriteEntrees", "--format", "json").out)["primaries"]

    cli("apply", viewed, "-", stdin='{"op": "unname", "name": "Guide"}')
    assert primaries() == []
    assert cli("check", viewed).code == 0
    cli("apply", viewed, "-", stdin='{"op": "name", "name": "Guide", "oid": 1}')
    assert primaries() == [9]
    assert cli("check", viewed).code == 0


def test_explain(cli: Cli, viewed: Path) -> None:
    told = cli("explain", viewed, "FavoriteEntrees").out
    assert "counting" in told
    edits = ("<Ins,&10,Ingredient,&15>", "<Del,&9,Ingredient,&15>", '<Chg,&7,"Baghdad Cafe","x">')
    options = [word for edit in edits for word in ("--edit", edit)]
    told = cli("explain", viewed, "FavoriteEntrees", *options).out
    assert "ADDprim" in told
    assert "DELprim" in told
    assert "&10.Ingredient" in told
    for bad in ("nonsense", "<Ins,&10,Ingredient>"):
        assert cli("explain", viewed, "FavoriteEntrees", "--edit", bad).code == 2
    assert len(cli("log", viewed, "--json").lines) == 2


def test_export(cli: Cli, viewed: Path) -> None:
    assert json.loads(cli("export", viewed, "FavoriteEntrees").out) == {
        "Entrees": {"Name": "Stuffed Caps", "Ingredient": "Mushroom"}
    }
    for format in ("json", "xml", "oem"):
        assert "Baghdad Cafe" in cli("export", viewed, "Guide", "--format", format).out
    small = cli("export", viewed, "Guide", "--max-size", 10)
    assert (small.code, "oem" in small.err.lower()) == (2, True)
    assert cli("export", viewed, "Nobody").code == 2


def test_guide(cli: Cli, guide_template: Path) -> None:
    told = cli("guide", guide_template, "Guide").out
    for word in ("Restaurant", "Entree", "Ingredient", "Mushroom", "string"):
        assert word in told
    assert cli("guide", guide_template, "Nobody").code == 2


def test_query_refuses_what_other_commands_take(cli: Cli, store: Path) -> None:
    for statement, taken in [("update &5 := 1", "apply"), (FAVORITE, "define"), ("drop view X", "drop")]:
        done = cli("query", store, statement)
        assert (done.code, taken in done.err) == (2, True)


def test_query_from_a_file_and_from_standard_input(cli: Cli, guide_template: Path, tmp_path: Path) -> None:
    (tmp_path / "q.lorel").write_text("select Guide.Restaurant.Name\n")
    told = cli("query", guide_template, f"@{tmp_path / 'q.lorel'}", "--format", "json").lines
    assert len(told) == 3
    stdin = "select Guide.Restaurant.Name"
    assert cli("query", guide_template, "-", "--format", "json", stdin=stdin).lines == told
    assert cli("query", guide_template, "@/no/such/file").code == 2
    assert cli("query", guide_template, "-", stdin="").code == 2


def test_shell_reads_statements(process: Process, store: Path) -> None:
    typed = [
        "select Guide.Restaurant.Name;",
        "select nonsense from;",
        'update &5 := "Hunan Wok";',
        "select &5;",
        ".help",
        ".quit",
    ]
    done = process("shell", store, stdin="\n".join(typed).encode())
    assert done.code == 2, "one statement of a script was bad"
    assert "Baghdad Cafe" in done.out
    assert "Hunan Wok" in done.out
    assert done.err


def test_a_second_writer_is_told_who_writes(process: Process, store: Path) -> None:
    with ov.open(store) as db, db._store.writing():
        done = process("apply", store, "--statement", "update &5 := 1")
        assert (done.code, done.out) == (3, "")
        assert str(os.getpid()) in done.err
        asked = process("query", store, "select &5", "--format", "json")
        assert asked.lines == [{"&5": {"oid": 5, "type": "string", "value": "Thai City"}}]
    assert process("apply", store, "--statement", "update &5 := 1", "--json").lines[0]["batch"] == 2


def test_damaged_stores(cli: Cli, viewed: Path, tmp_path: Path) -> None:
    """Whatever file is torn or gone, a command answers as if it were whole or says what is wrong."""
    whole = cli("export", viewed, "Guide", "--format", "oem").out
    files = sorted(path.relative_to(viewed) for path in viewed.rglob("*") if path.is_file())
    assert files
    for number, name in enumerate(files):
        for harm in ("torn", "gone", "foreign"):
            hurt = Path(shutil.copytree(viewed, tmp_path / f"hurt{number}{harm}"))
            data = (hurt / name).read_bytes()
            if harm == "gone":
                (hurt / name).unlink()
            else:
                (hurt / name).write_bytes(data[: len(data) // 2] if harm == "torn" else b"\x00nonsense" * 9)
            told = cli("export", hurt, "Guide", "--format", "oem")
            assert told.code in (0, 3), (name, harm)
            assert told.code == 3 or told.out == whole, (name, harm)
            assert cli("show", hurt, "FavoriteEntrees").code in ((0, 2, 3) if harm == "gone" else (0, 3)), (
                name,
                harm,
            )
            shutil.rmtree(hurt)


def test_streams_of_a_process(process: Process, store: Path) -> None:
    done = process("apply", store, "--statement", "update &5 := 1", "--json")
    assert (done.code, len(done.lines)) == (0, 1)
    done = process("query", store, "select Guide.Restaurant.Nmae", "--format", "json")
    assert (done.code, done.out) == (0, "")
    assert "Name" in done.err
    bad = process("query", store, "select from")
    assert (bad.code, bad.out, "Traceback" in bad.err) == (2, "", False)
    assert "Traceback" in process("--debug", "query", store, "select from").err


def test_an_environment_without_java(process: Process, store: Path) -> None:
    bare = {"PATH": "/nowhere", "JAVA_HOME": "/nowhere"}
    done = process("query", store, "select Guide", "--engine", "spark", env=bare)
    assert (done.code, done.out) == (4, "")
    assert "Java" in done.err
    assert process("query", store, "select Guide", "--format", "json", env=bare).lines


def test_a_batch_whose_views_could_not_be_stored_is_told_as_stored(
    cli: Cli, viewed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who took it for refused would apply it twice."""

    def full(folder: str, table: pa.Table) -> tuple[str, int]:
        if folder.endswith("changes"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return files.write_parquet(folder, table)

    with monkeypatch.context() as patch:
        patch.setattr("oemviews.store.delta.write_parquet", full)
        done = cli("apply", viewed, "--statement", "update &10.Ingredient += &15")
    assert (done.code, "batch 3 is stored" in done.err, "not apply it again" in done.err) == (3, True, True)
    assert cli("views", viewed, "--json").lines[0]["batch"] == 2
    assert cli("check", viewed).code == 0
    assert json.loads(cli("show", viewed, "FavoriteEntrees", "--format", "json").out)["primaries"] == [9, 10]


def test_words_that_are_not_utf8(process: Process, store: Path, tmp_path: Path) -> None:
    """A command line may hold any bytes; none of them is a fault of the program."""
    odd = os.fsdecode(b"odd\xff")
    (tmp_path / odd).write_text("<Ins,&3,Entree,&13>\n")
    (tmp_path / f"{odd}.json").write_text('{"a": 1}')
    assert process("query", store, f'select "{odd}"').code == 2
    assert process("define", store, f"define view {odd} = select Guide").code == 2
    assert process("show", store, odd).code == 2
    assert process("init", tmp_path / f"{odd}.store").code == 2
    assert not (tmp_path / f"{odd}.store").exists()
    assert process("load", store, tmp_path / f"{odd}.json", "--name", "Odd").code == 0
    assert len(process("apply", store, tmp_path / odd, "--json").lines) == 1
    assert process("apply", store, tmp_path / odd, "--json").lines == []
