"""The statements that one edit gives rise to, as Lorel text: ADDprim and DELprim, ADDadj and DELadj.

The edit's oids stand in the text where its edge is planted, as in the paper:

    ADDprim +=
    select e
    from Guide.Restaurant r, r.Entree e
    where e == &10
      and exists x in r.Name : x = "Baghdad Cafe"
      and exists &15 in &10.Ingredient : &15 = "Mushroom"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

from lorel.canonical_text import normal_text
from lorel.normal import (
    Block,
    Branch,
    Compare,
    Labels,
    Step,
    Test,
    ValueOf,
    is_constant,
    oid_of,
)
from lorel.rename import renamed_test
from lorel.short_text import step_text, variable_text
from lorel.words import label_text
from oemviews.edits import UNKNOWN, Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.engines.engine import Engine
from oemviews.errors import EditError
from oemviews.maintain.affected import is_between
from oemviews.maintain.prepared import Prepared, limited, prepared
from oemviews.maintain.relevance import decided_otherwise
from oemviews.maintain.statements import Statement, Tested, test_in
from oemviews.model import ROOT, Atom
from oemviews.store.values import values_of
from oemviews.views.definition import Definition, WithStep
from oemviews.views.state import ViewState
from oemviews.views.walks import array_of, edges_from

_SRC, _DST = "_src_", "_dst_"


@dataclass(frozen=True, slots=True)
class Shown:
    """A statement as text: what it adds to, and the query whose answer that is."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name} +=\n{self.text};"


class Statements(tuple[Shown, ...]):
    """What an edit would run; prints as the statements themselves.

    >>> Statements([Shown("ADDprim", "select e")]), Statements()
    (ADDprim +=
    select e;, ())
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "()"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def statements_for(definition: Definition, edit: Edit, state: ViewState, engine: Engine) -> Statements:
    """What an edit would run in the state that the engine holds as new; none if it is not relevant."""
    found: list[Shown] = []
    for each in _elementary(edit, engine):
        if isinstance(each, Change):
            found += _of_change(definition, each, state, engine)
        else:
            found += _of_edge(definition, each, state)
    return Statements(dict.fromkeys(found))


def _elementary(edit: Edit, engine: Engine) -> Iterator[Insert | Delete | Change]:
    """The elementary edits that an edit comes to; a new object has no edges yet, so it comes to none."""
    match edit:
        case Insert() | Delete() | Change():
            yield edit
        case Name(name, oid):
            yield from (Delete(ROOT, name, old) for old in _named(name, engine) if old != oid)
            yield Insert(ROOT, name, oid)
        case Unname(name):
            yield from (Delete(ROOT, name, old) for old in _named(name, engine))
        case New():
            return


def _named(name: str, engine: Engine) -> list[int]:
    found: list[int] = edges_from(engine, [ROOT], Labels(name), "").dst.tolist()
    return found


def _oid(ref: int | str) -> int:
    if isinstance(ref, str):
        raise EditError(f"{ref!r} names no object here: write its oid, as in &15")
    return ref


# ---- edges ----


def _of_edge(definition: Definition, edit: Insert | Delete, state: ViewState) -> Iterator[Shown]:
    src, dst = _oid(edit.src), _oid(edit.dst)
    ready, came = prepared(definition), isinstance(edit, Insert)
    ports = [
        port
        for port in definition.ports.meeting(edit.label, "")
        if src in state.relevant.get(port.source, ())
    ]
    touched = False
    for port in ports:
        for statement in ready.at.get((port.variable, port.move), ()) if port.part == "prim" else ():
            if statement.name == "keys" and (statement.state == "new") != came:
                continue
            touched = True
            name = "AFFECTED" if statement.name == "keys" else "ADDprim" if came else "DELprim"
            yield Shown(name, _with_edge(statement, src, edit.label, dst))
    if touched:
        yield from _from_rows(ready, both=definition.method != "counting", came=came)
    for step in definition.with_steps:
        if any(port.part == "adj" and port.variable == step.variable for port in ports):
            yield _adjunct_edge(definition, step, (src, edit.label, dst), came=came)


def _with_edge(statement: Statement, src: int, label: str, dst: int) -> str:
    """The statement with an edge in the place of the step that reads the change."""
    planted = statement.planted
    block = _one_state(statement.block, label if statement.name == "prim" else None)
    ends = ((planted.src, src), (planted.dst, dst))
    if any(step is planted for step in statement.block.from_.steps):
        tests = tuple(_is(name, oid) for name, oid in ends if not is_constant(name) and not is_between(name))
        text = normal_text(replace(block, from_=replace(block.from_, tests=(*tests, *block.from_.tests))))
        for name, oid in ends:
            text = text.replace(variable_text(name), f"&{oid}") if is_between(name) else text
        return text.replace(f"&{src}.% &{dst}", f"&{src}.{label_text(label)} &{dst}")
    env = {planted.dst: _DST}
    where = tuple(
        replace(
            branch,
            steps=tuple(
                replace(step, src=_SRC, dst=_DST)
                if (step.src, step.dst) == (planted.src, planted.dst)
                else replace(step, src=env.get(step.src, step.src))
                for step in branch.steps
            ),
            tests=tuple(renamed_test(test, env) for test in branch.tests),
        )
        for branch in block.where
    )
    tie = () if is_constant(planted.src) else (_is(planted.src, src),)
    from_ = replace(block.from_, tests=(*tie, *block.from_.tests))
    text = normal_text(replace(block, from_=from_, where=where))
    return text.replace(_SRC, f"&{src}" if src else variable_text(planted.src)).replace(_DST, f"&{dst}")


def _is(name: str, oid: int) -> Test:
    return Compare("==", ValueOf(name), ValueOf(f"&{oid}"))


def _one_state(block: Block, label: str | None) -> Block:
    """The block with only those steps marked as old that an edge of that label could change.

    With no label, a statement that reads one state throughout: no mark is needed on steps or values.
    """

    def plain(branch: Branch) -> Branch:
        tests = branch.tests if label is not None else tuple(test_in(test, "new") for test in branch.tests)
        return replace(branch, steps=tuple(_unmarked(step, label) for step in branch.steps), tests=tests)

    return replace(block, from_=plain(block.from_), where=tuple(plain(branch) for branch in block.where))


def _unmarked(step: Step, label: str | None) -> Step:
    differs = label is not None and isinstance(step.path, Labels) and step.path.matches(label)
    return step if step.state == "old" and differs else replace(step, state="new")


# ---- values ----


def _of_change(definition: Definition, edit: Change, state: ViewState, engine: Engine) -> Iterator[Shown]:
    oid, ready = _oid(edit.oid), prepared(definition)
    touched = False
    for variable, reads in ready.tested.items():
        if not _reads(variable, oid, state) or not _matters(reads, oid, edit.new, edit.old, engine):
            continue
        for statement in ready.at.get(variable, ()):
            touched = True
            name = "AFFECTED" if statement.name == "keys" else "ADDprim" if statement.sign > 0 else "DELprim"
            from_ = statement.block.from_
            here = () if is_constant(variable) else (_is(variable, oid),)
            block = replace(statement.block, from_=replace(from_, within=(), tests=(*from_.tests, *here)))
            yield Shown(name, normal_text(_one_state(_in_where(block, variable), "")))
    if touched:
        yield from _from_rows(ready, both=True, came=True)
    if any(oid in members for members in state.visible_sets()):
        yield Shown("REFRESH", f"select &{oid}")


def _in_where(block: Block, variable: str) -> Block:
    """The test that ties a variable to the changed object, put where the variable is bound."""
    for i, branch in enumerate(block.where):
        if any(step.dst == variable for step in branch.steps):
            tie, rest = block.from_.tests[-1], block.from_.tests[:-1]
            where = list(block.where)
            where[i] = replace(branch, tests=(*branch.tests, tie))
            return replace(block, from_=replace(block.from_, tests=rest), where=tuple(where))
    return block


def _reads(variable: str, oid: int, state: ViewState) -> bool:
    return oid == oid_of(variable) if is_constant(variable) else oid in state.relevant.get(variable, ())


def _matters(reads: Tested, oid: int, new: Atom, old: object, engine: Engine) -> bool:
    if reads.always:
        return True
    before = engine.values(array_of([oid]), reads.graph) if old is UNKNOWN else values_of([old])  # type: ignore[list-item]
    return bool(decided_otherwise(reads, before, values_of([new])).any())


# ---- what follows ----


def _from_rows(ready: Prepared, *, both: bool, came: bool) -> Iterator[Shown]:
    """What comes along with new primaries, and goes with lost ones."""
    definition = ready.definition
    if definition.method != "counting":
        answer = normal_text(limited(definition.query, "AFFECTED"))
        kept = f"{definition.name}.{label_text(definition.collection)}"
        yield Shown("ADDprim", f"({answer})\nexcept {kept}")
        yield Shown("DELprim", f"({kept} intersect AFFECTED)\nexcept ({answer})")
    names = ("ADD", "DEL") if both else ("ADD",) if came else ("DEL",)
    for name in names:
        for step in definition.with_steps:
            head = f"{name}prim" if step.column is not None else f"{name}adj({step.step.src})"
            text = (
                f"select {variable_text(step.variable)}\nfrom {head} {step.step.src}, {step_text(step.step)}"
            )
            yield Shown(f"{name}adj({step.variable})", text)


def _adjunct_edge(definition: Definition, step: WithStep, edge: tuple[int, str, int], *, came: bool) -> Shown:
    """An edge below an object that is in the view already."""
    src, label, dst = edge
    head = (
        definition.name if step.column is None else f"{definition.name}.{label_text(definition.collection)}"
    )
    name = "ADDadj" if came else "DELadj"
    text = f"select &{dst}\nfrom {head} {step.step.src}, &{src}.{label_text(label)} &{dst}"
    return Shown(f"{name}({step.variable})", f"{text}\nwhere {step.step.src} == &{src}")
