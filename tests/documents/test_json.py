"""JSON in and out: `export(load(x))` is x, whatever is read whole or opened piece by piece."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from oemviews.documents import columns, json_in, source
from oemviews.model import COMPLEX
from tests.documents.loading import exported, loaded, pairs, parse_lines, root_of, written

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
KEYS = st.one_of(st.sampled_from(["a", "b", "item", "", "$oid", "two words", "é"]), TEXT)
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
DOCUMENTS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json")


@given(DOCUMENTS)
def test_a_document_comes_back(folder: Path, document: Any) -> None:
    text = json.dumps(document)
    graph, report = loaded(written(folder, "one.json", text))
    assert pairs(exported(graph)) == pairs(text)
    assert report.objects == report.edges


@given(DOCUMENTS)
def test_a_document_too_large_for_the_window_comes_back(folder: Path, document: Any) -> None:
    text = json.dumps(document)
    path = written(folder, "one.json", text)
    whole, _ = loaded(path)
    with pytest.MonkeyPatch.context() as patch:
        for module in (source, json_in):
            patch.setattr(module, "BLOCK", 3)
        patch.setattr(columns, "CHUNK", 2)
        opened, _ = loaded(path)
    assert pairs(exported(opened)) == pairs(text)
    assert everything(opened) == everything(whole), "both ways give the same numbers"


def everything(graph: Any) -> Any:
    values = {oid: (type(value), value) for oid, value in graph._values.items()}
    return values, graph._shapes, {src: list(edges) for src, edges in graph._children.items()}


@given(st.lists(DOCUMENTS, min_size=1, max_size=5))
def test_lines_come_back(folder: Path, documents: list[Any]) -> None:
    text = "\n".join(map(json.dumps, documents))
    graph, _ = loaded(written(folder, "many.jsonl", text))
    assert parse_lines(exported(graph)) == parse_lines(text)


@given(st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_several_files_come_back_as_an_array(folder: Path, documents: list[Any]) -> None:
    files = [written(folder, f"{n}.json", json.dumps(document)) for n, document in enumerate(documents)]
    lines = written(folder, "lines.jsonl", '{"a": []}\n2\n')
    graph, report = loaded(lines, *reversed(files))
    texts = [*map(json.dumps, documents), '[{"a": []}, 2]']
    assert pairs(exported(graph)) == pairs(f"[{', '.join(texts)}]")
    assert report.files == len(files) + 1


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [], "b": {}, "c": [[]], "d": [{}], "e": [[], [1, [2]]], "f": [1], "g": []}',
        "[]",
        "[[], []]",
        '{"b": 1, "a": 1.0, "c": 1e2, "d": 123456789012345678901234567890, "e": -0.0}',
        '{"Restaurant": [{"Name": "Baghdad Cafe"}, {"Name": "Thai City"}], "": {"": []}}',
        '"only a string"',
        "null",
        '{"item": [1, 2], "x": {"item": 1}}',
        '{"$oid": 3, "$ref": 4}',
        '{"a": "\\ud83d\\ude00 \\u0000"}',
        '{"a": {"$ref": "#/nowhere"}, "b": {"$ref": "other.json"}}',
    ],
)
def test_shapes(tmp_path: Path, text: str) -> None:
    graph, _ = loaded(written(tmp_path, "one.json", text))
    assert pairs(exported(graph)) == pairs(text)


def test_an_array_under_a_key_is_that_many_edges(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "one.json", '{"a": [1, [2, 3]], "none": [], "b": 1.0}'))
    edges = [(label, graph.value(oid)) for label, oid, _, _ in graph.children(root_of(graph))]
    assert edges == [("a", 1), ("a", COMPLEX), ("b", 1.0)]
    inner = graph.children(graph.children(root_of(graph))[1].dst)
    assert [(child.label, graph.value(child.dst)) for child in inner] == [("item", 2), ("item", 3)]


def test_lines_are_items(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "many.ndjson", "1\n\n  \n[2]\r\n{}"))
    assert [child.label for child in graph.children(root_of(graph))] == ["item"] * 3


def test_oids_are_dense_and_in_document_order(tmp_path: Path) -> None:
    graph, report = loaded(written(tmp_path, "one.json", '{"a": [1, {"b": 2}], "c": 3}'))
    assert [graph.value(oid) for oid in range(1, report.objects + 1)] == [COMPLEX, 1, COMPLEX, 2, 3]


def test_nesting_of_any_depth(tmp_path: Path) -> None:
    depth = 100_000
    text = '{"a": ' * depth + "[" * depth + "]" * depth + "}" * depth
    graph, report = loaded(written(tmp_path, "deep.json", text))
    assert report.objects == 2 * depth - 1, "the array under a key is no object"
    assert exported(graph).strip() == text


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files(tmp_path: Path, suffix: str) -> None:
    pack = gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor().compress
    graph, _ = loaded(written(tmp_path, "one.json" + suffix, pack(b'{"a": [1]}')))
    assert pairs(exported(graph)) == pairs('{"a": [1]}')


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "one.json", b'\xef\xbb\xbf{"a": 1}'))
    assert pairs(exported(graph)) == pairs('{"a": 1}')


def test_a_key_of_many_thousands_is_no_slower_to_check(tmp_path: Path) -> None:
    text = json.dumps({f"key {n}": n for n in range(50_000)})
    graph, _ = loaded(written(tmp_path, "wide.json", text))
    assert len(graph.children(root_of(graph))) == 50_000
