"""The folder of a store: a marker with the format, four tables, folds of views, and what may be deleted.

store.json   written last when a store is made: without it there is no store
log/  changes/  edges/  objects/  views/NAME/     Delta tables
index/       caches; deleting it loses nothing
lock  readers/                                    who writes, who reads
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Final

import orjson
import pyarrow as pa

from oemviews.errors import BadInput, DamagedStore, StoreError
from oemviews.store.delta import Table
from oemviews.store.files import storing, sync
from oemviews.store.fold import EDGE_BOUNDS, OBJECT_BOUNDS
from oemviews.store.points import reached
from oemviews.store.schema import CHANGES, EDGES, FORMAT, LOG, OBJECTS

MARKER: Final = "store.json"
VIEWS: Final = "views"
CACHE: Final = "index"
FLOOR: Final = "floor"
"""Stamp of the log: the oldest batch whose state can still be had; the rows before it may be gone."""

_TABLES: Final[dict[str, tuple[pa.Schema, tuple[str, ...]]]] = {
    "edges": (EDGES, EDGE_BOUNDS),
    "objects": (OBJECTS, OBJECT_BOUNDS),
    "changes": (CHANGES, ("batch",)),
    "log": (LOG, ("batch", "seq")),
}
_OURS: Final = {*_TABLES, MARKER, f"{MARKER}.new", VIEWS, CACHE, "lock", "readers"}


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables every store has. Opened or refreshed in this order, no fold is ahead of the log."""

    edges: Table
    objects: Table
    changes: Table
    log: Table

    def by_name(self) -> dict[str, Table]:
        return {name: getattr(self, name) for name in _TABLES}


def create_tables(path: str) -> None:
    """Make an empty store; a folder left by a process that died while it made one is made anew."""
    if os.path.exists(os.path.join(path, MARKER)):
        raise BadInput(f"{path} is a store already; open it, or choose another path.")
    found = sorted(os.listdir(path)) if os.path.isdir(path) else []
    foreign = [name for name in found if name not in _OURS]
    if foreign or (os.path.exists(path) and not os.path.isdir(path)):
        what = f"holds other files ({', '.join(foreign[:3])})" if foreign else "is a file"
        raise BadInput(f"{path} {what}; a store needs a folder of its own: choose a new or an empty one.")
    with storing(f"a new store at {path}"):
        for name in found:
            left = os.path.join(path, name)
            shutil.rmtree(left) if os.path.isdir(left) else os.unlink(left)
        os.makedirs(path, exist_ok=True)
        for name, (schema, bounds) in _TABLES.items():
            Table.create(os.path.join(path, name), schema, bounds, name=name)
        reached("create:made")
        marker = os.path.join(path, MARKER)
        with open(f"{marker}.new", "wb") as file:
            file.write(orjson.dumps({"format": FORMAT, "what": "a store of oemviews"}))
        sync(f"{marker}.new")
        os.rename(f"{marker}.new", marker)
        sync(path)
        sync(os.path.dirname(path))


def open_tables(path: str) -> Tables:
    """The tables of a store, each at its newest version."""
    for name in ("edges", "objects"):
        if not os.path.isdir(os.path.join(path, name)):
            _make_again(path, name)
    return Tables(
        **{
            name: Table.open(os.path.join(path, name), schema, bounds)
            for name, (schema, bounds) in _TABLES.items()
        }
    )


def check_marker(path: str) -> None:
    """Refuse a folder that is no store, or one of a newer format."""
    if not os.path.isdir(path):
        raise StoreError(f"there is no store at {path}. Make one with `oemviews init {path}`.")
    marker = os.path.join(path, MARKER)
    try:
        with open(marker, "rb") as file:
            found = int(orjson.loads(file.read())["format"])
    except FileNotFoundError as error:
        raise StoreError(
            f"{path} is not a store: it has no {MARKER}. Make one with `oemviews init`; if that was cut "
            "short, do it again."
        ) from error
    except OSError as error:
        raise StoreError(f"cannot read {marker}: {error.strerror}.") from error
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise DamagedStore(
            f'{marker} is torn or foreign ({error}). Write {{"format": {FORMAT}}} into it; no table needs it.'
        ) from error
    if found > FORMAT:
        raise StoreError(
            f"{path} has format {found}, and this oemviews reads formats up to {FORMAT}. Install a newer one."
        )


def _make_again(path: str, name: str) -> None:
    """An empty table for a fold that was removed, if the log still holds all that stood in it."""
    schema, bounds = _TABLES["log"]
    if Table.open(os.path.join(path, "log"), schema, bounds).stamp(FLOOR):
        raise DamagedStore(
            f"{os.path.join(path, name)} is missing, and the log was compacted, so that it does not hold all "
            "that stood in it. Restore the folder from a copy of the store."
        )
    schema, bounds = _TABLES[name]
    Table.create(os.path.join(path, name), schema, bounds, name=name)
