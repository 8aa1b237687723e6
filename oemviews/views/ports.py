"""What an edge of the graph can mean to a view: the ports it can enter by.

A view is a system of sets of oids, one per variable and, for a path of any length, one per state of its
automaton. Every step is a port: an edge with a fitting label carries an object from one set into another.

    r.Entree e          port   r   -Entree->  e
    r(.Nearby)+ n       ports  n/0 -Nearby->  n/1,  n/1 -Nearby-> n/1     flows  r into n/0,  n/1 into n

RelevantOids is the least solution: conditions are ignored, so it holds every object that an evaluation
could touch, whatever the order of evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from pyroaring import BitMap64

from lorel.normal import (
    Branch,
    GroupItem,
    Labels,
    Normal,
    ObjectItem,
    Range,
    Step,
    blocks,
    is_constant,
    object_variable,
    oid_of,
)
from oemviews.store.values import Ints
from oemviews.views.members import bitmap_of

Part: TypeAlias = Literal["prim", "adj"]
Sets: TypeAlias = dict[str, BitMap64]


def state_key(variable: str, state: int) -> str:
    """The set of the objects that a walk towards `variable` can be at in a state of its automaton.

    >>> state_key("n", 1)
    'n/1'
    """
    return f"{variable}/{state}"


def column_key(column: int) -> str:
    """The set of the objects that a column of the rows can hold."""
    return f"#{column}"


@dataclass(frozen=True, slots=True)
class Port:
    """An edge from an object of `source` with such a label puts its target into `target`."""

    variable: str  # that the step binds
    source: str
    labels: Labels
    target: str
    graph: str
    part: Part
    move: tuple[int, int] | None = None  # states of the automaton, for a path of any length


@dataclass(frozen=True, eq=False)
class Ports:
    """All ports of a view, and the flows: pairs (source, target) of sets one of which contains the other."""

    ports: tuple[Port, ...]
    flows: tuple[tuple[str, str], ...]

    @cached_property
    def leaving(self) -> Mapping[str, tuple[tuple[Port, ...], tuple[str, ...]]]:
        """Ports and flows out of each set."""
        keys = dict.fromkeys([p.source for p in self.ports] + [s for s, _ in self.flows])
        return {
            key: (
                tuple(p for p in self.ports if p.source == key),
                tuple(target for source, target in self.flows if source == key),
            )
            for key in keys
        }

    @cached_property
    def constants(self) -> Mapping[str, int]:
        """Sets of one object that the statement names: the root, and oids."""
        return {key: oid_of(key) for key in self.keys if is_constant(key)}

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """All sets, sources before what they flow into where that can be."""
        found = dict.fromkeys(key for port in self.ports for key in (port.source, port.target))
        return tuple(found | dict.fromkeys(key for flow in self.flows for key in flow))

    @cached_property
    def _meeting(self) -> dict[tuple[str, str], tuple[Port, ...]]:
        return {}

    def meeting(self, label: str, graph: str) -> tuple[Port, ...]:
        """The ports that an edge with this label could enter by."""
        known = self._meeting.get((label, graph))
        if known is None:
            if len(self._meeting) > 100_000:  # labels may come without end
                self._meeting.clear()
            known = tuple(p for p in self.ports if p.graph == graph and p.labels.matches(label))
            self._meeting[label, graph] = known
        return known


def ports_of(query: Normal) -> Ports:
    """The ports of a statement, in the order of definition."""
    ports: list[Port] = []
    flows: list[tuple[str, str]] = []
    for part, source, target in _parts(query):
        if isinstance(source, Step):
            more, inner = _of_step(source, part)
            ports += more
            flows += inner
        else:
            flows.append((source, target))
    return Ports(tuple(ports), tuple(dict.fromkeys(flows)))


def _of_step(step: Step, part: Part) -> tuple[list[Port], list[tuple[str, str]]]:
    if isinstance(step.path, Labels):
        return [Port(step.dst, step.src, step.path, step.dst, step.graph, part)], []
    automaton = step.path
    at = [state_key(step.dst, state) for state in range(automaton.states)]
    ports = [
        Port(step.dst, at[p], labels, at[q], step.graph, part, (p, q)) for p, labels, q in automaton.moves
    ]
    return ports, [(step.src, at[0]), *((at[state], step.dst) for state in sorted(automaton.accepting))]


def _parts(query: Normal) -> Iterator[tuple[Part, Step | str, str]]:
    """Every step with its part; and the flows, as a source and a target.

    A with path starts from a column of the rows, whichever side of a set operator they came from.
    """
    yield from _bindings(query)
    for block in blocks(query):
        variables = [item.var for item in block.select if isinstance(item, ObjectItem)]
        yield from (("prim", variable, column_key(i)) for i, variable in enumerate(variables))
        for step in block.with_:
            head = column_key(variables.index(step.src)) if step.src in variables else step.src
            yield "adj", replace(step, src=head), ""


def _bindings(query: Normal) -> Iterator[tuple[Part, Step | str, str]]:
    for block in blocks(query):
        over = [
            b for item in (*block.select, *block.aggregates) if isinstance(item, GroupItem) for b in item.over
        ]
        for branch in (block.from_, *block.where, *over):
            yield from _of_branch(branch)


def _of_branch(branch: Branch) -> Iterator[tuple[Part, Step | str, str]]:
    yield from (("prim", step, "") for step in branch.steps)
    for range_ in branch.ranges:
        yield from _bindings(range_.query)
        yield from (("prim", variable, name) for name, variable in item_variables(range_))
    for measure in branch.measures:
        yield from _bindings(measure.query)
    for inner in (*branch.absent, *(each for group in branch.choices for each in group)):
        yield from _of_branch(inner)


def item_variables(range_: Range) -> Iterator[tuple[str, str]]:
    """The variables of a range, each with those inside whose objects it stands for."""
    for block in blocks(range_.query):
        items = zip(range_.variables, block.select, strict=True)
        found = ((name, object_variable(item)) for name, item in items)
        yield from ((name, variable) for name, variable in found if variable is not None)


# ---- the least solution ----

Targets: TypeAlias = Callable[[BitMap64, Labels, str], Ints]
"""Objects that edges with such a label lead to from a set of objects, in a graph."""


def grow(
    system: Ports, known: Mapping[str, BitMap64], seeds: Mapping[str, BitMap64], targets: Targets
) -> Sets:
    """What the sets gain when `seeds` come into them: semi-naive, each object walked from once per set."""
    gained: Sets = {}
    order = {key: i for i, key in enumerate(system.keys)}
    pending: Sets = {}

    def arrive(key: str, oids: BitMap64) -> None:
        fresh = oids - known[key] if key in known else oids
        if key in gained:
            fresh = fresh - gained[key]
        if fresh:
            gained[key] = gained[key] | fresh if key in gained else fresh
            pending[key] = pending[key] | fresh if key in pending else fresh

    for key, oids in seeds.items():
        arrive(key, oids)
    while pending:
        key = min(pending, key=order.__getitem__)
        fresh = pending.pop(key)
        ports, flows = system.leaving.get(key, ((), ()))
        for target in flows:
            arrive(target, fresh)
        for port in ports:
            arrive(port.target, bitmap_of(targets(fresh, port.labels, port.graph)))
    return gained
