"""A commit of a Delta table, written by hand: a file of actions, one JSON object a line.

delta-rs takes some ten milliseconds for what is one small file, so only what is rare is left to it
(docs/decisions/0003). The file of a version comes into being whole or not at all, and never twice: it is
linked to its name after it is on the disk, and a name that is taken is another writer's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import uuid4

import orjson

from oemviews.store.files import sync, write_durably

ENGINE: Final = "oemviews"

Action = dict[str, Any]


def commit_file(folder: str, version: int) -> str:
    return os.path.join(folder, "_delta_log", f"{version:020d}.json")


def add_action(path: str, size: int, now: int, stats: str, *, data_change: bool) -> Action:
    return {
        "add": {
            "path": path,
            "partitionValues": {},
            "size": size,
            "modificationTime": now,
            "dataChange": data_change,
            "stats": stats,
        }
    }


def remove_action(path: str, size: int, now: int, *, data_change: bool) -> Action:
    return {
        "remove": {
            "path": path,
            "deletionTimestamp": now,
            "dataChange": data_change,
            "extendedFileMetadata": True,
            "partitionValues": {},
            "size": size,
        }
    }


def write_commit(
    folder: str,
    version: int,
    now: int,
    actions: Iterable[Action],
    stamps: Mapping[str, int],
    about: Mapping[str, Any],
) -> None:
    """Make `version` of a table, durably.

    Raises:
        FileExistsError: there is such a version already; it stays as it is.
    """
    info = {
        "timestamp": now,
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": "[]"},
        "engineInfo": ENGINE,
        **about,
        **stamps,
    }
    lines: list[Action] = [{"commitInfo": info}, *actions]
    lines += [{"txn": {"appId": kind, "version": number}} for kind, number in stamps.items()]
    path = commit_file(folder, version)
    hidden = os.path.join(folder, "_delta_log", f"_commit_{uuid4().hex}.json.tmp")
    try:
        write_durably(hidden, b"\n".join(map(orjson.dumps, lines)))
        os.link(hidden, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(hidden)
    sync(os.path.dirname(path))
