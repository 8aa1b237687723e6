"""The decoder of the standard library, made to refuse what it would let pass, and its faults in our words."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn

from oemviews.documents.source import shown

_WANTED: Final = {
    "Expecting value": "a value",
    "Expecting ',' delimiter": "',' or the end of the object or array",
    "Expecting ':' delimiter": "':'",
    "Expecting property name enclosed in double quotes": "a key in double quotes",
    "Unterminated string starting at": "the closing quote of this string",
    "Invalid control character at": r"an escape such as \n in place of a control character",
    "Invalid \\escape": r"an escape of JSON, such as \n or \u00e9",
    "Invalid \\uXXXX escape": r"four hexadecimal digits after \u",
}


class Hidden(ValueError):
    """Something that the decoder alone would let pass."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Hidden(f"the key {shown(twice)} a second time")
    return members


def _constant(word: str) -> NoReturn:
    raise Hidden(f"{word}, which is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise Hidden(f"{shown(digits)}, which is beyond the range of a double")
    return number


DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
"""Refuses duplicate keys and NaN. A number beyond the doubles becomes infinite: a hook is too slow."""

CAREFUL: Final = json.JSONDecoder(parse_constant=_constant, parse_float=_finite)
"""For scalars, one at a time."""


def may_be_cut(error: json.JSONDecodeError, length: int) -> bool:
    """Could it be that only the rest of the value is missing from a text of this length?"""
    return error.pos >= length - 16 or error.msg.startswith("Unterminated string")


def wanted_by(error: json.JSONDecodeError) -> str:
    return _WANTED.get(error.msg, f"JSON ({error.msg})")
