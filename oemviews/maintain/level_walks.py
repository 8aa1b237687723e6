"""With paths of any length: over-delete and re-derive, then insert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyroaring import BitMap64

from lorel.normal import Automaton
from oemviews.engines.engine import Engine
from oemviews.maintain.levels import Level, Pair, Start, signed
from oemviews.maintain.relevance import Met
from oemviews.views.ports import Port
from oemviews.views.state import Edge
from oemviews.views.walks import edges_from, edges_into


def closure(start: Start, engine: Engine, planted: list[tuple[Port, Met]]) -> Level:
    """How a with variable at the end of a path of any length changes."""
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

    def over_deleted(self, start: Start, planted: list[tuple[Port, Met]]) -> set[Pair]:
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
            for (src, _, dst), sign in signed(met):
                if sign < 0 and src in self.at[p]:
                    leave(dst, q)
        while fresh:
            p, oids = fresh.popitem()
            for source, labels, q in self.path.moves:
                if source == p:
                    for dst in edges_from(self.engine, oids, labels, self.graph, "old").dst.tolist():
                        leave(dst, q)
        return went

    def put_back(self, start: Start, planted: list[tuple[Port, Met]], went: set[Pair]) -> set[Pair]:
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
            for (src, _, dst), sign in signed(met):
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
            for edge, sign in signed(met):
                if sign < 0 and edge[0] in self.at[p]:
                    removed.add(edge)
                elif sign > 0 and self.now((edge[0], p), level):
                    added.add(edge)
        gone = {edge for _, met in planted for edge, sign in signed(met) if sign < 0}
        new = {edge for _, met in planted for edge, sign in signed(met) if sign > 0}
        level.plus, level.minus = added & new, removed & gone
        level.removed = level.minus | {
            e for e in removed if not self._walked(e, lambda pair: self.now(pair, level))
        }
        level.added = level.plus | {
            e for e in added if not self._walked(e, lambda pair: pair[0] in self.at[pair[1]])
        }

    def _walked(self, edge: Edge, there: Callable[[Pair], bool]) -> bool:
        return any(there((edge[0], p)) for p, labels, _ in self.path.moves if labels.matches(edge[1]))
