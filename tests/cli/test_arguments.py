"""Commands from functions: what is typed, what the function gets, what is refused and how help looks."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest

from oemviews.cli.arguments import Argument, Option, Parser


class Kind(str, Enum):
    plain = "plain"
    fancy = "fancy"


GOT: dict[str, Any] = {}


def cook(
    pot: Annotated[Path, Argument("POT", "What to cook in.")],
    things: Annotated[list[str] | None, Argument("THING", "What to cook.")] = None,
    kind: Annotated[Kind, Option("--kind", "How.")] = Kind.plain,
    hours: Annotated[int | None, Option("--hours", "How long.", least=1)] = None,
    herb: Annotated[list[str] | None, Option("--herb", "What goes in.", "HERB")] = None,
    lid: Annotated[bool, Option("--lid", "Put the lid on.")] = False,
) -> None:
    """Cook.

    Example: oemviews cook pan soup
    """
    GOT.clear()
    GOT.update(pot=pot, things=things, kind=kind, hours=hours, herb=herb, lid=lid)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (["pan"], {}),
        (["pan", "a", "--lid", "b"], {"things": ["a", "b"], "lid": True}),
        (["--kind=fancy", "pan", "--hours", "3"], {"kind": Kind.fancy, "hours": 3}),
        (["pan", "-", "--herb", "x", "--herb", "-"], {"things": ["-"], "herb": ["x", "-"]}),
    ],
)
def test_what_the_function_gets(given: list[str], got: dict[str, Any]) -> None:
    Parser("cook", cook).call(given)
    usual = {
        "pot": Path("pan"),
        "things": None,
        "kind": Kind.plain,
        "hours": None,
        "herb": None,
        "lid": False,
    }
    assert usual | got == GOT


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "POT"),
        (["pan", "--kind", "odd"], "--kind: found 'odd', wanted one of plain, fancy"),
        (["pan", "--hours", "0"], "--hours: found '0', wanted a whole number of at least 1"),
        (["pan", "--hours", "x"], "--hours: found 'x'"),
        (["pan", "--hrs=3"], "there is no option --hrs: did you mean --hours?"),
        (["pan", "--li"], "there is no option --li"),
        (["pan", "--hours"], "--hours"),
    ],
)
def test_what_is_refused(given: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    GOT.clear()
    with pytest.raises(SystemExit) as ended:
        Parser("cook", cook).call(given)
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out, GOT) == (2, "", {})
    assert printed.err.startswith("Usage: oemviews cook POT [THING...] [OPTIONS]\n")
    assert told in printed.err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    Parser("cook", cook).call(["pan", "--help"])
    assert capsys.readouterr().out == (
        "Usage: oemviews cook POT [THING...] [OPTIONS]\n\n"
        "  Cook.\n\n"
        "  Example: oemviews cook pan soup\n\n"
        "Arguments:\n"
        "  POT         What to cook in.\n"
        "  [THING...]  What to cook.\n\n"
        "Options:\n"
        "  --kind plain|fancy  How.  [default: plain]\n"
        "  --hours N           How long.\n"
        "  --herb HERB         What goes in.\n"
        "  --lid               Put the lid on.\n"
        "  -h, --help          Show this message.\n"
    )
