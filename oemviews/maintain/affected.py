"""Which rows a change could touch, for views whose derivations do not add up.

For every atom of the statement, a step or a tested value, at any depth, and for either state, there is a
statement that gives the *keys*: the select variables of all bindings, wholly in that state, of the steps
and tests around the atom, with what the batch changed planted at the atom. Their status is then looked up
again: rows' = (rows - keys) + eval(statement, new, {select in keys}).

Why no row is missed. Let the status of a row differ between the two states, and let s be the state in
which it is there. A derivation of it in s does not hold in the other state.

1. If a step or a value that the derivation uses is changed, the statement planted there finds it: the
   derivation lies wholly in s and passes the tests in s.
2. Otherwise all its steps and tests hold in both states, and it fails in the other state because of
   something nested: an absent branch has a binding there, a choice has none, the members of a measure or a
   range differ. Some inner binding then holds in one of the states, t, and not in the other: the same
   argument applies to it, with what is around it holding in t. The nesting is finite.

What is left out of a statement, such as a test on a measure, makes it give more keys, never fewer. Where
nothing is, as steps and tests are all there is to a row, a key found in the new state is a row for sure and
need not be looked up. The filter by RelevantOids of the old state is sound here too: of the changed edges on
the way from the root to an atom take the first; what comes before it lies in the old state.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from lorel.normal import (
    Automaton,
    Block,
    Branch,
    GroupItem,
    Labels,
    Measure,
    Normal,
    ObjectItem,
    Range,
    SetOf,
    State,
    Step,
    Test,
    ValueItem,
    Within,
    blocks,
    is_constant,
    test_variables,
    values_read,
)
from lorel.planner import conjunctions, graph_of
from lorel.rename import renamed_test
from oemviews.maintain.statements import (
    Move,
    Place,
    Statement,
    Tested,
    changed,
    test_in,
    tested_in,
)
from oemviews.views.definition import Definition


@dataclass(frozen=True, slots=True)
class _Context:
    """The steps, tests and ranges that hold around an atom."""

    steps: tuple[Step, ...] = ()
    tests: tuple[Test, ...] = ()
    ranges: tuple[Range, ...] = ()
    names: tuple[tuple[str, str], ...] = ()  # a variable that ranges over a query, and the item it stands for

    def __add__(self, branch: Branch) -> _Context:
        return replace(
            self,
            steps=self.steps + branch.steps,
            tests=self.tests + branch.tests,
            ranges=self.ranges + branch.ranges,
        )

    def inside(self, range_: Range, block: Block) -> _Context:
        """The context of what stands in a block that variables range over: each is one of its items."""
        ranges = tuple(each for each in self.ranges if each is not range_)
        items = zip(range_.variables, block.select, strict=True)
        names = tuple((name, item.var) for name, item in items if isinstance(item, ObjectItem))
        return replace(self, ranges=ranges, names=self.names + names)


def _object_places(query: Normal) -> tuple[int, ...]:
    """The places of the items that are objects."""
    select = next(blocks(query)).select
    return tuple(place for place, item in enumerate(select) if isinstance(item, ObjectItem))


def affected(definition: Definition) -> Iterator[Statement]:
    """The statements that give the keys, for every atom and either state."""
    united = _is_union(definition.query)
    for member, block in enumerate(definition.blocks):
        yield from affected_of(block, member, sure=united and _is_positive(block))


def _is_union(query: Normal) -> bool:
    """Whether a row of any block is a row of the query."""
    return isinstance(query, Block) or (
        query.op == "union" and _is_union(query.left) and _is_union(query.right)
    )


def _is_positive(block: Block) -> bool:
    """Whether steps and tests are all there is to a row, so that nothing is left out of a statement."""
    return not block.grouped and all(
        not (branch.absent or branch.choices or branch.measures or branch.ranges)
        and not any(step.is_closure and step.via is not None for step in branch.steps)
        for branch in conjunctions(block)
    )


def affected_of(block: Block, member: int = 0, *, sure: bool = False) -> Iterator[Statement]:
    """The statements that give the keys of one block."""
    for context, atom in _atoms_of_block(block, _Context()):
        for state in ("old", "new"):
            if isinstance(atom, Step):
                for place, steps in _plantings(atom, context.steps, state):
                    made = _statement(block, member, place, replace(context, steps=steps), (), state)
                    yield replace(made, sure=sure)
            else:
                within = (Within((atom,), changed(atom)),)
                steps = tuple(replace(step, state=state) for step in context.steps)
                made = _statement(block, member, atom, replace(context, steps=steps), within, state)
                yield replace(made, sure=sure)


def tested(definition: Definition) -> dict[str, Tested]:
    """Every value that the statement reads anywhere, with what decides it."""
    found: dict[str, Tested] = {}
    for each in _tested_in_query(definition.query):
        known = found.get(each.variable, each)
        tests = tuple(dict.fromkeys((*known.tests, *each.tests)))
        found[each.variable] = replace(known, tests=tests, always=known.always or each.always)
    return found


# ---- atoms and what is around them ----


def _atoms_of_block(block: Block, outer: _Context) -> Iterator[tuple[_Context, Step | str]]:
    for branch in conjunctions(block):
        yield from _atoms(branch, outer)
        for extra in _looked_up(block):
            yield from _atoms(extra, outer + branch)


def _looked_up(block: Block) -> Iterator[Branch]:
    """What the aggregates of a grouped block bind beyond its own variables."""
    for item in (*block.select, *block.aggregates):
        if isinstance(item, GroupItem):
            yield from item.over


def _atoms(branch: Branch, outer: _Context) -> Iterator[tuple[_Context, Step | str]]:
    """Every step and every variable tested, in a branch or nested in it, with its context."""
    here = outer + branch
    yield from ((here, step) for step in branch.steps)
    yield from ((here, variable) for variable in tested_in(branch.tests))
    for inner in (*branch.absent, *(each for group in branch.choices for each in group)):
        yield from _atoms(inner, here)
    for measure in branch.measures:
        for block in blocks(measure.query):
            yield from _atoms_of_block(block, here)
            for part in _members(block, here):
                yield from ((part, value.variable) for value in _values_of_measure(measure, block))
    for range_ in branch.ranges:
        for block in blocks(range_.query):
            # which of equal values is shown depends on the others: then the variable is not the item at hand
            inside = here.inside(range_, block) if _is_of_objects(block) else here
            yield from _atoms_of_block(block, inside)
            for part in _members(block, inside):
                yield from ((part, value.variable) for value in _values_of_range(block))


def _members(block: Block, outer: _Context) -> Iterator[_Context]:
    """The contexts in which a member of a block's answer is made."""
    for branch in conjunctions(block):
        yield outer + branch
        yield from (outer + branch + extra for extra in _looked_up(block))


# ---- values ----


def _tested_in_query(query: Normal) -> Iterator[Tested]:
    for block in blocks(query):
        for branch in (block.from_, *block.where, *_looked_up(block)):
            yield from _tested_in_branch(branch)


def _tested_in_branch(branch: Branch) -> Iterator[Tested]:
    yield from tested_in(branch.tests).values()
    for inner in (*branch.absent, *(each for group in branch.choices for each in group)):
        yield from _tested_in_branch(inner)
    for measure in branch.measures:
        yield from _tested_in_query(measure.query)
        for block in blocks(measure.query):
            yield from _values_of_measure(measure, block)
    for range_ in branch.ranges:
        yield from _tested_in_query(range_.query)
        for block in blocks(range_.query):
            yield from _values_of_range(block)


def _values_of_measure(measure: Measure, block: Block) -> Iterator[Tested]:
    """The values that make up the members of a measured set; counting objects reads none."""
    if measure.func == "count" and _is_of_objects(block):
        return
    yield from _values_of_items(block)


def _values_of_range(block: Block) -> Iterator[Tested]:
    """The values that a variable can take, where it does not range over objects."""
    if not _is_of_objects(block):
        yield from _values_of_items(block)


def _is_of_objects(block: Block) -> bool:
    """Whether the members are objects, whatever their values."""
    objects = all(isinstance(item, ObjectItem) for item in block.select)
    return objects and not (block.distinct or block.grouped)


def _values_of_items(block: Block) -> Iterator[Tested]:
    for item in (*block.select, *block.group_by, *block.aggregates):
        match item.arg if isinstance(item, GroupItem) else item:
            case ObjectItem(var=var):
                yield Tested(var, graph_of(block, var), always=True)
            case ValueItem(scalar=scalar):
                yield from (Tested(value.var, value.graph, always=True) for value in values_read(scalar))


# ---- statements ----


def _statement(
    block: Block, member: int, place: Place | str, context: _Context, within: tuple[Within, ...], state: State
) -> Statement:
    env = dict(context.names)
    steps = tuple(replace(step, src=env.get(step.src, step.src)) for step in context.steps)
    tests = dict.fromkeys(renamed_test(test, env) for test in context.tests)
    ranges = tuple(_relaxed_ranges(context.ranges, state, env))
    known = {name for step in steps for name in (step.src, step.dst, step.via) if name}
    known |= {name for each in ranges for name in each.variables}
    known |= {name for each in within for name in each.variables}
    from_ = Branch(
        steps,
        tuple(test_in(test, state) for test in tests if _reads_only(test, known)),
        ranges=ranges,
        within=within,
    )
    select = tuple(
        replace(item, var=env.get(item.var, item.var))
        for item in block.select
        if isinstance(item, ObjectItem)
    )
    return Statement("keys", place, Block(select, from_), member, state=state)


def _reads_only(test: Test, known: Container[str]) -> bool:
    return all(name in known or is_constant(name) for name in test_variables(test))


def _relaxed_ranges(ranges: Iterable[Range], state: State, env: Mapping[str, str]) -> Iterator[Range]:
    """Ranges over at least the same objects; over values there is none."""
    for each in ranges:
        places = _object_places(each.query)
        if places:
            names = tuple(each.variables[place] for place in places)
            yield Range(names, _relaxed(each.query, places, state, env))


def _relaxed(query: Normal, places: tuple[int, ...], state: State, env: Mapping[str, str]) -> Normal:
    """A query that gives at least the objects that `query` has in a state: only steps and plain tests."""
    if isinstance(query, SetOf):
        left = _relaxed(query.left, places, state, env)
        if query.op != "union":
            return left
        return SetOf("union", left, _relaxed(query.right, places, state, env))
    from_ = _relaxed_branch(query.from_, state, env)
    select = tuple(query.select[place] for place in places)
    return Block(select, from_, tuple(_relaxed_branch(branch, state, env) for branch in query.where))


def _relaxed_branch(branch: Branch, state: State, env: Mapping[str, str]) -> Branch:
    unknown = {each.name for each in branch.measures}
    ranges = tuple(_relaxed_ranges(branch.ranges, state, env))
    unknown |= {name for each in branch.ranges for name in each.variables}
    unknown -= {name for each in ranges for name in each.variables}
    return Branch(
        tuple(replace(step, src=env.get(step.src, step.src), state=state) for step in branch.steps),
        tuple(
            test_in(renamed_test(test, env), state)
            for test in branch.tests
            if not unknown & set(test_variables(test))
        ),
        ranges=ranges,
    )


# ---- an edge planted in a step ----

_BETWEEN: Final = ("<", ">")
"""Mark the ends of an edge planted in the middle of a path; no name that can be written ends so."""


def is_between(name: str) -> bool:
    return name.endswith(_BETWEEN)


def _plantings(atom: Step, steps: tuple[Step, ...], state: State) -> Iterator[tuple[Place, tuple[Step, ...]]]:
    """The steps with a changed edge at `atom`; in a path of any length at each move of its automaton."""
    here = next(i for i, step in enumerate(steps) if step is atom)
    rest = tuple(replace(step, state=state) for step in steps[:here] + steps[here + 1 :])
    if isinstance(atom.path, Labels):
        yield (atom.dst, None), (*rest, replace(atom, state="delta"))
        return
    for p, labels, q in atom.path.moves:
        near, far = (f"{atom.dst}{mark}" for mark in _BETWEEN)
        before, after = prefix(atom.path, p), suffix(atom.path, q)
        parts: list[Step] = []
        if before is None:
            near = atom.src
        else:
            parts.append(Step(atom.src, before, near, graph=atom.graph, state=state))
        if after is None:
            far = atom.dst
        else:
            parts.append(Step(far, after, atom.dst, graph=atom.graph, state=state))
        move: Move = (p, q)
        planted = Step(near, labels, far, graph=atom.graph, state="delta")
        yield (atom.dst, move), (*rest, *parts, planted)


def prefix(automaton: Automaton, state: int) -> Automaton | None:
    """The walks from the start to a state; None if only the empty one leads there."""
    return _trimmed(Automaton(automaton.states, automaton.moves, frozenset({state})))


def suffix(automaton: Automaton, state: int) -> Automaton | None:
    """The walks from a state to an accepting one; None if only the empty one does."""
    order = [state, *(q for q in range(automaton.states) if q != state)]
    number = {q: i for i, q in enumerate(order)}
    moves = tuple((number[p], labels, number[q]) for p, labels, q in automaton.moves)
    return _trimmed(Automaton(automaton.states, moves, frozenset(number[q] for q in automaton.accepting)))


def _trimmed(automaton: Automaton) -> Automaton | None:
    """Without moves that lead nowhere; None if the empty walk is all that is left."""
    ahead, behind = {0}, set(automaton.accepting)
    for _ in range(automaton.states):
        ahead |= {q for p, _, q in automaton.moves if p in ahead}
        behind |= {p for p, _, q in automaton.moves if q in behind}
    moves = tuple(move for move in automaton.moves if move[0] in ahead and move[2] in behind)
    if not moves and 0 in automaton.accepting:
        return None
    return replace(automaton, moves=moves)
