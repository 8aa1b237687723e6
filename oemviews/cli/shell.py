"""A line at a time: statements end with a semicolon, commands begin with a dot."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lorel.parser import parse_program
from oemviews.answers.answer import Answer
from oemviews.cli.output import data, data_table, error, note, warning, working
from oemviews.cli.queries import show
from oemviews.errors import OemError

if TYPE_CHECKING:
    from oemviews.front.database import Database

_HELP: Final = """\
Statements end with a semicolon: queries, updates, `define view`, `drop view`.
  .guide [NAME]      every label path, with counts, types and samples
  .names             the names
  .views             the views, and how each is kept
  .show VIEW         what a view holds
  .explain QUERY     the plan of a query, with the rows of each operator
  .format NAME       how answers are printed: table, json or csv
  .log               the batches
  .quit              leave (also Ctrl-D)"""


class Shell:
    """Reads standard input, with a prompt if that is a terminal; an error ends a statement, not the shell."""

    def __init__(self, db: Database) -> None:
        self.db, self.format, self.failed = db, "table", False

    def loop(self) -> None:
        if sys.stdin.isatty():
            import readline  # noqa: F401  # lines can be edited and called back

            note(f"{self.db!r}\n.help lists the commands")
        for text in self._texts():
            if text in (".quit", ".exit"):
                return
            try:
                self.run(text)
            except OemError as fault:
                error(str(fault))
                self.failed = True
            except KeyboardInterrupt:
                error("interrupted")

    def _texts(self) -> Iterator[str]:
        """Whole statements and commands, as they come."""
        waiting: list[str] = []
        while True:
            try:
                line = self._line("      -> " if waiting else "oemviews> ")
            except KeyboardInterrupt:
                note("")
                waiting = []
                continue
            if line is None:
                break
            if not waiting and line.strip().startswith("."):
                yield line.strip()
                continue
            waiting.append(line)
            text = "\n".join(waiting).strip()
            if text.endswith(";"):
                waiting = []
                yield text
        if "\n".join(waiting).strip():
            yield "\n".join(waiting).strip()

    def _line(self, prompt: str) -> str | None:
        if not sys.stdin.isatty():
            line = sys.stdin.readline()
            return line.rstrip("\n") if line else None
        try:
            return input(prompt)
        except EOFError:
            note("")
            return None

    def run(self, text: str) -> None:
        """Run the statements of a text, or a command, and print what each gives."""
        if text.startswith("."):
            self._command(*text[1:].split(maxsplit=1))
            return
        statements = parse_program(text)
        if len(statements) > 1:
            for each in statements:
                self.run(text[each.span.start : each.span.end])
            return
        with working("asking"):
            found = self.db.execute(text)
            if isinstance(found, Answer):
                for line in found.notes:
                    warning(line)
                len(found)  # it is found when it is looked at
        if isinstance(found, Answer):
            show(found, self.format)
        elif found is None:
            note("dropped")
        else:
            data(repr(found))

    def _command(self, name: str = "", argument: str = "") -> None:
        match name:
            case "guide":
                data_table(self.db.dataguide(argument or None).table())
            case "names":
                for known, oid in sorted(self.db.names.items()):
                    data(f"{known} &{oid}")
            case "views":
                data(repr(self.db.views))
            case "show":
                data(repr(self.db.view(argument)))
            case "explain":
                answer = self.db.query(argument)
                len(answer)
                data(answer.explain())
            case "format" if argument in ("table", "json", "csv"):
                self.format = argument
            case "log":
                data_table(self.db.batches.table())
            case _:
                note(_HELP)
