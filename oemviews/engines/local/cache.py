"""Arrays over the files of a state, kept in a folder and mapped into memory when they are wanted again.

A folder is named by the files it was built from, so it never goes stale; it is written aside and renamed,
so it is whole or not there. Deleting it loses nothing. A newer one replaces those before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from oemviews.engines.local.adjacency import Adjacency, Hub
from oemviews.engines.local.base import Base, Counts, Details, base_of
from oemviews.engines.local.layer import Edges
from oemviews.engines.local.objects import Objects, ValueIndex
from oemviews.pulse import PULSE
from oemviews.store.files import read_parquet
from oemviews.store.labels import LabelBook
from oemviews.store.schema import EDGES, OBJECTS
from oemviews.store.state import State
from oemviews.store.values import Texts, strings

_LAYOUT: Final = 2
_META: Final = "meta.json"
_ADJACENCY: Final = ("near", "far", "present", "starts")
_ASIDE: Final = "building-"
_STALE: Final = 3600.0
"""Seconds after which a folder that somebody was building is taken for left behind."""

Arrays = dict[str, NDArray[Any]]


def built(state: State) -> Base:
    """Arrays over the files of a state, in memory; its tail is not in them."""
    edges = _table(state.edge_files, EDGES, ["label", "shape"])
    return base_of(edges, _table(state.object_files, OBJECTS, ["shape"]), LabelBook())


def opened(state: State, cache: Path) -> Base:
    """The same from the folder `cache`, built there first if need be; in memory if nothing can be written."""
    if not state.edge_files and not state.object_files:
        return built(state)
    folder = cache / digest(state)
    found = _open(folder)
    if found is not None:
        return found
    PULSE.doing = "making the index, which is kept for the next time"
    base = built(state)
    try:
        _save(base, folder)
    except OSError:
        return base
    finally:
        PULSE.doing = ""
    return _open(folder) or base


def at_hand(state: State, cache: Path) -> bool:
    """Whether `opened` has nothing to build."""
    return (cache / digest(state) / _META).exists()


def digest(state: State) -> str:
    """The name of the folder for the files of a state."""
    names = [os.path.basename(path) for path in (*state.edge_files, "", *state.object_files)]
    return hashlib.sha256("\n".join([str(_LAYOUT), *names]).encode()).hexdigest()[:32]


def _table(paths: tuple[str, ...], schema: pa.Schema, encoded: list[str]) -> pa.Table:
    """All rows of some files, columns of few texts in codes: labels as texts would be most of the memory."""
    tables = []
    for path in paths:
        try:
            table = pq.read_table(path, columns=schema.names, read_dictionary=encoded, partitioning=None)
        except (pa.ArrowException, OSError):
            table = read_parquet(path, schema)  # says in words what is wrong
        tables.append(table.select(schema.names).replace_schema_metadata())
    return pa.concat_tables(tables) if tables else schema.empty_table()


# ---- writing ----


def _save(base: Base, folder: Path) -> None:
    aside = folder.parent / f"{_ASIDE}{uuid4().hex}"
    aside.mkdir(parents=True)
    try:
        sizes = {}
        for name, array in _arrays(base).items():
            np.save(aside / f"{name}.npy", array)
            sizes[name] = (aside / f"{name}.npy").stat().st_size
        meta = {
            "first": base.objects.first,
            "dense": base.objects.oids is None,
            "labels": base.book.texts,
            "shapes": base.details.shapes.tolist(),
            "oid_bound": base.oid_bound,
            "sizes": sizes,
        }
        (aside / _META).write_text(json.dumps(meta), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)  # one that is not whole
        with contextlib.suppress(OSError):  # another process was faster
            aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _retire(folder)


def _retire(folder: Path) -> None:
    """Remove what stands beside a new folder. Who has mapped it keeps what he mapped."""
    for other in folder.parent.iterdir():
        left = other.name.startswith(_ASIDE)
        with contextlib.suppress(OSError):
            old = time.time() - other.stat().st_mtime > _STALE if left else (other / _META).exists()
            if other != folder and old:
                shutil.rmtree(other, ignore_errors=True)


def _arrays(base: Base) -> Arrays:
    arrays: Arrays = {}
    for side, adjacency in zip(("out", "into"), base.edges, strict=True):
        arrays |= {
            f"{side}_{name}": getattr(adjacency, name) for name in ("near", "far", "present", "starts")
        }
        arrays |= {f"{side}_hub_{name}": array for name, array in adjacency.hub._asdict().items()}
    objects = base.objects
    arrays |= {name: getattr(objects, name) for name in ("kind", "integer", "number")}
    if objects.oids is not None:
        arrays["oids"] = objects.oids
    arrays |= {"text_offsets": objects.texts.offsets, "text_blob": objects.texts.blob}
    arrays |= {f"index_{name}": array for name, array in objects.index._asdict().items()}
    arrays |= {f"count_{name}": array for name, array in base.counts._asdict().items()}
    return arrays | {name: getattr(base.details, name) for name in ("pos", "edge_shape", "object_shape")}


# ---- reading ----


def _open(folder: Path) -> Base | None:
    """The arrays of a folder; None if it is not there or not whole."""
    try:
        meta: Mapping[str, Any] = json.loads((folder / _META).read_text(encoding="utf-8"))
        if any((folder / f"{name}.npy").stat().st_size != size for name, size in meta["sizes"].items()):
            return None
        arrays = {name: _mapped(folder / f"{name}.npy") for name in meta["sizes"]}
    except (OSError, ValueError, KeyError):
        return None
    edges = Edges(*(_adjacency(arrays, side) for side in ("out", "into")))
    index = ValueIndex(*(arrays[f"index_{name}"] for name in ValueIndex._fields))
    texts = Texts(arrays["text_offsets"], arrays["text_blob"])
    oids = None if meta["dense"] else arrays["oids"]
    objects = Objects(meta["first"], oids, arrays["kind"], arrays["integer"], arrays["number"], texts, index)
    return Base(
        LabelBook(meta["labels"]),
        edges,
        objects,
        Details(arrays["pos"], arrays["edge_shape"], arrays["object_shape"], strings(meta["shapes"])),
        Counts(*(arrays[f"count_{name}"] for name in Counts._fields)),
        meta["oid_bound"],
    )


def _adjacency(arrays: Arrays, side: str) -> Adjacency:
    hub = Hub(*(arrays[f"{side}_hub_{name}"] for name in Hub._fields))
    near, far, present, starts = (arrays[f"{side}_{name}"] for name in _ADJACENCY)
    return Adjacency(near, far, present, starts, hub)


def _mapped(path: Path) -> NDArray[Any]:
    """A file as an array; a plain one, for slices of `np.memmap` are ten times slower to make."""
    array: NDArray[Any] = np.load(path, mmap_mode="r")
    return array.view(np.ndarray)
