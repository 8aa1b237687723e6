"""Objects to XML: a loaded document as it was, any other graph as elements named by its labels.

atomic object under a label    <label>text</label>: numbers and booleans as in JSON, null as nothing,
                               binary as base64
edge of an attribute           attribute; several with one label (IDREFS) are words of one value
edge of a text piece           text
reference by a key             the target's current key, as an attribute or as text; the target in place
                               if it has none
object met again on its
own way down                   <label><ref oid="n"/></label>
label that is no XML name, or
has a prefix not declared      <_ label="first name">
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oemviews.documents.exportable import Exportable
from oemviews.documents.xml_text import (
    ATTRIBUTE,
    TEXT,
    attribute_text,
    foreign_character,
    is_name,
    shape_parts,
    text_text,
)
from oemviews.errors import BadInput
from oemviews.model import COMPLEX, Atom, Complex, Oid, Value

_PREFIX: Final = re.compile(r" xmlns:([^=\s]+)=")
_REFERENCE: Final = re.compile(r"[@\[]?&(.*)", re.DOTALL)


@dataclass(slots=True)
class _Open:
    """An element that is open: what closes it, what is still to be written in it."""

    oid: Oid
    close: str
    prefixes: list[str]
    content: Iterator[tuple[str, Oid, str | None]]


class _Writer:
    """Writes one tree. `_scope` counts the declarations of each prefix that are in force."""

    def __init__(self, graph: Exportable) -> None:
        self._graph = graph
        self._scope = Counter(["xml"])
        self._open: list[_Open] = []
        self._way: set[Oid] = set()

    def write(self, oid: Oid, name: str) -> Iterator[str]:
        tag, _, dtd = shape_parts(self._graph.shape(oid))
        if dtd:
            yield f"<!DOCTYPE {tag} [{dtd}]>"
        yield self._element(tag or name, oid)
        while self._open:
            here = self._open[-1]
            for label, dst, shape in here.content:
                value = self._graph.value(dst)
                if shape == TEXT and not isinstance(value, Complex):
                    yield text_text(self._text(value, dst))
                elif (key := self._key(dst, shape)) is not None:
                    opening, close = self._tags(label, dst)
                    yield f"{opening}>{text_text(key)}{close}"
                elif dst in self._way:
                    opening, close = self._tags(label, dst)
                    yield f'{opening}><ref oid="{dst}"/>{close}'
                else:
                    yield self._element(label, dst)
                    if self._open[-1] is not here:
                        break
            else:
                self._open.pop()
                self._way.discard(here.oid)
                self._scope.subtract(here.prefixes)
                yield here.close

    def _element(self, label: str, oid: Oid) -> str:
        """An element whole, or its start if it has content of its own, which then waits in `_open`."""
        _, declared, _ = shape_parts(self._graph.shape(oid))
        prefixes = _PREFIX.findall(declared) if declared else []
        self._scope.update(prefixes)
        opening, close = self._tags(label, oid)
        value = self._graph.value(oid)
        if value is COMPLEX:
            attributes, content = self._parts(oid, "label" if opening.startswith("<_ ") else None)
            if content:
                self._open.append(_Open(oid, close, prefixes, iter(content)))
                self._way.add(oid)
                return f"{opening}{declared}{attributes}>"
        else:
            attributes = ""
        self._scope.subtract(prefixes)
        text = text_text(self._text(value, oid))
        return f"{opening}{declared}{attributes}" + (f">{text}{close}" if text else "/>")

    def _parts(self, oid: Oid, taken: str | None) -> tuple[str, list[tuple[str, Oid, str | None]]]:
        """Attributes of an element, as text, and its other edges; the attribute `taken` is there already."""
        attributes: dict[str, str] = {}
        content = []
        for label, dst, _, shape in self._graph.children(oid):
            is_attribute = shape is not None and shape.startswith(ATTRIBUTE) and label != taken
            word = self._word(label, dst, shape) if is_attribute else None
            if word is None:
                content.append((label, dst, shape))
            else:
                attributes[label] = f"{attributes[label]} {word}" if label in attributes else word
        return "".join(f" {label}={attribute_text(text)}" for label, text in attributes.items()), content

    def _word(self, label: str, dst: Oid, shape: str | None) -> str | None:
        """What an attribute says, or None if it cannot be one any more."""
        if not self._can_be_name(label):
            return None
        value = self._graph.value(dst)
        return self._key(dst, shape) if isinstance(value, Complex) else self._text(value, dst)

    def _key(self, dst: Oid, shape: str | None) -> str | None:
        """The current key of the target, if the edge is a reference by a key and there is one."""
        match = _REFERENCE.fullmatch(shape) if shape else None
        if match is None:
            return None
        for label, key, _, _ in self._graph.children(dst):
            value = self._graph.value(key)
            if label == match[1] and not isinstance(value, Complex):
                return self._text(value, key)
        return None

    def _can_be_name(self, label: str) -> bool:
        prefix, colon, _ = label.partition(":")
        return is_name(label) and (not colon or self._scope[prefix] > 0) and prefix != "xmlns"

    def _tags(self, label: str, oid: Oid) -> tuple[str, str]:
        """How an element begins, up to its attributes, and how it ends."""
        if self._can_be_name(label):
            return f"<{label}", f"</{label}>"
        return f"<_ label={attribute_text(_checked(label, f'a label of an edge to &{oid}'))}", "</_>"

    def _text(self, value: Value, oid: Oid) -> str:
        return "" if isinstance(value, Complex) else _checked(_text_of(value), f"&{oid}")


def _text_of(value: Atom) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case bytes():
            return b64encode(value).decode("ascii")
        case None:
            return ""
        case _:
            return repr(value)


def _checked(text: str, what: str) -> str:
    character = foreign_character(text)
    if character is None:
        return text
    hint = "export as json or oem, which can hold any text"
    raise BadInput(f"{what}: found the character U+{ord(character):04X}, which XML cannot hold\nhint: {hint}")


def write_xml(graph: Exportable, oid: Oid, name: str) -> Iterator[str]:
    """The document of `oid`; its root is called `name` unless it was loaded from XML."""
    yield from _Writer(graph).write(oid, name)
    yield "\n"
