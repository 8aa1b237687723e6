"""Cells, columns and their other forms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oemviews.answers.answer import About, Answer
from oemviews.answers.cells import (
    CELL,
    Cell,
    Column,
    NewColumn,
    ObjectColumn,
    ValueColumn,
    arrow_of,
    cell_json,
    object_json,
)
from oemviews.answers.ordering import first_of_equals, in_order, ranks
from oemviews.answers.rendering import answer_csv, answer_text
from oemviews.documents.exportable import GraphOfTables
from oemviews.model import COMPLEX, Value, same_value
from oemviews.store.schema import EDGES, OBJECTS, value_of
from oemviews.store.values import values_of

values = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8")),
    st.booleans(),
    st.none(),
    st.binary(),
    st.just(COMPLEX),
)
NOTHING = GraphOfTables(OBJECTS.empty_table(), EDGES.empty_table())


def answer_of(**columns: Column) -> Answer:
    about = About("local", "a test", lambda: "", lambda: "")
    made = tuple(columns.values())
    return Answer(tuple(columns), lambda: made, about, graph=lambda: NOTHING, frame=lambda _: None)  # type: ignore[arg-type,return-value]


@given(st.lists(values, max_size=20))
def test_arrow_keeps_every_value(found: list[Value]) -> None:
    column = ObjectColumn(np.arange(len(found), dtype=np.int64), values_of(found))
    array = arrow_of(column)
    assert array.type == CELL
    for i, row in enumerate(array.to_pylist()):
        assert row.pop("oid") == i
        assert same_value(value_of(row["type"], row["text"], row["integer"], row["number"]), found[i])


@given(st.lists(values, max_size=20))
def test_json_keeps_every_value_but_bytes(found: list[Value]) -> None:
    answer = answer_of(x=ValueColumn(values_of(found)))
    for line, value in zip(answer.json_lines(), found, strict=True):
        shown = json.loads(line)["x"]
        if not isinstance(value, bytes) and value is not COMPLEX:
            assert same_value(shown["value"], value)


@given(st.lists(values, max_size=12))
def test_an_order_is_total_and_missing_comes_last(found: list[Value]) -> None:
    place = ranks(values_of(found)).tolist()
    for i, a in enumerate(found):
        for j, b in enumerate(found):
            if same_value(a, b) and a is not COMPLEX:
                assert place[i] == place[j]
    numbers = [place[i] for i, value in enumerate(found) if isinstance(value, float)]
    nulls = [place[i] for i, value in enumerate(found) if value is None]
    assert all(a < b for a in numbers for b in nulls)


def test_rows_in_order_of_their_objects() -> None:
    first = ObjectColumn(np.array([3, 1, 3]), values_of([COMPLEX, COMPLEX, COMPLEX]))
    second = ValueColumn(values_of(["b", "x", "a"]))
    assert in_order([], (first, second)).tolist() == [1, 2, 0]


def test_repeated_rows_go_by_identity_or_by_value() -> None:
    column = ObjectColumn(np.array([1, 2, 1]), values_of([4, 4, 4]))
    assert first_of_equals((column,), by_value=False).tolist() == [0, 1]
    assert first_of_equals((column,), by_value=True).tolist() == [0]


def test_constructed_objects_with_equal_contents_are_one() -> None:
    made = Cell(COMPLEX, None, (("a", Cell(1)), ("b", Cell("x", 7))))
    turned = Cell(COMPLEX, None, (("b", Cell("x", 7)), ("a", Cell(1))))
    other = Cell(COMPLEX, None, (("a", Cell(True)), ("b", Cell("x", 7))))
    assert first_of_equals((NewColumn((made, turned, other)),), by_value=False).tolist() == [0, 2]
    assert cell_json(made, None, 0) == {"type": "complex", "value": {"a": 1, "b": "x"}}
    assert arrow_of(NewColumn((made,))).to_pylist()[0]["text"] == '{"a":1,"b":"x"}'


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_an_object_down_to_a_depth(depth: int) -> None:
    class Loop:
        def value(self, oid: int) -> Value:
            return COMPLEX if oid < 4 else oid

        def shape(self, oid: int) -> str | None:
            return None

        def children(self, oid: int) -> list[tuple[str, int, int, str | None]]:
            return [("next", oid % 3 + 1, 0, None), ("v", oid + 3, 1, None)]

    expected = {
        0: {"$oid": 1},
        1: {"next": {"$oid": 2}, "v": 4},
        2: {"next": {"next": {"$oid": 3}, "v": 5}, "v": 4},
        5: {"next": {"next": {"next": {"$oid": 1}, "v": 6}, "v": 5}, "v": 4},
    }
    assert object_json(1, Loop(), depth) == expected[depth]


def test_csv_quotes_what_must_be() -> None:
    answer = answer_of(
        a=ValueColumn(values_of(['x,"y"', None, True])), b=ValueColumn(values_of([1, 2.0, b"z"]))
    )
    assert "".join(answer_csv(answer)) == 'a,b\n"x,""y""",1\n,2.0\ntrue,eg==\n'


def test_a_table_shows_some_rows_and_says_so() -> None:
    answer = answer_of(n=ValueColumn(values_of(range(100))))
    assert answer_text(answer, 3).splitlines()[-1] == "100 rows, the first 3 shown"
    wide = answer_of(n=ValueColumn(values_of(["line\n" * 100])))
    assert len(answer_text(wide, None).splitlines()) == 4
