"""Documents become objects and come back (section 3 of the contract)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oemviews as ov


class Loader:
    """One store for all documents of the module; each document gets a name of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.db = ov.create(folder / "documents.store")

    def __call__(self, text: str, suffix: str = "json", **options: Any) -> str:
        self.count += 1
        path = self.folder / f"d{self.count}.{suffix}"
        path.write_text(text, "utf-8")
        self.db.load(path, name=f"D{self.count}", **options)
        return f"D{self.count}"

    def edges(self, of: str) -> list[tuple[str, str, object]]:
        """The edges out of an object: label, type and value, in the order of the target's oid."""
        found = self.db.query(f"select label-of(L) as l, x as x from {of}.%@L x order by oid(x)").json_lines()
        cells = [json.loads(line) for line in found]
        return [(c["l"]["value"], c["x"]["type"], c["x"].get("value")) for c in cells]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loader]:
    loader = Loader(tmp_path_factory.mktemp("documents"))
    yield loader
    loader.db.close()


def read(text: str) -> Any:
    """JSON with the order of keys and with 1 apart from 1.0."""
    return json.loads(
        text, object_pairs_hook=lambda pairs: ("object", pairs), parse_float=lambda s: ("real", float(s))
    )


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ('{"b": 1, "a": "x"}', [("b", "integer", 1), ("a", "string", "x")]),
        ('{"a": [1, 2.0, null]}', [("a", "integer", 1), ("a", "real", 2.0), ("a", "null", None)]),
        ('{"a": [], "b": true}', [("b", "boolean", True)]),
        ('["x", {}]', [("item", "string", "x"), ("item", "complex", None)]),
        ("[]", []),
        ('{"a": [[1]]}', [("a", "complex", None)]),
        ('{"n": 123456789012345678901234567890}', [("n", "integer", 123456789012345678901234567890)]),
    ],
)
def test_json_becomes_edges(load: Loader, text: str, edges: list[tuple[str, str, object]]) -> None:
    assert load.edges(load(text)) == edges


def test_an_array_inside_an_array_has_items(load: Loader) -> None:
    assert load.edges(load('{"a": [[1, 2]]}') + ".a") == [("item", "integer", 1), ("item", "integer", 2)]


def test_json_lines_are_items(load: Loader) -> None:
    name = load('{"a": 1}\n\n[2]\n3\n', "jsonl")
    assert [kind for _, kind, _ in load.edges(name)] == ["complex", "complex", "integer"]
    assert {label for label, _, _ in load.edges(name)} == {"item"}


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("<a>t</a>", []),
        (
            '<a x="1" p:y="2" xmlns:p="u"><p:b/><c>d</c></a>',
            [("x", "string", "1"), ("p:y", "string", "2"), ("p:b", "string", ""), ("c", "string", "d")],
        ),
        (
            "<a>one<b>two</b>three</a>",
            [("text", "string", "one"), ("b", "string", "two"), ("text", "string", "three")],
        ),
        ("<a>\n <b/>\n</a>", [("b", "string", "")]),
    ],
)
def test_xml_becomes_edges(load: Loader, text: str, edges: list[tuple[str, str, object]]) -> None:
    found = [edge for edge in load.edges(load(text, "xml")) if not edge[0].startswith("xmlns")]
    assert found == edges


def test_the_name_of_an_xml_document_is_its_root_element(load: Loader) -> None:
    name = load("<a>t</a>", "xml")
    [line] = load.db.query(f"select {name}").to_json().splitlines()
    assert json.loads(line) == {name: {"oid": load.db.names[name], "type": "string", "value": "t"}}


JSON_DOCUMENTS = [
    "{}",
    "[]",
    "[[]]",
    "[[], [[]], {}]",
    '{"a": []}',
    '{"a": [[]]}',
    '{"a": [1]}',
    '{"a": [{}]}',
    '{"a": [1, [2, 3], []]}',
    '{"z": 1, "a": {"y": [1, 2], "b": [[1], []]}}',
    "1",
    "1.0",
    '"x"',
    "null",
    "true",
    '[1, 1.0, "1", true, false, null]',
    '{"n": [18446744073709551616, -9223372036854775809, 1e5, 0.1, -0.0, 1e-7]}',
    '{"": 1, "a.b": 2, "select": 3, "`": 4}',
    '{"item": [[1]], "$oid": 7, "text": 1, "\\u0000": 2, "\\ud83d\\ude00": 3}',
    '{"a": "x", "b": "x", "c": ["x", "x"]}',
    '[{"a": 1}, {"a": [1]}, {"a": []}]',
]


@pytest.mark.parametrize("text", JSON_DOCUMENTS)
def test_export_gives_json_back(load: Loader, text: str) -> None:
    assert read(load.db.export(load(text))) == read(text)


def renumbered(text: str, name: str) -> str:
    """OEM text with oids counted in the order they are met, the root called N."""
    oids: dict[str, str] = {}
    text = re.sub(r"&\d+", lambda m: oids.setdefault(m[0], f"&{len(oids)}"), text)
    return text.replace(f"<{name} ", "<N ", 1)


@pytest.mark.parametrize("text", JSON_DOCUMENTS)
def test_oem_text_comes_back(load: Loader, text: str) -> None:
    first = load(text)
    told = load.db.export(first, "oem")
    second = load(told, "oem")
    assert renumbered(load.db.export(second, "oem"), second) == renumbered(told, first)


@pytest.mark.parametrize(
    "text",
    [
        "<a/>",
        "<a>t</a>",
        '<a y="2" x="1"><c/><b/><c>t</c></a>',
        "<a>one<b>two</b>three<b>four</b></a>",
        '<a xmlns="urn:x" xmlns:p="urn:p" p:q="1"><p:b/><b xmlns=""/></a>',
        '<a b="1"><b>2</b></a>',
        '<a x="&quot;&lt;&#10;">&lt;&amp;</a>',
        '<a text="1">u<text>v</text></a>',
    ],
)
def test_export_gives_xml_back(load: Loader, text: str) -> None:
    assert load.db.export(load(text, "xml"), "xml").rstrip("\n") == text


def test_edges_added_later_come_last_and_several_are_an_array(load: Loader) -> None:
    name = load('{"a": 1, "b": [2], "c": []}')
    with load.db.edits() as e:
        root = load.db.names[name]
        for label in ("c", "a", "b", "d"):
            e.insert(root, label, e.new(label.upper()))
    assert read(load.db.export(name)) == read('{"a": [1, "A"], "b": [2, "B"], "c": ["C"], "d": "D"}')


def test_keys_export_with_the_current_key(load: Loader) -> None:
    text = '{"c": [{"k": "x", "r": ["y", "x"]}, {"k": "y", "r": "x"}, {"k": "z", "r": []}]}'
    name = load(text, keys={"r": "k"})
    assert read(load.db.export(name)) == read(text)
    assert load.db.query(f'select y from {name}.c x, x.r y where x.k = "x" and y.k = "y"').oids
    load.db.update(f'update k := "new" from {name}.c.k k where k = "x"')
    assert read(load.db.export(name)) == read(text.replace('"x"', '"new"'))


def test_a_reference_repeated_or_unknown_stays_a_string_and_is_counted(load: Loader) -> None:
    text = '{"c": [{"k": "x", "r": ["x", "x", "nobody"]}]}'
    name = load(text, keys={"r": "k"})
    assert read(load.db.export(name)) == read(text)
    assert sorted(kind for label, kind, _ in load.edges(f"{name}.c") if label == "r") == [
        "complex",
        "string",
        "string",
    ]


def test_json_pointers_are_edges_and_come_back(load: Loader) -> None:
    text = '{"a": {"$ref": "#/b/0"}, "b": [{"c": 1}], "d": {"$ref": "#/nowhere"}}'
    name = load(text)
    assert load.db.query(f"select {name}.a intersect select {name}.b").oids
    assert read(load.db.export(name)) == read(text)


def test_idrefs_are_edges_and_come_back(load: Loader) -> None:
    text = '<a><b id="i1"/><b id="i2"/><c r="i1 i2"/><c r="i2 gone"/></a>'
    name = load(text, "xml", idrefs=["r"])
    assert len(load.db.query(f"select {name}.c.r intersect select {name}.b").oids) == 2
    assert load.db.export(name, "xml").rstrip("\n") == text


def test_shared_objects_are_written_where_met_and_cycles_as_oids(load: Loader) -> None:
    name = load('<N &1 { <a &2 { <up &1> <v &3 "t"> }> <b &2> }>', "oem")
    root = load.db.names[name]
    child = {"up": {"$oid": root}, "v": "t"}
    assert json.loads(load.db.export(name)) == {"a": child, "b": child}
    inner = f'<up><ref oid="{root}"/></up>'
    found = load.db.export(name, "xml")
    assert found.count("<v>t</v>") == 2
    assert f'<ref oid="{root}"/>' in inner
    assert f'oid="{root}"' in found
    again = load(load.db.export(name, "oem"), "oem")
    assert len(load.db.query(f"select {again}.a union select {again}.b").oids) == 1


def test_an_export_past_its_limit_is_refused_with_a_hint(load: Loader) -> None:
    doubling = "".join(f"<o &{n} {{ <a &{n + 1}> <b &{n + 1}> }}>" for n in range(2, 40))
    name = load(f"<N &1 {{ <a &2> {doubling} <z &40 1> }}>", "oem")
    with pytest.raises(ov.OemError, match=r"(?i)oem"):
        load.db.export(name, max_size=100_000)
    assert len(load.db.export(name, "oem", max_size=100_000)) < 100_000


def test_bad_documents_name_file_line_and_column(load: Loader) -> None:
    before = load.db.batch
    for text, suffix in [
        ('{"a":\n  1,}', "json"),
        ("<a>\n<b></a>", "xml"),
        ('{"a": 1}\n{', "jsonl"),
        ("<a &1 {", "oem"),
    ]:
        with pytest.raises(ov.DocumentError, match=r"d\d+\.\w+.*line \d+.*column \d+"):
            load(text, suffix)
    assert load.db.batch == before


def test_a_folder_with_nothing_to_load_is_an_error(load: Loader, tmp_path: Path) -> None:
    with pytest.raises(ov.OemError):
        load.db.load(tmp_path, name="Nothing")


def test_a_folder_and_many_files(load: Loader, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text('{"a": 1}')
    (tmp_path / "2.json").write_text("[2]")
    load.db.load(tmp_path, name="Folder")
    load.db.load([tmp_path / "1.json", tmp_path / "2.json"], name="Files")
    assert load.edges("Folder") == load.edges("Files")
