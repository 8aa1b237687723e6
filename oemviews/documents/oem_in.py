"""OEM text to rows: `<Guide &1 { <Name &5 "Thai City"> <Nearby &1> }>`.

The form is that of `oem_elements`: an oid has a body once, and is a reference where it stands bare. Oids of
the text are local to it: its objects get new ones in ascending order of those written, then those without.
The file is read twice, first for its oids; eight bytes for each are kept. The label at the top is not
used: the name of a document is given with the load.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lorel.words import label_text
from oemviews.documents.columns import CHUNK, Rows, edges_table, objects_table
from oemviews.documents.oem_elements import REFERENCE, Elements, Reference
from oemviews.documents.source import Piece, Source, Window, refusal
from oemviews.edits import NetChange
from oemviews.errors import DocumentError
from oemviews.model import COMPLEX, Oid, Value


def _oids_of(piece: Piece) -> array[int]:
    """The oids with a body, ascending; each must have one body, and one that is referred to a body."""
    bodies, references = array("q"), array("q")
    with Source(piece) as source:
        for event in Elements(source):
            if event is not None and event[1] is not None:
                (references if event[2] is REFERENCE else bodies).append(event[1])
    oids = np.sort(np.frombuffer(bodies, np.int64))
    repeated = oids[1:][oids[1:] == oids[:-1]]
    if len(repeated):
        oid = int(repeated[0])
        place = _places(piece, oid).bodies[1]
        hint = f"elsewhere write it as a reference: <label &{oid}>"
        raise refusal(piece.path, place, f"a second body of &{oid}", "one body for each oid", hint)
    missing = np.setdiff1d(np.frombuffer(references, np.int64), oids)
    if len(missing):
        place = _places(piece, int(missing[0])).references[0]
        raise refusal(
            piece.path, place, f"&{missing[0]}, which has no body", "an oid that has a body in this text"
        )
    return array("q", oids.tobytes())


def _places(piece: Piece, oid: Oid) -> Elements:
    with Source(piece) as source:
        elements = Elements(source, oid)
        for _ in elements:
            pass
    return elements


@dataclass(slots=True)
class _Open:
    """A complex object that is open; its edges are kept only to see that none is repeated."""

    oid: Oid
    labels: list[str] = field(default_factory=list)
    dsts: array[int] = field(default_factory=lambda: array("q"))
    refers: bool = False

    def repeated(self) -> tuple[str, Oid] | None:
        """An edge that stands here twice; only a reference can repeat one."""
        if not self.refers or len(set(zip(self.labels, self.dsts, strict=True))) == len(self.dsts):
            return None
        return Counter(zip(self.labels, self.dsts, strict=True)).most_common(1)[0][0]


@dataclass(slots=True)
class _Gathered:
    """Objects and edges of a chunk."""

    oids: array[int] = field(default_factory=lambda: array("q"))
    values: list[Value] = field(default_factory=list)
    srcs: array[int] = field(default_factory=lambda: array("q"))
    labels: list[str] = field(default_factory=list)
    dsts: array[int] = field(default_factory=lambda: array("q"))

    def change(self, first_pos: int) -> NetChange:
        src, dst = np.frombuffer(self.srcs, np.int64), np.frombuffer(self.dsts, np.int64)
        pos = np.arange(first_pos, first_pos + len(src), dtype=np.int64)
        return NetChange(
            created=objects_table(np.frombuffer(self.oids, np.int64), self.values, {}),
            plus=edges_table(src, self.labels, dst, pos, [None] * len(src)),
        )


def read_oem(
    piece: Piece, source: Source, rows: Rows, edge: tuple[Oid, str, str | None]
) -> Iterator[NetChange]:
    """The objects of an OEM text, its root hung below `edge`."""
    known = _oids_of(piece)
    if rows.values:
        yield rows.flush()
    first, nameless = rows.next_oid, rows.next_oid + len(known)
    elements, gathered = Elements(source), _Gathered()
    opened = [_Open(edge[0])]
    for event in elements:
        here = opened[-1]
        if event is None:
            opened.pop()
            if (repeated := here.repeated()) is not None:
                raise _refuse_repeated(elements.window, *repeated, known, first)
            continue
        label, written, value = event
        if written is None:
            oid, nameless = nameless, nameless + 1
        else:
            oid = first + bisect_left(known, written)
        here.labels.append(label)
        here.dsts.append(oid)
        gathered.srcs.append(here.oid)
        gathered.labels.append(label if len(opened) > 1 else edge[1])
        gathered.dsts.append(oid)
        if isinstance(value, Reference):
            here.refers = True
            continue
        gathered.oids.append(oid)
        gathered.values.append(value)
        if value is COMPLEX:
            opened.append(_Open(oid))
        if len(gathered.srcs) >= CHUNK:
            yield rows.count(gathered.change(rows.next_pos))
            gathered = _Gathered()
    yield rows.count(gathered.change(rows.next_pos))


def _refuse_repeated(window: Window, label: str, dst: Oid, known: array[int], first: Oid) -> DocumentError:
    found = f"the end of an object with <{label_text(label)} &{known[dst - first]}> twice"
    return window.refusal(window.at - 1, found, "each edge of an object once")
