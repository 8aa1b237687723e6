"""One edit as text, in JSON or in the paper's notation.

>>> edit_of('{"op": "ins", "src": 10, "label": "Ingredient", "dst": "soup"}')
Insert(src=10, label='Ingredient', dst='soup')
>>> edit_of('<Chg,&5,"Thai City","Hunan Wok">')
Change(oid=5, new='Hunan Wok', old='Thai City')
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from oemviews.documents.json_decode import DECODER, Hidden
from oemviews.documents.source import shown
from oemviews.edits import UNKNOWN, Change, Delete, Edit, Insert, Name, New, Ref, Unname
from oemviews.model import COMPLEX, Atom


class BadEdit(Exception):
    """A text that is no edit: (found, wanted)."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of a batch."""


_KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "ins": ("src label dst", ""),
    "del": ("src label dst", ""),
    "chg": ("oid new", "old"),
    "new": ("oid", "value"),
    "name": ("name oid", ""),
    "unname": ("name", ""),
    "commit": ("", ""),
}
"""The keys that each op needs, and those it may have."""

_EDGE: Final = re.compile(
    r"<\s*(ins|del)\s*,\s*&(\d+)\s*,\s*(.*?)\s*,\s*&(\d+)\s*>", re.IGNORECASE | re.DOTALL
)
_CHANGE: Final = re.compile(r"<\s*chg\s*,\s*&(\d+)\s*,\s*", re.IGNORECASE)
_COMMA: Final = re.compile(r"\s*,\s*")
_END: Final = re.compile(r"\s*>")
_PAPER: Final = '<Ins,&10,Label,&15>, <Del,&10,Label,&15> or <Chg,&5,"old","new">'


def edit_of(text: str) -> Edit | Commit:
    """The edit that a line says.

    Raises:
        BadEdit: what was found, and what was wanted.
    """
    text = text.strip()
    return _from_paper(text) if text.startswith("<") else _from_json(text)


# ---- JSON ----


def _from_json(text: str) -> Edit | Commit:
    try:
        found = DECODER.decode(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        place = f"column {error.pos + 1}"
        raise BadEdit(
            f"{shown(rest) if rest else 'the end of the line'} at {place}", "an edit in JSON"
        ) from error
    except Hidden as error:
        raise BadEdit(str(error), "an edit in JSON") from error
    except RecursionError as error:
        raise BadEdit("nesting without end", "an edit in JSON") from error
    except ValueError as error:
        digits = max(map(len, re.findall(r"\d+", text)))
        raise BadEdit(f"an integer of {digits} digits", "one of at most 4300, or a string") from error
    if not isinstance(found, dict):
        raise BadEdit(shown(text), 'an edit such as {"op": "ins", "src": 10, "label": "Name", "dst": 15}')
    op = found.get("op")
    if not isinstance(op, str) or op not in _KEYS:
        raise BadEdit(f"the op {op!r}" if "op" in found else "no op", f"one of {', '.join(_KEYS)}")
    _check_keys(op, found)
    return _MAKERS[op](found)


def _check_keys(op: str, found: Mapping[str, Any]) -> None:
    needed, allowed = (keys.split() for keys in _KEYS[op])
    missing = [key for key in needed if key not in found]
    if missing:
        raise BadEdit(f"{op!r} without {missing[0]!r}", f"the keys op, {', '.join(needed)}")
    for key in found:
        if key != "op" and key not in needed and key not in allowed:
            raise BadEdit(f"the key {key!r} in {op!r}", f"the keys {', '.join(['op', *needed, *allowed])}")


def _ref(found: Mapping[str, Any], key: str) -> Ref:
    ref = found[key]
    if isinstance(ref, bool) or not isinstance(ref, int | str):
        raise BadEdit(f"{key} {shown(json.dumps(ref))}", "an oid, or a name of the log's own")
    return ref


def _text(found: Mapping[str, Any], key: str) -> str:
    text = found[key]
    if not isinstance(text, str):
        raise BadEdit(f"{key} {shown(json.dumps(text))}", "a string")
    return _whole(text)


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadEdit(f"half a surrogate pair, U+{ord(text[error.start]):04X}", "whole characters") from error
    return text


def _atom(value: Any) -> Atom:
    if isinstance(value, dict | list):
        raise BadEdit(f"the value {shown(json.dumps(value))}", "an atomic value")
    if isinstance(value, float) and math.isinf(value):
        raise BadEdit("a number beyond the range of a double", "a finite number")
    return _whole(value) if isinstance(value, str) else value


def _change(found: Mapping[str, Any]) -> Change:
    old = _atom(found["old"]) if "old" in found else UNKNOWN
    return Change(_ref(found, "oid"), _atom(found["new"]), old)


def _new(found: Mapping[str, Any]) -> New:
    return New(_text(found, "oid"), _atom(found["value"]) if "value" in found else COMPLEX)


_MAKERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Edit | Commit]]] = {
    "ins": lambda found: Insert(_ref(found, "src"), _text(found, "label"), _ref(found, "dst")),
    "del": lambda found: Delete(_ref(found, "src"), _text(found, "label"), _ref(found, "dst")),
    "chg": _change,
    "new": _new,
    "name": lambda found: Name(_text(found, "name"), _ref(found, "oid")),
    "unname": lambda found: Unname(_text(found, "name")),
    "commit": lambda _: Commit(),
}


# ---- the paper's notation ----


def _from_paper(text: str) -> Edit:
    edge = _EDGE.fullmatch(text)
    if edge is not None:
        op, src, label, dst = edge.groups()
        if label.startswith('"'):
            label = _literal(label, 0)[0]
        if not isinstance(label, str) or not label:
            raise BadEdit(shown(text), _PAPER)
        kind = Insert if op.lower() == "ins" else Delete
        return kind(int(src), _whole(label), int(dst))
    change = _CHANGE.match(text)
    if change is None:
        raise BadEdit(shown(text), _PAPER)
    old, end = _literal(text, change.end())
    comma = _COMMA.match(text, end)
    if comma is None:
        raise BadEdit(f"{shown(text[end:])} after the old value", "',' and the new value")
    new, end = _literal(text, comma.end())
    if _END.fullmatch(text, end) is None:
        raise BadEdit(f"{shown(text[end:])} after the new value", "'>'")
    return Change(int(change[1]), new, old)


def _literal(text: str, at: int) -> tuple[Atom, int]:
    try:
        value, end = DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise BadEdit(
            shown(text[at:]), "a value as in JSON: a string in double quotes, a number, null"
        ) from error
    return _atom(value), end
