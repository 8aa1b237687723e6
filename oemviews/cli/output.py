"""Where text goes: data to standard output, everything else to standard error; colour only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from oemviews.answers.rendering import Grid
from oemviews.pulse import PULSE

_COLOURED: Final = 1_000
"""A table of more rows is printed plainly, which takes less time."""

_PATIENCE: Final = 2.0
"""Seconds of work before progress shows."""

_OFTEN: Final = 0.3
"""Seconds after which the progress line is written anew."""

_WIPED: Final = "\r\033[K"


def data(text: str) -> None:
    """A line of data."""
    _Line.wipe()
    sys.stdout.write(f"{text}\n")


def data_lines(lines: Iterable[str]) -> None:
    for line in lines:
        data(line)


def data_text(pieces: Iterable[str]) -> None:
    """Pieces of a document, as they are."""
    _Line.wipe()
    sys.stdout.writelines(pieces)


def data_table(table: Grid) -> None:
    """A table: in colour and as wide as the terminal, or plain and as wide as it needs to be."""
    if not sys.stdout.isatty() or len(table) > _COLOURED:
        data_lines(table.lines())
        return
    from rich.console import Console

    _Line.wipe()
    Console().print(table.coloured())


def note(text: str) -> None:
    """What a person should know, beside the data."""
    _Line.wipe()
    sys.stderr.write(f"{text}\n")


def warning(text: str) -> None:
    note(_coloured("note: ", "33") + text)


def error(text: str) -> None:
    note(_coloured("error: ", "31") + text)


def _coloured(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stderr.isatty() else text


@contextmanager
def working(what: str) -> Iterator[None]:
    """Tell from time to time how long work has taken and how far it is, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    line = _Line(what)
    try:
        yield
    finally:
        line.end()


class _Line:
    """A line that is written over again and again, by a thread of its own, and wiped before anything else.

    asking: 12 s; 3,400,000 rows, 17 levels so far
    """

    shown = False

    def __init__(self, what: str) -> None:
        PULSE.reset()
        self._what, self._start, self._over = what, time.monotonic(), Event()
        self._thread = Thread(target=self._tell, daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        wait = _PATIENCE
        while not self._over.wait(wait):
            wait = _OFTEN
            told = "; ".join(filter(None, [f"{time.monotonic() - self._start:.0f} s", str(PULSE)]))
            sys.stderr.write(f"{_WIPED}{self._what}: {told}")
            sys.stderr.flush()
            _Line.shown = True

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        self.wipe()

    @staticmethod
    def wipe() -> None:
        if _Line.shown:
            sys.stderr.write(_WIPED)
            sys.stderr.flush()
            _Line.shown = False


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
