"""What with paths bring along, level by level in the order they were written.

A level starts from a set B[src]; its edges are those of the graph that fit the step and leave B[src]:

    removed = edges (old) of what left B[src]  +  edges that went, of what was in B[src]
    added   = edges (new) of what came to B[src]  +  edges that came, of what is in B[src] now

B[w] is kept with the number of edges that lead to each object, so that losing one edge of several loses
nothing. For a path of any length the level is a set of (object, state) pairs. There, numbers would keep
cycles alive: everything that could have depended on what went is taken out, and what can still be reached
is put back; deletions come before insertions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lorel.normal import Labels, State
from oemviews.engines.engine import Engine
from oemviews.maintain.level_walks import closure
from oemviews.maintain.levels import Level, Start
from oemviews.maintain.relevance import Met
from oemviews.views.definition import Definition, WithStep
from oemviews.views.ports import Port
from oemviews.views.state import Edge, ViewState
from oemviews.views.walks import edges_of_all

_NOTHING: Final = Level()


def adjuncts(
    definition: Definition,
    state: ViewState,
    engine: Engine,
    columns: Mapping[int, tuple[Iterable[int], Iterable[int]]],
    met: Mapping[Port, Met],
) -> dict[str, Level]:
    """The changes of all with variables, given what came to and left the columns of the rows.

    Variables to which nothing happens are left out.
    """
    levels: dict[str, Level] = {}
    ports: dict[str, list[tuple[Port, Met]]] = {}
    for port, edges in met.items():
        if port.part == "adj":
            ports.setdefault(port.variable, []).append((port, edges))
    for steps in _by_depth(definition.with_steps):
        begun = []
        for step in steps:
            if step.column is not None:
                gain, loss = (set(oids) for oids in columns.get(step.column, ((), ())))
            else:
                before = levels.get(step.step.src, _NOTHING)
                gain, loss = before.gain, before.loss
            if gain or loss or step.variable in ports:
                begun.append(Start(definition, state, step, gain, loss))
        walked = _walked(engine, begun)
        for start in begun:
            name = start.step.variable
            if start.step.step.is_closure:
                levels[name] = closure(start, engine, ports.get(name, []))
            else:
                levels[name] = _one_step(start, *walked[name], ports.get(name, []))
    return {step.variable: levels[step.variable] for step in definition.with_steps if step.variable in levels}


def _by_depth(steps: Sequence[WithStep]) -> Iterator[list[WithStep]]:
    """The steps that start from columns, then those that start from these, and so on."""
    while steps:
        later = {step.variable for step in steps}
        yield [step for step in steps if step.column is not None or step.step.src not in later]
        steps = [step for step in steps if step.column is None and step.step.src in later]


def _walked(engine: Engine, begun: Sequence[Start]) -> dict[str, tuple[set[Edge], set[Edge]]]:
    """For each step of one edge: the old edges of what left its start, and the new ones of what came."""
    asked, found = [], {}
    for start in begun:
        step = start.step.step
        if isinstance(step.path, Labels):
            found[step.dst] = set[Edge](), set[Edge]()
            states: tuple[tuple[State, set[int]], ...] = (("old", start.loss), ("new", start.gain))
            for place, (state, oids) in zip(found[step.dst], states, strict=True):
                if oids:
                    asked.append((place, (oids, step.path, step.graph, state)))
    for (place, _), edges in zip(asked, edges_of_all(engine, [ask for _, ask in asked]), strict=True):
        place.update(edges.tuples())
    return found


def _one_step(start: Start, left: set[Edge], came: set[Edge], planted: list[tuple[Port, Met]]) -> Level:
    level = Level(added=came, removed=left)
    for _, met in planted:
        plus, minus = start.planted(met)
        level.plus |= plus
        level.minus |= minus
    level.added |= level.plus
    level.removed |= level.minus
    targets: Counter[int] = Counter()
    for _, _, dst in level.added:
        targets[dst] += 1
    for _, _, dst in level.removed:
        targets[dst] -= 1
    level.targets = {dst: n for dst, n in targets.items() if n}
    gain, loss = start.state.reached[start.step.variable].preview(level.targets)
    level.gain, level.loss = set(gain), set(loss)
    return level
