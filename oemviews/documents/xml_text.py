"""The text of XML: how it reaches the parser, what is wrong with it and where, how it is written."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from lxml import etree

from oemviews.documents.source import LONGEST, Source, refusal
from oemviews.documents.xml_faults import UNKNOWN_ENTITY, Excerpt, Fault, entity_name
from oemviews.errors import DocumentError

TEXT_LABEL: Final = "text"
"""The label of text pieces."""

ATTRIBUTE: Final = "@"
TEXT: Final = "#"
"""Shapes of edges to attributes and to text pieces."""

ELEMENT: Final = "<"
"""How the shape of an element begins: then the tag of a root, declarations of namespaces, a line of DTD."""

_ELEMENT: Final = re.compile(rf"{ELEMENT}([^ \n]*)([^\n]*)\n?(.*)")

_FEED: Final = 1 << 16
_BITES: Final = re.compile("<?[^<]+|<")

_OPTIONS: Final[dict[str, Any]] = {
    "encoding": "utf-8",
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "recover": False,
    "remove_comments": True,
    "remove_pis": True,
    "strip_cdata": True,
}
_TRUSTING: Final[dict[str, Any]] = {"huge_tree": True, "attribute_defaults": True, "collect_ids": False}
"""For documents without entities that stand for themselves. The last two make libxml2 look for a DTD."""

_NO_DTD: Final = "take the reference out of the DOCTYPE; name attributes that refer to IDs: --idref ATTR"
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
_DECLARED: Final = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ENTITY: Final = re.compile(r"<!ENTITY\s+(?:%\s+)?([^\s>]+)")
_ATTLIST: Final = re.compile(r"<!ATTLIST (\S+) (\S+) ([^\s>]+)")
_BLANK: Final = b" \t\r\n"
_ESCAPES: Final = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}
_IN_TEXT: Final = re.compile(r"[&<>\r]")
_IN_ATTRIBUTE: Final = re.compile(r'[&<>"\n\r\t]')
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_START: Final = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME: Final = re.compile(rf"[{_START}][-.0-9\xb7\u0300-\u036f\u203f\u2040{_START}]*")


class Feed:
    """Feeds a file to libxml2, block after block; faults become refusals with file, line and column.

    A first parser, with all of libxml2's limits, sees the document up to the root. It finds out what the DTD
    declares, and refuses entities and references to other files. The second parser sees the
    whole, without limits on sizes, for by then nothing is left that could expand.

    `waiting` counts the characters since the last element began or ended. `types` are the types of
    attributes, by tag and attribute.
    """

    def __init__(self, source: Source) -> None:
        self.path, self._source = source.path, source
        block = source.read(_FEED)
        if not block.strip(_BLANK):
            raise refusal(self.path, None, "an empty file", "an XML document")
        self._encoding = self._encoding_of(block)
        self._decoder = codecs.getincrementaldecoder(self._encoding or "utf-8-sig")()
        self._recent = Excerpt(self.path, "")
        self.waiting = 0
        self.types: dict[tuple[str, str], str] = {}
        self._texts = self._decoded(block)
        self._texts = chain(self._prolog(), self._texts)

    def _encoding_of(self, block: bytes) -> str | None:
        """The encoding that a file begins to be in, or declares."""
        for mark, encoding in _MARKS.items():
            if block.startswith(mark):
                return encoding
        declared = _DECLARED.match(block)
        if declared is None:
            return None
        name = declared[1].decode("ascii")
        try:
            codec = codecs.lookup(name)
            own = codec.decode(b"<?xml", "replace")[0] == "<?xml" if codec._is_text_encoding else None
        except (LookupError, UnicodeError):
            own = None
        if own is None:
            raise refusal(self.path, (1, 1), f"the encoding {name!r}", "a known one, such as UTF-8")
        if not own:
            raise refusal(self.path, (1, 1), f"the encoding {name!r}", "the one that the file is in")
        return "utf-8-sig" if codec.name == "utf-8" else name

    def _decoded(self, block: bytes) -> Iterator[str]:
        while True:
            try:
                text = self._decoder.decode(block, not block)
            except UnicodeDecodeError as error:
                raise self._undecodable(error) from None
            self._recent = self._recent.followed_by(text)
            if not block:
                return
            yield text
            block = self._source.read(_FEED)

    def _undecodable(self, error: UnicodeDecodeError) -> DocumentError:
        declared = self._encoding not in (None, "utf-8-sig")
        before = error.object[: error.start].decode(self._encoding or "utf-8-sig", "replace")
        place = Excerpt(self.path, before, *self._recent.end).end
        found = f"the byte 0x{error.object[error.start]:02x}, which is not "
        if declared:
            return refusal(self.path, place, f"{found}{self._encoding}", "text in the declared encoding")
        hint = 'declare the encoding, as in <?xml version="1.0" encoding="ISO-8859-1"?>'
        return refusal(self.path, place, f"{found}UTF-8", "text in UTF-8", hint)

    # ---- up to the root ----

    def _prolog(self) -> list[str]:
        """Learn what stands before the root; the text that was read for it."""
        parser = etree.XMLPullParser(["start"], **_OPTIONS)
        read: list[str] = []
        fault = bite = None
        root: Any
        seen: list[str] = []
        for bite in chain(self._bites(read), [None]):
            seen.append(bite or "")
            fault = _closed(parser) if bite is None else _fed(parser, bite)
            for _, root in parser.read_events():
                self._declared(root.getroottree().docinfo, fault, self._whole(read), "".join(seen))
                return read
            if fault and fault.kind != UNKNOWN_ENTITY:
                break
        prolog = self._whole(read)
        if entity := _ENTITY.search(prolog.text):
            raise prolog.entity(entity[1])
        if fault:
            raise prolog.malformed(fault, None, ended=bite is None)
        return read

    def _bites(self, read: list[str]) -> Iterator[str]:
        """The text up to the next `<`, again and again, so the root is seen alone; `read` gathers it."""
        for text in self._texts:
            read.append(text)
            self.waiting += len(text)
            self.check_length(LONGEST)
            yield from _BITES.findall(text)

    def _whole(self, read: list[str]) -> Excerpt:
        """All text so far; the second parser begins with it too, so messages about it need it."""
        self._recent, self.waiting = Excerpt(self.path, "".join(read)), 0
        return self._recent

    def _declared(self, info: Any, fault: Fault | None, prolog: Excerpt, seen: str) -> None:
        """Note the types of attributes; refuse what a DTD must not have. `seen` ends with the root's tag."""
        outside = info.system_url or info.public_id
        if outside is not None:
            index = max(prolog.text.find(outside), 0)
            found = f"a DTD outside the document, {outside!r}"
            raise refusal(self.path, prolog.place(index), found, "a document that stands for itself", _NO_DTD)
        if fault and fault.kind == UNKNOWN_ENTITY:
            raise prolog.entity(entity_name(fault))
        if info.internalDTD is not None:
            for entity in info.internalDTD.iterentities():
                raise prolog.entity(entity.name)
            # lxml writes a DTD out only above a root of the DTD's name, and lists no ATTLIST without ELEMENT.
            parser = etree.XMLPullParser(["start"], **_OPTIONS)
            _fed(parser, f"{seen[: seen.rindex('<')]}<{info.internalDTD.name}/>")
            root: Any
            for _, root in parser.read_events():
                text = etree.tostring(root.getroottree(), encoding="unicode")
                self.types = {(tag, name): kind for tag, name, kind in _ATTLIST.findall(text)}

    # ---- the document ----

    def blocks(self, inside: Callable[[], str | None]) -> Iterator[Iterator[tuple[str, Any]]]:
        """What begins and ends, block after block; `inside` tells the tag of the element that is open."""
        parser = etree.XMLPullParser(["start-ns", "start", "end"], **_OPTIONS, **_TRUSTING)
        for text in self._texts:
            self.waiting += len(text)
            fault = _fed(parser, text)
            yield parser.read_events()
            if fault:
                raise self._recent.malformed(fault, inside(), ended=False)
        fault = _closed(parser)
        yield parser.read_events()
        if fault:
            raise self._recent.malformed(fault, inside(), ended=True)

    def check_length(self, longest: int) -> None:
        """Refuse a text that grows and grows: it must be held in memory."""
        if self.waiting > longest:
            hint = "split the document, or keep such data beside it and load its address"
            place, wanted = self._recent.end, f"one of at most {longest:,} characters"
            raise refusal(self.path, place, "a single text this long", wanted, hint)


def _fed(parser: etree.XMLPullParser, text: str) -> Fault | None:
    """Feed a text; what is wrong with it, which libxml2 does not always raise at once."""
    try:
        parser.feed(text.encode("utf-8", "surrogatepass"))
    except etree.XMLSyntaxError as error:
        return Fault.first(parser.feed_error_log, error)
    return Fault.first(parser.feed_error_log, None)


def _closed(parser: etree.XMLPullParser) -> Fault | None:
    try:
        parser.close()
    except etree.XMLSyntaxError as error:
        return Fault.first(parser.feed_error_log, error)
    return None


def shape_parts(shape: str | None) -> tuple[str, str, str]:
    """Tag, declarations of namespaces and DTD in the shape of an element; of any other shape, nothing.

    >>> shape_parts('<a xmlns="u"'), shape_parts("<"), shape_parts("[")
    (('a', ' xmlns="u"', ''), ('', '', ''), ('', '', ''))
    """
    match = _ELEMENT.fullmatch(shape) if shape else None
    return (match[1], match[2], match[3]) if match else ("", "", "")


@lru_cache(4096)
def is_name(text: str) -> bool:
    """Can `text` be a tag? A prefix counts as part of the name.

    >>> is_name("Name"), is_name("dc:title"), is_name("first name"), is_name("a:b:c")
    (True, True, False, False)
    """
    return all(_NAME.fullmatch(part) for part in text.split(":", 1))


def text_text(text: str) -> str:
    """
    >>> print(text_text("a < b"))
    a &lt; b
    """
    return _IN_TEXT.sub(lambda match: _ESCAPES[match[0]], text)


def attribute_text(value: str) -> str:
    """
    >>> print(attribute_text('say "hi"'))
    "say &quot;hi&quot;"
    """
    return '"' + _IN_ATTRIBUTE.sub(lambda match: _ESCAPES[match[0]], value) + '"'


def foreign_character(text: str) -> str | None:
    """A character that no XML document can hold, if there is one."""
    found = _NOT_XML.search(text)
    return found[0] if found else None
