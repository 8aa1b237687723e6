"""One object and all that it reaches, as a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from oemviews.documents.exportable import Exportable
from oemviews.documents.json_out import write_json
from oemviews.documents.oem_out import write_oem
from oemviews.documents.xml_out import write_xml
from oemviews.errors import BadInput
from oemviews.model import Oid

MAX_SIZE: Final = 1 << 30
"""Characters of a JSON or XML export, unless said otherwise."""

_WRITERS: Final[Mapping[str, Callable[[Exportable, Oid, str], Iterator[str]]]] = {
    "json": lambda graph, oid, _: write_json(graph, oid),
    "xml": write_xml,
    "oem": write_oem,
}

FORMATS: Final = tuple(_WRITERS)


def export(
    graph: Exportable, oid: Oid, format: str, *, name: str, max_size: int | None = MAX_SIZE
) -> Iterator[str]:
    """The text of `oid` in pieces. JSON and XML write a shared object wherever it is met: they have a limit.

    Raises:
        BadInput: the format is unknown, or the text passes `max_size` characters (what came before is
            no document).
    """
    if format not in _WRITERS:
        raise BadInput(f"found the format {format!r}, wanted one of {', '.join(FORMATS)}")
    pieces = _WRITERS[format](graph, oid, name)
    return pieces if format == "oem" or max_size is None else _limited(pieces, format, max_size)


def _limited(pieces: Iterator[str], format: str, max_size: int) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > max_size:
            hint = "export as oem, which writes each shared object once, or raise --max-size"
            raise BadInput(
                f"found more than {max_size:,} characters of {format}, wanted at most that\nhint: {hint}"
            )
        yield piece
