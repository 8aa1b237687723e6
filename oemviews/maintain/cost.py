"""What it would cost to maintain a view for a batch, and what to evaluate it again: rows touched.

Estimates are the planner's, made of mean fan-outs, fan-ins and selectivities. A plan is made for a size of
change; its cost is taken to grow in proportion between sizes.

    maintain    sum over the statements that the batch meets of the rows their operators give
    recheck     the same for the statements that give keys, and one evaluation limited to those keys
    recompute   the rows that the operators of the view's own plan give
"""

from __future__ import annotations

from dataclasses import dataclass

from lorel import plan as op
from oemviews.engines.engine import Engine
from oemviews.engines.rows import Rows
from oemviews.maintain.prepared import Prepared
from oemviews.maintain.relevance import Relevance
from oemviews.maintain.statements import Statement, size_class
from oemviews.views.state import ViewState


@dataclass(frozen=True, slots=True)
class Run:
    """A statement ready to run on the rows that a batch plants in it."""

    statement: Statement
    plan: op.Plan
    given: dict[str, Rows]


@dataclass(frozen=True, slots=True)
class Choice:
    """What to run. If there is a reason, everything is to be evaluated again, for that reason.

    `walks` is how often an edge that came or went meets the walk of a view that is what walks reach.
    """

    runs: tuple[Run, ...] = ()
    predicted: float = 0.0
    recompute: float | None = None
    reason: str = ""
    walks: int = 0

    @property
    def statements(self) -> int:
        return len(self.runs) + self.walks


def choose(ready: Prepared, engine: Engine, state: ViewState, found: Relevance) -> Choice:
    """How to bring the rows up to date: policy `auto` takes what is expected to touch fewer rows."""
    policy = ready.definition.policy
    runs, predicted, keys = [], 0.0, 0.0
    for statement, others, given in ready.runs(found):
        plan, price = ready.plan(engine, statement, others, given)
        planted = max(len(rows) for rows in given.values())
        share = planted / size_class(planted)
        predicted += price * share
        if not (statement.sure and statement.state == "new"):
            keys += plan.estimate * share
        runs.append(Run(statement, plan, given))
    if found.born:
        return Choice(tuple(runs), predicted, None, f"&{found.born[0]}, which the statement names, is new")
    walks = 0 if ready.reach is None else ready.reach.walks(found)
    if not runs and not walks:
        return Choice()
    if ready.reach is not None:
        predicted += ready.reach.price(engine, state, found)
    elif ready.definition.method == "recheck":
        predicted += _recheck(ready, engine, max(1, round(keys))) if keys else 0.0
    if policy == "full":
        return Choice(tuple(runs), predicted, None, "the policy is full", walks)
    if policy != "auto":
        return Choice(tuple(runs), predicted, walks=walks)
    recompute = ready.full_plan(engine)[1]
    reason = ""
    if predicted > recompute and (found.relevant > _FEW or predicted > _MUCH):
        reason = f"maintaining was expected to touch {predicted:,.0f} rows, recomputing {recompute:,.0f}"
    return Choice(tuple(runs), predicted, recompute, reason, walks)


def too_many(ready: Prepared, engine: Engine, choice: Choice, keys: int) -> str:
    """Why so many rows, now that they are known, are not to be checked one by one; empty if they are.

    How far a closure reaches is a guess until it is walked, so there may be many more than expected.
    """
    if choice.recompute is None or keys <= _FEW:
        return ""
    price = _recheck(ready, engine, keys)
    if price <= choice.recompute:
        return ""
    return (
        f"checking {keys:,} rows again was expected to touch {price:,.0f} rows, "
        f"recomputing {choice.recompute:,.0f}"
    )


def _recheck(ready: Prepared, engine: Engine, keys: int) -> float:
    return ready.recheck_plan(engine, keys)[1] * keys / size_class(keys)


_FEW = 100
"""So few edits, or rows, are not worth the doubt: estimates of small numbers are mostly wrong."""

_MUCH = 100_000
"""So many rows to touch are worth it, however few the edits are."""
