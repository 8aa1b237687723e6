"""Loads read in parallel on Spark, with the numbers that one reader would have given.

Files are cut into ordered splits. A task numbers the objects of its split from 1 and the places of its
edges from 0; what hangs on objects of other splits hangs on stand-ins. Here the splits are taken in order and
moved to the numbers where the one before ended, so a task that is retried changes nothing. Values that refer
to keys travel along and are resolved at the end, over all splits.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from oemviews.documents.columns import Ints, Rows, Unstorable
from oemviews.documents.reading import Options, Part, Reading, below, find_fault, is_compressed
from oemviews.documents.references import References, Tally
from oemviews.documents.source import BLOCK, Piece
from oemviews.edits import NetChange
from oemviews.errors import DocumentError
from oemviews.model import ROOT, Oid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from oemviews.documents.load import Loading

Split = tuple[Part, ...]

_HOLDER: Final = -10
"""Stands for the object that holds several documents; `_HOLDER - 1 - n` for the root of file n."""

_COLUMNS: Final = pa.schema(
    [
        ("split", pa.int64()),
        ("fault", pa.string()),
        ("created", pa.binary()),
        ("plus", pa.binary()),
        ("rest", pa.binary()),
    ]
)
_SCHEMA: Final = "split bigint, fault string, created binary, plus binary, rest binary"
_COMPRESSION: Final = pa.ipc.IpcWriteOptions(compression="lz4")


# ---- splits ----


def splits_of(parts: Sequence[Part], size: int) -> tuple[Split, ...]:
    """The parts in order, in groups of about `size` bytes; JSON Lines are cut at line ends."""
    splits: list[Split] = []
    group: list[Part] = []
    gathered = 0
    for part in chain.from_iterable(_cut(whole, size) for whole in parts):
        group.append(part)
        gathered += _bytes(part)
        if gathered >= size:
            splits.append(tuple(group))
            group, gathered = [], 0
    return (*splits, tuple(group)) if group else tuple(splits)


def _bytes(part: Part) -> int:
    piece = part.piece
    end = piece.path.stat().st_size if piece.end is None else piece.end
    return end - piece.start


def _cut(part: Part, size: int) -> Iterator[Part]:
    path = part.piece.path
    total = path.stat().st_size
    if part.format != "jsonl" or is_compressed(path) or total <= size:
        yield part
        return
    start = 0
    with path.open("rb") as file:
        while start < total:
            end = _line_end(file, min(start + size, total))
            yield replace(part, piece=Piece(path, start, end), first=start == 0)
            start = end


def _line_end(file: IO[bytes], at: int) -> int:
    """Where the line that holds the byte before `at` ends."""
    at -= 1
    file.seek(at)
    while block := file.read(BLOCK):
        newline = block.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        at += len(block)
    return at


# ---- in a task ----


@dataclass(frozen=True, slots=True)
class _Task:
    """Reads the splits whose numbers it is handed."""

    splits: tuple[Split, ...]
    options: Options
    edge: tuple[Oid, str, str | None]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self._read(number)

    def _read(self, number: int) -> Iterator[pa.RecordBatch]:
        rows = Rows(1, 0)
        reading = Reading(rows, self.options)
        try:
            for part in self.splits[number]:
                reading.roots.setdefault(part.file, _HOLDER - 1 - part.file)
                for chunk in reading.read(part, self.edge):
                    yield _row(number, chunk=chunk)
            last = rows.flush()
        except (DocumentError, Unstorable) as error:
            yield _row(number, fault=str(error))
            return
        roots = {file: oid for file, oid in reading.roots.items() if oid > 0}
        rest = _Rest(reading.references, reading.tally, roots, rows.next_oid - 1, rows.next_pos)
        yield _row(number, chunk=last, rest=pickle.dumps(rest))


@dataclass(frozen=True, slots=True)
class _Rest:
    """What a split leaves besides its rows."""

    references: References
    tally: Tally
    roots: dict[int, Oid]
    objects: int
    places: int


def _row(
    number: int, *, chunk: NetChange | None = None, fault: str | None = None, rest: bytes | None = None
) -> pa.RecordBatch:
    created, plus = (_packed(chunk.created), _packed(chunk.plus)) if chunk is not None else (None, None)
    cells = ([number], [fault], [created], [plus], [rest])
    return pa.record_batch(
        [pa.array(c, t) for c, t in zip(cells, _COLUMNS.types, strict=True)], schema=_COLUMNS
    )


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSION) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(data: Any) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(bytes(data))).read_all()


# ---- here ----


class _Places:
    """From the numbers of a split to those of the load."""

    def __init__(self, oid: Oid, pos: int) -> None:
        self.oid, self.pos = oid, pos
        self.stand_ins: dict[Oid, Oid] = {}

    def oid_of(self, local: Oid) -> Oid:
        if local < 0:
            return self.stand_ins[local]
        return local + self.oid - 1 if local else ROOT

    def moved(self, created: pa.Table, plus: pa.Table) -> NetChange:
        created = created.set_column(0, "oid", pa.array(self._oids(created["oid"])))
        plus = plus.set_column(0, "src", pa.array(self._oids(plus["src"])))
        plus = plus.set_column(2, "dst", pa.array(self._oids(plus["dst"])))
        plus = plus.set_column(3, "pos", pa.array(plus["pos"].to_numpy() + self.pos))
        return NetChange(created=created, plus=plus)

    def _oids(self, column: pa.ChunkedArray) -> Ints:
        local = column.to_numpy()
        oids: Ints = np.where(local > 0, local + (self.oid - 1), local)
        for stand_in in np.unique(local[local < 0]).tolist():
            oids[local == stand_in] = self.stand_ins[stand_in]
        return oids

    def ended(self, rest: _Rest) -> None:
        """Go on to the next split."""
        self.stand_ins.update((_HOLDER - 1 - file, self.oid_of(oid)) for file, oid in rest.roots.items())
        self.oid += rest.objects
        self.pos += rest.places


def read(
    spark: SparkSession,
    loading: Loading,
    splits: tuple[Split, ...],
    tally: Tally,
    seen: Callable[[int], None],
) -> Iterator[NetChange]:
    """The chunks of a load, read by the tasks of one Spark job.

    The job runs to its end before the first chunk is given out; its rows wait on the disks of the executors.
    """
    from pyspark import StorageLevel

    edge = below(_HOLDER) if loading.several else (ROOT, loading.name, None)
    numbers = spark.range(0, len(splits), 1, len(splits))
    task = _Task(splits, loading.options, edge)
    frame = numbers.mapInArrow(task, _SCHEMA).persist(StorageLevel.DISK_ONLY)
    try:
        faults = (
            frame.filter("fault is not null").select("split", "fault").orderBy("split").limit(1).collect()
        )
        for number, fault in faults:
            raise _fault_in(splits[number], fault)
        yield from _numbered(frame.select("split", "created", "plus", "rest"), loading, splits, tally, seen)
    finally:
        frame.unpersist()


def _numbered(
    frame: Any, loading: Loading, splits: tuple[Split, ...], tally: Tally, seen: Callable[[int], None]
) -> Iterator[NetChange]:
    rows = Rows(loading.first_oid, loading.first_pos)
    holder = loading.begin(rows)[0]
    yield rows.flush()
    places = _Places(rows.next_oid, rows.next_pos)
    places.stand_ins[_HOLDER] = holder
    references = References()
    for number, created, plus, rest in frame.toLocalIterator(prefetchPartitions=True):
        yield places.moved(_unpacked(created), _unpacked(plus))
        if rest is not None:
            left: _Rest = pickle.loads(bytes(rest))
            references.merge(left.references, places.oid_of, places.pos)
            tally.add(left.tally)
            places.ended(left)
            seen(sum(map(_bytes, splits[number])))
    rows = Rows(places.oid, places.pos)
    yield from references.resolve(rows, tally)
    yield rows.flush()


def _fault_in(split: Split, fault: str) -> DocumentError:
    """The fault of a task, with the line that it has in the whole file."""
    try:
        find_fault([_with_line(part) for part in split])
    except DocumentError as found:
        return found
    return DocumentError(fault)


def _with_line(part: Part) -> Part:
    piece, line, left = part.piece, 1, part.piece.start
    with piece.path.open("rb") as file:
        while left and (block := file.read(min(BLOCK, left))):
            line += block.count(b"\n")
            left -= len(block)
    return replace(part, piece=replace(piece, line=line))
