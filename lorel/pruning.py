"""Leave out what cannot have an answer, as far as that is known without looking at any edge.

A summary of a graph says where label paths may lead. A step that leads nowhere empties its branch: a disjunct
goes, `not exists` holds, and a select all of whose branches are empty has no rows.

    select r.Foo from Guide.Restaurant r    ->    nothing: no path Guide.Restaurant.Foo in the data
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from lorel.normal import (
    ROOT,
    Automaton,
    Block,
    Branch,
    Item,
    Labels,
    Measure,
    NewItem,
    Normal,
    SetOf,
    Step,
    Truth,
)
from lorel.regular_text import automaton_text, labels_text
from lorel.short_text import variable_text
from lorel.words import name_text

Place: TypeAlias = Hashable
"""A set of objects that a summary knows by some name; None is anywhere in the graph."""

ANYWHERE: Final = frozenset({None})


class Paths(Protocol):
    """A summary of label paths. A path that it rules out is not in the data; others may be there or not."""

    def roots(self, graph: str) -> frozenset[Place]:
        """The places of the root, whose edges are the names."""

    def after(self, place: Place, labels: Labels, graph: str) -> frozenset[Place]:
        """Where edges with such a label may lead from a place."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A query with the same answer, and a sentence for each part that was left out."""

    query: Normal
    notes: tuple[str, ...] = ()


def pruned(query: Normal, paths: Paths) -> Pruned:
    """The query without the branches that the summary proves empty."""
    pruning = _Pruning(paths)
    return Pruned(pruning.query(query, {}), tuple(pruning.notes))


def is_empty(query: Normal) -> bool:
    """Whether a query has no answer whatever the data."""
    if isinstance(query, SetOf):
        left, right = is_empty(query.left), is_empty(query.right)
        return left if query.op == "except" else left and right if query.op == "union" else left or right
    return all(_is_false(branch) for branch in query.where)


def _is_false(branch: Branch) -> bool:
    return any(isinstance(test, Truth) and not test.value for test in branch.tests)


@dataclass(frozen=True, slots=True)
class _Known:
    """Where the objects of a variable may lie, and the step that leads there."""

    places: frozenset[Place]
    step: Step


_Env: TypeAlias = Mapping[str, _Known]


class _Pruning:
    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.notes: dict[str, None] = {}
        self.why = ""

    def query(self, query: Normal, env: _Env) -> Normal:
        if isinstance(query, SetOf):
            return replace(query, left=self.query(query.left, env), right=self.query(query.right, env))
        from_, env = self.branch(query.from_, env)
        where = tuple(self.left(query.where, env, "this alternative is empty")) if from_ else ()
        if from_ is None or not where:
            self.notes[f"{self.why}: empty"] = None
            return replace(query, where=(Branch(tests=(Truth(False, self.why),)),))
        select = tuple(self.item(item, env) for item in query.select)
        return replace(query, select=select, from_=from_, where=where)

    def left(self, branches: tuple[Branch, ...], env: _Env, note: str) -> Iterator[Branch]:
        """The branches that may have a binding."""
        for branch in branches:
            kept = self.branch(branch, env)[0]
            if kept is not None:
                yield kept
            elif len(branches) > 1:
                self.notes[f"{self.why}: {note}"] = None

    def branch(self, branch: Branch, env: _Env) -> tuple[Branch | None, _Env]:
        """The branch, or None if it has no binding; and what is known of the variables in it."""
        env = dict(env)
        for step in branch.steps:
            places = self.walked(step, env)
            if not places:
                self.why = f"no path {_words(step, env)} in the data"
                return None, env
            env[step.dst] = _Known(places, step)
        absent: list[Branch] = []
        for inner in branch.absent:
            kept = self.branch(inner, env)[0]
            if kept is None:
                self.notes[f"{self.why}: what must be absent is"] = None
            else:
                absent.append(kept)
        choices = [tuple(self.left(group, env, "this alternative is empty")) for group in branch.choices]
        ranges = [replace(each, query=self.query(each.query, env)) for each in branch.ranges]
        if not all(choices) or any(is_empty(each.query) for each in ranges):
            return None, env
        measures = [Measure(each.name, each.func, self.query(each.query, env)) for each in branch.measures]
        left = replace(
            branch,
            absent=tuple(absent),
            choices=tuple(choices),
            ranges=tuple(ranges),
            measures=tuple(measures),
        )
        return left, env

    def item(self, item: Item, env: _Env) -> Item:
        """Queries inside a constructed object are pruned, too."""
        if not isinstance(item, NewItem):
            return item
        parts = (
            (label, self.query(part, env) if isinstance(part, Block | SetOf) else self.item(part, env))
            for label, part in item.fields
        )
        return replace(item, fields=tuple(parts))

    # ---- steps ----

    def walked(self, step: Step, env: _Env) -> frozenset[Place]:
        source = env.get(step.src)
        if source is not None:
            places = source.places
        else:
            places = self.paths.roots(step.graph) if step.src == ROOT else ANYWHERE
        if isinstance(step.path, Automaton):
            return self.reached(places, step.path, step.graph)
        return frozenset(end for place in places for end in self.paths.after(place, step.path, step.graph))

    def reached(self, places: frozenset[Place], path: Automaton, graph: str) -> frozenset[Place]:
        """Where the walks of an automaton may end: places and states are visited once."""
        seen = {(place, 0) for place in places}
        todo = list(seen)
        while todo:
            place, state = todo.pop()
            for source, labels, target in path.moves:
                if source != state:
                    continue
                new = {(end, target) for end in self.paths.after(place, labels, graph)} - seen
                seen |= new
                todo += new
        return frozenset(place for place, state in seen if state in path.accepting)


def _words(step: Step, env: _Env) -> str:
    """The path that a step ends, from a name or from the variable nothing is known of."""
    words: list[str] = []
    known: _Known | None = _Known(frozenset(), step)
    while known is not None:
        step = known.step
        is_name = step.src == ROOT and isinstance(step.path, Labels) and step.path.exact
        path = automaton_text(step.path) if isinstance(step.path, Automaton) else labels_text(step.path)
        words.append(name_text(step.path.text) if is_name else path)  # type: ignore[union-attr]
        known = env.get(step.src)
    return ("" if step.src == ROOT else variable_text(step.src)) + "".join(reversed(words))
