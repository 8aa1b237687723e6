"""The view of the 1998 paper, update by update."""

from __future__ import annotations

from typing import Final

import pytest

from oemviews.edits import Change, Delete, Edit, Insert
from tests.guide import GUIDE
from tests.maintain.kit import Kept, contents

FAVORITE: Final = """define view FavoriteEntrees as Entrees =
select e
from Guide.Restaurant r, r.Entree e
where exists x in r.Name : x = "Baghdad Cafe"
and exists y in e.Ingredient : y = "Mushroom"
with e.Name n, e.Ingredient i"""

_NINE: Final = {"9 Name 14", "9 Ingredient 15"}
_TEN: Final = {"10 Name 16", "10 Ingredient 15", "10 Ingredient 17"}
_THIRTEEN: Final = {"13 Name 18", "13 Ingredient 15", "13 Ingredient 17", "13 Ingredient 19"}

TRACE: Final[list[tuple[Edit, set[int], set[str]]]] = [
    (Insert(10, "Ingredient", 15), {9, 10}, _NINE | _TEN),
    (Delete(9, "Ingredient", 15), {10}, _TEN),
    (Change(5, "Baghdad Cafe"), {10}, _TEN),
    (Insert(2, "Entree", 13), {10}, _TEN),
    (Insert(13, "Ingredient", 15), {10, 13}, _TEN | _THIRTEEN),
    (Insert(4, "Name", 7), {10, 13}, _TEN | _THIRTEEN),
    (Delete(3, "Entree", 10), {10, 13}, _TEN | _THIRTEEN),
    (Change(15, "Truffle"), set(), set()),
    (Change(19, "Mushroom"), {13}, _THIRTEEN),
]


def _shown(kept: Kept) -> tuple[set[int], set[str]]:
    stored = contents(kept.table)
    return stored["primary"], {f"{src} {label} {dst}" for _, src, label, dst in stored["with"]}


def test_the_trace_of_the_paper() -> None:
    kept = Kept.of(FAVORITE, GUIDE)
    kept.check()
    assert _shown(kept) == ({9}, _NINE)
    for edit, primaries, edges in TRACE:
        kept.apply([edit])
        kept.check()
        assert _shown(kept) == (primaries, edges), edit


@pytest.mark.parametrize("size", range(2, len(TRACE) + 1))
def test_the_trace_in_batches(size: int) -> None:
    kept = Kept.of(FAVORITE, GUIDE)
    for first in range(0, len(TRACE), size):
        part = TRACE[first : first + size]
        kept.apply([edit for edit, _, _ in part])
        kept.check()
        assert _shown(kept) == part[-1][1:]


def test_reasons_of_dismissal() -> None:
    kept = Kept.of(FAVORITE, GUIDE)
    delta = kept.apply(
        [
            Insert(2, "Zipcode", 27),
            Insert(24, "Name", 27),
            Change(5, "Hunan Wok"),
            Change(22, 1),
            Change(14, "Caps"),
        ]
    )
    assert delta.report.dismissed == {
        "label not in the view": 1,
        "oid not in RelevantOids": 2,
        "no comparison changes": 1,
    }
    assert delta.report.relevant == 1
    assert contents(kept.table)["object"][14] == ("string", "Caps")
