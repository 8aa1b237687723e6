"""Patterns with `%` for any run of characters: matched in one pass, however many `%` there are.

The pieces between two `%` have fixed lengths, so the first place where a piece fits is as good as any other:
nothing is ever tried again, which a regular expression with as many `.*` would do without end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=4096)
def like(pattern: str, *, any_one: bool = True) -> Callable[[str], bool]:
    """Whether a text fits a pattern, with `_` for one character if `any_one`.

    >>> fits = like("B%d _afe%")
    >>> fits("Baghdad Cafe"), fits("Baghdad Cafeteria"), fits("The Baghdad Cafe")
    (True, True, False)
    """
    pieces = pattern.split("%")
    first, *middle = (_compiled(piece, any_one) for piece in pieces)
    if not middle:
        return lambda text: first.fullmatch(text) is not None
    last, tail = middle.pop(), len(pieces[-1])

    def fits(text: str) -> bool:
        found = first.match(text)
        for piece in middle:
            found = found and piece.search(text, found.end())
        return found is not None and last.match(text, max(found.end(), len(text) - tail)) is not None

    return fits


def _compiled(piece: str, any_one: bool) -> re.Pattern[str]:
    chars = ("." if any_one and char == "_" else re.escape(char) for char in piece)
    return re.compile("".join(chars), re.DOTALL)
