"""OEM text: sharing, cycles and every type of value survive the way there and back."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oemviews.documents import source
from oemviews.documents.columns import CHUNK
from oemviews.documents.exportable import Child, GraphOfTables
from oemviews.documents.oem_out import write_oem
from oemviews.errors import DocumentError
from oemviews.model import COMPLEX, Complex, Oid, Value, same_value
from tests.documents.loading import loaded, root_of, written


def _graph(folder: Path, text: str) -> GraphOfTables:
    return loaded(written(folder, "a.oem", text))[0]


def _text(graph: GraphOfTables) -> str:
    return "".join(write_oem(graph, root_of(graph), "Doc"))


def test_objects_get_new_oids_in_the_order_of_those_written(tmp_path: Path) -> None:
    graph = _graph(tmp_path, '<Doc &70 { <b &9 "nine"> <nameless 1> <c &8 { <up &70> <again &9> }> }>')
    assert [graph.value(oid) for oid in range(1, 5)] == [COMPLEX, "nine", COMPLEX, 1]
    assert [child[:2] for child in graph.children(3)] == [("b", 2), ("nameless", 4), ("c", 1)]
    assert [child[:2] for child in graph.children(1)] == [("up", 3), ("again", 2)]


def test_the_text_is_written_top_down(tmp_path: Path) -> None:
    text = """\
<Doc &1 {
  <Restaurant &2 {
    <Name &4 "Thai City">
    <Nearby &3>
  }>
  <Restaurant &3 {
    <Nearby &2>
    <`Opening hours` &5 {}>
    <Rating &6 4.0>
  }>
}>
"""
    assert _text(_graph(tmp_path, text)) == text


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("4", 4),
        ("-0", 0),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("4.0", 4.0),
        ("1e3", 1000.0),
        ("-2.5E-3", -0.0025),
        ('"4"', "4"),
        (r'"a\n\"\\\u00e9\ud83d\ude00/"', 'a\n"\\é😀/'),
        ("true", True),
        ("false", False),
        ("null", None),
        ('b"AQI="', b"\x01\x02"),
        ('b""', b""),
    ],
)
@pytest.mark.parametrize("oid", ["", " &1"])
def test_values(tmp_path: Path, literal: str, value: Value, oid: str) -> None:
    graph = _graph(tmp_path, f"<Doc{oid} {literal}>")
    assert same_value(graph.value(root_of(graph)), value)


def test_layout_and_comments_do_not_matter(tmp_path: Path) -> None:
    graph = _graph(tmp_path, "-- a comment\n<Doc&1{<a&2 1><b\n&2>}> -- the end")
    assert _text(graph) == "<Doc &1 {\n  <a &2 1>\n  <b &2>\n}>\n"


def test_any_depth(tmp_path: Path) -> None:
    depth = 100_000
    graph = _graph(tmp_path, "<a {" * depth + "}>" * depth)
    again = _graph(tmp_path, _text(graph))
    assert _text(again) == _text(graph)
    assert again.value(depth) is COMPLEX


def test_many_chunks(tmp_path: Path) -> None:
    count = CHUNK + 10
    body = " ".join(f"<i &{oid} {oid}>" for oid in range(2, count))
    graph = _graph(tmp_path, f"<Doc &1 {{ {body} <i &1> }}>")
    assert [child.dst for child in graph.children(1)] == [*range(2, count), 1]


@pytest.mark.parametrize("block", range(1, 9))
def test_what_is_cut_by_the_blocks_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    text = r"""<Doc &1 { -- note
      <`a ``b``` &2 "x\"y\\"> <n &345 -12.5e3> <t &6 true> <e &7 {} > <r &2> <b b"AQI="> <é 0> }> -- end"""
    whole = _text(_graph(tmp_path, text))
    monkeypatch.setattr(source, "BLOCK", block)
    assert _text(_graph(tmp_path, text)) == whole
    with pytest.raises(DocumentError, match="line 2, column 71: found '<"):
        _graph(tmp_path, text.replace("{} >", "{}  "))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.oem: found an empty file, wanted an OEM text"),
        ("<a", "line 1, column 3: found the end of the file, wanted an oid such as &1, or a value"),
        ("<a &1 {\n<b 1>", "line 2, column 6: found the end of the file, wanted '<' or '}'"),
        ("<a &1 {\n  <b &2> }>", "line 2, column 6: found &2, which has no body"),
        ("<a &1 {\n  <b &1 2> }>", "line 2, column 6: found a second body of &1, wanted one body"),
        ("<a &1 { <b &2 3> <b &2> }>", "found the end of an object with <b &2> twice"),
        (r'<a "\q">', r"line 1, column 5: found the escape \q"),
        (r'<a "\ud800">', r"line 1, column 5: found the escape \ud800"),
        ('<a "x\n">', "line 1, column 4: found '\"x', wanted"),
        ("<a 1e999>", "wanted a finite number"),
        (f"<a {'9' * 5000}>", "wanted an integer of at most 4300 digits"),
        ("<a 01>", "line 1, column 5: found '1>', wanted '>'"),
        ("<a maybe>", "line 1, column 4: found 'maybe>', wanted a value"),
        ("<a 1> <b 2>", "line 1, column 7: found '<b 2>', wanted the end of the file"),
        ("<5 1>", "line 1, column 2: found '5 1>', wanted a label"),
        ("<`a 1>", "wanted a label"),
        ("<a &99999999999999999999 {}>", "wanted an oid below"),
        ('<a b"AQ">', "line 1, column 4: found 'b\"AQ\">', wanted bytes in base64"),
        ("}>", "line 1, column 1: found '}>', wanted '<'"),
    ],
)
def test_faults(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        _graph(tmp_path, text)
    assert message in str(caught.value).replace(str(tmp_path / "a.oem"), "a.oem")


_ATOMS = (
    st.integers()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["", "`", "--", "b", "true", "4.0"])
    | st.booleans()
    | st.none()
    | st.binary(max_size=5)
)
_LABELS = st.text(max_size=3) | st.sampled_from(
    ["Name", "true", "b", "a`b", "²", "_", "1", "-- x", "&1", "a\r\nb"]
)


class _Drawn:
    """A graph drawn at random; `Doc` is its object 1."""

    def __init__(self, values: dict[Oid, Value], edges: list[tuple[Oid, str, Oid]]) -> None:
        self._values, self._edges = values, edges

    def value(self, oid: Oid) -> Value:
        return self._values[oid]

    def shape(self, oid: Oid) -> str | None:
        return None

    def children(self, oid: Oid) -> list[Child]:
        return [Child(label, dst, n, None) for n, (src, label, dst) in enumerate(self._edges) if src == oid]

    def reached(self) -> list[Oid]:
        found, todo = {1}, [1]
        while todo:
            new = {child.dst for child in self.children(todo.pop())} - found
            found |= new
            todo.extend(new)
        return sorted(found)


@st.composite
def _graphs(draw: st.DrawFn) -> _Drawn:
    atoms = draw(
        st.dictionaries(st.integers(2, 40) | st.integers(2, 2**38), _ATOMS | st.just(COMPLEX), max_size=8)
    )
    values: dict[Oid, Value] = {1: COMPLEX, **atoms}
    complexes = st.sampled_from([oid for oid, value in values.items() if isinstance(value, Complex)])
    edge = st.tuples(complexes, _LABELS, st.sampled_from(list(values)))
    return _Drawn(values, draw(st.lists(edge, unique=True, max_size=20)))


@given(graph=_graphs(), block=st.integers(1, 99))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, graph: _Drawn, block: int) -> None:
    with patch.object(source, "BLOCK", block):
        back = _graph(tmp_path_factory.getbasetemp(), "".join(write_oem(graph, 1, "Doc")))
    number = {oid: n for n, oid in enumerate(graph.reached(), start=1)}
    assert root_of(back) == number[1]
    for oid, new in number.items():
        assert same_value(back.value(new), graph.value(oid))
        expected = [(child.label, number[child.dst]) for child in graph.children(oid)]
        assert [(child.label, child.dst) for child in back.children(new)] == expected
