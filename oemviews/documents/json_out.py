"""Objects to JSON, the inverse of a load (docs/documents.md tells the shapes).

Any object can be written, also one that no document knows: several edges with one label are an array, a
shared object is written where it is met, one met again on its own way down is `{"$oid": n}`. A reference is
written as such while it still leads where it did, else as what it leads to.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from oemviews.documents.exportable import ARRAY, Exportable
from oemviews.documents.json_in import LINES
from oemviews.documents.json_walk import FILES, ITEM
from oemviews.documents.pointers import tokens_of
from oemviews.documents.xml_text import ATTRIBUTE
from oemviews.model import COMPLEX, Oid, Value

Child: TypeAlias = tuple[str, Oid, int, str | None]

_BUFFER: Final = 1 << 16
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_HOLDERS: Final = (LINES, FILES)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What is open: the rest of its members, each with the text before it, and how it closes.

    `base` is the root of the document around it, where pointers start; None means each member is one.
    """

    members: Iterator[tuple[str, Child | list[Child]]]
    close: str
    oid: Oid | None
    base: Oid | None


def write_json(graph: Exportable, oid: Oid) -> Iterator[str]:
    """The text of `oid` and all that it reaches, in pieces; lines for what was loaded from JSON Lines."""
    buffer: list[str] = []
    size = 0
    for text in _Writer(graph).write(oid):
        buffer.append(text)
        size += len(text)
        if size >= _BUFFER:
            yield "".join(buffer)
            buffer, size = [], 0
    yield "".join(buffer)


class _Writer:
    def __init__(self, graph: Exportable) -> None:
        self._graph = graph
        self._open: set[Oid] = set()
        self._targets: dict[tuple[Oid, str], Oid | None] = {}

    def write(self, oid: Oid) -> Iterator[str]:
        graph = self._graph
        if graph.shape(oid) == LINES and _is_array(LINES, graph.children(oid)):
            self._open.add(oid)
            stack = [_Frame(_separated(graph.children(oid), "\n"), "\n", oid, None)]
        else:
            stack = [_Frame(iter([("", ("", oid, 0, None))]), "\n", None, None)]
        while stack:
            frame = stack[-1]
            for before, member in frame.members:
                yield before
                opened = (
                    self._array(frame, member) if isinstance(member, list) else self._value(frame, member)
                )
                if isinstance(opened, str):
                    yield opened
                    continue
                yield "[" if opened.close == "]" else "{"
                stack.append(opened)
                break
            else:
                stack.pop()
                yield frame.close
                if frame.oid is not None:
                    self._open.discard(frame.oid)

    def _array(self, frame: _Frame, edges: list[Child]) -> _Frame:
        return _Frame(_separated(edges), "]", None, frame.base)

    def _value(self, frame: _Frame, edge: Child) -> str | _Frame:
        """The text of an edge's target, or its frame if it is complex."""
        graph, (_, oid, _, edge_shape) = self._graph, edge
        base = oid if frame.base is None else frame.base
        reference = self._reference(edge_shape, oid, base) if edge_shape else None
        if reference is not None:
            return reference
        value = graph.value(oid)
        if value is not COMPLEX:
            return _atom(value)
        if oid in self._open:
            return f'{{"$oid": {oid}}}'
        self._open.add(oid)
        shape, children = graph.shape(oid), graph.children(oid)
        if _is_array(shape, children):
            return _Frame(_separated(children), "]", oid, None if shape in _HOLDERS else base)
        return _Frame(_members(children, _empties(shape)), "}", oid, base)

    # ---- references ----

    def _reference(self, shape: str, oid: Oid, base: Oid) -> str | None:
        """The reference that an edge was written as, if it still leads to `oid`."""
        shape = shape.removeprefix(ARRAY).removeprefix(ATTRIBUTE)
        if shape.startswith("&"):
            return self._key(oid, shape[1:])
        if shape.startswith("$") and self._target(base, shape[1:]) == oid:
            return f'{{"$ref": {_atom(shape[1:])}}}'
        return None

    def _key(self, oid: Oid, label: str) -> str | None:
        """The first value under a key label that can be a key."""
        for name, dst, _, _ in self._graph.children(oid):
            value = self._graph.value(dst) if name == label else None
            if isinstance(value, str | int) and not isinstance(value, bool):
                return _atom(value)
        return None

    def _target(self, base: Oid, pointer: str) -> Oid | None:
        """What a pointer leads to in the document being written; a reference standing there is followed."""
        key, followed = (base, pointer), set()
        if key not in self._targets:
            found: Oid | None = None
            following: str | None = pointer
            while following is not None and following not in followed:
                followed.add(following)
                found = self._walk(base, tokens_of(following) or ())
                following = None if found is None else self._pointer(found)
            self._targets[key] = found
        return self._targets[key]

    def _pointer(self, oid: Oid) -> str | None:
        """The pointer of a reference that could not become an edge."""
        children = self._graph.children(oid)
        value = self._graph.value(children[0][1]) if [child[0] for child in children] == ["$ref"] else None
        return value if isinstance(value, str) else None

    def _walk(self, oid: Oid, tokens: Sequence[str]) -> Oid | None:
        edges: Sequence[Child] | None = None  # the items of an array under a key, of which one is to be taken
        for token in tokens:
            if edges is None:
                children = self._graph.children(oid)
                is_array = _is_array(self._graph.shape(oid), children)
                edges = children if is_array else [child for child in children if child[0] == token]
                if not is_array:
                    if len(edges) == 1 and not _in_array(edges[0]):
                        oid, edges = edges[0][1], None
                    continue
            if not token.isdecimal() or int(token) >= len(edges):
                return None
            oid, edges = edges[int(token)][1], None
        return oid if edges is None else None


def _atom(value: Value) -> str:
    """
    >>> [_atom(v) for v in (1, 1.0, "é", True, None, b"4")]
    ['1', '1.0', '"é"', 'true', 'null', '"NA=="']
    """
    if isinstance(value, bytes):
        value = b64encode(value).decode("ascii")
    return _ENCODER.encode(value)


def _separated(items: Iterable[Child], separator: str = ", ") -> Iterator[tuple[str, Child | list[Child]]]:
    before = ""
    for item in items:
        yield before, item
        before = separator


def _is_array(shape: str | None, children: Iterable[Child]) -> bool:
    """Whether an object is still the array it was loaded as: an edge of another label makes it an object."""
    is_array = shape == ARRAY or shape in _HOLDERS
    return is_array and all(label == ITEM for label, _, _, _ in children)


def _in_array(edge: Child) -> bool:
    return (edge[3] or "").startswith(ARRAY)


def _empties(shape: str | None) -> Mapping[str, object]:
    if shape is None or not shape.startswith("{"):
        return {}
    listed: Mapping[str, object] = json.loads(shape)
    return listed


def _members(
    children: Iterable[Child], empties: Mapping[str, object]
) -> Iterator[tuple[str, Child | list[Child]]]:
    """The members of an object: labels in the order of their first edges, empty arrays at their places."""
    grouped: dict[str, list[Child]] = {}
    for child in children:
        grouped.setdefault(child[0], []).append(child)
    before = ""
    for label in _ordered(list(grouped), empties):
        edges = grouped.get(label, [])
        alone = len(edges) == 1 and not _in_array(edges[0]) and empties.get(label) != []
        yield f"{before}{_atom(label)}: ", edges[0] if alone else edges
        before = ", "


def _ordered(labels: Iterable[str], empties: Mapping[str, object]) -> Iterator[str]:
    """Labels, and after each the empty arrays that stood after it.

    >>> list(_ordered(["b", "e"], {"a": [], "b": 0, "c": [], "d": []}))
    ['a', 'b', 'c', 'd', 'e']
    """
    follower: dict[str | None, str] = {}
    left: dict[str, None] = dict.fromkeys(labels)
    before = None
    for label, mark in empties.items():
        if mark == [] and label not in left:
            follower[before] = label
        before = label
    for anchor in (None, *left):
        after: str | None = anchor
        if anchor is not None:
            yield anchor
        while after in follower:
            after = follower.pop(after)
            yield after
    yield from follower.values()
