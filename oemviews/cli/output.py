"""Where text goes: data to standard output, everything else to standard error; colour only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from oemviews.answers.rendering import Grid

_COLOURED: Final = 1_000
"""A table of more rows is printed plainly, which takes less time."""

_PATIENCE: Final = 2.0
"""Seconds of work before a progress bar shows."""


def data(text: str) -> None:
    """A line of data."""
    sys.stdout.write(f"{text}\n")


def data_lines(lines: Iterable[str]) -> None:
    for line in lines:
        data(line)


def data_text(pieces: Iterable[str]) -> None:
    """Pieces of a document, as they are."""
    sys.stdout.writelines(pieces)


def data_table(table: Grid) -> None:
    """A table: in colour and as wide as the terminal, or plain and as wide as it needs to be."""
    if not sys.stdout.isatty() or len(table) > _COLOURED:
        data_lines(table.lines())
        return
    from rich.console import Console

    Console().print(table.coloured())


def note(text: str) -> None:
    """What a person should know, beside the data."""
    sys.stderr.write(f"{text}\n")


def warning(text: str) -> None:
    note(_coloured("note: ", "33") + text)


def error(text: str) -> None:
    note(_coloured("error: ", "31") + text)


def _coloured(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stderr.isatty() else text


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on anything that takes long, if standard error is a terminal; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)
    start = time.monotonic()
    shown = False

    def told(done: int, total: int) -> None:
        nonlocal shown
        if not shown and time.monotonic() - start > _PATIENCE:
            bar.start()
            shown = True
        if shown:
            bar.update(task, completed=done, total=total or None)

    try:
        yield told
    finally:
        if shown:
            bar.stop()
