"""What is wrong with an XML document, said with file, line and column: libxml2's findings in our words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lxml import etree

from oemviews.documents.source import refusal, shown
from oemviews.errors import DocumentError

UNKNOWN_ENTITY: Final = "WAR_UNDECLARED_ENTITY"
"""An entity that a part of the DTD might declare which is not read: to libxml2 only a warning."""

_NO_ENTITIES: Final = "write out what entities stand for; for a file you trust: xmllint --noent --nonet FILE"
_KEPT: Final = 1 << 16
_NO_DEPTH: Final = "JSON and OEM text may be nested to any depth"
_DEPTH: Final = re.compile(r"Excessive depth in document: (\d+)")
_QUOTED: Final = re.compile(r"'([^']*)'")
_ATTRIBUTE: Final = re.compile(r"""([^\s=<>"'/]+)\s*=\s*(?:"[^"]*"|'[^']*')""")
_WORDS: Final = {
    "ERR_DOCUMENT_END": "junk after document element",
    "ERR_ATTRIBUTE_REDEFINED": "duplicate attribute",
    "NS_ERR_ATTRIBUTE_REDEFINED": "duplicate attribute",
    "NS_ERR_UNDEFINED_NAMESPACE": "unbound prefix",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What libxml2 found, and the place where it noticed, which is mostly after the fault."""

    kind: str
    message: str
    line: int
    column: int

    @staticmethod
    def first(log: Iterable[etree._LogEntry], error: etree.XMLSyntaxError | None) -> Fault | None:
        """The first entry of a log that is more than a warning; without one, what was raised."""
        for entry in log:
            if entry.level > etree.ErrorLevels.WARNING or entry.type_name == UNKNOWN_ENTITY:
                return Fault(entry.type_name, entry.message, entry.line, entry.column)
        return Fault("", error.msg or "", *error.position) if error else None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text of a document, from `line` and `column` on; the last that was read, for messages."""

    path: Path
    text: str
    line: int = 1
    column: int = 1

    def place(self, index: int) -> tuple[int, int]:
        newlines = self.text.count("\n", 0, index)
        if newlines:
            return self.line + newlines, index - self.text.rindex("\n", 0, index)
        return self.line, self.column + index

    @property
    def end(self) -> tuple[int, int]:
        return self.place(len(self.text))

    def followed_by(self, text: str) -> Excerpt:
        """The next text of the document, with a little of what was before it."""
        start = max(len(self.text) - _KEPT, 0)
        return Excerpt(self.path, self.text[start:] + text, *self.place(start))

    def index(self, line: int, column: int) -> int:
        """Where a place is in the text."""
        at = 0
        for _ in range(line - self.line):
            at = self.text.find("\n", at) + 1
        return at + column - (self.column if line == self.line else 1)

    def entity(self, name: str) -> DocumentError:
        """A document that has an entity of its own."""
        found = re.search(rf"<!ENTITY\s+(?:%\s+)?{re.escape(name)}\s|[%&]{re.escape(name)};", self.text)
        wanted = "no entities but &lt; &gt; &amp; &apos; &quot; and &#n;"
        place = self.place(found.start() if found else 0)
        return refusal(self.path, place, f"the entity {name!r}", wanted, _NO_ENTITIES)

    def malformed(self, fault: Fault, inside: str | None, *, ended: bool) -> DocumentError:
        """`inside` is the tag of the element that is open, `ended` says that there is no more text."""
        if (fault.line, fault.column) < (self.line, self.column):
            return refusal(self.path, (fault.line, fault.column), fault.message, "well-formed XML")
        at = self.index(fault.line, fault.column)
        closing = f"</{inside}>" if inside else "an element"
        if ended and not self.text[at:].strip():
            return refusal(self.path, self.end, "the end of the file", closing, "the document is cut off")
        if depth := _DEPTH.match(fault.message):
            found, wanted = f"elements nested deeper than {depth[1]}", f"at most {depth[1]}, libxml2's limit"
            return refusal(self.path, self.place(self._back("<", at)), found, wanted, _NO_DEPTH)
        match fault.kind:
            case "ERR_TAG_NAME_MISMATCH":
                place = self.place(self.text.rfind("</", 0, at) + 2)
                return refusal(self.path, place, "the end of another element", closing)
            case "ERR_UNDECLARED_ENTITY":
                place, found = self.place(self._back("&", at)), "an entity that is not one of XML's five"
                return refusal(self.path, place, found, "its text, or &#n;")
            case "ERR_ATTRIBUTE_REDEFINED":
                at = self._attribute(fault.message.split()[1], at)
            case "NS_ERR_UNDEFINED_NAMESPACE" | "NS_ERR_ATTRIBUTE_REDEFINED":
                at = self._back("<", at)
        found = _WORDS.get(fault.kind, fault.message.strip())
        rest = self.text[at : at + 200]
        found = f"{shown(rest)}: {found}" if rest.strip() else found
        return refusal(self.path, self.place(at), found, "well-formed XML")

    def _back(self, mark: str, at: int) -> int:
        """The last `mark` before a place."""
        return max(self.text.rfind(mark, 0, at), 0)

    def _attribute(self, name: str, at: int) -> int:
        """Where the tag that is open at a place has an attribute for the second time."""
        start = self._back("<", at)
        again = [found.start() for found in _ATTRIBUTE.finditer(self.text, start) if found[1] == name]
        return again[1] if len(again) > 1 else start


def entity_name(fault: Fault) -> str:
    """
    >>> entity_name(Fault(UNKNOWN_ENTITY, "Entity 'x' not defined", 1, 1))
    'x'
    """
    found = _QUOTED.search(fault.message)
    return found[1] if found else ""
