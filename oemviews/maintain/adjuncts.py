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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pyroaring import BitMap64

from lorel.normal import Automaton, Labels
from oemviews.engines.engine import Engine
from oemviews.maintain.relevance import Met
from oemviews.views.definition import Definition, WithStep
from oemviews.views.ports import Port
from oemviews.views.state import Edge, ViewState, accepted
from oemviews.views.walks import edges_from, edges_into

Pair: TypeAlias = tuple[int, int]
"""An object, and the state of the automaton that a walk is in when it is there."""


@dataclass(slots=True)
class Level:
    """How one with variable changes."""

    added: set[Edge] = field(default_factory=set)
    removed: set[Edge] = field(default_factory=set)
    targets: dict[int, int] = field(default_factory=dict)  # signed numbers of edges to each target
    came: set[Pair] = field(default_factory=set)  # of a path of any length
    went: set[Pair] = field(default_factory=set)
    gain: set[int] = field(default_factory=set)
    loss: set[int] = field(default_factory=set)


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
    for step in definition.with_steps:
        if step.column is not None:
            gain, loss = (set(oids) for oids in columns.get(step.column, ((), ())))
        else:
            before = levels.get(step.step.src, _NOTHING)
            gain, loss = before.gain, before.loss
        planted = ports.get(step.variable, [])
        if gain or loss or planted:
            start = _Start(definition, state, step, gain, loss)
            change = _closure if step.step.is_closure else _one_step
            levels[step.variable] = change(start, engine, planted)
    return levels


_NOTHING = Level()


@dataclass(frozen=True, slots=True)
class _Start:
    """The set that a with step starts from, before and after."""

    definition: Definition
    state: ViewState
    step: WithStep
    gain: set[int]
    loss: set[int]

    def before(self, oid: int) -> bool:
        state, source = self.state, self.step.step.src
        if self.step.column is not None:
            return oid in state.columns[self.step.column]
        if source in state.reached:
            return oid in state.reached[source]
        return any(oid in state.walked[source][q] for q in accepted(self.definition, source))

    def after(self, oid: int) -> bool:
        return oid in self.gain or (oid not in self.loss and self.before(oid))


def _one_step(start: _Start, engine: Engine, planted: list[tuple[Port, Met]]) -> Level:
    step, level = start.step.step, Level()
    assert isinstance(step.path, Labels)
    if start.loss:
        level.removed.update(edges_from(engine, start.loss, step.path, step.graph, "old").tuples())
    if start.gain:
        level.added.update(edges_from(engine, start.gain, step.path, step.graph).tuples())
    for _, met in planted:
        for edge, sign in _signed(met):
            if sign > 0 and start.after(edge[0]):
                level.added.add(edge)
            elif sign < 0 and start.before(edge[0]):
                level.removed.add(edge)
    targets: Counter[int] = Counter()
    for _, _, dst in level.added:
        targets[dst] += 1
    for _, _, dst in level.removed:
        targets[dst] -= 1
    level.targets = {dst: n for dst, n in targets.items() if n}
    gain, loss = start.state.reached[start.step.variable].preview(level.targets)
    level.gain, level.loss = set(gain), set(loss)
    return level


def _signed(met: Met) -> Iterable[tuple[Edge, int]]:
    edges = zip(met.src.tolist(), met.labels, met.dst.tolist(), strict=True)
    return zip(edges, met.sign.tolist(), strict=True)


# ---- paths of any length ----


def _closure(start: _Start, engine: Engine, planted: list[tuple[Port, Met]]) -> Level:
    """Over-delete and re-derive, then insert."""
    path = start.step.step.path
    assert isinstance(path, Automaton)
    walk = _Walk(path, start.step.step.graph, start.state.walked[start.step.variable], engine)
    went = walk.over_deleted(start, planted)
    came = walk.put_back(start, planted, went)
    level = Level(came=came - went, went=went - came)
    walk.edges(level, planted)
    level.gain, level.loss = _ends(path, walk, level)
    return level


def _ends(path: Automaton, walk: _Walk, level: Level) -> tuple[set[int], set[int]]:
    """Objects that the variable ranges over anew, and no longer: those at which a walk may end."""
    touched = {oid for oid, q in level.came | level.went if q in path.accepting}
    before = {oid for oid in touched if any(oid in walk.at[q] for q in path.accepting)}
    after = {oid for oid in touched if any(walk.now((oid, q), level) for q in path.accepting)}
    return after - before, before - after


@dataclass(frozen=True, slots=True)
class _Walk:
    """The pairs of a with path of any length, and the ways between them."""

    path: Automaton
    graph: str
    at: tuple[BitMap64, ...]
    engine: Engine

    def now(self, pair: Pair, level: Level) -> bool:
        return pair in level.came or (pair[0] in self.at[pair[1]] and pair not in level.went)

    def over_deleted(self, start: _Start, planted: list[tuple[Port, Met]]) -> set[Pair]:
        """Every pair that may have depended on what went; never one that is still a start."""
        went: set[Pair] = set()
        fresh: dict[int, set[int]] = {}

        def leave(oid: int, q: int) -> None:
            if oid in self.at[q] and (oid, q) not in went and not (q == 0 and start.after(oid)):
                went.add((oid, q))
                fresh.setdefault(q, set()).add(oid)

        for oid in start.loss:
            leave(oid, 0)
        for port, met in planted:
            p, q = port.move or (0, 0)
            for (src, _, dst), sign in _signed(met):
                if sign < 0 and src in self.at[p]:
                    leave(dst, q)
        while fresh:
            p, oids = fresh.popitem()
            for source, labels, q in self.path.moves:
                if source == p:
                    for dst in edges_from(self.engine, oids, labels, self.graph, "old").dst.tolist():
                        leave(dst, q)
        return went

    def put_back(self, start: _Start, planted: list[tuple[Port, Met]], went: set[Pair]) -> set[Pair]:
        """Every pair that comes, or that can still be reached though it was taken out."""
        came: set[Pair] = set()
        fresh: dict[int, set[int]] = {}

        def there(oid: int, q: int) -> bool:
            return (oid, q) in came or (oid in self.at[q] and (oid, q) not in went)

        def arrive(oid: int, q: int) -> None:
            if not there(oid, q):
                came.add((oid, q))
                fresh.setdefault(q, set()).add(oid)

        for oid in start.gain:
            arrive(oid, 0)
        out: dict[int, set[int]] = {}
        for oid, q in went:
            out.setdefault(q, set()).add(oid)
        for p, labels, q in self.path.moves:
            if q in out:
                edges = edges_into(self.engine, out[q], labels, self.graph)
                for src, dst in zip(edges.src.tolist(), edges.dst.tolist(), strict=True):
                    if there(src, p):
                        arrive(dst, q)
        for port, met in planted:
            p, q = port.move or (0, 0)
            for (src, _, dst), sign in _signed(met):
                if sign > 0 and there(src, p):
                    arrive(dst, q)
        while fresh:
            p, oids = fresh.popitem()
            for source, labels, q in self.path.moves:
                if source == p:
                    for dst in edges_from(self.engine, oids, labels, self.graph).dst.tolist():
                        arrive(dst, q)
        return came

    def edges(self, level: Level, planted: list[tuple[Port, Met]]) -> None:
        """The edges walked now and not before, and the other way round, in whatever state."""
        removed: set[Edge] = set()
        added: set[Edge] = set()
        for p, labels, _ in self.path.moves:
            lost, won = ({oid for oid, q in pairs if q == p} for pairs in (level.went, level.came))
            if lost:
                removed.update(edges_from(self.engine, lost, labels, self.graph, "old").tuples())
            if won:
                added.update(edges_from(self.engine, won, labels, self.graph).tuples())
        for port, met in planted:
            p = port.move[0] if port.move else 0
            for edge, sign in _signed(met):
                if sign < 0 and edge[0] in self.at[p]:
                    removed.add(edge)
                elif sign > 0 and self.now((edge[0], p), level):
                    added.add(edge)
        gone = {edge for _, met in planted for edge, sign in _signed(met) if sign < 0}
        new = {edge for _, met in planted for edge, sign in _signed(met) if sign > 0}
        level.removed = {
            e for e in removed if e in gone or not self._walked(e, lambda pair: self.now(pair, level))
        }
        level.added = {
            e for e in added if e in new or not self._walked(e, lambda pair: pair[0] in self.at[pair[1]])
        }

    def _walked(self, edge: Edge, there: Callable[[Pair], bool]) -> bool:
        return any(there((edge[0], p)) for p, labels, _ in self.path.moves if labels.matches(edge[1]))
