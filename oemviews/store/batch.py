"""A batch: its header, and how a net change is laid down in rows of the log and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, LOG, OBJECTS

JSON: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows of each kind a batch's net change has."""

    created: int = 0
    plus: int = 0
    minus: int = 0
    changed: int = 0
    gone: int = 0

    @classmethod
    def of(cls, change: NetChange) -> Counts:
        return cls(
            len(change.created), len(change.plus), len(change.minus), len(change.changed), len(change.gone)
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.created + other.created,
            self.plus + other.plus,
            self.minus + other.minus,
            self.changed + other.changed,
            self.gone + other.gone,
        )

    def __len__(self) -> int:
        return self.created + self.plus + self.minus + self.changed + self.gone


@dataclass(frozen=True, slots=True)
class BatchInfo:
    """The header of a batch, row 0 of it in the log.

    `next_oid` and `next_pos` are the first free ones after the batch. A batch that consumed lines of an
    edit log says which: `lines` of the log `log_id` up to its end, whose text so far has `log_hash`; `new`
    are the oids that the log's own names got in this batch, `since` is the first batch with lines of it.
    A batch that defines or drops a view lists in `live` the define batches of all views alive after it.
    """

    batch: int
    at: datetime
    kind: str
    what: str
    next_oid: int
    next_pos: int
    log_id: str | None = None
    lines: int | None = None
    log_hash: str | None = None
    new: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, JSON] = field(default_factory=dict)
    counts: Counts = Counts()
    since: int | None = None
    live: tuple[int, ...] = ()

    def to_json(self) -> str:
        """The header as it stands in the log."""
        return orjson.dumps({**asdict(self), "at": self.at.isoformat()}).decode()

    @classmethod
    def from_json(cls, text: str) -> BatchInfo:
        found = orjson.loads(text)
        found |= {
            "at": datetime.fromisoformat(found["at"]),
            "counts": Counts(**found["counts"]),
            "live": tuple(found["live"]),
        }
        return cls(**found)


def log_rows(batch: int, at: datetime, change: NetChange, *, first: int = 1) -> pa.Table:
    """A net change as rows of the log, numbered from `first`."""
    parts = (
        ("new", change.created),
        ("ins", change.plus),
        ("del", change.minus),
        ("chg", change.changed),
        ("gone", change.gone),
    )
    return _numbered(batch, at, [_placed(op, part) for op, part in parts if len(part)], first)


def header_rows(info: BatchInfo) -> pa.Table:
    """Row 0 of a batch and, for a view defined or dropped, the row that says so to any reader of the log."""
    rows: list[dict[str, JSON]] = [{"op": "batch", "text": info.to_json()}]
    if info.kind in ("define", "drop"):
        rows.append({"op": info.kind, "label": info.extra.get("view"), "text": info.extra.get("statement")})
    given = {name for row in rows for name in row}
    columns = [
        pa.array([row.get(name) for row in rows], kind) if name in given else pa.nulls(len(rows), kind)
        for name, kind in zip(LOG.names, LOG.types, strict=True)
    ]
    return _numbered(info.batch, info.at, [pa.table(columns, schema=LOG)], 0)


def infos_in(rows: pa.Table) -> list[BatchInfo]:
    """The headers among rows of the log."""
    texts = rows.filter(pc.equal(rows["op"], "batch"))["text"].to_pylist()
    return [BatchInfo.from_json(text) for text in texts]


def change_in(rows: pa.Table) -> NetChange:
    """The inverse of `log_rows`, for rows of one batch."""
    op = rows["op"]

    def of(name: str, schema: pa.Schema) -> pa.Table:
        return rows.filter(pc.equal(op, name)).select(schema.names).combine_chunks()

    return NetChange(
        created=of("new", OBJECTS),
        plus=of("ins", EDGES),
        minus=of("del", EDGES),
        changed=of("chg", CHANGES_OF_VALUE),
        gone=of("gone", OBJECTS),
    )


def _placed(op: str, part: pa.Table) -> pa.Table:
    """The columns of `part` at their places in the log, the others empty."""
    size = len(part)
    given = set(part.column_names)
    columns = [
        part.column(name) if name in given else pa.nulls(size, kind)
        for name, kind in zip(LOG.names, LOG.types, strict=True)
    ]
    columns[LOG.get_field_index("op")] = pa.repeat(op, size)
    return pa.table(columns, schema=LOG)


def _numbered(batch: int, at: datetime, parts: list[pa.Table], first: int) -> pa.Table:
    table = pa.concat_tables(parts) if parts else LOG.empty_table()
    size = len(table)
    columns = table.columns
    for name, column in (
        ("batch", pa.repeat(pa.scalar(batch, pa.int64()), size)),
        ("seq", pa.array(np.arange(first, first + size, dtype=np.int64))),
        ("at", pa.repeat(pa.scalar(at, LOG.field("at").type), size)),
    ):
        columns[LOG.get_field_index(name)] = column
    return pa.table(columns, schema=LOG)
