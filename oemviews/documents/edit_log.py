"""Edit logs: JSON Lines or the paper's notation, one edit a line, in batches that a rerun can resume after.

    {"op": "ins", "src": 10, "label": "Ingredient", "dst": 15}      <Ins,&10,Ingredient,&15>
    {"op": "chg", "oid": 5, "new": "Hunan Wok"}                     <Chg,&5,"Thai City","Hunan Wok">

A batch ends at `{"op": "commit"}`; in a log without one, after as many edits as the reader says, else at
the end. Each batch carries the number of lines so far and a hash of them, every line taken with one newline
at its end: so a log that has grown, or was mended further down, still begins with the lines applied before.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from oemviews.documents.edit_text import BadEdit, Commit, edit_of
from oemviews.documents.source import LONGEST, Piece, Source
from oemviews.edits import Edit
from oemviews.errors import EditError


class Place(NamedTuple):
    """Where an edit stands."""

    log: str
    line: int

    def __str__(self) -> str:
        return f"{self.log}, line {self.line}"


class _Line(NamedTuple):
    """A line of a log without its newline; `ended` is False for a last line that has none."""

    number: int
    text: bytes
    ended: bool


@dataclass(frozen=True, slots=True)
class LogBatch:
    """A batch of a log: its edits, and the log up to its end as lines and a hash of them."""

    edits: tuple[tuple[Place, Edit], ...]
    first_line: int
    last_line: int
    hash: str


@dataclass(frozen=True)
class EditLog:
    """A log that can be read more than once; `name` is what messages call it."""

    path: Path
    name: str

    @classmethod
    def of(cls, log: Path | str) -> EditLog:
        return cls(Path(log), str(log))

    @classmethod
    def of_stream(cls, stream: IO[bytes], folder: Path, name: str = "-") -> EditLog:
        """A log that comes through a pipe, compressed or not.

        It is read more than once, so it is kept in `folder` as long as the result lives.
        """
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".log", delete=False) as kept:
            shutil.copyfileobj(stream, kept)
        log = cls(Path(kept.name), name)
        weakref.finalize(log, Path(kept.name).unlink, missing_ok=True)
        return log

    def resume(self, recorded: Iterable[tuple[int, str]]) -> int:
        """How many lines of this log were applied: the longest recorded beginning of it, else 0."""
        return max((lines for lines, _ in self.beginnings(recorded)), default=0)

    def beginnings(self, recorded: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
        """Those of the recorded (lines, hash) that this log begins with."""
        known, found = set(recorded), set()
        left = {lines for lines, _ in known}
        running = hashlib.sha256()
        for line in self._lines():
            if not left:
                break
            running.update(line.text + b"\n")
            if line.number in left:
                left.discard(line.number)
                found.add((line.number, running.hexdigest()))
        return found & known

    def batches(self, size: int | None = None, after: int = 0) -> Iterator[LogBatch]:
        """The batches of the lines after the first `after`; `size` edits each if no line says commit.

        Raises:
            EditError: a line that is no edit. Batches before it were given out.
        """
        if size is not None and self._commits():
            size = None
        running = hashlib.sha256()
        edits: list[tuple[Place, Edit]] = []
        first = after + 1
        for line in self._lines():
            running.update(line.text + b"\n")
            if line.number <= after or not line.text.strip():
                continue
            edit = self._edit(line)
            if not isinstance(edit, Commit):
                edits.append((Place(self.name, line.number), edit))
            if isinstance(edit, Commit) or len(edits) == size:
                yield LogBatch(tuple(edits), first, line.number, running.hexdigest())
                edits, first = [], line.number + 1
        if edits:
            yield LogBatch(tuple(edits), first, line.number, running.hexdigest())

    def _commits(self) -> bool:
        """Does a line say commit? One that cannot be read says nothing."""
        for line in self._lines():
            if b"commit" in line.text:
                try:
                    if isinstance(self._edit(line), Commit):
                        return True
                except EditError:
                    continue
        return False

    def _edit(self, line: _Line) -> Edit | Commit:
        place = Place(self.name, line.number)
        try:
            return edit_of(line.text.decode("utf-8-sig" if line.number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            found, wanted = f"the byte 0x{error.object[error.start]:02x}, which is not UTF-8", "text in UTF-8"
        except BadEdit as error:
            found, wanted = error.args
        hint = "" if line.ended else "\nhint: the log is cut off in the middle of this line"
        raise EditError(f"{place}: found {found}, wanted {wanted}{hint}")

    def _lines(self) -> Iterator[_Line]:
        number, rest = 0, b""
        with Source(Piece(self.path)) as source:
            while block := source.read():
                *lines, rest = (rest + block).split(b"\n")
                for number, text in enumerate(lines, number + 1):  # noqa: B020
                    yield _Line(number, text.removesuffix(b"\r"), True)
                if len(rest) > LONGEST:
                    found, wanted = "a line this long", f"one of at most {LONGEST:,} bytes"
                    raise EditError(f"{Place(self.name, number + 1)}: found {found}, wanted {wanted}")
        if rest:
            yield _Line(number + 1, rest, False)
