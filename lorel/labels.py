"""Sets of labels, and automata over them: what one step of a path may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lorel.like import like


@dataclass(frozen=True, slots=True)
class Labels:
    """A set of labels: one exactly, or all that match a pattern.

    >>> Labels("Ra%", exact=False).matches("Rating"), Labels("Ra%").matches("Rating")
    (True, False)
    """

    text: str
    exact: bool = True

    def matches(self, label: str) -> bool:
        return label == self.text if self.exact else like(self.text, any_one=False)(label)

    @property
    def every(self) -> bool:
        return not self.exact and self.text.strip("%") == "" and self.text != ""


ANY: Final = Labels("%", exact=False)


@dataclass(frozen=True, slots=True)
class Automaton:
    """A non-deterministic automaton over labels, without empty moves; state 0 is the start.

    >>> Automaton(1, ((0, ANY, 0),), frozenset({0}))      # the path `#`
    Automaton(states=1, moves=((0, Labels(text='%', exact=False), 0),), accepting=frozenset({0}))
    """

    states: int
    moves: tuple[tuple[int, Labels, int], ...]
    accepting: frozenset[int]
