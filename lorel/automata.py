"""Regular paths: `(.Price|.Ingredient)`, `(.Nearby)+`, `#` become automata without empty moves.

| written        | automaton                                          |
| -------------- | -------------------------------------------------- |
| `#`            | one state, every label leads back to it            |
| `(.a|.b)`      | one move each, from the start to the end           |
| `(.a)?`        | start and end accept                               |
| `(.a)+`        | after the first `a`, as many as wanted             |

The position automaton of the expression has no empty moves to begin with: its states are the start and
one per label written. States that the same labels leave for the same states are then made one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lorel import ast
from lorel.normal import ANY, Automaton, Labels

LabelsOf = Callable[[ast.Step], Labels]


@dataclass(frozen=True, slots=True)
class _Part:
    """What can come first, what can come last, and whether nothing at all will do."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


class _Positions:
    """The labels written so far, each a position, and which position can follow which."""

    def __init__(self, labels_of: LabelsOf) -> None:
        self.labels: list[Labels] = []
        self.follow: set[tuple[int, int]] = set()
        self._labels_of = labels_of

    def one(self, labels: Labels) -> _Part:
        self.labels.append(labels)
        here = frozenset({len(self.labels)})
        return _Part(here, here, empty=False)

    def sequence(self, components: Iterable[ast.Component]) -> _Part:
        whole = _Part(frozenset(), frozenset(), empty=True)
        for component in components:
            part = self.component(component)
            self.follow |= {(p, q) for p in whole.last for q in part.first}
            whole = _Part(
                whole.first | part.first if whole.empty else whole.first,
                whole.last | part.last if part.empty else part.last,
                whole.empty and part.empty,
            )
        return whole

    def component(self, component: ast.Component) -> _Part:
        if isinstance(component, ast.Group):
            parts = [self.sequence(alternative) for alternative in component.alternatives]
            part = _Part(
                frozenset().union(*(p.first for p in parts)),
                frozenset().union(*(p.last for p in parts)),
                any(p.empty for p in parts),
            )
        elif isinstance(component.unit, ast.AnyPath):
            return self._repeat(self.one(ANY), "*")  # `#` repeated is `#`
        else:
            part = self.one(self._labels_of(component))
        return self._repeat(part, component.quant)

    def _repeat(self, part: _Part, quant: ast.Quantifier) -> _Part:
        if quant in ("*", "+"):
            self.follow |= {(p, q) for p in part.last for q in part.first}
        return _Part(part.first, part.last, part.empty or quant in ("*", "?"))


def automaton(components: Iterable[ast.Component], labels_of: LabelsOf) -> Automaton:
    """The automaton of a sequence of components; `labels_of` reads a step that is a label or a pattern.

    >>> automaton([ast.Step(ast.AnyPath())], lambda step: ANY)
    Automaton(states=1, moves=((0, Labels(text='%', exact=False), 0),), accepting=frozenset({0}))
    """
    positions = _Positions(labels_of)
    whole = positions.sequence(components)
    moves = {(0, positions.labels[q - 1], q) for q in whole.first}
    moves |= {(p, positions.labels[q - 1], q) for p, q in positions.follow}
    accepting = whole.last | {0} if whole.empty else whole.last
    return _reduced(len(positions.labels) + 1, moves, accepting)


def _reduced(states: int, moves: set[tuple[int, Labels, int]], accepting: frozenset[int]) -> Automaton:
    """Join states with the same future: coarsest partition that moves and acceptance respect."""
    leaving: list[list[tuple[Labels, int]]] = [[] for _ in range(states)]
    for p, labels, q in moves:
        leaving[p].append((labels, q))
    kind = [int(state in accepting) for state in range(states)]
    while True:
        futures = [(kind[s], frozenset((labels, kind[q]) for labels, q in leaving[s])) for s in range(states)]
        number = {future: n for n, future in enumerate(dict.fromkeys(futures))}  # the start comes first: 0
        refined = [number[future] for future in futures]
        if len(number) == len(set(kind)):
            break
        kind = refined
    joined = {(refined[p], labels, refined[q]) for p, labels, q in moves}
    ordered = sorted(joined, key=lambda move: (move[0], move[2], move[1].exact, move[1].text))
    return Automaton(len(number), tuple(ordered), frozenset(refined[s] for s in accepting))
