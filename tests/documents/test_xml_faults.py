"""XML that is refused: malformed, dangerous, in the wrong encoding."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from oemviews.documents import xml_in, xml_text
from oemviews.errors import DocumentError
from tests.documents.loading import loaded, written


def _refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        loaded(written(folder, "a.xml", text))
    assert str(folder / "a.xml") in str(caught.value)
    return str(caught.value).replace(str(folder / "a.xml"), "a.xml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.xml: found an empty file, wanted an XML document"),
        (" \n", "a.xml: found an empty file, wanted an XML document"),
        ("<a>", "line 1, column 4: found the end of the file, wanted </a>\nhint: the document is cut off"),
        ("<a>\n<b></a>", "line 2, column 6: found the end of another element, wanted </b>"),
        ('<a><b x="', "the document is cut off"),
        ("<a/><b/>", "line 1, column 5: found '<b/>': junk after document element, wanted well-formed XML"),
        ('<a b="1"\n b="2"/>', "line 2, column 2: found 'b=\"2\"/>': duplicate attribute"),
        ("<a>&nbsp;</a>", "line 1, column 4: found an entity that is not one of XML's five"),
        ("<x:a/>", "unbound prefix"),
        ('{"a": 1}', "line 1, column 1: found"),
        ("<a>\x00</a>", "line 1, column 4"),
    ],
)
def test_malformed(tmp_path: Path, text: str, message: str) -> None:
    assert message in _refused(tmp_path, text)


def test_a_fault_far_into_a_file_has_its_line(tmp_path: Path) -> None:
    lines = ["<a>", *("<b>x</b>" for _ in range(200_000)), "<b></c>", "</a>"]
    assert "line 200002, column 6: found the end of another element" in _refused(tmp_path, "\n".join(lines))


def test_nesting_deeper_than_libxml2_goes(tmp_path: Path) -> None:
    text = "<a>\n" * 100_000 + "</a>" * 100_000
    message = "a.xml, line 2049, column 1: found elements nested deeper than 2048, wanted at most 2048"
    assert message in _refused(tmp_path, text)


@pytest.mark.parametrize("text", ["<a><b>{}</b></a>", '<a b="{}"/>', "<a><b/>\n<![CDATA[{}]]></a>"])
def test_a_text_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    for module in (xml_in, xml_text):
        monkeypatch.setattr(module, "LONGEST", 3_000_000)
    assert " this long, wanted one of at most 3,000,000" in _refused(
        tmp_path, text.format("long " * 1_000_000)
    )


def test_a_fault_in_a_later_block_shows_what_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '<a é="é">é\n<b>\n</b> <c x="1" y="2"\n x="3"/></a>'
    for block in range(2, 60):
        monkeypatch.setattr(xml_text, "_FEED", block)
        assert "line 4, column 2: found" in _refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a>\n<b>", "line 2, column 4: found the end of the file, wanted </b>"),
        ("<a>\n<b/>", "line 2, column 5: found the end of the file, wanted </a>"),
        ("<!DOCTYPE a [", "the document is cut off"),
        ("<!-- never closed", "the document is cut off"),
        ("<a>1 & 2</a>", "line 1, column 7: found"),
        ("<a><b c=1/></a>", "line 1, column 9: found '1/></a>'"),
        ("<a>]]></a>", "line 1, column 4: found ']]></a>'"),
        ("<p:a:b xmlns:p='urn:p'/>", "Failed to parse QName"),
        ("<a xmlns:p='urn:p' xmlns:q='urn:p' p:x='' q:x=''/>", "duplicate attribute"),
        ("<a><b c='&nbsp;'/></a>", "line 1, column 10: found an entity that is not one of XML's five"),
    ],
)
def test_where_it_is_malformed(tmp_path: Path, text: str, message: str) -> None:
    assert message in _refused(tmp_path, text)


@pytest.mark.parametrize(
    "place",
    [
        '<!DOCTYPE a [{}]><a b="&e11;"/>',
        '<!DOCTYPE a [{}<!ATTLIST a b CDATA "&e11;">]><a/>',
        "<!DOCTYPE a [{}",
        "<!DOCTYPE a [{} %e11;]><a/>",
        "<!-- x --><?p x?>\n<!DOCTYPE a [<!-- <!ATTLIST a b ID #IMPLIED> -->{}]><a>&e11;</a>",
    ],
)
def test_an_entity_bomb_anywhere(tmp_path: Path, place: str) -> None:
    mark = "% " if "%" in place else ""
    levels = "".join(
        f'<!ENTITY {mark}e{n} "{f"&#37;e{n - 1};" if mark else f"&e{n - 1};" * 10}">' for n in range(1, 12)
    )
    text = place.format(f'<!ENTITY {mark}e0 "{"ha" * 50}">{levels}')
    assert "found the entity 'e0', wanted no entities but" in _refused(tmp_path, text)


def test_an_entity_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE a [<!ENTITY e0 "ha">{levels}]><a>&e11;</a>'
    assert "found the entity 'e0', wanted no entities but &lt; &gt;" in _refused(tmp_path, text)


@pytest.mark.parametrize(
    "entity",
    [
        '<!ENTITY x SYSTEM "{}">',
        '<!ENTITY % x SYSTEM "{}"> %x;',
        "<!ENTITY x 'y'>",
        "<!ENTITY % x 'y'>",
        "%x;",
    ],
)
def test_entities_are_refused(tmp_path: Path, entity: str) -> None:
    secret = written(tmp_path, "secret.txt", "secret")
    text = f"<!DOCTYPE a [{entity.format(secret.as_uri())}]><a>&x;</a>"
    assert "found the entity 'x'" in _refused(tmp_path, text)


@pytest.mark.parametrize("doctype", ['a SYSTEM "{}"', 'a [<!ENTITY % x SYSTEM "{}"> %x;]'])
@pytest.mark.parametrize("where", ["missing.dtd", "there.dtd", "http://localhost/a.dtd"])
def test_what_is_elsewhere_is_not_even_looked_for(tmp_path: Path, where: str, doctype: str) -> None:
    there = written(tmp_path, "there.dtd", '<!ATTLIST a b CDATA "secret">')
    where = where if where.startswith("http") else str(there.with_name(where))
    parser = etree.XMLPullParser(["start"], **xml_text._OPTIONS, attribute_defaults=False)
    parser.feed(f"<!DOCTYPE {doctype.format(where)}>".encode())
    parser.feed(b"<a/>")
    assert [dict(root.attrib) for _, root in parser.read_events()] == [{}]
    assert not [entry for entry in parser.feed_error_log if entry.domain_name == "IO"]


@pytest.mark.parametrize("where", ['SYSTEM "http://localhost/a.dtd"', 'PUBLIC "-//X" "a.dtd"'])
def test_a_dtd_elsewhere_is_refused(tmp_path: Path, where: str) -> None:
    assert "found a DTD outside the document" in _refused(tmp_path, f"<!DOCTYPE a {where}><a/>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"<a>\n caf\xe9</a>", "line 2, column 5: found the byte 0xe9, which is not UTF-8"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "found the encoding 'klingon', wanted a known one"),
        (b'<?xml version="1.0" encoding="rot13"?><a/>', "found the encoding 'rot13', wanted a known one"),
        (
            b'<?xml version="1.0" encoding="cp1252"?>\n<a>\n\n \x81</a>',
            "line 4, column 2: found the byte 0x81, which is not cp1252",
        ),
        (b'<?xml version="1.0" encoding="utf-16"?><a/>', "found the encoding 'utf-16', wanted the one"),
        (b'<?xml version="1.0" encoding="us-ascii"?><a>\xc3\xa9</a>', "which is not us-ascii"),
    ],
)
def test_wrong_encoding(tmp_path: Path, text: bytes, message: str) -> None:
    assert message in _refused(tmp_path, text)
