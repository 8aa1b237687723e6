"""Lorel in notebooks: `%load_ext oemviews`, then `%%lorel` runs the statement in a cell.

%lorel guide.store          choose a database: a store to open, or a variable that holds one
%%lorel                     run the statement below it and show what it gives
"""

from __future__ import annotations

import shlex
from typing import Any

from oemviews.errors import BadInput, OemError


class Lorel:
    """The magic, with the database that it talks to."""

    def __init__(self, shell: Any) -> None:
        self.shell, self.db = shell, None

    def __call__(self, line: str, cell: str | None = None) -> Any:
        try:
            words = _words(line)
            if words:
                self.db = self._opened(words[0])
            if cell is None:
                return self.db
            return self._database().execute(cell)
        except OemError as fault:  # a sentence, not a traceback
            from oemviews.jupyter.shown import Fault

            return Fault(str(fault))

    def _opened(self, word: str) -> Any:
        from oemviews.front.database import Database, open

        known = self.shell.user_ns.get(word)
        return known if isinstance(known, Database) else open(word)

    def _database(self) -> Any:
        from oemviews.front.database import Database

        if self.db is not None:
            return self.db
        held = [value for value in self.shell.user_ns.values() if isinstance(value, Database)]
        if len({id(value) for value in held}) == 1:
            return held[0]
        raise BadInput(f"found {len(held)} open databases, wanted one: say which, as in `%lorel db`")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as fault:  # a quote that does not end
        raise BadInput(f"found {line!r}, wanted a store or a variable: {fault}") from fault


def load_ipython_extension(ipython: Any) -> None:
    """Register the magic."""
    ipython.register_magic_function(Lorel(ipython), "line_cell", "lorel")
