"""What is wrong with a document is told with file, line and column, however it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oemviews.documents import columns, json_in, source
from oemviews.documents.load import load_documents
from oemviews.errors import BadInput, DocumentError
from oemviews.model import ROOT
from tests.documents.loading import loaded, written

FAULTS = [
    ("", r"found an empty file, wanted a JSON document"),
    (" \n\t", r"found an empty file, wanted a JSON document"),
    ('{"a": 1,\n "b": }', r"line 2, column 7: found '}', wanted a value"),
    ('{"a": 1,\n "b": [1, 2', r"line 2, column 12: found the end of the file, wanted"),
    ('{"a": "text', r"line 1, column 7: found '\"text', wanted the closing quote"),
    ('{"a": 1}\n{"b": 2}', r"line 2, column 1: found '\{\"b.*, wanted the end of the file"),
    ('{"a": 1, "b": {"c": 2, "d": 3,\n  "c": 4}}', r"line 2, column 3: found the key 'c' a second time"),
    ('{"a": 1, "\\u0061": 2}', r"line 1, column 10: found the key 'a' a second time"),
    ("[1, NaN]", r"line 1, column 5: found NaN, which is not JSON, wanted a finite number"),
    ('{"a":\n-Infinity}', r"line 2, column 1: found -Infinity"),
    ("[1,\n 1e999]", r"line 2, column 2: found '1e999', which is beyond the range of a double"),
    ('["\\ud800"]', r"line 1, column 2: found half a surrogate pair, U\+D800, wanted whole characters"),
    ('{"\\udc00x": 1}', r"line 1, column 2: found half a surrogate pair, U\+DC00"),
    ("{'a': 1}", r"line 1, column 2: found .*, wanted a key in double quotes"),
    ("[1 2]", r"line 1, column 4: found '2.*, wanted ',' or"),
    ("[1,]", r"line 1, column 4: found '\]', wanted a value"),
    ('{"a" 1}', r"line 1, column 6: found '1\}', wanted ':'"),
    ("[01]", r"line 1, column 3: found '1\]', wanted ','"),
    ('["a\tb"]', r"line 1, column 4: found .*, wanted an escape"),
    ("tru", r"line 1, column 1: found 'tru', wanted a value"),
    ("[" + "7" * 5000 + "]", r"line 1, column 2: found an integer of 5000 digits"),
]


@pytest.mark.parametrize("small", [False, True], ids=["whole", "opened"])
@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_malformed(
    tmp_path: Path, text: str, message: str, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "bad.json", text)
    if small:
        for module in (source, json_in):
            monkeypatch.setattr(module, "BLOCK", 4)
        monkeypatch.setattr(columns, "CHUNK", 2)
    with pytest.raises(DocumentError) as caught:
        loaded(path)
    assert str(caught.value).startswith(str(path))
    assert re.search(message, str(caught.value))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"a": 1,\n"é": 2}'.encode("latin-1"), r"line 2, column 2: found the byte 0xe9, which is not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), r"line 1, column 1: found UTF-16 text, wanted UTF-8"),
        ('["é"]'.encode()[:3], r"found the byte 0xc3, which is not UTF-8|the end of the file"),
    ],
)
def test_wrong_encoding(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        loaded(written(tmp_path, "bad.json", data))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found an empty file, wanted a line of JSON"),
        ('{"a": 1}\n{"a": 2} {"a": 3}\n', "line 2, column 10: found .*, wanted the end of the line"),
        ('{"a": 1}\n{"a":\n2}', "line 2, column 6: found the end of the line"),
        ("1\n2\n[3", "line 3, column 3: found the end of the file"),
        ('1\n{"a": 1, "a": 2}', "line 2, column 10: found the key 'a' a second time"),
        ('1\n\n["\\ud800"]', r"line 3, column 2: found half a surrogate pair"),
    ],
)
def test_malformed_lines(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        loaded(written(tmp_path, "bad.jsonl", text))


@pytest.mark.parametrize("cut", [1, 100_000, 150_000])
def test_deep_nesting_that_is_cut_off(tmp_path: Path, cut: int) -> None:
    text = "[" * 100_000 + "]" * 100_000
    path = written(tmp_path, "deep.json", text[:-cut])
    with pytest.raises(DocumentError, match=rf"column {200_001 - cut}: found the end of the file"):
        loaded(path)


def test_a_fault_of_an_earlier_file_is_told_of_that_file(tmp_path: Path) -> None:
    files = [written(tmp_path, f"{n}.json", '["\\udc00"]' if n == 1 else "[1]") for n in range(4)]
    with pytest.raises(DocumentError, match=r"1\.json, line 1, column 2: found half a surrogate"):
        loaded(*files)


def test_half_characters_in_a_reference(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", '[{"to": "\\ud800"}]')
    with pytest.raises(DocumentError, match="line 1, column 9: found half a surrogate pair"):
        loaded(path, keys={"to": "id"})


def test_64_bits_and_beyond_stay_exact(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.json", f"[{2**63}, {2**64}, {-(2**63)}, {10**40}, 1e300]"))
    values = [graph.value(child.dst) for child in graph.children(graph.children(ROOT)[0].dst)]
    assert values == [2**63, 2**64, -(2**63), 10**40, 1e300]


def test_truncated_compression(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json.gz", b"\x1f\x8b\x08\x00")
    with pytest.raises(DocumentError, match="a whole compressed file"):
        loaded(path)


# ---- files and folders ----


def test_a_folder_with_nothing_to_load(tmp_path: Path) -> None:
    written(tmp_path, "notes.txt", "hello")
    written(tmp_path, ".hidden.json", "{}")
    with pytest.raises(DocumentError, match="found a folder with nothing to load, wanted files to load"):
        loaded(tmp_path)


def test_a_folder_holds_its_documents_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b.json", "a.jsonl", "inner/c.json", "readme.txt", ".git/x.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        written(tmp_path, name, f'"{name}"')
    graph, report = loaded(tmp_path)
    items = [child.dst for child in graph.children(graph.children(ROOT)[0].dst)]
    lines = graph.children(items[0])[0].dst
    assert [graph.value(oid) for oid in (lines, *items[1:])] == ["a.jsonl", "b.json", "inner/c.json"]
    assert report.files == 3


@pytest.mark.parametrize(
    ("name", "format", "message"),
    [
        ("a.txt", None, "found the suffix '.txt', wanted one that tells the format"),
        ("a.json", "yaml", "found the format 'yaml', wanted one of json, jsonl, xml, oem"),
        ("none.json", None, "found no such file, wanted a document"),
    ],
)
def test_what_cannot_be_loaded(tmp_path: Path, name: str, format: str | None, message: str) -> None:
    path = tmp_path / name
    if not name.startswith("none"):
        written(tmp_path, name, "{}")
    with pytest.raises(BadInput, match=message):
        loaded(path, format=format)


def test_a_format_that_is_said_wins_over_the_suffix(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.txt", "1\n2\n"), format="jsonl")
    assert len(graph.children(graph.children(ROOT)[0].dst)) == 2


def test_a_load_needs_a_name_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="an empty name"):
        load_documents([tmp_path], name="", first_oid=1, first_pos=1)
    with pytest.raises(BadInput, match="no file"):
        load_documents([], name="Doc", first_oid=1, first_pos=1)


def test_options_that_would_do_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="found idrefs, and no XML to load"):
        loaded(written(tmp_path, "a.json", "{}"), idrefs=["ref"])
    with pytest.raises(BadInput, match="found keys for OEM text, wanted JSON or XML"):
        loaded(written(tmp_path, "a.oem", "<a {}>"), keys={"to": "id"})


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", "[1, 2, 3]")
    told: list[tuple[int, int]] = []
    loading = load_documents(
        [path, path], name="Doc", first_oid=1, first_pos=1, progress=lambda *at: told.append(at)
    )
    for _ in loading:
        pass
    assert told[-1] == (18, 18)
    assert loading.report.bytes == 18
