"""Arguments and options that several commands share."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from oemviews.cli.arguments import Argument, Option
from oemviews.errors import BadInput

Store = Annotated[Path, Argument("STORE", "The folder of the store.")]


class Engine(str, Enum):
    auto = "auto"
    local = "local"
    spark = "spark"


EngineOption = Annotated[Engine, Option("--engine", "Which engine runs it.")]
JsonOption = Annotated[bool, Option("--json", "One line of JSON each.")]


def text_of(given: str) -> str:
    """A statement as given, from `@file`, or from standard input (`-`).

    >>> text_of("select Guide.Restaurant")
    'select Guide.Restaurant'
    """
    if given == "-":
        return _decoded(sys.stdin.buffer.read(), "standard input")
    if not given.startswith("@"):
        return given
    path = Path(given[1:])
    try:
        return _decoded(path.read_bytes(), str(path))
    except OSError as error:
        raise BadInput(f"cannot read the statement from {path}: {error.strerror}") from error


def _decoded(text: bytes, where: str) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where} is not UTF-8 (byte {error.start}): save the statement as UTF-8") from error
