"""The label paths of a DataGuide in a file, for queries of the same batch to rule out paths.

Somebody asked for the guide, so it was made; what it proves is kept until another batch has its guide made.
Counts, types and samples are not kept: they prove nothing.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

if TYPE_CHECKING:
    from oemviews.answers.dataguide import DataGuide

_PREFIX: Final = "guide-"


def guide_file(folder: Path, mark: str) -> Path:
    """Where the guide of a state is kept; `mark` is different for every state."""
    return folder / f"{_PREFIX}{mark}.json"


def keep(guide: DataGuide, file: Path) -> None:
    """Write the guide of all names, and remove those of other states; a folder that is read-only stays so."""
    places = {node.path: place for place, node in enumerate(guide.nodes())}
    rows = [
        (places.get(node.path[:-1], -1), node.path[-1], places.get(node.same_as or (), -1), bool(node.cut))
        for node in guide.nodes()
    ]
    aside = file.with_name(f"{uuid4().hex}.tmp")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.write_text(json.dumps(rows), encoding="utf-8")
            aside.replace(file)
        finally:
            aside.unlink(missing_ok=True)
        for other in file.parent.glob(f"{_PREFIX}*.json"):
            if other != file:
                other.unlink(missing_ok=True)


def kept(file: Path) -> DataGuide | None:
    """The guide that was kept there, with nothing but its paths; None if there is none that can be read."""
    try:
        changed = os.stat(file).st_mtime_ns
    except OSError:
        return None
    return _read(file, changed)


@lru_cache(maxsize=4)
def _read(file: Path, changed: int) -> DataGuide | None:
    from oemviews.answers.dataguide import DataGuide, Node

    try:
        rows: list[tuple[int, str, int, Any]] = json.loads(file.read_text(encoding="utf-8"))
        nodes: list[Node] = []
        roots: dict[str, Node] = {}
        for parent, label, _, cut in rows:  # a node comes before those below it
            above = nodes[parent] if parent >= 0 else None
            node = Node((*(above.path if above else ()), label), 0, 0, {}, (), cut="…" if cut else "")
            nodes.append(node)
            (above.children if above else roots)[label] = node
        for node, (_, _, same, _) in zip(nodes, rows, strict=True):
            node.same_as = nodes[same].path if same >= 0 else None
    except (OSError, ValueError, IndexError, TypeError):
        return None
    return DataGuide(roots)
