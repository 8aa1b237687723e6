"""The elements of an OEM text, with the place of every fault.

    document    element
    element     "<" label [oid] value ">"       an object
              | "<" label oid ">"               a reference: the object with that oid
    value       "{" element* "}" | string | integer | real | true | false | null | b"base64"
    label       a word, or any text in backquotes, ` doubled
    oid         "&" digits

An integer is 4, a real 4.0 or 4e0; escapes of a string are those of JSON; `-- ` begins a comment.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from math import isinf
from typing import Final, TypeAlias

from lorel.errors import LorelSyntaxError
from lorel.words import is_word, string_value, unquoted
from oemviews.documents.source import Source, Window, refusal
from oemviews.errors import DocumentError
from oemviews.model import COMPLEX, Atom, Oid, Value

_QUOTED: Final = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*'
_SPACE: Final = r"(?:\s|--(?=\s)[^\n]*\n)*"
_SPACES: Final = re.compile(_SPACE)
_COMMENT: Final = re.compile(r"-(?:-(?:\s[^\n]*)?)?\Z")
"""A comment that the end of the text cuts off, or ends; a dash alone is none if no more text comes."""

_TOKEN: Final = re.compile(
    _SPACE + r"([<>{}]|&[0-9]+|[^\W\d]\w*(?!\w|\")|`(?:[^`]|``)*`(?!`)|b?" + _QUOTED + r'"'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
)
_PLAIN: Final = re.compile(
    r"\s*(?:<([^\W\d]\w*)\s+&([0-9]{1,18})"
    r'(?:(\s*>)|\s+(?:"([^"\\\n]*)"|(-?(?:0|[1-9][0-9]{0,17})))\s*>|\s*\{)|(\}\s*>))'
)
"""An element as it mostly is, whole or up to its brace, or the end of one; only for speed."""

_CUT: Final = re.compile(r"`(?:[^`]|``)*`?\Z|b?" + _QUOTED + r"\\?\Z|[-&\w.]{0,64}\Z")
"""A token of which only the beginning may be at hand."""

_AHEAD: Final = 3
"""Characters after a token that may yet belong to it, as in 1.0 and 1e+5."""

_NAMED: Final[dict[str, Atom]] = {"true": True, "false": False, "null": None}
_OIDS: Final = 2**62
_LONGEST_INTEGER: Final = 4300


class Reference:
    """In place of a value: the element is a bare oid."""


REFERENCE: Final = Reference()
Event: TypeAlias = tuple[str, Oid | None, Value | Reference] | None
"""An element that begins, as label, oid, value; None where a complex object ends."""


class Elements:
    """The elements of a text in order; the places of one oid that is `wanted` are kept."""

    def __init__(self, source: Source, wanted: Oid | None = None) -> None:
        self.window = Window(source)
        self._start = 0
        self._wanted = wanted
        self.bodies: list[tuple[int, int]] = []
        self.references: list[tuple[int, int]] = []

    def __iter__(self) -> Iterator[Event]:
        self._skip()
        if self.window.at == len(self.window.text):
            raise refusal(self.window.path, None, "an empty file", "an OEM text")
        depth = 0
        while True:
            event = self._plain(depth) if self._wanted is None else None
            if event is None:
                event = self._any(depth)
            yield event[0]
            depth += event[1]
            if not depth:
                break
        self._skip()
        if self.window.at < len(self.window.text):
            hint = "a text is one element; put several into one: <all { ... }>"
            raise self.window.refusal(
                self.window.at, self.window.found(self.window.at), "the end of the file", hint
            )

    def _plain(self, depth: int) -> tuple[Event, int] | None:
        """The next event and what it does to the depth, if it is written in the plain way."""
        window = self.window
        match = _PLAIN.match(window.text, window.at)
        if match is None or match.end() == len(window.text) or (match[6] and not depth):
            return None
        window.at = match.end()
        label, oid, reference, string, integer, end = match.groups()
        if end:
            return None, -1
        if reference:
            return (label, int(oid), REFERENCE), 0
        if string is not None:
            return (label, int(oid), string), 0
        if integer is not None:
            return (label, int(oid), int(integer)), 0
        return (label, int(oid), COMPLEX), 1

    def _any(self, depth: int) -> tuple[Event, int]:
        wanted = "'<' or '}'" if depth else "'<'"
        token = self._token(wanted)
        if token != "<" and not (token == "}" and depth):
            raise self._refusal(wanted)
        event = self._element() if token == "<" else None
        if event is not None and event[2] is COMPLEX:
            return event, 1
        if (event is None or event[2] is not REFERENCE) and self._token("'>'") != ">":
            raise self._refusal("'>'")
        return event, 0 if event else -1

    def _element(self) -> tuple[str, Oid | None, Value | Reference]:
        wanted = "a label: a word, or any text in backquotes"
        label = self._token(wanted)
        if label[0] != "`" and not is_word(label):
            raise self._refusal(wanted)
        oid, place = None, None
        token = self._token("an oid such as &1, or a value")
        if token[0] == "&":
            oid = int(token[1:20])
            if not oid < _OIDS or len(token) > 20:
                raise self._refusal(f"an oid below {_OIDS}")
            if oid == self._wanted:
                place = self.window.place(self._start)
            token = self._token("a value or '>'")
            if place is not None:
                (self.references if token == ">" else self.bodies).append(place)
            if token == ">":
                return unquoted(label), oid, REFERENCE
        return unquoted(label), oid, COMPLEX if token == "{" else self._atom(token)

    def _atom(self, token: str) -> Atom:
        first = token[0]
        if first == '"':
            try:
                return string_value(token)
            except LorelSyntaxError as error:
                found = f"the escape {token[error.span.start : error.span.end]}"
                at = self._start + error.span.start
                raise self.window.refusal(at, found, r"an escape of JSON, such as \n or \u00e9") from None
        if token.startswith('b"'):
            try:
                return b64decode(token[2:-1], validate=True)
            except ValueError:
                raise self._refusal('bytes in base64, as in b"AQI="') from None
        if first == "-" or first.isdigit():
            return self._number(token)
        if token not in _NAMED:
            raise self._refusal('a value: {, a string in double quotes, a number, true, false, null, b"..."')
        return _NAMED[token]

    def _number(self, digits: str) -> int | float:
        if digits.lstrip("-").isdigit():
            if len(digits) > _LONGEST_INTEGER:
                raise self._refusal(f"an integer of at most {_LONGEST_INTEGER} digits", "use a string")
            return int(digits)
        number = float(digits)
        if isinf(number):
            raise self._refusal("a finite number, within the range of a double", "use a string")
        return number

    def _token(self, wanted: str) -> str:
        window = self.window
        while True:
            match = _TOKEN.match(window.text, window.at)
            if match is not None and (match.end() + _AHEAD <= len(window.text) or window.ended):
                self._start, window.at = match.start(1), match.end()
                return match[1]
            self._skip()
            match = _TOKEN.match(window.text, window.at)
            if match is None and not (_CUT.match(window.text, window.at) and window.more()):
                self._start = window.at
                raise self._refusal(wanted, "" if window.at < len(window.text) else "the text is cut off")
            if match is not None and match.end() + _AHEAD > len(window.text):
                window.more()

    def _skip(self) -> None:
        """Go to the next character that is no white space and in no comment, or to the end of the file."""
        window = self.window
        while True:
            window.at = _SPACES.match(window.text, window.at).end()  # type: ignore[union-attr]
            if window.at < len(window.text) and not _COMMENT.match(window.text, window.at):
                return
            if not window.more():
                if window.text[window.at :] != "-":
                    window.at = len(window.text)
                return

    def _refusal(self, wanted: str, hint: str = "") -> DocumentError:
        window = self.window
        return window.refusal(self._start, window.found(self._start), wanted, hint)
