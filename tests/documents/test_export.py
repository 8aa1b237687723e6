"""The front of exports, and XML of graphs that were never XML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from oemviews.documents.columns import edges_table, objects_table
from oemviews.documents.export import export
from oemviews.documents.exportable import GraphOfTables
from oemviews.errors import BadInput
from oemviews.model import COMPLEX, Oid, Value
from tests.documents.loading import Ints, ints, loaded, root_of, written


def _graph(values: dict[Oid, Value], edges: list[tuple[Oid, str, Oid, str | None]]) -> GraphOfTables:
    src, labels, dst, shapes = zip(*edges, strict=True)
    pos: Ints = ints(range(len(edges)))
    objects = objects_table(ints(values), list(values.values()), {})
    return GraphOfTables(objects, edges_table(ints(src), labels, ints(dst), pos, shapes))


def _xml(graph: GraphOfTables, oid: Oid = 1) -> str:
    text = "".join(export(graph, oid, "xml", name="Doc"))
    etree.fromstring(text.encode())
    return text.removesuffix("\n")


def test_every_type_of_value_has_a_text() -> None:
    values = dict(enumerate((COMPLEX, 4, 4.0, True, None, b"\x01", "<", ""), start=1))
    graph = _graph(values, [(1, f"v{n}", n, None) for n in range(2, 9)])
    expected = "<v2>4</v2><v3>4.0</v3><v4>true</v4><v5/><v6>AQ==</v6><v7>&lt;</v7><v8/>"
    assert _xml(graph) == f"<Doc>{expected}</Doc>"


@pytest.mark.parametrize(
    "label", ["first name", "1st", "", "dc:title", "xmlns:x", "a:b:c", "xmlns", "<", "é\n"]
)
def test_a_label_that_is_no_name(label: str) -> None:
    graph = _graph({1: COMPLEX, 2: "x"}, [(1, label, 2, None)])
    (child,) = etree.fromstring("".join(export(graph, 1, "xml", name="Doc")).encode())
    assert (child.tag, child.get("label"), child.text) == ("_", label, "x")


def test_a_label_beside_an_attribute_called_label() -> None:
    values: dict[Oid, Value] = {1: COMPLEX, 2: COMPLEX, 3: "x"}
    graph = _graph(values, [(1, "a b", 2, None), (2, "label", 3, "@")])
    assert _xml(graph) == '<Doc><_ label="a b"><label>x</label></_></Doc>'


def test_a_name_that_is_no_xml_name() -> None:
    graph = _graph({1: COMPLEX, 2: "x"}, [(1, "a", 2, None)])
    assert "".join(export(graph, 1, "xml", name="my doc")) == '<_ label="my doc"><a>x</a></_>\n'


def test_a_shared_object_is_written_where_it_is_met_and_a_cycle_is_a_ref() -> None:
    values: dict[Oid, Value] = {1: COMPLEX, 2: COMPLEX, 3: "x"}
    graph = _graph(values, [(1, "a", 2, None), (1, "b", 2, None), (2, "v", 3, None), (2, "up", 1, None)])
    shared = '<v>x</v><up><ref oid="1"/></up>'
    assert _xml(graph) == f"<Doc><a>{shared}</a><b>{shared}</b></Doc>"


def test_references_by_a_key_are_the_current_key() -> None:
    values: dict[Oid, Value] = {1: COMPLEX, 2: COMPLEX, 3: "k", 4: COMPLEX}
    edges: list[tuple[Oid, str, Oid, str | None]] = [
        (1, "at", 2, "@&id"),
        (1, "lost", 4, "@&id"),
        (1, "under", 2, "[&id"),
        (1, "target", 2, None),
        (2, "id", 3, "@"),
    ]
    assert _xml(_graph(values, edges)) == '<Doc at="k"><lost/><under>k</under><target id="k"/></Doc>'


def test_an_edge_added_to_a_loaded_element_comes_last(tmp_path: Path) -> None:
    loaded_graph, _ = loaded(written(tmp_path, "a.xml", '<a x="1">t<b/></a>'))
    children = [*loaded_graph.children(1), ("c", 3, 99, None), ("x", 4, 100, None)]

    class Edited(GraphOfTables):
        def __init__(self) -> None:
            pass

        def value(self, oid: Oid) -> Value:
            return loaded_graph.value(oid)

        def shape(self, oid: Oid) -> str | None:
            return loaded_graph.shape(oid)

        def children(self, oid: Oid) -> list[tuple[str, Oid, int, str | None]]:  # type: ignore[override]
            return children if oid == 1 else []

    assert _xml(Edited()) == '<a x="1">t<b/><c>t</c><x/></a>'


def test_a_character_that_xml_cannot_hold_is_refused() -> None:
    graph = _graph({1: COMPLEX, 2: "a\x00"}, [(1, "a", 2, None)])
    with pytest.raises(
        BadInput, match=r"&2: found the character U\+0000, which XML cannot hold\nhint: export as"
    ):
        "".join(export(graph, 1, "xml", name="Doc"))


def test_json_as_xml_and_xml_as_json(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.json", '{"a": [1, 2], "b": {"c": null}, "d": []}'))
    assert _xml(graph, root_of(graph)) == "<Doc><a>1</a><a>2</a><b><c/></b></Doc>"
    path = written(tmp_path, "a.xml", '<a x="1"><b id="q">t</b><b/><c to="q"/>u</a>')
    graph, _ = loaded(path, idrefs=["to"])
    text = "".join(export(graph, root_of(graph), "json", name="Doc"))
    assert json.loads(text) == {"x": "1", "b": [{"id": "q", "text": "t"}, ""], "c": {"to": "q"}, "text": "u"}


def _doubling(levels: int) -> GraphOfTables:
    """A graph whose tree is as large as two to the number of levels."""
    values: dict[Oid, Value] = dict.fromkeys(range(1, levels), COMPLEX) | {levels: "x"}
    edges = [(n, label, n + 1, None) for n in range(1, levels) for label in ("left", "right")]
    return _graph(values, edges)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["json", "xml"])
def test_an_export_without_end_is_refused(format: str) -> None:
    with pytest.raises(BadInput, match=r"found more than 100,000 characters of .*\nhint: export as oem"):
        for _ in export(_doubling(60), 1, format, name="Doc", max_size=100_000):
            pass


def test_oem_text_has_no_need_of_a_limit() -> None:
    text = "".join(export(_doubling(60), 1, "oem", name="Doc", max_size=100))
    assert text.count("&") == 2 * 59 + 1


def test_an_unknown_format() -> None:
    with pytest.raises(BadInput, match="found the format 'yaml', wanted one of json, xml, oem"):
        export(_doubling(2), 1, "yaml", name="Doc")
