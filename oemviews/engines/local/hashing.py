"""A 64-bit hash of many texts at once: each byte times a fixed random number of its place, added up."""

from __future__ import annotations

from typing import Final

import numpy as np

from oemviews.store.values import Ints, Texts

_PERIOD: Final = 256
_ROUND: Final = np.uint64(0x9E3779B97F4A7C15)
_CHUNK: Final = 1 << 22
"""Bytes at a time, which bounds the memory of the work arrays."""


def _mixed(
    numbers: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """The random numbers of splitmix64, which is quicker to have than `numpy.random` is to import."""
    mixed = numbers * _ROUND
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


_WEIGHTS: Final = _mixed(np.arange(1, _PERIOD + 1, dtype=np.uint64)) | np.uint64(1)


def hash_texts(texts: Texts) -> Ints:
    """One number a text; equal texts have equal ones, and others but for rare chances do not."""
    offsets = texts.offsets.astype(np.int64)
    out = np.zeros(len(texts), np.uint64)
    start = 0
    while start < len(texts):
        end = max(start + 1, int(offsets.searchsorted(offsets[start] + _CHUNK, "right")) - 1)
        out[start:end] = _hashed(
            texts.blob[offsets[start] : offsets[end]], offsets[start : end + 1] - offsets[start]
        )
        start = end
    return out.view(np.int64)


def _hashed(
    blob: np.ndarray[tuple[int], np.dtype[np.uint8]], offsets: Ints
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    lengths = np.diff(offsets)
    out = np.zeros(len(lengths), np.uint64)
    some = np.flatnonzero(lengths)
    if len(some):
        place = np.arange(len(blob), dtype=np.int32) - np.repeat(offsets[:-1].astype(np.int32), lengths)
        weights = _WEIGHTS[place & (_PERIOD - 1)]
        if int(lengths.max()) > _PERIOD:
            weights += _ROUND * (place // _PERIOD).astype(np.uint64)
        out[some] = np.add.reduceat((blob.astype(np.uint64) + np.uint64(1)) * weights, offsets[some])
    return out
