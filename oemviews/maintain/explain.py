"""How a view is kept, in words: the method and why, which edits matter, what is kept beside its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from lorel.canonical_text import normal_text
from lorel.normal import ROOT, Automaton, Step, is_constant
from lorel.scope import is_generated
from lorel.short_text import step_text, test_text
from oemviews.maintain.prepared import prepared
from oemviews.maintain.statements import Tested
from oemviews.views.definition import Definition
from oemviews.views.state import ViewState

_METHODS: Final[Mapping[str, str]] = {
    "counting": "by counting: every row carries the number of its derivations",
    "recheck": "by recheck: the rows that a change could touch are evaluated again",
    "full": "in full: everything is evaluated again when a relevant edit comes",
}
_POLICIES: Final[Mapping[str, str]] = {
    "auto": "whatever is expected to touch fewer rows, and the report says which",
    "incremental": "always by the changes",
    "strict": "always by the changes; what could not be kept so was refused",
    "full": "always evaluated again",
}


def explain(definition: Definition, state: ViewState | None = None) -> str:
    """The text of `view.explain()`."""
    lines = [
        f"view {definition.name}, collection {definition.collection}",
        *(f"  {line}" for line in normal_text(definition.query).splitlines()),
        f"kept {_METHODS[definition.method]}",
        f"  because {definition.reason}",
        *_shorter(definition),
        f"policy {definition.policy}: {_POLICIES[definition.policy]}",
        *_events(definition),
    ]
    if definition.graphs - {""}:
        lines.append(f"reads the views {', '.join(sorted(definition.graphs - {''}))}")
    if state is not None:
        lines += _sizes(definition, state)
    return "\n".join(lines)


def _shorter(definition: Definition) -> Iterator[str]:
    """What makes a recheck shorter than evaluating keys again."""
    reach = prepared(definition).reach
    if reach is not None:
        walk = step_text(reach.step)
        yield f"  its rows are all that {walk} reaches: only what an edit cuts off or adds is walked"


def _events(definition: Definition) -> Iterator[str]:
    """Which edits matter."""
    steps = _steps(definition)
    yield "edits that matter"
    for part, title in (("prim", "rows"), ("adj", "edges of the view")):
        mine = [text for where, text in steps if where == part]
        if mine:
            yield f"  an edge that fits, for {title}: {'; '.join(mine)}"
    tested = prepared(definition).tested
    for reads in tested.values():
        yield f"  a value of {_named(reads)}"
    if not tested:
        yield "  no value, but to refresh the copies of objects in the view"


def _named(reads: Tested) -> str:
    variable = "the object " + reads.variable if is_constant(reads.variable) else reads.variable
    if reads.always:
        return f"{variable}, whatever it becomes"
    return f"{variable}, if it decides differently: {'; '.join(test_text(test) for test in reads.tests)}"


def _steps(definition: Definition) -> list[tuple[str, str]]:
    """Every step once, as it is written, with its part."""
    found: dict[tuple[str, str], None] = {}
    labels: dict[tuple[str, str], list[str]] = {}
    spoken = _spoken(definition)
    for port in definition.ports.ports:
        if port.move is not None:
            labels.setdefault((port.part, port.variable), []).append(port.labels.text)
        elif port.source == ROOT and port.labels.exact:
            found[port.part, f"the name {port.labels.text}"] = None
        else:
            source = spoken.get(port.source)
            step = Step(source or port.source, port.labels, port.variable, graph=port.graph)
            found[port.part, step_text(step)] = None
    for (part, variable), texts in labels.items():
        found[part, f"a walk to {variable} along {', '.join(dict.fromkeys(texts))}"] = None
    return list(found)


def _spoken(definition: Definition) -> dict[str, str]:
    """What sets of RelevantOids are called where nobody wrote a variable: by the name that leads there."""
    spoken = {ROOT: "the root"}
    for port in definition.ports.ports:
        if port.source == ROOT and port.labels.exact and is_generated(port.variable):
            spoken[port.variable] = port.labels.text
    for key in definition.ports.keys:
        if key.startswith("#"):
            spoken[key] = "primary"
    return spoken


def _sizes(definition: Definition, state: ViewState) -> Iterator[str]:
    derivations = sum(state.rows.values())
    counted = f", with {_counted(derivations, 'derivation')}" if definition.method == "counting" else ""
    yield f"holds {_counted(len(state.rows), 'row')}{counted}"
    for step in definition.with_steps:
        reached = state.reached.get(step.variable)
        size = len(reached) if reached is not None else sum(map(len, state.walked[step.variable]))
        kind = " with their states" if isinstance(step.step.path, Automaton) else ""
        yield f"  {_counted(size, 'object')}{kind} under the with variable {step.variable}"
    spoken = _spoken(definition)
    sizes = [f"{spoken.get(key, key)} {len(oids):,}" for key, oids in state.relevant.items()]
    yield f"keeps {_counted(state.auxiliary(), 'auxiliary row')}, RelevantOids: {', '.join(sizes)}"


def _counted(number: int, thing: str) -> str:
    """
    >>> _counted(1, "row"), _counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
