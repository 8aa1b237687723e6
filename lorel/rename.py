"""New names for variables: every variable of a canonical form is bound at one place, and called after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from lorel.normal import (
    Block,
    Branch,
    GroupItem,
    Item,
    Measure,
    MeasureOf,
    NewItem,
    Normal,
    ObjectItem,
    OidOf,
    Order,
    Range,
    Scalar,
    SetOf,
    Step,
    Test,
    TextOf,
    ValueItem,
    ValueOf,
    bound,
)
from lorel.scalars import Leaf, mapped_scalar, mapped_test
from lorel.scope import Names, is_generated

Env: TypeAlias = Mapping[str, str]


def set_apart(query: Normal, written: frozenset[str]) -> Normal:
    """The same query with made-up names counted in order, and no variable bound twice.

    Multiplying out disjunctions copies steps into several branches; all copies but the first get new names.
    `written` are the words of the statement: they are kept, and not made up.
    """
    return _Renaming(written).query(query, {})


class _Renaming:
    def __init__(self, written: frozenset[str]) -> None:
        self.written, self.names = written, Names(written)

    def bind(self, name: str) -> str:
        return self.names.fresh() if self.made_up(name) else self.names.claim(name)

    def made_up(self, name: str) -> bool:
        return is_generated(name) and name not in self.written

    def query(self, query: Normal, env: Env) -> Normal:
        if isinstance(query, SetOf):
            return replace(query, left=self.query(query.left, env), right=self.query(query.right, env))
        from_, env = self.branch(query.from_, env)
        where = tuple(self.branch(branch, env)[0] for branch in query.where)
        with_ = tuple(self.with_steps(query.with_, env))
        aggregates = tuple(self.group_item(each, env) for each in query.aggregates)
        env = {**env, **{each.label: self.bind(each.label) for each in query.aggregates}}
        return replace(
            query,
            select=tuple(self.item(item, env) for item in query.select),
            from_=from_,
            where=where,
            with_=with_,
            group_by=tuple(_plain_item(item, env) for item in query.group_by),
            order_by=tuple(self.order(key, env) for key in query.order_by),
            aggregates=tuple(replace(each, label=env[each.label]) for each in aggregates),
        )

    def with_steps(self, steps: tuple[Step, ...], env: Env) -> Iterator[Step]:
        for step in steps:
            name = self.names.fresh() if self.made_up(step.dst) else self.names.claim_with(step.dst)
            src, env = env.get(step.src, step.src), {**env, step.dst: name}
            yield replace(step, src=src, dst=name)

    def order(self, key: Order, env: Env) -> Order:
        over, inner = self.branches(key.over, env)
        return replace(key, scalar=renamed_scalar(key.scalar, inner), over=over)

    def group_item(self, item: GroupItem, env: Env) -> GroupItem:
        over, inner = self.branches(item.over, env)
        return replace(item, arg=_plain_item(item.arg, inner), over=over)

    def branches(self, branches: tuple[Branch, ...], env: Env) -> tuple[tuple[Branch, ...], Env]:
        """Branches that bind the same variables: what is read of them has one name in all of them."""
        shared = frozenset.intersection(*map(bound, branches)) if branches else frozenset()
        env = {**env, **{name: self.bind(name) for name in sorted(shared)}}
        return tuple(self.branch(branch, env, keep=shared)[0] for branch in branches), env

    def branch(self, branch: Branch, env: Env, keep: frozenset[str] = frozenset()) -> tuple[Branch, Env]:
        """The branch renamed, and the names in reach of what stands beside or inside it.

        Variables to `keep` have their new names in `env` already.
        """
        binders = [name for step in branch.steps for name in (step.via, step.dst) if name]
        binders += [name for range_ in branch.ranges for name in range_.variables]
        binders += [measure.name for measure in branch.measures]
        env = {**env, **{name: self.bind(name) for name in binders if name not in keep}}
        renamed = replace(
            branch,
            steps=tuple(_step(step, env) for step in branch.steps),
            tests=tuple(renamed_test(each, env) for each in branch.tests),
            absent=tuple(self.branch(inner, env)[0] for inner in branch.absent),
            choices=tuple(tuple(self.branch(inner, env)[0] for inner in group) for group in branch.choices),
            measures=tuple(
                Measure(env[each.name], each.func, self.query(each.query, env)) for each in branch.measures
            ),
            ranges=tuple(
                Range(tuple(env[name] for name in each.variables), self.query(each.query, env))
                for each in branch.ranges
            ),
        )
        return renamed, env

    def item(self, item: Item, env: Env) -> Item:
        match item:
            case GroupItem():
                return self.group_item(item, env)
            case NewItem(fields=fields):
                return replace(item, fields=tuple((label, self.field(part, env)) for label, part in fields))
            case _:
                return _plain_item(item, env)

    def field(self, part: Item | Normal, env: Env) -> Item | Normal:
        return self.query(part, env) if isinstance(part, Block | SetOf) else self.item(part, env)


def _plain_item(item: ObjectItem | ValueItem, env: Env) -> ObjectItem | ValueItem:
    if isinstance(item, ObjectItem):
        return replace(item, var=env.get(item.var, item.var))
    return replace(item, scalar=renamed_scalar(item.scalar, env))


def _step(step: Step, env: Env) -> Step:
    via = None if step.via is None else env[step.via]
    return replace(step, src=env.get(step.src, step.src), dst=env[step.dst], via=via)


def renamed_scalar(scalar: Scalar, env: Env) -> Scalar:
    return mapped_scalar(scalar, lambda leaf: _leaf(leaf, env))


def renamed_test(test: Test, env: Env) -> Test:
    return mapped_test(test, lambda leaf: _leaf(leaf, env))


def _leaf(leaf: Leaf, env: Env) -> Leaf:
    match leaf:
        case ValueOf(var=var) | OidOf(var=var) | TextOf(var=var):
            return replace(leaf, var=env.get(var, var))
        case MeasureOf(name):
            return MeasureOf(env.get(name, name))
        case _:
            return leaf
