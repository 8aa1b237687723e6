"""Plans of grouped blocks.

Keys are equal by their values, so rows are grouped by value columns, and the object shown for a group is
found apart: of those with the group's values, the one with the lowest oid.
"""

from __future__ import annotations

from dataclasses import replace

from lorel import plan as op
from lorel.dnf import join
from lorel.normal import (
    Apply,
    Arith,
    Block,
    Compare,
    Const,
    GroupItem,
    Item,
    MeasureOf,
    ObjectItem,
    Scalar,
    ValueItem,
    ValueOf,
    object_variable,
)
from lorel.plan import Plan
from lorel.planner import (
    Planner,
    distinct,
    distinct_values,
    graph_of,
    order_column,
    output,
    projected,
    state_of,
)


def grouped(planner: Planner, block: Block, start: Plan) -> Plan:
    """One row a group: the items of the block, then its order keys."""
    return _Groups(planner, block, start).rows()


class _Groups:
    def __init__(self, planner: Planner, block: Block, start: Plan) -> None:
        self.planner, self.block, self.start = planner, block, start
        self.outer = op.columns(start)
        self.keys = tuple(replace(key, label=f"key{i}") for i, key in enumerate(block.group_by))
        self.by = (*self.outer, *(self._value_name(key) for key in self.keys))

    @staticmethod
    def _value_name(key: ObjectItem | ValueItem) -> str:
        return f"{key.label}'" if isinstance(key, ObjectItem) else key.label

    def rows(self) -> Plan:
        members = self._keyed(())
        groups = distinct(members, self.by) if self.by else members
        for key in self.keys:
            if isinstance(key, ObjectItem):
                groups = self._shown(groups, members, key)
        aggregates = {each.label: each for each in self.block.aggregates}
        inside = set(aggregates)  # read by calculations and orders, as values
        aggregates |= {
            f"agg{i}": each for i, each in enumerate(self.block.select) if isinstance(each, GroupItem)
        }
        for name, item in aggregates.items():
            single = object_variable(item) is not None and name not in inside
            groups = (self._single if single else self._aggregated)(groups, item, name)
        return self._computed(groups)

    def _keyed(self, extra: tuple[Item, ...], block: Block | None = None) -> Plan:
        """Rows with the keys, their values, and the items asked for."""
        rows = self.planner.items(block or self.block, (*self.keys, *extra), self.start)
        for key in self.keys:
            if isinstance(key, ObjectItem):
                value = ValueOf(key.label, graph_of(self.block, key.var), state_of(self.block))
                rows = op.Compute(rows, self._value_name(key), value, estimate=rows.estimate)
        return rows

    def _shown(self, groups: Plan, members: Plan, key: ObjectItem) -> Plan:
        """The groups with the object that stands for the key."""
        options = projected(members, (*self.by, key.label))
        graph = graph_of(self.block, key.var)
        lowest = distinct_values(options, self.outer, graph, state_of(self.block))
        return op.Join(groups, lowest, estimate=groups.estimate)

    def _aggregated(self, groups: Plan, item: GroupItem, name: str) -> Plan:
        where = tuple(join((branch, over)) for branch in self.block.where for over in item.over)
        block = replace(self.block, where=where)
        graph = graph_of(block, item.arg.var) if isinstance(item.arg, ObjectItem) else ""
        made = op.Aggregate(groups, self._members(item), self.by, item.func, "arg", name, graph)
        return replace(made, state=state_of(self.block), estimate=groups.estimate)

    def _members(self, item: GroupItem) -> Plan:
        """What an aggregate is taken of: the different members of each group, as the column `arg`."""
        where = tuple(join((branch, over)) for branch in self.block.where for over in item.over)
        rows = self._keyed((replace(item.arg, label="arg"),), replace(self.block, where=where))
        return distinct(rows, (*self.by, "arg"))

    def _single(self, groups: Plan, item: GroupItem, name: str) -> Plan:
        """The groups that have one member, which is an object, with that member."""
        members = self._members(item)
        counted = op.Aggregate(groups, members, self.by, "count", "arg", f"{name}'", estimate=groups.estimate)
        one = Compare("=", MeasureOf(f"{name}'"), Const(1))
        single = projected(op.Filter(counted, (one,), estimate=groups.estimate), op.columns(groups))
        named = (*((key, key) for key in self.by), ("arg", name))
        member = op.Rename(members, named, estimate=members.estimate)
        return op.Join(single, member, estimate=groups.estimate)

    def _computed(self, groups: Plan) -> Plan:
        """Items and order keys; a row whose item has no value goes, one whose order key has none stays."""
        columns = [(name, name) for name in self.outer]
        for i, item in enumerate(self.block.select):
            match item:
                case ObjectItem(var=var):
                    at = [key.label for key in self.keys if isinstance(key, ObjectItem) and key.var == var]
                    columns.append((at[0], output(i)))
                    continue
                case GroupItem() if object_variable(item) is not None:
                    columns.append((f"agg{i}", output(i)))
                    continue
                case GroupItem():
                    scalar: Scalar = MeasureOf(f"agg{i}")
                case ValueItem(scalar=written):
                    scalar = self._over_groups(written)
                case _:
                    raise AssertionError("a group constructs nothing")
            groups = op.Compute(groups, output(i), scalar, estimate=groups.estimate)
            columns.append((output(i), output(i)))
        for i, order in enumerate(self.block.order_by):
            key = self._over_groups(order.scalar)
            groups = op.Compute(groups, order_column(i), key, required=False, estimate=groups.estimate)
            columns.append((order_column(i), order_column(i)))
        return op.Rename(groups, tuple(columns), estimate=groups.estimate)

    def _over_groups(self, scalar: Scalar) -> Scalar:
        """A scalar of keys and aggregates, over the columns of the groups."""
        for key in self.keys:
            if isinstance(key, ValueItem) and key.scalar == scalar:
                return MeasureOf(key.label)
        match scalar:
            case ValueOf(var=var):
                at = [key.label for key in self.keys if isinstance(key, ObjectItem) and key.var == var]
                return replace(scalar, var=at[0])
            case Arith(left=left, right=right):
                return replace(scalar, left=self._over_groups(left), right=self._over_groups(right))
            case Apply(arg=arg):
                return replace(scalar, arg=self._over_groups(arg))
        return scalar
