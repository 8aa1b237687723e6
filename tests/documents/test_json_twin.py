"""JSON by readers that share nothing with ours: what they read must be what a load stores."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oemviews.documents import columns, json_in, source
from oemviews.documents.exportable import GraphOfTables
from oemviews.model import COMPLEX
from tests.documents.loading import loaded, written

Stored = list[tuple[str, type, str]]
"""Label, type and value of every object, in document order; values as text, for -0.0 == 0."""

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
KEYS = st.one_of(st.sampled_from(["a", "b", "item", "", "two words"]), TEXT)
FORMS = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1])})


def documents(integers: st.SearchStrategy[int]) -> st.SearchStrategy[Any]:
    reals = st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        st.one_of(st.none(), st.booleans(), integers, reals, TEXT),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
        max_leaves=20,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twin")


def stored(graph: GraphOfTables) -> Stored:
    labels = {child.dst: child.label for children in graph._children.values() for child in children}
    return [noted(labels[oid], graph.value(oid)) for oid in sorted(labels)]


def noted(label: str, value: Any) -> tuple[str, type, str]:
    return label, type(value), repr(value)


def by_ijson(text: bytes) -> Iterator[tuple[str, type, str]]:
    """`labels` has, for every open array, the label of its items, and for an open object its last key."""
    labels, in_array = ["Doc"], [True]
    for event, value in ijson.basic_parse(io.BytesIO(text)):
        match event:
            case "map_key":
                labels[-1] = value
            case "end_map" | "end_array":
                labels.pop()
                in_array.pop()
            case "start_map":
                yield noted(labels[-1], COMPLEX)
                labels.append("")
                in_array.append(False)
            case "start_array":
                if in_array[-1]:
                    yield noted(labels[-1], COMPLEX)
                labels.append("item" if in_array[-1] else labels[-1])
                in_array.append(True)
            case "number":
                yield noted(labels[-1], value if isinstance(value, int) else float(value))
            case _:
                yield noted(labels[-1], value)


def by_orjson(value: Any, label: str = "Doc", *, in_array: bool = True) -> Iterator[tuple[str, type, str]]:
    match value:
        case dict():
            yield noted(label, COMPLEX)
            for key, member in value.items():
                yield from by_orjson(member, key, in_array=False)
        case list():
            if in_array:
                yield noted(label, COMPLEX)
            for item in value:
                yield from by_orjson(item, "item" if in_array else label)
        case _:
            yield noted(label, value)


@given(documents(st.integers(-(2**70), 2**70)), FORMS, st.sampled_from([None, 3, 40]))
def test_twin_ijson(folder: Path, document: Any, form: dict[str, Any], block: int | None) -> None:
    text = json.dumps(document, **form)
    path = written(folder, "one.json", text)
    with pytest.MonkeyPatch.context() as patch:
        if block is not None:
            for module in (source, json_in):
                patch.setattr(module, "BLOCK", block)
            patch.setattr(columns, "CHUNK", 2)
        graph, _ = loaded(path)
    assert stored(graph) == list(by_ijson(text.encode()))


@given(documents(st.integers(-(2**63), 2**64 - 1)), FORMS)
def test_twin_orjson_where_it_is_exact(folder: Path, document: Any, form: dict[str, Any]) -> None:
    text = json.dumps(document, **form)
    graph, _ = loaded(written(folder, "one.json", text))
    assert stored(graph) == list(by_orjson(orjson.loads(text)))


def test_an_integer_that_orjson_rounds_is_stored_exactly(folder: Path) -> None:
    text = str(2**64)
    graph, _ = loaded(written(folder, "one.json", text))
    assert stored(graph) == list(by_ijson(text.encode())) == [noted("Doc", 2**64)]
    assert isinstance(orjson.loads(text), float)
