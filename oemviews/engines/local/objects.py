"""Values of objects in arrays, and the index that finds objects by value.

The index has two sorted arrays: a hash of every text, and the double of everything that reads as a number.
They give candidates; the exact comparison then decides, so coercion stays right (`coerce.py`).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from oemviews.engines.local.adjacency import NO_INTS, narrow, ranges, unique
from oemviews.engines.local.coerce import compare, repeated
from oemviews.engines.local.hashing import hash_texts
from oemviews.store.values import (
    BIG,
    BINARY,
    BOOLEAN,
    C_COMPLEX,
    INTEGER,
    MISSING,
    NAN,
    NULL,
    STRING,
    Codes,
    Floats,
    Ints,
    Texts,
    Values,
    column_numpy,
    numeric_columns,
)

_TEXT_KINDS: Final = (STRING, BINARY, BIG)


class ValueIndex(NamedTuple):
    """Places of objects by the hash of their text and by their double; `odd` integers have no double."""

    hashes: Ints
    hash_at: NDArray[Any]
    numbers: Floats
    number_at: NDArray[Any]
    odd: Ints


class Objects:
    """Objects in the order of their oids; `oids` is None if they are `first`, `first + 1`, ..."""

    __slots__ = ("_index", "first", "integer", "kind", "number", "oids", "texts")

    def __init__(
        self,
        first: int,
        oids: Ints | None,
        kind: Codes,
        integer: Ints,
        number: Floats,
        texts: Texts,
        index: ValueIndex | None = None,
    ) -> None:
        self.first, self.oids, self.kind, self.integer, self.number = first, oids, kind, integer, number
        self.texts, self._index = texts, index

    @classmethod
    def of(cls, oids: Ints, kind: Codes, integer: Ints, number: Floats, text: Any) -> Objects:
        """From columns in any order, `text` an Arrow array."""
        if len(oids) and (oids[1:] <= oids[:-1]).any():
            order = np.argsort(oids)
            oids, kind, integer, number = oids[order], kind[order], integer[order], number[order]
            text = text.take(pa.array(order))
        dense = len(oids) > 0 and int(oids[-1] - oids[0]) + 1 == len(oids)
        whole = np.where(kind == C_COMPLEX, oids, integer)
        return cls(int(oids[0]) if dense else 0, None if dense else oids, kind, whole, number, Texts.of(text))

    @classmethod
    def of_table(cls, objects: Any) -> Objects:
        """From a table with the columns of OBJECTS."""
        numbers = numeric_columns(objects["type"], objects["integer"], objects["number"])
        oids = np.asarray(column_numpy(objects["oid"]), dtype=np.int64)
        return cls.of(oids, *numbers, objects["text"].cast(pa.large_string()))

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def index(self) -> ValueIndex:
        if self._index is None:
            self._index = self._indexed()
        return self._index

    def _indexed(self) -> ValueIndex:
        text_at = np.flatnonzero(np.isin(self.kind, _TEXT_KINDS))
        hashes = hash_texts(self.texts)[text_at]
        by_hash = np.argsort(hashes)
        number_at = np.flatnonzero(~np.isnan(self.number))
        numbers = self.number[number_at] + 0.0  # the two zeros are one number
        by_number = np.argsort(numbers)
        return ValueIndex(
            hashes[by_hash],
            narrow(text_at[by_hash]),
            numbers[by_number],
            narrow(number_at[by_number]),
            np.flatnonzero((self.kind == BIG) & np.isnan(self.number)),
        )

    # ---- from oids to values ----

    def places(self, oids: Ints) -> Ints:
        """The place of each object, or -1."""
        if self.oids is None:
            at = oids - self.first
            at[(at < 0) | (at >= len(self.kind))] = -1
            return at
        if not len(self.oids):
            return np.full(len(oids), -1, np.int64)
        at = self.oids.searchsorted(oids)
        at[at == len(self.oids)] = 0
        return np.where(self.oids[at] == oids, at, -1)

    def oids_at(self, at: Ints) -> Ints:
        return at + self.first if self.oids is None else self.oids[at]

    def all_oids(self) -> Ints:
        return self.oids_at(np.arange(len(self)))

    def at(self, places: Ints) -> Values:
        """The values at these places; MISSING at -1."""
        if not len(self.kind):
            places = NO_INTS if not len(places) else places
            return Values(
                np.full(len(places), MISSING, np.uint8),
                np.zeros(len(places), np.int64),
                np.full(len(places), NAN),
            )
        kind, whole, number = self.kind[places], self.integer[places], self.number[places]
        absent = places < 0
        if absent.any():
            kind[absent], whole[absent], number[absent] = MISSING, 0, NAN
        return Values(kind, whole, number, None, self.texts.gather, np.maximum(places, 0))

    # ---- from values to oids ----

    def equal(self, values: Values) -> tuple[Ints, Ints]:
        """Pairs of a row of `values` and an atomic object that equals it under coercion."""
        index = self.index
        found = [
            self._paired(
                values, np.flatnonzero(~np.isnan(values.number)), index.numbers, index.number_at, False
            ),
            self._paired(
                values, np.flatnonzero(np.isin(values.kind, _TEXT_KINDS)), index.hashes, index.hash_at, True
            ),
        ]
        for kind in (BOOLEAN, NULL):
            rows = np.flatnonzero(values.kind == kind)
            if len(rows):
                there = np.flatnonzero(self.kind == kind)
                row, at = np.repeat(rows, len(there)), np.tile(there, len(rows))
                keep = self.integer[at] == values.integer[row]
                found.append((row[keep], at[keep]))
        rows_, places = (np.concatenate(column) for column in zip(*found, strict=True))
        return rows_, self.oids_at(places)

    def _paired(
        self, values: Values, rows: Ints, keys: NDArray[Any], where: NDArray[Any], by_text: bool
    ) -> tuple[Ints, Ints]:
        """Equal pairs among the candidates of one sorted array.

        Two strings, or two integers beyond 64 bits, may share a double; they count by text alone.
        """
        if not len(rows) or not len(keys):
            return NO_INTS, NO_INTS
        asked = values.take(rows)
        needles = _hashes(asked) if by_text else asked.number + 0.0
        first = keys.searchsorted(needles)
        count = keys.searchsorted(needles, "right") - first
        row = np.repeat(np.arange(len(rows)), count)
        at = where[ranges(first, count)].astype(np.int64)
        alike = (self.kind[at] == asked.kind[row]) & np.isin(asked.kind[row], _TEXT_KINDS)
        keep = alike if by_text else ~alike
        row, at = row[keep], at[keep]
        same = compare("=", asked.take(row), self.at(at))
        return rows[row[same]], at[same]

    def passing(self, op: str, constant: Values) -> Ints:
        """Objects whose value equals one of some constants, or stands in an order to a single one."""
        if op == "=":
            return self.equal(constant)[1]
        at = self._candidates(op, constant)
        return self.oids_at(at[compare(op, self.at(at), repeated(constant, len(at)))])

    def _candidates(self, op: str, constant: Values) -> Ints:
        """Places of at least all objects that pass an order test, from the index where it can tell."""
        kind, number = constant.kind.item(0), constant.number.item(0)
        parts = [NO_INTS]
        if number == number:
            lo, hi = self.span(op, number)
            at = self.index.number_at[lo:hi].astype(np.int64)
            parts.append(at[self.kind[at] != STRING] if kind == STRING else at)
        if kind == STRING:
            parts.append(np.flatnonzero(self.kind == STRING))
        elif kind == INTEGER:
            parts.append(self.index.odd)
        elif kind == BIG:
            parts = [np.flatnonzero((self.kind == INTEGER) | (self.kind == BIG)), *parts[1:]]
            parts = [unique(np.concatenate(parts))]
        return np.concatenate(parts)

    def span(self, op: str, number: float) -> tuple[int, int]:
        """The part of the sorted doubles that may pass, equal ones too: different integers may share one."""
        numbers = self.index.numbers
        if op == "=":
            return int(numbers.searchsorted(number)), int(numbers.searchsorted(number, "right"))
        if op in ("<", "<="):
            return 0, int(numbers.searchsorted(number, "right"))
        return int(numbers.searchsorted(number)), len(numbers)

    def expected(self, op: str, constant: Values) -> float:
        """About how many objects pass: exact but for strings in an order and for shared hashes."""
        if op == "=":
            numbers = constant.number[~np.isnan(constant.number)]
            texts = constant.take(np.flatnonzero(np.isin(constant.kind, _TEXT_KINDS)))
            others = np.count_nonzero(np.isin(constant.kind, (BOOLEAN, NULL)))
            found = _occurrences(self.index.numbers, numbers) + _occurrences(
                self.index.hashes, _hashes(texts)
            )
            return found + others * len(self.kind) / 10
        kind, number, lo, hi = constant.kind.item(0), constant.number.item(0), 0, 0
        if number == number:
            lo, hi = self.span(op, number)
        if kind == STRING:
            return hi - lo + len(self.index.hashes) / 3
        return hi - lo + (len(self.kind) / 10 if kind in (BOOLEAN, NULL) else 0.0)


def _occurrences(keys: NDArray[Any], needles: NDArray[Any]) -> float:
    """How often the needles stand in a sorted array."""
    return float((keys.searchsorted(needles, "right") - keys.searchsorted(needles)).sum())


def _hashes(values: Values) -> Ints:
    encoded = [text.encode() for text in values.text.tolist()]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return hash_texts(Texts(ends, np.frombuffer(b"".join(encoded), np.uint8)))
