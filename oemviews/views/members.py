"""Arrays of oids and sets of oids: which objects of an array are in a set."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import Final

import numpy as np
from pyroaring import BitMap64

from oemviews.store.values import Bools, Ints

_FEW: Final = 64
"""So few objects are looked up one by one."""


def bitmap_of(oids: Ints) -> BitMap64:
    """The set of the objects in an array."""
    if len(oids) < _FEW:
        return BitMap64(oids.tolist())
    return BitMap64(array("Q", np.sort(oids).tobytes()))


def array_of_bitmap(oids: BitMap64) -> Ints:
    """The objects of a set, in order."""
    return np.frombuffer(oids.to_array(), np.uint64).astype(np.int64)


class Asked:
    """An array of oids that is asked about more than once.

    >>> Asked(np.array([7, 3, 7])).among(BitMap64([1, 7])).tolist()
    [True, False, True]
    """

    def __init__(self, oids: Ints) -> None:
        self.oids = oids

    @cached_property
    def bitmap(self) -> BitMap64:
        return bitmap_of(self.oids)

    def among(self, known: BitMap64) -> Bools:
        """Which of the oids are in a set."""
        if len(self.oids) < _FEW:
            return np.array([oid in known for oid in self.oids.tolist()], np.bool_)
        found = self.bitmap & known
        if not found or len(found) == len(self.bitmap):
            return np.full(len(self.oids), bool(found))
        members = array_of_bitmap(found)
        at = members.searchsorted(self.oids)
        at[at == len(members)] = 0
        return np.asarray(members[at] == self.oids)
