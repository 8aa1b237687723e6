"""XML to rows, with lxml: names as written, memory bounded by the depth and the longest text.

libxml2 makes a tree of each block as it is read. An element is taken out of the tree when the next
one of the same parent begins, for only then its tail, the text after it, is whole.

An element is held back until it is known whether it has anything but text. Edges of attributes have the
shape `@`, those of text pieces `#`; the tag of the root and declarations of namespaces, which are no
edges, stand in the shape of their object (`<tag xmlns:x="uri"`, without the tag below the root).

White space is dropped where an element has child elements and no other text, comments and processing
instructions everywhere. Of a DTD in the document the types ID, IDREF and IDREFS are kept, in the shape of the
root, and default values of attributes become attributes. Entities other than the five of XML are refused, so
is anything that stands outside the file: nothing is expanded, no other file is read, no network is used.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any, Final

from lxml import etree

from oemviews.documents.columns import Rows
from oemviews.documents.references import References
from oemviews.documents.source import LONGEST, Source
from oemviews.documents.xml_names import Names
from oemviews.documents.xml_text import ATTRIBUTE, ELEMENT, TEXT, TEXT_LABEL, Feed
from oemviews.edits import NetChange
from oemviews.model import COMPLEX, Oid

_SPACE: Final = " \t\r\n"
_ID_NAMES: Final = frozenset(["id", "xml:id"])
_ID, _REFERENCES = "ID", ("IDREF", "IDREFS")


class _Element:
    """An element that is open, `node` in the tree, with `last` its last child there.

    `oid` is None while nothing but text was seen of it. `keyed` are the key labels that it has a value under.
    """

    __slots__ = ("blanks", "edge", "has_text", "keyed", "last", "node", "oid", "places", "shape")

    def __init__(self, node: etree._Element, edge: tuple[Oid, str, str | None], shape: str | None) -> None:
        self.node, self.edge, self.shape = node, edge, shape
        self.oid: Oid | None = None
        self.last: etree._Element | None = None
        self.has_text = False
        self.keyed: tuple[str, ...] = ()
        self.places: array[int] | None = None
        self.blanks: list[str] = []

    def text(self) -> str | None:
        """The text after the last child, or before the first."""
        return self.node.text if self.last is None else self.last.tail


class _Builder:
    """Writes rows as elements begin and end."""

    def __init__(
        self,
        rows: Rows,
        edge: tuple[Oid, str, str | None],
        references: References,
        feed: Feed,
        idrefs: Iterable[str],
        keys: Mapping[str, str],
    ) -> None:
        self._rows, self._edge, self._references = rows, edge, references
        self._space = f"IDs of {feed.path}"
        self._types = feed.types
        self._idrefs = frozenset(idrefs)
        self._special = self._referring()
        self._keys, self._key_labels = keys, frozenset(keys.values())
        self._of_keys = self._key_labels.union(keys)
        self._names = Names()
        self._open: list[_Element] = []
        self._begun: etree._Element | None = None

    def take(self, events: Iterable[tuple[str, Any]]) -> bool:
        """Go on; False if nothing began or ended.

        What ends right after it began needs no `_Element`, unless it is the root (its tag is not known
        yet) or has more to it than text.
        """
        event, begun = None, self._begun
        tags, fresh, of_keys, add = self._names.tags, self._names.fresh, self._of_keys, self._rows.add
        for event, item in events:
            if event == "end":
                if begun is None:
                    self._end()
                elif fresh or (tag := tags.get(begun.tag)) is None or tag in of_keys or begun.items():
                    self._start(begun)
                    self._end()
                else:
                    add(begun.text or "", self._parent(begun), tag)
                begun = None
                continue
            if begun is not None:
                self._start(begun)
                begun = None
            if event == "start":
                begun = item
            else:
                self._names.declare(*item)
        self._begun = begun
        return event is not None

    def inside(self) -> str | None:
        """The tag of the element that is open."""
        node = self._open[-1].node if self._open and self._begun is None else self._begun
        return None if node is None else self._names.tag(node)

    # ---- elements ----

    def _start(self, node: etree._Element) -> None:
        tag = self._names.tag(node)
        declared = self._names.declared()
        if self._open:
            shape = ELEMENT + declared if declared else None
            element = _Element(node, (self._parent(node), tag, None), shape)
        else:
            element = _Element(node, self._edge, ELEMENT + tag + declared + self._dtd())
        self._open.append(element)
        if attributes := node.items():
            self._attributes(tag, element, attributes)

    def _parent(self, node: etree._Element) -> Oid:
        """The object that `node` is about to hang below, after the text before `node`."""
        parent = self._open[-1]
        oid = self._complex(parent) if parent.oid is None else parent.oid
        last = parent.last
        text = parent.node.text if last is None else last.tail
        parent.last = node
        if text:
            self._piece(parent, oid, text)
        if last is not None:
            parent.node.remove(last)
        return oid

    def _end(self) -> None:
        element = self._open.pop()
        text = element.text()
        if element.oid is None:
            src, label, _ = element.edge
            if label in self._of_keys and self._open and self._by_key(self._open[-1], src, label, text, ""):
                return
            oid = self._rows.add(text or "", *element.edge)
            if element.shape is not None:
                self._rows.set_shape(oid, element.shape)
        elif text:
            self._piece(element, element.oid, text, last=True)

    def _complex(self, element: _Element) -> Oid:
        """The object of an element that turned out to be complex."""
        if element.oid is None:
            element.oid = self._rows.add(COMPLEX, *element.edge)
            if element.shape is not None:
                self._rows.set_shape(element.oid, element.shape)
            if element.edge[1] in self._special or element.edge[1] in self._keys:
                self._references.take(*element.edge[:2], element.oid)
        return element.oid

    def _piece(self, element: _Element, oid: Oid, text: str, *, last: bool = False) -> None:
        """A piece of text in `element`, or white space that may yet prove to be one."""
        if not element.has_text and element.last is not None and not text.strip(_SPACE):
            if not last:
                element.places = element.places or array("q")
                element.places.append(self._rows.reserve())
                element.blanks.append(intern(text))
            return
        if element.places:
            for pos, blank in zip(element.places, element.blanks, strict=True):
                self._rows.add_at(pos, blank, oid, TEXT_LABEL, TEXT)
            element.places = None
        element.has_text = True
        self._rows.add(text, oid, TEXT_LABEL, TEXT)

    # ---- attributes and references ----

    def _attributes(self, tag: str, element: _Element, attributes: Sequence[tuple[Any, Any]]) -> None:
        rows, special, of_keys = self._rows, self._special, self._of_keys
        oid = self._complex(element)
        for number, (name, value) in enumerate(attributes, 1):
            label = self._names.attribute(element.node, name, number)
            if label in special and self._refers(tag, oid, label, value):
                continue
            if label in of_keys and self._by_key(element, oid, label, value, ATTRIBUTE):
                continue
            rows.add(value, oid, label, ATTRIBUTE)

    def _by_key(self, element: _Element, oid: Oid, label: str, text: str | None, shape: str) -> bool:
        """Does a text in `element` wait as a reference by key? A first key is noted and stays a string."""
        if label in self._key_labels and label not in element.keyed:
            element.keyed += (label,)
            if text:
                self._references.key(label, text, oid, label)
        if not text or label not in self._keys:
            return False
        self._references.refer(oid, label, self._rows.reserve(), self._keys[label], text, shape)
        return True

    def _refers(self, tag: str, oid: Oid, label: str, value: str) -> bool:
        """Do the words of this attribute wait as references? An ID is noted and stays a string."""
        kind = self._types.get((tag, label))
        if kind == _ID or (kind is None and label in _ID_NAMES):
            self._references.key(self._space, value, oid, label)
            return False
        if kind not in _REFERENCES and label not in self._idrefs:
            return False
        words = value.split()
        for word in words:
            self._references.refer(oid, label, self._rows.reserve(), self._space, word, ATTRIBUTE)
        return bool(words)

    def _referring(self) -> frozenset[str]:
        """Which attributes matter. Without any that refers, IDs need not be kept."""
        referring = {attribute for (_, attribute), kind in self._types.items() if kind in _REFERENCES}
        if not (referring or self._idrefs):
            return frozenset()
        ids = {attribute for (_, attribute), kind in self._types.items() if kind == _ID}
        return frozenset(referring | ids | self._idrefs | _ID_NAMES)

    def _dtd(self) -> str:
        """What an export must say again: which attributes are IDs and references."""
        kept = [(*of, kind) for of, kind in self._types.items() if kind == _ID or kind in _REFERENCES]
        listed = "".join(f"<!ATTLIST {tag} {attribute} {kind} #IMPLIED>" for tag, attribute, kind in kept)
        return f"\n{listed}" if listed else ""


def read_xml(
    source: Source,
    rows: Rows,
    edge: tuple[Oid, str, str | None],
    references: References,
    *,
    idrefs: Iterable[str] = (),
    keys: Mapping[str, str] | None = None,
) -> Iterator[NetChange]:
    """The document of a file, its root hung below `edge`.

    Values of attributes named in `idrefs`, and of those that the DTD says are IDREF or IDREFS, refer to the
    elements with these IDs: attributes of type ID, `xml:id`, and `id` unless the DTD says otherwise. With
    `keys` of `{"borders": "cca3"}` the text of an element or attribute `borders` refers to the element whose
    first `cca3` it is.
    """
    feed = Feed(source)
    builder = _Builder(rows, edge, references, feed, idrefs, keys or {})
    for events in feed.blocks(builder.inside):
        if builder.take(events):
            feed.waiting = 0
        feed.check_length(LONGEST)
        if rows.full:
            yield rows.flush()
