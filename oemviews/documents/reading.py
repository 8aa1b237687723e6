"""The parts of a load, and the one way that every part is read, here or in a task of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oemviews.documents import json_in
from oemviews.documents.columns import Rows
from oemviews.documents.json_walk import ITEM, Walker
from oemviews.documents.references import References, Tally
from oemviews.documents.source import Piece, Source, refusal
from oemviews.edits import NetChange
from oemviews.errors import BadInput
from oemviews.model import COMPLEX, Oid

FORMATS: Final = ("json", "jsonl", "xml", "oem")
_SUFFIXES: Final = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xml": "xml", ".oem": "oem"}
_COMPRESSED: Final = (".gz", ".zst")


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a load, or some lines of it.

    `file` numbers the files, `first` says that the file begins here.
    """

    piece: Piece
    format: str
    file: int
    first: bool = True


@dataclass(frozen=True, slots=True)
class Options:
    """What the user said about references."""

    keys: Mapping[str, str]
    idrefs: Sequence[str] = ()


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in _COMPRESSED


def format_of(path: Path) -> str | None:
    """The format that a file's name tells.

    >>> format_of(Path("a.ndjson.gz")), format_of(Path("a.txt"))
    ('jsonl', None)
    """
    inner = path.with_suffix("") if is_compressed(path) else path
    return _SUFFIXES.get(inner.suffix.lower())


def checked_format(format: str | None) -> str | None:
    """`format` if it is one that can be loaded."""
    if format is not None and format not in FORMATS:
        raise BadInput(f"found the format {format!r}, wanted one of {', '.join(FORMATS)}")
    return format


class Reading:
    """Reads part after part into `rows`; references wait in `references` until the whole load is read."""

    def __init__(self, rows: Rows, options: Options, seen: Callable[[int], None] | None = None) -> None:
        self.rows, self._options, self._seen = rows, options, seen
        self.references, self.tally = References(), Tally()
        self.roots: dict[int, Oid] = {}
        self._walker = Walker(rows, options.keys, self.references)

    def read(
        self, part: Part, edge: tuple[Oid, str, str | None], *, careful: bool = False
    ) -> Iterator[NetChange]:
        """The document of a part, hung below `edge`; lines that go on are hung below the root of their file.

        What stays in `rows` at the end is the caller's to flush.
        """
        with Source(part.piece, self._seen) as source:
            match part.format:
                case "jsonl":
                    yield from self._lines(part, source, edge, careful)
                case "xml":
                    from oemviews.documents.xml_in import read_xml

                    options = self._options
                    yield from read_xml(
                        source, self.rows, edge, self.references, idrefs=options.idrefs, keys=options.keys
                    )
                case "oem":
                    from oemviews.documents.oem_in import read_oem

                    yield from read_oem(part.piece, source, self.rows, edge)
                case _:
                    yield from json_in.read_json(
                        part.piece, source, self.rows, edge, self._walker, self.tally, careful=careful
                    )

    def _lines(
        self, part: Part, source: Source, edge: tuple[Oid, str, str | None], careful: bool
    ) -> Iterator[NetChange]:
        if part.first:
            self.roots[part.file] = self.rows.add(COMPLEX, *edge)
            self.rows.set_shape(self.roots[part.file], json_in.LINES)
        root = self.roots[part.file]
        before = self.rows.next_pos
        yield from json_in.read_lines(
            part.piece, source, self.rows, root, self._walker, self.tally, careful=careful
        )
        if part.first and self.rows.next_pos == before:
            raise refusal(part.piece.path, None, "an empty file", "a line of JSON")


def below(root: Oid) -> tuple[Oid, str, str | None]:
    """The edge that a document of several hangs on."""
    return (root, ITEM, None)


def find_fault(parts: Sequence[Part]) -> None:
    """Read parts again, carefully, to say where the value stands that could not be stored.

    Raises:
        DocumentError: with line and column.
    """
    for part in parts:
        if part.format in ("json", "jsonl"):
            reading = Reading(Rows(1, 1), Options({}))
            reading.roots[part.file] = 0
            for _ in reading.read(part, (0, ITEM, None), careful=True):
                pass
