"""Documents to net changes: the front of every load.

    one file                       NAME is the root object of the document
    several files, or a folder     NAME is a complex object with an edge `item` to the root of each document,
                                   in the order of their paths

The chunks that come out are pure inserts, numbered from the first oid and pos that are free; in whatever way
the files are read, the same files give the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oemviews.documents.columns import Rows, Unstorable
from oemviews.documents.json_walk import FILES
from oemviews.documents.reading import (
    FORMATS,
    Options,
    Part,
    Reading,
    below,
    checked_format,
    find_fault,
    format_of,
)
from oemviews.documents.references import Tally
from oemviews.documents.source import Piece, refusal
from oemviews.edits import NetChange
from oemviews.errors import BadInput, DocumentError
from oemviews.model import COMPLEX, ROOT, Oid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[int, int], None]
"""Told the bytes done and the bytes in all."""

SPLIT: Final = 1 << 25
"""Bytes that one task of Spark reads; a load of fewer is read here."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load came to; `parallel` says in how many parts it was read on Spark, 0 for none."""

    files: int
    bytes: int
    objects: int
    edges: int
    references: Tally
    seconds: float
    parallel: int = 0


@dataclass(slots=True)
class Loading:
    """A load under way: iterate it once for its chunks, then ask for `report`."""

    parts: tuple[Part, ...]
    name: str
    several: bool
    options: Options
    first_oid: Oid
    first_pos: int
    spark: SparkSession | None = None
    split: int = SPLIT
    progress: Progress | None = None
    _report: LoadReport | None = field(default=None, init=False)

    @property
    def report(self) -> LoadReport:
        """What the load came to; known once all its chunks were taken."""
        assert self._report is not None, "the chunks of this load were not all taken"
        return self._report

    @property
    def size(self) -> int:
        """Bytes of all files, as they stand on the disk."""
        return sum(part.piece.path.stat().st_size for part in self.parts)

    def __iter__(self) -> Iterator[NetChange]:
        from oemviews.documents import parallel

        start, total, done = time.perf_counter(), self.size, 0
        objects = edges = 0

        def seen(count: int) -> None:
            nonlocal done
            done += count
            if self.progress is not None:
                self.progress(done, total)

        splits = parallel.splits_of(self.parts, self.split) if self.spark is not None else ()
        tally = Tally()
        if self.spark is not None and len(splits) > 1:
            chunks = parallel.read(self.spark, self, splits, tally, seen)
        else:
            splits = ()
            chunks = self._read_here(tally, seen)
        for chunk in chunks:
            objects += len(chunk.created)
            edges += len(chunk.plus)
            yield chunk
        seconds = time.perf_counter() - start
        self._report = LoadReport(len(self.parts), total, objects, edges, tally, seconds, len(splits))

    def begin(self, rows: Rows) -> tuple[Oid, str, str | None]:
        """The edge that the documents hang on, once the object that holds several is made."""
        if not self.several:
            return (ROOT, self.name, None)
        root = rows.add(COMPLEX, ROOT, self.name)
        rows.set_shape(root, FILES)
        return below(root)

    def _read_here(self, tally: Tally, seen: Callable[[int], None]) -> Iterator[NetChange]:
        rows = Rows(self.first_oid, self.first_pos)
        reading = Reading(rows, self.options, seen)
        edge = self.begin(rows)
        gathered: list[Part] = []  # the parts that rows not yet given out may come from
        try:
            for part in self.parts:
                gathered.append(part)
                for chunk in reading.read(part, edge):
                    gathered = [part]
                    yield chunk
            gathered = list(self.parts)
            tally.add(reading.tally)
            yield from reading.references.resolve(rows, tally)
            yield rows.flush()
        except Unstorable as error:
            raise fault_in(gathered, error) from error


def fault_in(parts: Sequence[Part], error: Unstorable) -> DocumentError:
    """The fault with its line and column, found by reading the parts again."""
    try:
        find_fault(parts)
    except DocumentError as found:
        return found
    return refusal(parts[-1].piece.path, None, str(error), "values that can be stored")


def load_documents(
    paths: Sequence[Path | str],
    *,
    name: str,
    format: str | None = None,
    keys: Mapping[str, str] | None = None,
    idrefs: Sequence[str] = (),
    first_oid: Oid,
    first_pos: int,
    spark: SparkSession | None = None,
    split: int = SPLIT,
    progress: Progress | None = None,
) -> Loading:
    """The load of files and folders under `name`; nothing is read before its chunks are taken.

    Args:
        format: of every file; if not said, each file's suffix tells.
        keys: `{"borders": "cca3"}`: a value under `borders` refers to the object whose `cca3` has that value.
        idrefs: XML attributes that refer to the ID of another element.
        first_oid, first_pos: the first free ones.
        spark: reads what is larger than `split` bytes in parallel.
        progress: told of the bytes read.

    Raises:
        BadInput: no such file, nothing to load, or a format that is not known.
    """
    if not name:
        raise BadInput("found an empty name, wanted a name for what is loaded, such as Guide")
    checked_format(format)
    given = [Path(path) for path in paths]
    if not given:
        raise BadInput("found no file, wanted at least one to load")
    several = len(given) > 1 or given[0].is_dir()
    files = sorted(file for path in given for file in _files_of(path, format))
    parts = tuple(
        Part(Piece(path), format or _format_told(path), number) for number, path in enumerate(files)
    )
    options = Options(dict(keys or {}), tuple(idrefs))
    _check_meant(options, {part.format for part in parts})
    return Loading(parts, name, several, options, first_oid, first_pos, spark, split, progress)


def _files_of(path: Path, format: str | None) -> list[Path]:
    """The file itself, or the files below a folder that can be loaded, hidden ones left out."""
    if not path.is_dir():
        if not path.exists():
            raise refusal(path, None, "no such file", "a document", "check the path")
        return [path]
    files = [
        file
        for file in path.rglob("*")
        if file.is_file()
        and (format is not None or format_of(file) is not None)
        and not any(step.startswith(".") for step in file.relative_to(path).parts)
    ]
    if not files:
        wanted = "files to load (.json .jsonl .ndjson .xml .oem, also with .gz or .zst)"
        raise refusal(path, None, "a folder with nothing to load", wanted)
    return files


def _check_meant(options: Options, formats: set[str]) -> None:
    """Refuse what would do nothing: keys where there is only OEM text, ID references without XML."""
    if options.keys and formats == {"oem"}:
        raise BadInput(
            "found keys for OEM text, wanted JSON or XML with --key: OEM text has edges of its own"
        )
    if options.idrefs and "xml" not in formats:
        found, hint = (
            "idrefs, and no XML to load",
            "for JSON name the labels that refer: --key LABEL=KEYLABEL",
        )
        raise BadInput(f"found {found}, wanted XML with --idref\nhint: {hint}")


def _format_told(path: Path) -> str:
    told = format_of(path)
    if told is None:
        hint = f"say --format {'|'.join(FORMATS)}"
        raise refusal(
            path, None, f"the suffix {path.suffix!r}", "one that tells the format, such as .json", hint
        )
    return told
