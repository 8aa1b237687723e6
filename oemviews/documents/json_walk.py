"""A decoded JSON value to rows, in document order, with no recursion."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any, Final

from oemviews.documents.columns import Rows
from oemviews.documents.exportable import ARRAY
from oemviews.documents.references import References
from oemviews.model import COMPLEX, Oid

ITEM: Final = "item"
FILES: Final = "files"
"""Shape of the object that holds several documents."""


def note_empty(listed: dict[str, object], before: str | None, key: str) -> None:
    """The array under `key`, a member that stands after `before`, is empty."""
    if before is not None:
        listed.setdefault(before, 0)
    listed[key] = []


def empties_shape(listed: Mapping[str, object]) -> str | None:
    """The shape of an object with empty arrays: each stands after the key that is listed before it.

    >>> empties_shape({"b": 0, "c": [], "d": []}), empties_shape({})
    ('{"b":0,"c":[],"d":[]}', None)
    """
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":")) if listed else None


def _empties(members: Mapping[str, Any]) -> str | None:
    """
    >>> _empties({"a": 1, "b": 2, "c": [], "d": [], "e": 3})
    '{"b":0,"c":[],"d":[]}'
    """
    listed: dict[str, object] = {}
    before = None
    for key, value in members.items():
        if value == []:
            note_empty(listed, before, key)
        before = key
    return empties_shape(listed)


class Walker:
    """Hangs decoded values below objects; values under reference labels wait in `references`."""

    def __init__(self, rows: Rows, keys: Mapping[str, str], references: References) -> None:
        self._rows, self._keys, self._references = rows, keys, references
        self._key_labels = frozenset(keys.values())
        self._special = self._key_labels.union(keys)

    def opened(self, src: Oid, label: str, oid: Oid) -> None:
        """A complex object was written below `src`."""
        if label in self._keys:
            self._references.take(src, label, oid)

    def hang(
        self, value: Any, src: Oid, label: str, shape: str | None, *, in_array: bool, first: bool = True
    ) -> None:
        """The value of a member (or of an item, `in_array`) and all below it.

        `first` is False for an item of an array that is not its first: only a first value is a key.
        """
        if type(value) is dict or type(value) is list:
            self._walk(iter([(label, value)]), src, shape, in_array)
        elif label in self._special:
            self._atom(value, src, label, shape, first)
        else:
            self._rows.add(value, src, label, shape)

    def _atom(self, value: Any, src: Oid, label: str, shape: str | None, first: bool) -> None:
        rows = self._rows
        if type(value) is str or type(value) is int:
            if first and label in self._key_labels:
                self._references.key(label, value, src, label)
            if label in self._keys:
                self._references.refer(src, label, rows.reserve(), self._keys[label], value, shape or "")
                return
        rows.add(value, src, label, shape)

    def _walk(self, pairs: Iterator[tuple[str, Any]], src: Oid, shape: str | None, in_array: bool) -> None:
        """The loop that all documents go through: few names, no calls for plain values."""
        rows, special = self._rows, self._special
        add_value, add_src = rows.values.append, rows.srcs.append
        add_label, add_shape = rows.labels.append, rows.shapes.append
        members: dict[str, Any] = {}
        stack: list[tuple[Iterator[tuple[str, Any]], Oid, str | None, bool, dict[str, Any]]] = []
        while True:
            for label, value in pairs:
                kind = type(value)
                if kind is dict:
                    stack.append((pairs, src, shape, in_array, members))
                    oid = rows.add(COMPLEX, src, label, shape)
                    if label in special:
                        self.opened(src, label, oid)
                    src, shape, in_array, members = oid, None, False, value
                    pairs = iter(value.items())
                    break
                if kind is list:
                    if not value and not in_array:
                        rows.set_shape(src, _empties(members) or "")
                        continue
                    stack.append((pairs, src, shape, in_array, members))
                    src, label, shape = self._array(src, label, shape, in_array, value)
                    pairs, in_array = zip(repeat(label), value, strict=False), True
                    break
                if label in special:
                    self._atom(value, src, label, shape, not in_array)
                else:
                    add_value(value)
                    add_src(src)
                    add_label(label)
                    add_shape(shape)
            else:
                if not stack:
                    return
                pairs, src, shape, in_array, members = stack.pop()

    def _array(
        self, src: Oid, label: str, shape: str | None, in_array: bool, items: list[Any]
    ) -> tuple[Oid, str, str | None]:
        """Where the items of an array hang: below an object of its own only if it is an item itself."""
        if in_array:
            oid = self._rows.add(COMPLEX, src, label, shape)
            self._rows.set_shape(oid, ARRAY)
            self.opened(src, label, oid)
            src, label, shape = oid, ITEM, None
        else:
            shape = ARRAY
        if items and label in self._key_labels and type(items[0]) in (str, int):
            self._references.key(label, items[0], src, label)
        return src, label, shape
