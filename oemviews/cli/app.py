"""The commands, each in the module of its kind; only that of the command asked for is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Final

from oemviews.cli.arguments import Parser, columns

COMMANDS: Final = {
    "demo": "environment",
    "doctor": "environment",
    "init": "stores",
    "load": "stores",
    "guide": "stores",
    "query": "queries",
    "shell": "queries",
    "define": "views",
    "drop": "views",
    "views": "views",
    "show": "views",
    "explain": "views",
    "apply": "applying",
    "check": "views",
    "export": "stores",
    "log": "stores",
    "compact": "stores",
}

_USAGE: Final = "Usage: oemviews COMMAND [ARGUMENTS] [OPTIONS]\n"
_ABOUT: Final = """
  Materialized views over JSON and XML, kept up to date edit by edit.

  A first look:          oemviews demo
  A store of your own:   oemviews init guide.store
                         oemviews load guide.store guide.json --name Guide
                         oemviews query guide.store 'select Guide.Restaurant.Name'

  Exit codes: 0 done, 1 check found a difference, 2 bad input, 3 the store is missing, locked or damaged,
  4 the environment lacks something.

"""
_OPTIONS: Final = (
    ("--version", "Show the version."),
    ("--debug", "Add the traceback to an error message."),
    ("-h, --help", "Show this message, or with a command what it takes."),
)


def function_of(command: str) -> Callable[..., None]:
    """The function that a command runs."""
    found: Callable[..., None] = getattr(import_module(f"oemviews.cli.{COMMANDS[command]}"), command)
    return found


def app(arguments: Sequence[str]) -> None:
    """Run the command that the first argument names, with the others.

    Raises:
        SystemExit: it is not done; with the code to end with.
    """
    name, *rest = arguments or [""]
    if name in COMMANDS:
        Parser(name, function_of(name)).call(rest)
    elif name in ("-h", "--help"):
        sys.stdout.write(overview())
    elif name == "--version":
        from importlib.metadata import version

        sys.stdout.write(f"oemviews {version('oemviews')}\n")
    else:
        if not name:
            sys.stderr.write(overview())
        else:
            what = "option" if name.startswith("-") else "command"
            close = get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean {close[0]}?" if close else "oemviews --help"
            sys.stderr.write(f"{_USAGE}\nerror: there is no {what} {name}\nhint: {hint}\n")
        raise SystemExit(2)


def overview() -> str:
    """What there is, a line a command."""
    about = [(name, _first_sentence(function_of(name).__doc__ or "")) for name in COMMANDS]
    parts = ["Options:", *columns(_OPTIONS), "", "Commands:", *columns(about)]
    return _USAGE + _ABOUT + "\n".join(parts) + "\n"


def _first_sentence(text: str) -> str:
    """
    >>> _first_sentence("Answer a query. It may be long.")
    'Answer a query.'
    """
    line = text.split("\n")[0]
    return line.split(". ")[0].rstrip(".") + "."
