"""Operators of plans in a few words, for `explain`."""

from __future__ import annotations

from lorel.normal import State
from lorel.plan import (
    Aggregate,
    Anti,
    Bind,
    Closure,
    Compute,
    Consolidate,
    Distinct,
    DistinctValues,
    Expand,
    Filter,
    Given,
    Join,
    Lookup,
    Plan,
    Project,
    Rename,
    Scan,
    Semi,
    Union,
    Unit,
    ValueExpand,
    columns,
)
from lorel.short_text import scalar_text, step_text, test_text


def describe(plan: Plan) -> str:
    """An operator in a few words, without its inputs."""
    name = type(plan).__name__
    match plan:
        case Unit() | Join() | Union() | Consolidate() | Distinct() | DistinctValues():
            return name
        case Given(name=given, columns=names) if names:
            return f"Given {given}({', '.join(names)})"
        case Given(name=given):
            return f"Given {given}"
        case Bind(var=var, oid=oid):
            return f"Bind {var}" if var == f"&{oid}" else f"Bind {var} = &{oid}"
        case Lookup(test=test, state=state, graph=graph):
            return f"Lookup {test_text(test)}{_where(graph, state)}"
        case Scan(step=step):
            return f"Scan {step_text(step)}{_where(step.graph, step.state)}"
        case Expand(step=step, forward=forward) | Closure(step=step, forward=forward):
            direction = "" if forward else " backward"
            if isinstance(plan, Closure) and plan.kept is not None:
                direction += ", back" if plan.back is not None else ", ends"
            return f"{name} {step_text(step)}{direction}{_where(step.graph, step.state)}"
        case Filter(tests=tests):
            return "Filter " + " and ".join(test_text(test) for test in tests)
        case Compute(name=column, scalar=scalar):
            return f"Compute {column} = {scalar_text(scalar)}"
        case ValueExpand(scalar=scalar, var=var, graph=graph, state=state):
            return f"ValueExpand {var} = {scalar_text(scalar)}{_where(graph, state)}"
        case Semi() | Anti():
            return f"{name} on {', '.join(_shared(plan)) or 'nothing'}"
        case Project(columns=names):
            return f"Project {', '.join(names)}"
        case Rename(names=pairs):
            return "Rename " + ", ".join(old if old == new else f"{old} to {new}" for old, new in pairs)
        case Aggregate(name=column, func=func, arg=arg, keys=keys):
            return f"Aggregate {column} = {func}({arg}) by {', '.join(keys) or 'all'}"


def _shared(plan: Semi | Anti) -> tuple[str, ...]:
    right = columns(plan.right)
    return tuple(name for name in columns(plan.left) if name in right)


def _where(graph: str, state: State) -> str:
    marks = ([graph] if graph else []) + (["old"] if state == "old" else [])
    return f" ({', '.join(marks)})" if marks else ""
