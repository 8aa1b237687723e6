"""Earlier versions of a table, by their stamps."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

import orjson

from oemviews.store.delta import Table

COMMIT: Final = re.compile(r"(\d{20})\.json")


def versions_in(folder: str) -> list[int]:
    """The versions whose commits are still there, oldest first."""
    names = os.listdir(os.path.join(folder, "_delta_log"))
    return sorted(int(match[1]) for name in names if (match := COMMIT.fullmatch(name)))


def actions_of(folder: str, version: int) -> Iterator[tuple[str, dict[str, object]]]:
    """What one commit holds: (kind of action, its fields)."""
    with open(os.path.join(folder, "_delta_log", f"{version:020d}.json"), "rb") as file:
        for line in file.read().splitlines():
            yield from orjson.loads(line).items()


def stamp_of(folder: str, version: int, kind: str) -> int | None:
    """The stamp that one commit set; None for one that set none, as a merge or a property does."""
    for action, fields in actions_of(folder, version):
        if action == "commitInfo" and kind in fields:
            return int(str(fields[kind]))
    return None


def newest_upto(table: Table, stamp: int, *, kind: str = "stamp") -> Table | None:
    """The newest version with a stamp of at most `stamp`, if its files are still there.

    Stamps grow with versions, so this is a bisection; a commit without a stamp has that of the one below it.
    """
    from deltalake.exceptions import DeltaError

    known = [version for version in versions_in(table.folder) if version <= table.version]
    low, high = 0, len(known)  # the answer is known[low - 1]
    while low < high:
        middle = (low + high) // 2
        if (_stamp_below(table.folder, known[: middle + 1], kind) or 0) <= stamp:
            low = middle + 1
        else:
            high = middle
    if not low:
        return None
    try:
        found = table.at(known[low - 1])
    except (DeltaError, OSError):  # its commits were removed by a compaction: it cannot be had any more
        return None
    return found if all(map(os.path.exists, found.paths())) else None


def _stamp_below(folder: str, versions: list[int], kind: str) -> int | None:
    for version in reversed(versions):
        stamp = stamp_of(folder, version, kind)
        if stamp is not None:
            return stamp
    return None
