"""The tree of a portable pattern: the small language that `lorel.regex.portable` writes.

a[bc]{2,}|^d     Either(Both(a, Many([bc], 2, None)), Both(^, d))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class OneChar:
    """A character in one of the ranges, or in none of them; or an anchor, which is no character."""

    ranges: tuple[tuple[str, str], ...] = ()
    negated: bool = False
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Both:
    """All parts, one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    ways: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """A part repeated; without an upper bound if `most` is None."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = OneChar | Both | Either | Many


def nodes(tree: Node) -> Iterator[Node]:
    """The tree and all that is in it."""
    yield tree
    match tree:
        case Both(inner) | Either(inner):
            for node in inner:
                yield from nodes(node)
        case Many(part):
            yield from nodes(part)


def read(pattern: str) -> Node:
    """
    >>> read("a|[^b-d]+")  # doctest: +NORMALIZE_WHITESPACE
    Either(ways=(OneChar(ranges=(('a', 'a'),), negated=False, anchor=''),
      Many(part=OneChar(ranges=(('b', 'd'),), negated=True, anchor=''), least=1, most=None)))
    """
    return _Reader(pattern).alternatives()


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def next(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def take(self, word: str) -> bool:
        found = self.pattern.startswith(word, self.at)
        self.at += len(word) * found
        return found

    def alternatives(self) -> Node:
        ways = [self.sequence()]
        while self.take("|"):
            ways.append(self.sequence())
        return ways[0] if len(ways) == 1 else Either(tuple(ways))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self.repeated(self.atom()))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def atom(self) -> Node:
        if self.take("(?:"):
            inner = self.alternatives()
            self.at += 1  # the bracket
            return inner
        if self.take("["):
            return self.char_class()
        if self.take("^"):
            return OneChar(anchor="^")
        if self.take("$"):
            return OneChar(anchor="$")
        char = self.char()
        return OneChar(((char, char),))

    def char(self) -> str:
        if not self.take("\\"):
            return self.next()
        char = self.next()
        return _CONTROLS.get(char, char)

    def char_class(self) -> OneChar:
        negated = self.take("^")
        ranges: list[tuple[str, str]] = []
        while not self.take("]"):
            low = self.char()
            ranges.append((low, self.char() if self.take("-") else low))
        return OneChar(tuple(ranges), negated)

    def repeated(self, part: Node) -> Node:
        for word, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(word):
                return Many(part, least, most)
        if not self.take("{"):
            return part
        low, comma, high = self.pattern[self.at : self.pattern.index("}", self.at)].partition(",")
        self.at = self.pattern.index("}", self.at) + 1
        return Many(part, int(low), int(high) if high else None if comma else int(low))
