"""`grep` on Spark: Java's search where it must end soon, else an automaton that looks at each character once.

Java tries a failing search with k unbounded repetitions in about n^(k+1) ways on a text of n characters. So a
text that is too long for its pattern is searched by the positions of the pattern instead, all at once: a set
of positions is the bits of an integer, and a fold over the characters moves it.

    pattern  a[bc]*d     positions  a 0, [bc] 1, d 2      after 0 come 1, 2; after 1 come 1, 2; 2 ends it

The beginning and the end of a text are symbols of their own: an empty string before its characters, and null
after them. No class holds either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from oemviews.engines.spark.pattern import Both, Either, Many, Node, OneChar, nodes, read
from oemviews.errors import OemError

JAVA_UP_TO: Final = (1 << 30, 20_000, 500, 100, 50)
"""The longest text for Java's search, by the number of unbounded repetitions in the pattern."""

_STACK: Final = 1_000  # Java calls itself for each round of a repeated group
_MOST: Final = 60  # positions in one integer, besides the mark
_FOUND: Final = 1 << 61


def searched(text: Column, pattern: str, limits: Sequence[int] = JAVA_UP_TO) -> Column:
    """Whether a text has a match of a portable pattern (see `lorel.regex`)."""
    java = text.rlike("(?d)" + pattern)  # only a newline ends a line
    tree = read(pattern)
    endless = [node for node in nodes(tree) if isinstance(node, Many) and node.most is None]
    if not endless:
        return java
    limit = limits[min(len(endless), len(limits) - 1)]
    if not all(isinstance(node.part, OneChar) for node in endless):
        limit = min(limit, _STACK)
    automaton = _Automaton()
    whole = automaton.piece(tree)
    if whole.empty:
        return text.isNotNull()
    if len(automaton.chars) > _MOST or _anchored_inside(tree):
        found = f"{len(automaton.chars)} places" if len(automaton.chars) > _MOST else "an anchor inside it"
        raise OemError(
            f"found {found} in the pattern {pattern!r}, which repeats without an upper bound; wanted, on the "
            f"Spark engine, up to {_MOST} places, and `^` or `$` at the ends: use the local engine."
        )
    return F.when(F.length(text) <= limit, java).otherwise(automaton.folded(text, whole))


def _anchored_inside(tree: Node) -> bool:
    """Whether an anchor stands anywhere but at the ends of the alternatives of the whole pattern."""
    for way in tree.ways if isinstance(tree, Either) else (tree,):
        parts = way.parts if isinstance(way, Both) else (way,)
        for i, part in enumerate(parts):
            allowed = {"^"} if i == 0 else set()
            allowed |= {"$"} if i == len(parts) - 1 else set()
            for node in nodes(part):
                if (
                    isinstance(node, OneChar)
                    and node.anchor
                    and not (node is part and node.anchor in allowed)
                ):
                    return True
    return False


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a pattern: the positions it begins and ends with, and whether it matches nothing at all."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    empty: bool = True


@dataclass(slots=True)
class _Automaton:
    """The positions of a pattern: what each matches, and which come after it."""

    chars: list[OneChar] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)

    def piece(self, node: Node) -> _Piece:
        match node:
            case OneChar(anchor="$"):  # also before a newline that ends the text
                newline = Both((OneChar(ranges=(("\n", "\n"),)), _END))
                return self.either([self.position(_END), self.piece(newline)])
            case OneChar():
                return self.position(node)
            case Both(parts):
                return reduce(self.then, map(self.piece, parts), _Piece())
            case Either(ways):
                return self.either([self.piece(way) for way in ways])
            case Many(part, least, most):
                return self.many(part, least, most)

    def position(self, char: OneChar) -> _Piece:
        self.chars.append(char)
        self.follow.append(set())
        here = frozenset({len(self.chars) - 1})
        return _Piece(here, here, empty=False)

    def then(self, one: _Piece, other: _Piece) -> _Piece:
        for position in one.last:
            self.follow[position] |= other.first
        return _Piece(
            one.first | other.first if one.empty else one.first,
            one.last | other.last if other.empty else other.last,
            one.empty and other.empty,
        )

    def either(self, ways: Sequence[_Piece]) -> _Piece:
        return _Piece(
            frozenset[int]().union(*(way.first for way in ways)),
            frozenset[int]().union(*(way.last for way in ways)),
            any(way.empty for way in ways),
        )

    def many(self, part: Node, least: int, most: int | None) -> _Piece:
        """Copies of the part: those that must be there, then those that may, or one that goes round."""
        whole = _Piece()
        for _ in range(least if most is not None else max(0, least - 1)):
            whole = self.then(whole, self.piece(part))
        if most is None:
            round_ = self.piece(part)
            self.then(round_, round_)
            return self.then(whole, _Piece(round_.first, round_.last, round_.empty or least == 0))
        for _ in range(most - least):
            copy = self.piece(part)
            whole = self.then(whole, _Piece(copy.first, copy.last))
        return whole

    # ---- as an expression ----

    def folded(self, text: Column, whole: _Piece) -> Column:
        symbols = F.concat(F.array(F.lit("")), F.split(text, ""), F.array(F.lit(None).cast("string")))
        in_line = _bits(p for p, after in enumerate(self.follow) if after == {p + 1})
        jumps = [(1 << p, _bits(after)) for p, after in enumerate(self.follow) if after - {p + 1}]
        chars = dict.fromkeys(self.chars)
        fits = {char: _bits(p for p, each in enumerate(self.chars) if each == char) for char in chars}

        def move(state: Column, symbol: Column) -> Column:
            ahead = F.shiftleft(state.bitwiseAND(_lit(in_line)), 1).bitwiseOR(_lit(_bits(whole.first)))
            for bit, after in jumps:
                ahead = ahead.bitwiseOR(_where(state.bitwiseAND(_lit(bit)) != 0, after))
            fit = reduce(Column.bitwiseOR, (_where(_matches(char, symbol), at) for char, at in fits.items()))
            now = ahead.bitwiseAND(fit)
            found = _where(now.bitwiseAND(_lit(_bits(whole.last))) != 0, _FOUND)
            return now.bitwiseOR(found).bitwiseOR(state.bitwiseAND(_lit(_FOUND)))

        return F.aggregate(symbols, _lit(0), move, lambda state: state.bitwiseAND(_lit(_FOUND)) != 0)


_END: Final = OneChar(anchor="end")


def _bits(positions: Iterable[int]) -> int:
    return sum(1 << position for position in positions)


def _lit(bits: int) -> Column:
    return F.lit(bits).cast("bigint")


def _where(test: Column, bits: int) -> Column:
    return F.when(test, _lit(bits)).otherwise(_lit(0))


def _matches(char: OneChar, symbol: Column) -> Column:
    if char.anchor:
        return symbol.isNull() if char.anchor == "end" else symbol == ""
    tests = [symbol == low if low == high else symbol.between(low, high) for low, high in char.ranges]
    inside = reduce(Column.__or__, tests)
    return ~inside & (symbol != "") if char.negated else inside
