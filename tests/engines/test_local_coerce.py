"""Coercion over whole columns against `model.compare`, pair by pair."""

from __future__ import annotations

from random import Random

import pytest

from oemviews.engines.local import coerce
from oemviews.engines.local.coerce import compare_with, one_of
from oemviews.model import COMPLEX, Value, compare
from oemviews.store.values import MISSING, values_of

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


@pytest.mark.parametrize("value", ATOMS, ids=repr)
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
def test_a_column_against_a_constant(op: str, value: Value, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same one by one and all at once; what is complex or missing compares with no constant."""
    rows = [*ATOMS, COMPLEX]
    expected = [each is not COMPLEX and compare(op, each, value) for each in rows]
    for few in (0, len(rows)):
        monkeypatch.setattr(coerce, "_FEW", few)
        values = values_of([*rows, None])
        values.kind[-1] = MISSING
        assert compare_with(op, values, value).tolist() == [*expected, False]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rows", [["x", "4", "4.0", "y"] * 5, [1, 4, 5, 2**53 + 1] * 5], ids=["texts", "integers"]
)
@pytest.mark.parametrize("op", ["=", "!=", "<", ">="])
def test_columns_of_one_kind(op: str, rows: list[Value]) -> None:
    others = [rows[(i * 7 + 1) % len(rows)] for i in range(len(rows))]
    found = coerce.compare(op, values_of(rows), values_of(others)).tolist()
    assert found == [compare(op, a, b) for a, b in zip(rows, others, strict=True)]
