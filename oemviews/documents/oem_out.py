"""Objects to OEM text (`oem_in` reads it back): every object once, so that sharing and cycles are kept.

The body of an object stands below the first object, top down, that has an edge to it: `<Nearby &3>` is a
bare oid, and the body of &3 stands under `Restaurant`, even if that comes later. What only documents know
(attributes, shapes of arrays) is not in this form.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Final

from pyroaring import BitMap64

from lorel.words import label_text, string_text
from oemviews.documents.exportable import Exportable
from oemviews.model import COMPLEX, Oid, Value

_DEEPEST: Final = 30
"""Levels that are indented; below it a deep text would be mostly spaces."""


def value_text(value: Value) -> str:
    """An atomic value as a literal; a complex one as the brace that opens it.

    >>> [value_text(v) for v in (4, 4.0, "4", True, None, b"4")]
    ['4', '4.0', '"4"', 'true', 'null', 'b"NA=="']
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return string_text(value)
        case None:
            return "null"
        case bytes():
            return f'b"{b64encode(value).decode("ascii")}"'
        case _:
            return "{"


def write_oem(graph: Exportable, oid: Oid, label: str) -> Iterator[str]:
    """The text of `oid` and all that it reaches, a line at a time.

    Memory: the edges of the objects that are open, and a bitmap of all oids.
    """
    claimed = BitMap64()

    def claims(children: Sequence[tuple[str, Oid, int, str | None]]) -> Iterator[tuple[str, Oid, bool]]:
        listed = []
        for name, dst, _, _ in children:
            listed.append((name, dst, dst not in claimed))
            claimed.add(dst)
        return iter(listed)

    stack = [claims([(label, oid, 0, None)])]
    while stack:
        indent = "  " * min(len(stack) - 1, _DEEPEST)
        for name, dst, body in stack[-1]:
            opened = f"{indent}<{label_text(name)} &{dst}"
            value = graph.value(dst) if body else COMPLEX
            if value is not COMPLEX:
                yield f"{opened} {value_text(value)}>\n"
            elif not body:
                yield f"{opened}>\n"
            elif children := graph.children(dst):
                yield f"{opened} {{\n"
                stack.append(claims(children))
                break
            else:
                yield f"{opened} {{}}>\n"
        else:
            stack.pop()
            if stack:
                yield "  " * min(len(stack) - 1, _DEEPEST) + "}>\n"
