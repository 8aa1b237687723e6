"""JSON pointers (RFC 6901) of one document: `{"$ref": "#/a/0"}` becomes an edge to what stands there.

The wanted pointers are known before the document is read, as a tree of tokens; the parser carries its
place in that tree along, so only wanted places cost memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import unquote

from oemviews.documents.columns import Rows
from oemviews.documents.references import Tally
from oemviews.model import COMPLEX, Oid

REF: Final = re.compile(r'\{\s*"\$ref"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")\s*\}')
"""A reference object: no other member stands beside `$ref`."""

Path: TypeAlias = tuple[str, ...]
Waiting: TypeAlias = tuple[Oid, str, int, str | None, str]
"""A reference that waits: src, label, pos, shape, pointer."""


def tokens_of(pointer: str) -> Path | None:
    """The tokens of a pointer into the same document, or None.

    >>> tokens_of("#/a~1b/0"), tokens_of("#"), tokens_of("other.json#/a")
    (('a/b', '0'), (), None)
    """
    if not pointer.startswith("#"):
        return None
    path = unquote(pointer[1:])
    if path and not path.startswith("/"):
        return None
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:])


def pointer_of(tokens: Iterable[str]) -> str:
    """
    >>> pointer_of(("a/b", "0"))
    '#/a~1b/0'
    """
    return "#" + "".join(
        "/" + token.replace("~", "~0").replace("/", "~1").replace("%", "%25") for token in tokens
    )


@dataclass(slots=True)
class Spot:
    """A wanted place, or one on the way to it."""

    below: dict[str, Spot] = field(default_factory=dict)
    oid: Oid | None = None
    edge: tuple[Oid, str] | None = None
    alias: str | None = None


def wanted(pointers: Iterable[str]) -> Spot:
    """The tree of all places that the pointers name."""
    root = Spot()
    for pointer in pointers:
        spot = root
        for token in tokens_of(pointer) or ():
            spot = spot.below.setdefault(token, Spot())
    return root


def resolve(root: Spot, waiting: Iterable[Waiting], rows: Rows, tally: Tally) -> None:
    """Each waiting (src, label, pos, shape, pointer) becomes an edge, or the object it was written as."""
    edges: set[tuple[Oid, str, Oid]] = set()
    for src, label, pos, shape, pointer in waiting:
        spot = _target(root, pointer)
        if spot is not None and spot.oid is not None:
            edge = (src, label, spot.oid)
            if edge not in edges and spot.edge != (src, label):
                edges.add(edge)
                rows.link(src, label, spot.oid, pos, f"{shape or ''}${pointer}")
                tally.made += 1
                continue
            tally.count("repeated", f"$ref {pointer!r}")
        else:
            tally.count("unresolved", f"$ref {pointer!r}")
        rows.add(pointer, rows.add_at(pos, COMPLEX, src, label, shape), "$ref")


def _target(root: Spot, pointer: str) -> Spot | None:
    """What stands at a pointer; a reference standing there is followed, round in circles never."""
    followed: set[str] = set()
    while pointer not in followed:
        followed.add(pointer)
        tokens = tokens_of(pointer)
        if tokens is None:
            return None
        spot = root
        for token in tokens:
            spot = spot.below[token]
        if spot.alias is None:
            return spot
        pointer = spot.alias
    return None
