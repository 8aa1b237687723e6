"""JSON and JSON Lines to rows.

A value that fits the window is decoded at once, in C, and walked; one that does not (too long, nested too
deep), or in which something is wrong, is opened and its members are taken one by one. So memory is bounded,
any depth is read, every fault has its line and column, and both ways give the same rows.

What the decoder would hide is caught: duplicate keys and NaN by its hooks, numbers beyond the doubles and
halves of surrogate pairs when columns are made (`Unstorable`); the file is then read again, carefully.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from oemviews.documents import pointers
from oemviews.documents.columns import Rows, Unstorable
from oemviews.documents.exportable import ARRAY
from oemviews.documents.json_decode import CAREFUL, DECODER, Hidden, may_be_cut, wanted_by
from oemviews.documents.json_walk import ITEM, Walker, empties_shape, note_empty
from oemviews.documents.references import Tally
from oemviews.documents.source import BLOCK, Piece, Source, Window, refusal, shown
from oemviews.edits import NetChange
from oemviews.errors import DocumentError
from oemviews.model import COMPLEX, Oid

LINES: Final = "lines"
"""Shape of the object that holds the lines of JSON Lines."""

_OPENED: Final = 300
"""Levels opened before the decoder, which stops near 1,000 levels, is tried again."""

_AHEAD: Final = 1 << 16
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_BLANK: Final = re.compile(r"[ \t\r]*")
_DIGITS: Final = re.compile(r"-?[0-9]+")
_NUMERIC: Final = re.compile(r"[-+.0-9eE]*")
_OPEN: Final = object()
_ONE_A_LINE: Final = "JSON Lines has one whole value a line"


@dataclass(slots=True)
class _Frame:
    """A container that is open: where its members hang, and what was seen of it.

    `label` is the key of the member at hand, `before` the key before it; `keys` (or, where nothing is
    suspected, their hashes) find duplicates.
    """

    close: str
    src: Oid
    label: str
    shape: str | None = None
    spot: pointers.Spot | None = None
    here: pointers.Spot | None = None
    count: int = 0
    before: str | None = None
    keys: set[str] = field(default_factory=set)
    hashes: array[int] = field(default_factory=lambda: array("q"))
    empties: dict[str, object] = field(default_factory=dict)

    @property
    def in_array(self) -> bool:
        return self.close != "}"


class _Reader:
    """Reads the documents of one window into rows; chunks come out as the rows fill."""

    def __init__(self, window: Window, rows: Rows, walker: Walker, *, lines: bool, careful: bool) -> None:
        self._window, self._rows, self._walker = window, rows, walker
        self._lines, self._careful = lines, careful
        self._opening = 0

    def document(
        self, src: Oid, label: str, shape: str | None, spot: pointers.Spot | None, tally: Tally
    ) -> Iterator[NetChange]:
        """Read one value and hang it below `src`; `spot` is the tree of its wanted pointers, if any."""
        frames = [_Frame("", src, label, shape, here=spot)]
        waiting: list[pointers.Waiting] = []
        careful, self._careful = self._careful, self._careful or spot is not None
        while True:
            frame = frames[-1]
            self._skip("a value")
            pointer = self._pointer() if spot is not None and len(frames) > 1 else None
            if pointer is not None:
                waiting.append((frame.src, frame.label, self._rows.reserve(), frame.shape, pointer))
                if frame.here is not None:
                    frame.here.alias = pointer
            elif (value := self._take()) is not _OPEN:
                self._hang(frame, value)
            else:
                frames.append(self._open(frame))
                if self._skip("a value") != frames[-1].close:
                    self._member(frames[-1])
                    continue
            if self._rows.full:
                yield self._rows.flush()
            if not self._go_on(frames):
                break
        if spot is not None:
            pointers.resolve(spot, waiting, self._rows, tally)
        self._careful = careful

    # ---- containers that are open ----

    def _go_on(self, frames: list[_Frame]) -> bool:
        """After a value: on to the next member, out of what closes; False at the end of the document."""
        window = self._window
        while len(frames) > 1:
            frame = frames[-1]
            wanted = f"',' or '{frame.close}'"
            mark = self._skip(wanted)
            if mark not in ("," if frame.count else "", frame.close):
                raise window.refusal(window.at, window.found(window.at), wanted)
            window.at += 1
            if mark == ",":
                self._member(frame)
                return True
            frames.pop()
            self._close(frame, frames[-1])
        return False

    def _skip(self, wanted: str) -> str:
        """Go to the next character that is no white space, and give it."""
        window = self._window
        while True:
            start, window.at = window.at, _SPACE.match(window.text, window.at).end()  # type: ignore[union-attr]
            if self._lines and (newline := window.text.find("\n", start, window.at)) >= 0:
                raise window.refusal(newline, "the end of the line", wanted, _ONE_A_LINE)
            if window.at < len(window.text):
                return window.text[window.at]
            if not window.more():
                raise window.refusal(window.at, "the end of the file", wanted, "the document is cut off")

    def _open(self, frame: _Frame) -> _Frame:
        window, rows = self._window, self._rows
        is_object = window.text[window.at] == "{"
        window.at += 1
        src, label, spot = frame.src, frame.label, frame.here
        if not is_object and not frame.in_array:
            return _Frame("]", src, label, ARRAY, spot)
        if is_object:
            oid = rows.hold(src, label, frame.shape)
        else:
            oid = rows.add(COMPLEX, src, label, frame.shape)
            rows.set_shape(oid, ARRAY)
        if spot is not None:
            spot.oid, spot.edge = oid, (src, label)
        self._walker.opened(src, label, oid)
        return _Frame("}", oid, "", None, spot) if is_object else _Frame("]", oid, ITEM, None, spot)

    def _member(self, frame: _Frame) -> None:
        """Go to the value of the next member or item."""
        token = str(frame.count) if frame.in_array else self._key(frame)
        frame.here = frame.spot.below.get(token) if frame.spot is not None else None
        frame.count += 1

    def _key(self, frame: _Frame) -> str:
        window = self._window
        if self._skip("a key") != '"':
            raise window.refusal(window.at, window.found(window.at), "a key in double quotes")
        place = window.place(window.at) if self._careful else None
        key: str = self._take()
        if not self._careful:
            frame.hashes.append(hash(key))
        elif key in frame.keys:
            raise refusal(
                window.path, place, f"the key {shown(key)} a second time", "each key of an object once"
            )
        else:
            frame.keys.add(key)
        if self._skip("':'") != ":":
            raise window.refusal(window.at, window.found(window.at), "':'")
        window.at += 1
        frame.before, frame.label = (frame.label if frame.count else None), key
        return key

    def _close(self, frame: _Frame, parent: _Frame) -> None:
        if frame.close == "}":
            if len(np.unique(np.frombuffer(frame.hashes, np.int64))) < len(frame.hashes):
                raise Unstorable("a duplicate key")
            self._rows.release(frame.src, empties_shape(frame.empties))
        elif not frame.count and frame.shape == ARRAY:
            note_empty(parent.empties, parent.before, parent.label)

    # ---- values ----

    def _hang(self, frame: _Frame, value: Any) -> None:
        oid, first = self._rows.next_oid, not frame.in_array or frame.count == 1
        if value == [] and not frame.in_array:
            note_empty(frame.empties, frame.before, frame.label)
            return
        self._walker.hang(value, frame.src, frame.label, frame.shape, in_array=frame.in_array, first=first)
        if frame.here is not None and self._rows.next_oid > oid:
            frame.here.oid, frame.here.edge = oid, (frame.src, frame.label)

    def _pointer(self) -> str | None:
        """The pointer of the reference object at hand, if it is one."""
        window = self._window
        while len(window.text) - window.at < _AHEAD and window.more():
            pass
        match = pointers.REF.match(window.text, window.at)
        if match is None:
            return None
        try:
            pointer = json.loads(match[1])
        except ValueError:
            return None
        window.at = match.end()
        return str(pointer)

    def _take(self) -> Any:
        """The value at hand, decoded whole; `_OPEN` if it must be opened."""
        window = self._window
        container = window.text[window.at] in "{["
        if container and (self._careful or self._opening):
            self._opening -= self._opening > 0
            return _OPEN
        decoder = CAREFUL if self._careful else DECODER
        while True:
            try:
                value, end = decoder.raw_decode(window.text, window.at)
            except json.JSONDecodeError as error:
                if window.ended or not may_be_cut(error, len(window.text)):
                    raise self._malformed(error) from None
                if container and len(window.text) - window.at >= BLOCK:
                    return _OPEN
            except RecursionError:
                self._opening = _OPENED
                return _OPEN
            except ValueError as error:
                if not container:
                    raise self._bad_scalar(error) from None
                self._careful = True  # the fault is inside, its place not known yet
                return _OPEN
            else:
                # A number may go on: of 10.5 a window that ends after 10. shows the value 10.
                if container or window.ended or _NUMERIC.match(window.text, end).end() < len(window.text):  # type: ignore[union-attr]
                    break
            window.more()
        self._check(value, end)
        window.at = end
        return value

    def _check(self, value: Any, end: int) -> None:
        window = self._window
        if self._lines and (newline := window.text.find("\n", window.at, end)) >= 0:
            raise window.refusal(newline, "the end of the line", "the rest of the value", _ONE_A_LINE)
        if self._careful and isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                found = f"half a surrogate pair, U+{ord(value[error.start]):04X}"
                raise window.refusal(window.at, found, "whole characters") from None

    def _malformed(self, error: json.JSONDecodeError) -> DocumentError:
        window = self._window
        found = window.found(error.pos)
        hint = "the document is cut off" if found == "the end of the file" else ""
        return window.refusal(error.pos, found, wanted_by(error), hint)

    def _bad_scalar(self, error: ValueError) -> DocumentError:
        window = self._window
        if isinstance(error, Hidden):
            hint = "JSON has no such number; use null or a string"
            return window.refusal(window.at, str(error), "a finite number", hint)
        digits = len(_DIGITS.match(window.text, window.at)[0])  # type: ignore[index]
        return window.refusal(
            window.at, f"an integer of {digits} digits", "one of at most 4300", "use a string"
        )

    # ---- what stands around documents ----

    def at_end(self) -> bool:
        """Skip white space, newlines too; is that all?"""
        window = self._window
        while True:
            window.at = _SPACE.match(window.text, window.at).end()  # type: ignore[union-attr]
            if window.at < len(window.text) or not window.more():
                return window.at == len(window.text)

    def end_line(self) -> None:
        """After a value of JSON Lines nothing but white space stands on its line."""
        window = self._window
        while True:
            window.at = _BLANK.match(window.text, window.at).end()  # type: ignore[union-attr]
            if window.at < len(window.text) or not window.more():
                break
        if window.at < len(window.text) and window.text[window.at] != "\n":
            raise window.refusal(window.at, window.found(window.at), "the end of the line", _ONE_A_LINE)

    def line_pointers(self) -> set[str]:
        """The pointers on the line at hand."""
        window, searched = self._window, 0
        while (end := window.text.find("\n", window.at + searched)) < 0:
            searched = len(window.text) - window.at
            if not window.more():
                end = len(window.text)
                break
        return _pointers_in(window.text[window.at : end].encode("utf-8", "surrogatepass"))


_REF: Final = re.compile(pointers.REF.pattern.encode())


def _pointers_in(text: bytes) -> set[str]:
    found = set()
    if b'"$ref"' in text:
        for match in _REF.finditer(text):
            try:
                found.add(json.loads(match[1]))
            except ValueError:
                continue
    return found


def _pointers_of(piece: Piece) -> set[str]:
    """The pointers of all reference objects of a file, found without parsing it."""
    found: set[str] = set()
    with Source(piece) as source:
        tail = b""
        while block := source.read():
            text = tail + block
            found |= _pointers_in(text)
            tail = text[-_AHEAD:]
    return found


def read_json(
    piece: Piece,
    source: Source,
    rows: Rows,
    edge: tuple[Oid, str, str | None],
    walker: Walker,
    tally: Tally,
    *,
    careful: bool,
) -> Iterator[NetChange]:
    """The one document of a file, hung below `edge`."""
    wanted = _pointers_of(piece)
    window = Window(source)
    reader = _Reader(window, rows, walker, lines=False, careful=careful)
    if reader.at_end():
        raise refusal(piece.path, None, "an empty file", "a JSON document")
    yield from reader.document(*edge, pointers.wanted(wanted) if wanted else None, tally)
    if not reader.at_end():
        hint = "many documents in one file are JSON Lines: --format jsonl"
        raise window.refusal(window.at, window.found(window.at), "the end of the file", hint)


def read_lines(
    piece: Piece, source: Source, rows: Rows, src: Oid, walker: Walker, tally: Tally, *, careful: bool
) -> Iterator[NetChange]:
    """The documents of a JSON Lines file, an edge `item` each; blank lines are skipped."""
    refers = bool(_pointers_of(piece))
    reader = _Reader(Window(source), rows, walker, lines=True, careful=careful)
    while not reader.at_end():
        wanted = reader.line_pointers() if refers else None
        yield from reader.document(src, ITEM, None, pointers.wanted(wanted) if wanted else None, tally)
        reader.end_line()
