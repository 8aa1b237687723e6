"""References between objects of a load: values that are keys of other objects become edges.

A reference is met before or after its target, so it only reserves its place in the order of edges; once
everything is read it becomes an edge, or, if it finds nothing, the string it was written as. Edges are a
set: a reference that would repeat an edge stays a string too. Each such case is counted, with a sample.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from oemviews.documents.columns import Rows
from oemviews.edits import NetChange
from oemviews.model import Oid

Key: TypeAlias = str | int
"""A value that can be a key; `7` and `"7"` are two keys."""

_SAMPLES: Final = 5
_NONE, _SEVERAL = -1, -2


@dataclass(slots=True)
class Tally:
    """How references fared, with a few samples, all different, of those that stay strings."""

    made: int = 0
    unresolved: int = 0
    ambiguous: int = 0
    repeated: int = 0
    samples: list[str] = field(default_factory=list)

    def count(self, fate: str, sample: str) -> None:
        """One reference that stays a string; fate is `unresolved`, `ambiguous` or `repeated`."""
        setattr(self, fate, getattr(self, fate) + 1)
        self._show(f"{sample} ({fate})")

    def add(self, other: Tally) -> None:
        self.made += other.made
        self.unresolved += other.unresolved
        self.ambiguous += other.ambiguous
        self.repeated += other.repeated
        for sample in other.samples:
            self._show(sample)

    def _show(self, sample: str) -> None:
        if len(self.samples) < _SAMPLES and sample not in self.samples:
            self.samples.append(sample)


class References:
    """The keys seen and the references waiting for them; memory is bounded by their number.

    Keys of one space differ; a space is a key label, or all the IDs of an XML document.
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str, Key], int] = {}
        self._keys: list[Key] = []
        self._holders = array("q")
        self._key_labels: list[str] = []
        self._labels: dict[tuple[str, str], int] = {}
        self._srcs, self._poss = array("q"), array("q")
        self._label_ids, self._key_ids = array("i"), array("i")
        self._taken: list[tuple[Oid, int, Oid]] = []

    def _key_id(self, space: str, key: Key) -> int:
        number = self._ids.setdefault((space, key), len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
            self._holders.append(_NONE)
            self._key_labels.append(space)
        return number

    def _label_id(self, label: str, shape: str) -> int:
        return self._labels.setdefault((label, shape), len(self._labels))

    def key(self, space: str, key: Key, oid: Oid, label: str) -> None:
        """The object `oid` has this key, under `label`."""
        number = self._key_id(space, key)
        self._holders[number] = oid if self._holders[number] == _NONE else _SEVERAL
        self._key_labels[number] = label

    def refer(self, src: Oid, label: str, pos: int, space: str, key: Key, shape: str) -> None:
        """`src` refers under `label`, at the reserved place `pos`, to whatever has this key."""
        self._srcs.append(src)
        self._poss.append(pos)
        self._label_ids.append(self._label_id(label, shape))
        self._key_ids.append(self._key_id(space, key))

    def take(self, src: Oid, label: str, dst: Oid) -> None:
        """The document itself writes `dst` below `src` under a reference label: that edge is taken."""
        self._taken.append((src, self._label_id(label, ""), dst))

    def __len__(self) -> int:
        return len(self._srcs)

    def merge(self, other: References, oid_of: Callable[[Oid], Oid], pos: int) -> None:
        """Take over what another part of the load met, its oids by `oid_of`, its places moved by `pos`."""
        numbers = [self._key_id(space, key) for space, key in other._ids]
        for number, holder, label in zip(numbers, other._holders, other._key_labels, strict=True):
            if holder == _NONE:
                continue
            alone = holder != _SEVERAL and self._holders[number] == _NONE
            self._holders[number] = oid_of(holder) if alone else _SEVERAL
            self._key_labels[number] = label
        labels = [self._label_id(label, shape) for label, shape in other._labels]
        self._taken.extend((oid_of(src), labels[label], oid_of(dst)) for src, label, dst in other._taken)
        self._srcs.extend(map(oid_of, other._srcs))
        self._poss.extend(at + pos for at in other._poss)
        self._label_ids.extend(labels[label] for label in other._label_ids)
        self._key_ids.extend(numbers[key] for key in other._key_ids)

    def resolve(self, rows: Rows, tally: Tally) -> Iterator[NetChange]:
        """Turn every waiting reference into an edge, or into a string at its place."""
        if not self._srcs:
            return
        names = list(self._labels)
        plain = {label: number for number, label in enumerate(dict.fromkeys(label for label, _ in names))}
        label_of = np.array([plain[label] for label, _ in names])
        taken = np.array(self._taken, np.int64).reshape(-1, 3)
        src = np.concatenate([taken[:, 0], np.frombuffer(self._srcs, np.int64)])
        label_id = np.concatenate([taken[:, 1], np.frombuffer(self._label_ids, np.int32)]).astype(np.int64)
        key_id = np.frombuffer(self._key_ids, np.int32)
        dst = np.concatenate([taken[:, 2], np.frombuffer(self._holders, np.int64)[key_id]])
        order = np.lexsort((dst, label_of[label_id], src))  # stable: the first of equals is the first written
        repeats = np.zeros(len(src), bool)
        same = np.ones(max(len(src) - 1, 0), bool)
        for column in (src, label_of[label_id], dst):
            same &= column[order][1:] == column[order][:-1]
        repeats[order[1:]] = same
        first = len(taken)
        for row in range(first, len(src)):
            if rows.full:
                yield rows.flush()
            label, shape = names[label_id[row]]
            number, pos, target = key_id[row - first], self._poss[row - first], int(dst[row])
            if target >= 0 and not repeats[row]:
                rows.link(int(src[row]), label, target, pos, f"{shape}&{self._key_labels[number]}")
                tally.made += 1
                continue
            fate = {_NONE: "unresolved", _SEVERAL: "ambiguous"}.get(target, "repeated")
            tally.count(fate, f"{label} {self._keys[number]!r}")
            rows.add_at(pos, self._keys[number], int(src[row]), label, shape or None)
