"""Plans of which equal parts are one object, so that an engine can see that they are the same."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from lorel import plan as op


class Interned:
    """The operators of some plans, each kept once.

    >>> known, plan = Interned(), op.Distinct(op.Given("delta", ("r",)))
    >>> known(op.Consolidate(op.Given("delta", ("r",)))).input is known(plan).input
    True
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], op.Plan] = {}

    def __call__(self, plan: op.Plan) -> op.Plan:
        """The same plan, of known operators where there are equal ones; estimates do not count."""
        made: dict[int, op.Plan] = {}
        for node in op.inputs_first(plan):
            key: list[object] = [type(node)]
            parts: dict[str, Any] = {}
            for name in (spec.name for spec in fields(node) if spec.name != "estimate"):
                value = getattr(node, name)
                if isinstance(value, op.Node):
                    parts[name] = made[id(value)]
                    key.append(id(parts[name]))
                elif name == "inputs":
                    parts[name] = tuple(made[id(each)] for each in value)
                    key += map(id, parts[name])
                else:
                    key.append(repr(value))  # 1, 1.0 and true are equal, but not the same in a test
            made[id(node)] = self._known.setdefault(tuple(key), replace(node, **parts))
        return made[id(plan)]

    def operators(self) -> set[int]:
        """The `id` of every operator kept."""
        return {id(node) for node in self._known.values()}
