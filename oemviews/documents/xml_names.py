"""Names in XML as they were written, from the names that lxml gives."""

from __future__ import annotations

from typing import Final

from lxml import etree

from oemviews.documents.xml_text import attribute_text

_XML: Final = "http://www.w3.org/XML/1998/namespace"


class Names:
    """Names as they stand in the document; lxml gives `{uri}local`.

    A namespace that has had one prefix in the whole document so far leaves no doubt. Where it had several,
    libxml2 knows which one was written. `fresh` are the declarations of the element that begins next.
    """

    def __init__(self) -> None:
        self._prefixes: dict[str, set[str]] = {_XML: {"xml"}}
        self.tags: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        self.fresh: list[str] = []

    def declare(self, prefix: str, uri: str) -> None:
        """A namespace from the next element on; the prefix of the default one is empty."""
        name = f"xmlns:{prefix}" if prefix else "xmlns"
        self.fresh.append(f" {name}={attribute_text(uri)}")
        prefixes = self._prefixes.setdefault(uri, set())
        if prefix not in prefixes:
            prefixes.add(prefix)
            self.tags.clear()
            self._attributes.clear()

    def declared(self) -> str:
        """The declarations of an element, as text; given out once."""
        if not self.fresh:
            return ""
        text = "".join(self.fresh)
        self.fresh.clear()
        return text

    def tag(self, node: etree._Element) -> str:
        name: str = node.tag
        known = self.tags.get(name)
        if known is not None:
            return known
        uri, _, local = name.rpartition("}")
        tag = f"{node.prefix}:{local}" if node.prefix else local
        if not uri or len(self._prefixes[uri[1:]]) == 1:
            self.tags[name] = tag
        return tag

    def attribute(self, node: etree._Element, name: str, number: int) -> str:
        """The name of an attribute, the `number`th of its element."""
        known = self._attributes.get(name)
        if known is not None:
            return known
        uri, _, local = name.rpartition("}")
        prefixes = self._prefixes[uri[1:]] - {""} if uri else {""}
        if len(prefixes) > 1:
            return str(node.xpath(f"name(@*[{number}])"))
        (prefix,) = prefixes
        label = f"{prefix}:{local}" if prefix else local
        self._attributes[name] = label
        return label
