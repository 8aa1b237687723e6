"""Answers, views and reports as tables: in plain text, on a terminal, in HTML."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from unicodedata import combining, east_asian_width

from oemviews.answers.cells import Cell, atom_json, nested, plain_json
from oemviews.model import Complex

if TYPE_CHECKING:
    from rich.table import Table

    from oemviews.answers.answer import Answer

_WIDEST: Final = 60
_GAP: Final = "   "


def cell_text(cell: Cell) -> str:
    """
    >>> cell_text(Cell("Stuffed Caps", 14))
    '&14 "Stuffed Caps"'
    """
    return repr(cell)


def clipped(text: str) -> str:
    """On one line, and not too wide for one."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def counted(number: int, thing: str) -> str:
    """
    >>> counted(1, "row"), counted(2000, "row"), counted(2, "batch")
    ('1 row', '2,000 rows', '2 batches')
    """
    plural = thing if number == 1 else f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number:,} {plural}"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; columns named in `right` are aligned to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.rows)

    def lines(self) -> Iterator[str]:
        """The table without colour, as wide as it needs to be.

        >>> print(*grid(["name", "n"], [["a", "10"], ["bcdef", "7"]], right=["n"]).lines(), sep="\\n")
        name     n
        ──────────
        a       10
        bcdef    7
        """
        columns = zip(self.header, *self.rows, strict=True)
        widths = [max(map(width, column)) for column in columns]
        yield self._line(self.header, widths)
        yield "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
        for row in self.rows:
            yield self._line(row, widths)

    def _line(self, texts: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for name, text, wide in zip(self.header, texts, widths, strict=True):
            spaces = " " * (wide - width(text))
            padded.append(spaces + text if name in self.right else text + spaces)
        return _GAP.join(padded).rstrip()

    def coloured(self) -> Table:
        """The same for a terminal."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for name in self.header:
            table.add_column(Text(name), no_wrap=True, justify="right" if name in self.right else "left")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()) -> Grid:
    """A table of texts, each on one line and not too wide for one."""
    shown = tuple(tuple(map(clipped, row)) for row in rows)
    return Grid(tuple(header), shown, frozenset(right))


def width(text: str) -> int:
    """Columns that a text takes on a terminal.

    >>> width("abc"), width("東京")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def plain(table: Grid) -> str:
    """A table as text without colour."""
    return "\n".join(table.lines())


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table as HTML, every text escaped."""
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    foot = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


# ---- answers ----


def _texts(answer: Answer, limit: int | None) -> Iterator[list[str]]:
    size = len(answer) if limit is None else min(limit, len(answer))
    for i in range(size):
        yield [cell_text(column.cell(i)) for column in answer.columns]


def answer_grid(answer: Answer, limit: int | None) -> Grid:
    return grid(answer.labels, _texts(answer, limit))


def size_note(answer: Answer, limit: int | None) -> str:
    """How many rows there are, and how many of them are shown."""
    cut = "" if limit is None or len(answer) <= limit else f", the first {limit} shown"
    return counted(len(answer), "row") + cut


def answer_text(answer: Answer, limit: int | None) -> str:
    return f"{plain(answer_grid(answer, limit))}\n{size_note(answer, limit)}"


def answer_html(answer: Answer, limit: int | None) -> str:
    return html_table(
        answer.labels, _texts(answer, limit), f"{size_note(answer, limit)}; engine: {answer.engine}"
    )


def answer_csv(answer: Answer) -> Iterator[str]:
    """CSV with a header: a column an item with its value; a complex object is `&oid`."""
    import csv

    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")

    def taken() -> str:
        text = line.getvalue()
        line.seek(0)
        line.truncate()
        return text

    writer.writerow(answer.labels)
    yield taken()
    for row in answer:
        writer.writerow([_csv_text(cell) for cell in row.values()])
        yield taken()


def _csv_text(cell: Cell) -> str:
    if cell.fields is not None:
        return plain_json(nested(cell, None, 0)).decode()
    if isinstance(cell.value, Complex):
        return f"&{cell.oid}"
    if isinstance(cell.value, str | bytes):
        return str(atom_json(cell.value))
    return "" if cell.value is None else plain_json(nested(cell, None, 0)).decode()
