"""Parquet files that are on the disk before anybody is told so.

A file gets a name of its own and is never written twice, so a reader meets it whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from oemviews.errors import DamagedStore, StoreError

_ROW_GROUP = 1 << 17
_SMALL = 1_000
"""A table of so few rows is written plainly: it is soon merged into a bigger one."""
_FEW_VALUES = ("label", "type", "text", "shape", "op", "old_type", "old_text", "role", "variable", "view")


def sync(path: str | Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path: str | Path, content: Any) -> None:
    """Make a new file with this content, and wait until it is on the disk."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def storing(what: str) -> Iterator[None]:
    """Say in words that a write failed; the state before it is untouched."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        why = "the disk is full" if full else str(error)
        mend = "make room and try again" if full else "mend that and try again"
        raise StoreError(
            f"cannot write {what}: {why}. Nothing of it was stored, all earlier batches are intact; {mend}."
        ) from error


def write_parquet(folder: str, table: pa.Table) -> tuple[str, int]:
    """Write `table` durably under a fresh name; the name and the size in bytes."""
    name = f"{uuid4().hex}.parquet"
    path = os.path.join(folder, name)
    try:
        if len(table) <= _SMALL:
            buffer = pa.BufferOutputStream()
            pq.write_table(table, buffer, compression="none", use_dictionary=False)
            write_durably(path, buffer.getvalue())
        else:
            few = [column for column in _FEW_VALUES if column in table.column_names]
            pq.write_table(table, path, compression="zstd", row_group_size=_ROW_GROUP, use_dictionary=few)
            sync(path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    return name, os.path.getsize(path)


def read_parquet(
    path: str, schema: pa.Schema, columns: Sequence[str] | None = None, *, filters: object = None
) -> pa.Table:
    """The rows of a file of ours; a missing, torn or foreign one is said by name."""
    wanted = schema.names if columns is None else list(columns)
    try:
        found = pq.read_table(path, columns=wanted, filters=filters, partitioning=None)
    except FileNotFoundError as error:
        raise DamagedStore(f"{path} is missing. {_saved(path)}") from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EMFILE, errno.ENFILE):
            raise StoreError(f"cannot read {path}: {error}") from error
        raise DamagedStore(f"{path} {_fault_of(path, schema, error)}. {_saved(path)}") from error
    if found.column_names != wanted:
        raise DamagedStore(f"{path} {_fault_of(path, schema, None)}. {_saved(path)}")
    return found.cast(pa.schema([schema.field(name) for name in wanted]))


def _fault_of(path: str, schema: pa.Schema, error: BaseException | None) -> str:
    """What is wrong with a file that cannot be read as one with these columns."""
    try:
        there = pq.read_schema(path).names
    except (pa.ArrowInvalid, OSError):
        there = schema.names  # not even its columns can be read
    lacks = [name for name in schema.names if name not in there]
    if lacks:
        return f"is not a file of this store: it lacks {', '.join(lacks)}"
    why = (str(error) or type(error).__name__).splitlines()[0][:200]
    return f"is torn or no Parquet file ({why})"


def _saved(path: str) -> str:
    """What is left when a file of this table is lost."""
    table = Path(path).parent
    if table.name in ("objects", "edges"):
        return (
            f"Unless old batches were compacted away, the log holds all that stood in it: remove {table} and "
            "run `oemviews compact` to fold it again from the log."
        )
    if table.name == "log":
        return (
            "The states that need this part of the log are lost; the newest folded state is still in objects "
            "and edges. Restore the file from a copy of the store if there is one."
        )
    if table.name == "changes":
        return "Only changes of views stood in it: drop the views and define them again; all else is whole."
    return (
        "Only rows of one view stood in it: drop and define that view again; documents and edits are whole."
    )


def folder_of_view(view: str) -> str:
    """A folder name for any view name, also where file systems fold case.

    >>> folder_of_view("FavoriteEntrees"), folder_of_view("../é")
    ('favoriteentrees-eacfa4e63416', '-9cd7743f15ff')
    """
    plain = re.sub(r"[^a-z0-9_]", "", view.lower())[:40]
    return f"{plain}-{hashlib.sha256(view.encode()).hexdigest()[:12]}"
