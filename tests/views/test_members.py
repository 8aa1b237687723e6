"""Which objects of an array are in a set: the same for few and for many."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from pyroaring import BitMap64

from oemviews.model import COLLECTION
from oemviews.views.members import Asked, array_of_bitmap, bitmap_of


@pytest.mark.parametrize("seed", range(40))
def test_among_is_membership(seed: int) -> None:
    rng = Random(seed)
    oids = [
        rng.choice((rng.randrange(30), rng.randrange(3000), COLLECTION))
        for _ in range(rng.choice((0, 5, 300)))
    ]
    sets = [BitMap64(), BitMap64(oids), BitMap64(oids[:3]), BitMap64(rng.sample(range(3000), 500))]
    asked = Asked(np.array(oids, np.int64))
    for known in sets:
        assert asked.among(known).tolist() == [oid in known for oid in oids]


@pytest.mark.parametrize("count", [0, 3, 500])
def test_a_set_and_an_array_of_the_same_objects(count: int) -> None:
    oids = [(oid * 7919) % 4001 for oid in range(count)] + [COLLECTION]
    made = bitmap_of(np.array([*oids, *oids], np.int64))
    assert made == BitMap64(oids)
    assert array_of_bitmap(made).tolist() == sorted(oids)
