"""The canonical form as Lorel: one-step paths in from, `exists` in where, every existential spelled out.

A maintenance statement is in canonical form too. Its steps say which state they read, unless all read the new
one, and rows that are handed in are a range:

    select e
    from old Guide.Restaurant r, old r.Entree e
    where exists x in old r.Name : x = "Baghdad Cafe"
      and exists y in delta e.Ingredient : y = "Mushroom"

A query that reads one state reads back as a query with the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from lorel.errors import LorelError
from lorel.normal import (
    ROOT,
    Block,
    Branch,
    GroupItem,
    Item,
    Measure,
    NewItem,
    Normal,
    ObjectItem,
    Order,
    Range,
    Scalar,
    SetOf,
    Step,
    Test,
    ValueItem,
    Within,
    blocks,
    free,
    is_constant,
    item_variables,
    mentioned,
    test_variables,
)
from lorel.scope import is_generated
from lorel.short_text import path_text, scalar_text, step_text, test_text, variable_text, within_text
from lorel.words import label_text

__all__ = ["branch_text", "normal_text", "scalar_text", "step_text", "test_text"]

# ---- queries ----


def normal_text(query: Normal) -> str:
    """A query in canonical form, a clause a line."""
    marked = len(_states(query)) > 1 or "delta" in _states(query)
    try:
        return _Writer(marked).query(query, "\n")
    except RecursionError:
        raise LorelError("the canonical form is nested too deeply to be written") from None


def branch_text(branch: Branch) -> str:
    """A branch as one condition.

    >>> from lorel.normal import Compare, Const, Labels, ValueOf
    >>> branch_text(Branch((Step("r", Labels("Price"), "p"),), (Compare("<", ValueOf("p"), Const(20)),)))
    'exists p in r.Price : p < 20'
    """
    return _Writer(any(step.state != "new" for step in branch.steps)).condition(branch)


def _states(query: Normal) -> frozenset[str]:
    if isinstance(query, SetOf):
        return _states(query.left) | _states(query.right)
    steps = (*query.from_.steps, *(step for branch in query.where for step in branch.steps))
    return frozenset(step.state for step in steps)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is left of a branch to be written."""

    binders: tuple[Step | Range | Within, ...]
    checks: tuple[
        Test | Branch | tuple[Branch, ...], ...
    ]  # a branch must be absent, one of a group must be there


@dataclass(frozen=True, slots=True)
class _Writer:
    marked: bool
    measures: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    # ---- blocks ----

    def query(self, query: Normal, line: str = " ") -> str:
        if isinstance(query, SetOf):
            return f"({self.query(query.left)}){line}{query.op} ({self.query(query.right)})"
        writer = self._with_measures((query.from_, *query.where))._with_aggregates(query.aggregates)
        select = ", ".join(writer.item(item) for item in query.select)
        clauses = [f"select {'distinct ' if query.distinct else ''}{select}"]
        within = [within_text(each) for each in query.from_.within]
        ranges = [*writer._from_items(query), *within]
        if ranges:
            clauses.append(f"from {', '.join(ranges)}")
        where = writer._where(query, line)
        if where:
            clauses.append(f"where {where}")
        if query.group_by:
            clauses.append("group by " + ", ".join(writer.plain(item) for item in query.group_by))
        if query.order_by:
            clauses.append("order by " + ", ".join(writer.order(key) for key in query.order_by))
        if query.with_:
            clauses.append("with " + ", ".join(writer._with_step(step, query.select) for step in query.with_))
        return line.join(clauses)

    def _with_measures(self, branches: Iterable[Branch]) -> _Writer:
        writer = self
        for branch in branches:
            for measure in branch.measures:
                text = writer.measure(measure)
                writer = _Writer(self.marked, MappingProxyType({**writer.measures, measure.name: text}))
        return writer

    def _with_aggregates(self, aggregates: Iterable[GroupItem]) -> _Writer:
        known = {**self.measures, **{each.label: self._item_expr(each) for each in aggregates}}
        return _Writer(self.marked, MappingProxyType(known))

    def _from_items(self, block: Block) -> Iterable[str]:
        """Steps and ranges, each after what it needs.

        A name and the one step from it are one path, if nothing else needs the object between.
        """
        steps = block.from_.steps
        others = [step.src for branch in block.where for step in branch.steps]
        read = [*others, *(name for item in block.select for name in item_variables(item))]
        read += [name for branch in (block.from_, *block.where) for name in _read_elsewhere(branch)]
        joined: dict[str, Step] = {}
        for step in steps:
            used = [other for other in steps if other.src == step.dst]
            if step.src == ROOT and is_generated(step.dst) and len(used) == 1 and step.dst not in read:
                joined[step.dst] = step
        taken = {name for name, step in joined.items() if self._joins(step, steps)}
        left: tuple[Step | Range | Within, ...] = (*steps, *block.from_.ranges)
        while left:
            part = _first(left)
            left = tuple(each for each in left if each is not part)
            if isinstance(part, Range):
                yield from self._ranges(part)
            elif isinstance(part, Step) and part.dst not in taken:
                text = self.step(part)
                if part.src in taken:
                    text = text.replace(variable_text(part.src), path_text(joined[part.src]), 1)
                yield text

    @staticmethod
    def _joins(name: Step, steps: tuple[Step, ...]) -> bool:
        return any(step.src == name.dst and step.state == name.state for step in steps)

    def _where(self, block: Block, line: str) -> str:
        from_ = Branch(tests=block.from_.tests, absent=block.from_.absent, choices=block.from_.choices)
        always = self.conjuncts(from_)
        glue = f"{line}  and " if line == "\n" else " and "
        if len(block.where) == 1:
            return glue.join([*always, *self.conjuncts(block.where[0])])
        either = [_tight(self.conjuncts(branch)) for branch in block.where]
        if not always:
            return (f"{line}   or " if line == "\n" else " or ").join(either)
        return glue.join([*always, f"({' or '.join(either)})"])

    # ---- conditions ----

    def condition(self, branch: Branch) -> str:
        return " and ".join(self.conjuncts(branch)) or "0 = 0"

    def conjuncts(self, branch: Branch) -> list[str]:
        """Parts that share no variable of the branch stand beside each other, others inside."""
        writer = self._with_measures([branch])
        parts = _Parts(
            (*branch.steps, *branch.ranges, *branch.within),
            (*branch.tests, *branch.absent, *branch.choices),
        )
        return writer._nested(parts, {measure.name: free(measure.query) for measure in branch.measures})

    def _nested(self, parts: _Parts, measured: Mapping[str, frozenset[str]]) -> list[str]:
        found: list[str] = []
        for binders, checks in _components(parts, measured):
            if not binders:
                found += [self._check(check) for check in checks]
                continue
            first = _first(binders)
            rest = _Parts(tuple(part for part in binders if part is not first), checks)
            inner = self._nested(rest, measured)
            if isinstance(first, Within):
                found.append(" and ".join([within_text(first), *inner]))
                continue
            body = f" : {_tight(inner)}" if inner else ""
            found.append(self._exists(first, body))
        return found

    def _exists(self, part: Step | Range, body: str) -> str:
        if isinstance(part, Range):
            row, *items = self._ranges(part)
            if not items and not body:
                body = f" : {variable_text(part.variables[0])} == {variable_text(part.variables[0])}"
            inner = "".join(f"exists {item} : " for item in items)
            return f"exists {row} : {inner}{body.removeprefix(' : ') or '0 = 0'}"
        if not body:
            body = " : 0 = 0"
        return f"exists {variable_text(part.dst)} in {self._state(part)}{path_text(part)}{body}"

    def _check(self, check: Test | Branch | tuple[Branch, ...]) -> str:
        if isinstance(check, Branch):
            inner = self.conjuncts(check)
            single = len(inner) == 1 and inner[0].startswith("exists ")
            return f"not {inner[0]}" if single else f"not ({' and '.join(inner) or '0 = 0'})"
        if isinstance(check, tuple):
            return f"({' or '.join(_tight(self.conjuncts(branch)) for branch in check)})"
        return test_text(check, self.measures)

    # ---- small parts ----

    def _with_step(self, step: Step, items: tuple[Item, ...]) -> str:
        """A with path starts from a word: of a constant that is selected, its label."""
        labels = [item.label for item in items if isinstance(item, ObjectItem) and item.var == step.src]
        return self.step(replace(step, src=labels[0]) if is_constant(step.src) and labels else step)

    def step(self, step: Step) -> str:
        return self._state(step) + step_text(step)

    def _state(self, step: Step) -> str:
        return f"{step.state} " if self.marked else ""

    def _ranges(self, range_: Range) -> list[str]:
        """A query of several items gives rows: first the row, then each of its items."""
        names = [variable_text(name) for name in range_.variables]
        if len(names) == 1:
            return [f"{names[0]} in ({self.query(range_.query)})"]
        row, items = f"{range_.variables[0]}_row", next(blocks(range_.query)).select
        each = [f"{name} in {row}.{label_text(item.label)}" for name, item in zip(names, items, strict=True)]
        return [f"{row} in ({self.query(range_.query)})", *each]

    def scalar(self, scalar: Scalar) -> str:
        return scalar_text(scalar, self.measures)

    def measure(self, measure: Measure) -> str:
        return f"{measure.func}({self.query(measure.query)})"

    def order(self, key: Order) -> str:
        text = self.scalar(key.scalar)
        if key.over:
            text = f"({self._looked_up(ValueItem('', key.scalar), key.over)})"
        return text + (" desc" if key.descending else "")

    def _looked_up(self, item: ObjectItem | ValueItem, over: tuple[Branch, ...]) -> str:
        """An item, with the bindings that it needs beyond those around it."""
        if over == (Branch(),):
            return self.plain(item)
        return " union ".join(self.query(Block((item,), branch)) for branch in over)

    def plain(self, item: ObjectItem | ValueItem) -> str:
        return variable_text(item.var) if isinstance(item, ObjectItem) else self.scalar(item.scalar)

    def item(self, item: Item) -> str:
        text = self._item_expr(item)
        return text if text in (item.label, "") or not item.label else f"{label_text(item.label)}: {text}"

    def _item_expr(self, item: Item | Normal) -> str:
        match item:
            case Block() | SetOf():
                return f"({self.query(item)})"
            case GroupItem(func=func, arg=arg, over=over):
                return f"{func}({self._looked_up(arg, over)})"
            case NewItem(fields=fields):
                parts = (f"{label_text(name)}: {self._item_expr(part)}" for name, part in fields)
                return f"oem({', '.join(parts)})"
            case _:
                return self.plain(item)


def _tight(conjuncts: list[str]) -> str:
    if len(conjuncts) == 1 and not conjuncts[0].startswith("not "):
        return conjuncts[0]
    return f"({' and '.join(conjuncts) or '0 = 0'})"


def _first(binders: tuple[Step | Range | Within, ...]) -> Step | Range | Within:
    """The first part that needs no variable which another of them binds."""
    own = {name for part in binders for name in _binds(part)}
    return next((part for part in binders if not _needs(part) & own), binders[0])


def _binds(part: Step | Range | Within) -> frozenset[str]:
    if isinstance(part, Step):
        return frozenset(name for name in (part.dst, part.via) if name)
    return frozenset(part.variables) if isinstance(part, Range) else frozenset()


def _needs(part: Step | Range | Within) -> frozenset[str]:
    match part:
        case Step(src=src):
            return frozenset({src})
        case Range(query=query):
            return free(query)
        case Within(variables=variables):
            return frozenset(variables)


def _reads(check: Test | Branch | tuple[Branch, ...]) -> frozenset[str]:
    if isinstance(check, Branch):
        return mentioned(check)
    if isinstance(check, tuple):
        return frozenset(name for branch in check for name in mentioned(branch))
    return frozenset(test_variables(check))


def _components(
    parts: _Parts, measured: Mapping[str, frozenset[str]]
) -> list[tuple[tuple[Step | Range | Within, ...], tuple[Test | Branch | tuple[Branch, ...], ...]]]:
    """The parts in groups that share no variable bound among them, in the order of their first part."""
    own = {name for part in parts.binders for name in _binds(part)}
    named: list[tuple[object, frozenset[str]]] = [
        (part, _binds(part) | _needs(part)) for part in parts.binders
    ]
    for check in parts.checks:
        names = _reads(check)
        named.append((check, names.union(*(measured.get(name, frozenset()) for name in names))))
    above = list(range(len(named)))  # of each part one before it that shares a variable, or itself
    first: dict[str, int] = {}

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for place, (_, names) in enumerate(named):
        for name in names & own:
            low, high = sorted((top(first.setdefault(name, place)), top(place)))
            above[high] = low
    groups: dict[int, set[int]] = {}
    for place, (part, _) in enumerate(named):
        groups.setdefault(top(place), set()).add(id(part))
    return [
        (
            tuple(part for part in parts.binders if id(part) in members),
            tuple(check for check in parts.checks if id(check) in members),
        )
        for members in groups.values()
    ]


def _read_elsewhere(branch: Branch) -> frozenset[str]:
    """Variables read by anything but a step of the branch itself."""
    return mentioned(
        Branch(
            tests=branch.tests,
            absent=branch.absent,
            choices=branch.choices,
            ranges=branch.ranges,
            measures=branch.measures,
            within=branch.within,
        )
    )
