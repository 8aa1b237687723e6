"""XML: what it becomes, and that the way there and back changes nothing."""

from __future__ import annotations

import gzip
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from oemviews.documents import xml_text
from oemviews.documents.exportable import GraphOfTables
from oemviews.documents.xml_out import write_xml
from oemviews.model import COMPLEX, Oid, Value
from tests.documents.loading import loaded, root_of, written

Edges = list[tuple[str, Value, str | None]]


def _edges(graph: GraphOfTables, oid: Oid) -> Edges:
    return [(label, graph.value(dst), shape) for label, dst, _, shape in graph.children(oid)]


def _graph(folder: Path, text: str | bytes, *idrefs: str) -> GraphOfTables:
    return loaded(written(folder, "a.xml", text), idrefs=idrefs)[0]


def _back(folder: Path, text: str | bytes, *idrefs: str) -> str:
    graph = _graph(folder, text, *idrefs)
    return "".join(write_xml(graph, root_of(graph), "Doc"))


def test_elements_attributes_and_text(tmp_path: Path) -> None:
    graph = _graph(tmp_path, '<a x="1"><b>two</b><c/>three</a>')
    assert _edges(graph, root_of(graph)) == [
        ("x", "1", "@"),
        ("b", "two", None),
        ("c", "", None),
        ("text", "three", "#"),
    ]


def test_an_element_with_text_only_is_a_string(tmp_path: Path) -> None:
    graph = _graph(tmp_path, "<a>one<!-- dropped --> and <![CDATA[<two>]]></a>")
    assert graph.value(root_of(graph)) == "one and <two>"


def test_objects_are_numbered_in_document_order(tmp_path: Path) -> None:
    graph = _graph(tmp_path, '<a><b c="1"><d>x</d></b><e/></a>')
    assert [graph.value(oid) for oid in range(1, 6)] == [COMPLEX, COMPLEX, "1", "x", ""]


def test_namespaces_are_names_as_written_and_no_edges(tmp_path: Path) -> None:
    text = '<a xmlns="urn:u" xmlns:x="urn:v" x:y="1"><x:b xmlns:x="urn:w">t</x:b></a>'
    graph = _graph(tmp_path, text)
    assert _edges(graph, root_of(graph)) == [("x:y", "1", "@"), ("x:b", "t", None)]
    assert _back(tmp_path, text) == text + "\n"


def test_white_space_goes_only_where_there_is_no_other_text(tmp_path: Path) -> None:
    text = "<a>\n  <b> </b>\n  <c> <d/> mixed <e/> <f/>\n</c>\n</a>"
    assert _back(tmp_path, text) == "<a><b> </b><c> <d/> mixed <e/> <f/>\n</c></a>\n"


@pytest.mark.parametrize(
    "text",
    [
        "<a/>",
        "<a>x</a>",
        '<a b="1" a="2"/>',
        '<a b=" x&#10;y&#9;z "> </a>',
        "<text><text>text</text>text<text/></text>",
        '<a text="1">text</a>',
        "<a>&lt;&amp;&gt;&#13;\n</a>",
        '<p xml:lang="en">one <b>two</b> <i>three</i></p>',
        '<a xmlns="urn:u"><b xmlns="">x</b></a>',
        '<_ label="x"><_/></_>',
    ],
)
def test_round_trip_to_the_letter(tmp_path: Path, text: str) -> None:
    assert _back(tmp_path, text) == text + "\n"


def test_idrefs_by_name(tmp_path: Path) -> None:
    text = '<a><b id="q" to="r q"/><c xml:id="r" to="q q none"/></a>'
    graph, report = loaded(written(tmp_path, "a.xml", text), idrefs=["to"])
    b, c = (dst for _, dst, _, _ in graph.children(root_of(graph)))
    assert [dst for label, dst, _, _ in graph.children(b) if label == "to"] == [c, b]
    assert _edges(graph, c)[1:] == [("to", COMPLEX, "@&id"), ("to", "q", "@"), ("to", "none", "@")]
    assert (report.references.made, report.references.unresolved, report.references.repeated) == (3, 1, 1)
    assert _back(tmp_path, text, "to") == text + "\n"


def test_ids_by_dtd(tmp_path: Path) -> None:
    dtd = '<!DOCTYPE a [<!ATTLIST b key ID #REQUIRED><!ATTLIST c to IDREF #IMPLIED kind CDATA "plain">]>'
    text = '<a><b key="k" id="k2"/><c to="k"/><c to="k2"/></a>'
    graph, report = loaded(written(tmp_path, "a.xml", dtd + text))
    b, first, second = (dst for _, dst, _, _ in graph.children(root_of(graph)))
    assert ("to", b, "@&key") in [(label, dst, shape) for label, dst, _, shape in graph.children(first)]
    assert ("kind", "plain", "@") in _edges(graph, first)
    assert report.references.made == 2  # `id` is an ID too, unless the DTD says otherwise
    assert _edges(graph, second)[0] == ("to", COMPLEX, "@&id")
    back = _back(tmp_path, dtd + text)
    assert back.startswith("<!DOCTYPE a [<!ATTLIST b key ID #IMPLIED><!ATTLIST c to IDREF #IMPLIED>]><a>")
    assert _back(tmp_path, back) == back


@pytest.mark.parametrize(("doctype", "tag"), [("z", "a"), ("p:a", "p:a"), ("p:z", "a")])
def test_a_dtd_of_any_name(tmp_path: Path, doctype: str, tag: str) -> None:
    dtd = "<!ATTLIST b to IDREFS #IMPLIED><!-- <!ATTLIST b x ID #IMPLIED> -->"
    text = f'<{tag} xmlns:p="urn:p"><b id="x" to="x y"/><b id="y"/></{tag}>'
    graph, report = loaded(written(tmp_path, "a.xml", f"<!DOCTYPE {doctype} [{dtd}]>{text}"))
    assert report.references.made == 2
    back = "".join(write_xml(graph, root_of(graph), "Doc"))
    assert back == f"<!DOCTYPE {tag} [<!ATTLIST b to IDREFS #IMPLIED>]>{text}\n"


def test_two_prefixes_of_one_namespace_stay_apart(tmp_path: Path) -> None:
    text = '<a xmlns:p="urn:1" xmlns:q="urn:1" xmlns="urn:1"><p:b p:x="1" q:y="2"/><q:b p:y="3"/><b/></a>'
    assert _back(tmp_path, text) == text + "\n"


def test_without_references_ids_are_plain_attributes(tmp_path: Path) -> None:
    _, report = loaded(written(tmp_path, "a.xml", '<a><b id="1"/><b id="1"/><c to="1"/></a>'))
    assert report.references.made == report.references.ambiguous == 0


def test_an_id_given_twice_makes_references_ambiguous(tmp_path: Path) -> None:
    text = '<a><b id="1"/><b id="1"/><c to="1"/></a>'
    _, report = loaded(written(tmp_path, "a.xml", text), idrefs=["to"])
    assert report.references.ambiguous == 1
    assert _back(tmp_path, text, "to") == text + "\n"


def test_a_reference_to_a_child_of_the_same_label_is_no_second_edge(tmp_path: Path) -> None:
    text = '<a to="x"><to id="x"/></a>'
    graph, report = loaded(written(tmp_path, "a.xml", text), idrefs=["to"])
    assert report.references.repeated == 1
    assert [label for label, _, _, _ in graph.children(root_of(graph))] == ["to", "to"]
    assert _back(tmp_path, text, "to") == text + "\n"


def test_ids_of_two_documents_are_apart(tmp_path: Path) -> None:
    one = written(tmp_path, "1.xml", '<a><b id="x"/><c to="x"/></a>')
    two = written(tmp_path, "2.xml", '<a><b id="x"/><c to="x"/></a>')
    assert loaded(one, two, idrefs=["to"])[1].references.made == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252", "gbk"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "中" if encoding == "gbk" else "é"
    declared = "" if encoding.startswith("utf") else f'<?xml version="1.0" encoding="{encoding}"?>'
    graph = _graph(tmp_path, f"{declared}<a>{text}</a>".encode(encoding))
    assert graph.value(root_of(graph)) == text


def test_compressed(tmp_path: Path) -> None:
    path = written(tmp_path, "a.xml.gz", gzip.compress(b"<a>x</a>"))
    graph, _ = loaded(path)
    assert graph.value(root_of(graph)) == "x"


def test_as_deep_as_libxml2_goes(tmp_path: Path) -> None:
    depth = 2048
    text = "<a>" * depth + "x" + "</a>" * depth
    assert _back(tmp_path, text) == text + "\n"


@pytest.mark.parametrize("block", range(1, 9))
def test_what_is_cut_by_the_blocks_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    text = '<a é="1">\n <b>t&amp;<![CDATA[u]]>ü</b> x <c xmlns:p="urn:p" p:d=""/> </a>'
    declared = '<?xml version="1.0" encoding="cp1252"?>'
    whole = _back(tmp_path, text)
    monkeypatch.setattr(xml_text, "_FEED", block)
    assert _back(tmp_path, text) == whole
    monkeypatch.setattr(xml_text, "_FEED", block + len(declared))
    assert _back(tmp_path, (declared + text).encode("cp1252")) == whole


def test_many_chunks_keep_the_order(tmp_path: Path) -> None:
    items = "\n".join(f'<i n="{n}"><v>{n}</v> tail</i>' for n in range(70_000))
    text = f"<a>{items}</a>"
    assert _back(tmp_path, text) == text.replace("\n", "") + "\n"


_NAMES = st.sampled_from(["a", "b", "text", "item", "ref", "é", "_", "x-1"])
_PREFIXES = st.sampled_from(["", "p", "q"])
_URIS = st.sampled_from(["urn:1", "urn:2"])
_CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
_TEXT = st.text(st.sampled_from(" \n\t<>&\"']x") | _CHARACTERS, max_size=6)


def _escaped(text: str, *, quotes: bool = False) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;") if quotes else text


@st.composite
def _documents(draw: st.DrawFn, scope: frozenset[str] = frozenset(), depth: int = 0) -> str:
    declared = draw(st.dictionaries(_PREFIXES, _URIS, max_size=2))
    scope |= declared.keys() - {""}
    prefixes = st.sampled_from(["", *sorted(scope)])

    def name() -> str:
        prefix = draw(prefixes)
        return f"{prefix}:{draw(_NAMES)}" if prefix else draw(_NAMES)

    tag = name()
    attributes = draw(st.dictionaries(_NAMES, _TEXT, max_size=2))
    written_as = "".join(f' {key}="{_escaped(value, quotes=True)}"' for key, value in attributes.items())
    spaces = "".join(f' xmlns{":" if key else ""}{key}="{uri}"' for key, uri in declared.items())
    pieces = []
    for kind in draw(st.lists(st.sampled_from(["text", "element", "cdata", "comment", "blank"]), max_size=4)):
        match kind:
            case "element" if depth < 3:
                pieces.append(draw(_documents(scope, depth + 1)))
            case "cdata":
                pieces.append(f"<![CDATA[{draw(_TEXT).replace(']]>', '')}]]>")
            case "comment":
                pieces.append("<!-- dropped --><?dropped too?>")
            case "blank":
                pieces.append("\n ")
            case _:
                pieces.append(_escaped(draw(_TEXT)))
    return f"<{tag}{spaces}{written_as}>{''.join(pieces)}</{tag}>"


def _tree(text: str) -> etree._Element:
    """The document by another parser, white space between elements dropped by the rule."""
    root = etree.fromstring(text.encode(), etree.XMLParser(remove_comments=True, remove_pis=True))
    for element in root.iter():
        texts = [element.text, *(child.tail for child in element)]
        if len(element) and not any((piece or "").strip(" \t\r\n") for piece in texts):
            element.text = None
            for child in element:
                child.tail = None
    return root


@given(text=_documents(), block=st.integers(1, 99))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, text: str, block: int) -> None:
    with patch.object(xml_text, "_FEED", block):
        back = _back(tmp_path_factory.getbasetemp(), text)
    expected, found = _tree(text), _tree(back)
    assert etree.tostring(found, method="c14n") == etree.tostring(expected, method="c14n")
    assert [e.attrib.items() for e in found.iter()] == [e.attrib.items() for e in expected.iter()]
    assert [e.nsmap for e in found.iter()] == [e.nsmap for e in expected.iter()]
    assert _back(tmp_path_factory.getbasetemp(), back) == back


def _by_expat(text: str) -> list[tuple[str, dict[str, str], str, str]]:
    """The document by a parser that shares nothing with lxml, white space between elements dropped."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        texts = [element.text, *(child.tail for child in element)]
        if len(element) and not any((piece or "").strip(" \t\r\n") for piece in texts):
            element.text = None
            for child in element:
                child.tail = None
    return [(e.tag, e.attrib, e.text or "", e.tail or "") for e in root.iter()]


@given(text=_documents())
def test_twin_expat(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    assert _by_expat(_back(tmp_path_factory.getbasetemp(), text)) == _by_expat(text)
