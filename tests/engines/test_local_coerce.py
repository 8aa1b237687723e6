"""Coercion over whole columns against `model.compare`, pair by pair."""

from __future__ import annotations

from random import Random

import pytest

from oemviews.engines.local.coerce import one_of
from oemviews.model import Value, compare
from oemviews.store.values import values_of

ATOMS: tuple[Value, ...] = (
    1, 4, 4.0, "4", "4.0", "x", "", True, False, None, b"zz", 2**70, 2**70 + 1, float(2**70), 10**400, 2**53,
    2**53 + 1, float(2**53), str(2**53 + 1), -0.0, 0, "-0", "\u00e9", "1e999", 0.5, "0.50",
)  # fmt: skip


@pytest.mark.parametrize("value", ATOMS, ids=repr)
def test_one_of_a_single_constant_is_equality(value: Value) -> None:
    found = one_of(values_of(ATOMS), values_of([value])).tolist()
    assert found == [compare("=", each, value) for each in ATOMS]


@pytest.mark.parametrize("seed", range(30))
def test_one_of_several_is_equality_with_any(seed: int) -> None:
    rng = Random(seed)
    wanted = rng.sample(ATOMS, rng.randrange(6))
    rows = rng.choices(ATOMS, k=rng.choice((0, 3, 50)))
    found = one_of(values_of(rows), values_of(wanted)).tolist()
    assert found == [any(compare("=", each, value) for value in wanted) for each in rows]
