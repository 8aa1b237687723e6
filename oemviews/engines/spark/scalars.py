"""Scalars and tests over a binding table: which values they read, and their column expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F

from lorel.normal import (
    Apply,
    Arith,
    Compare,
    Const,
    Match,
    MeasureOf,
    OidOf,
    OneOf,
    Scalar,
    State,
    Test,
    TextOf,
    Truth,
    ValueOf,
    is_constant,
    oid_of,
    values_read,
    values_tested,
)
from oemviews.engines.spark import values as v
from oemviews.engines.spark.graph import SparkGraph, like
from oemviews.engines.spark.grep import searched
from oemviews.engines.spark.membership import one_of
from oemviews.engines.spark.table import Table, among
from oemviews.engines.spark.values import Value

GraphOf: TypeAlias = Callable[[str, State], SparkGraph]
"""The graph of a name in a state."""

_ROOT: Final = 0


@dataclass(frozen=True, slots=True)
class Valued:
    """An open table with the objects of some variables joined to it, and where their values are."""

    table: Table
    values: Mapping[ValueOf, Value]

    def scalar(self, scalar: Scalar) -> Value:
        match scalar:
            case Const(atom):
                return v.of_constant(atom)
            case ValueOf():
                return self.values[scalar]
            case OidOf(var):
                return v.missing() if self.table.kinds.get(var) == "value" else v.of_integer(self.oid(var))
            case TextOf(name) | MeasureOf(name):
                return v.of_struct(self.table.col(name))
            case Arith(op, left, right):
                return v.arithmetic(op, self.scalar(left), self.scalar(right))
            case Apply("type-of", arg):
                return v.of_text(self.scalar(arg).type)
            case Apply(_, arg):
                return v.of_boolean(self.scalar(arg).type != "complex")

    def oid(self, var: str) -> Column:
        return self.table.col(var) if var in self.table.kinds else F.lit(oid_of(var)).cast("bigint")

    def test(self, test: Test) -> Column:
        match test:
            case Truth(truth):
                return F.lit(truth)
            case Compare("==", ValueOf(a), ValueOf(b), negated):
                return v.holds(self._same(a, b), negated)
            case Compare(op, left, right, negated):
                return v.holds(v.compare(op, self.scalar(left), self.scalar(right)), negated)
            case OneOf(scalar, constants, negated):
                atoms = [constant.value for constant in constants]
                return v.holds(one_of(self.scalar(scalar), atoms), negated)
            case Match(kind, scalar, pattern, negated):
                return v.holds(_matches(kind, self.scalar(scalar), pattern), negated)

    def _same(self, a: str, b: str) -> Column:
        if "value" in (self.table.kinds.get(a), self.table.kinds.get(b)):
            return F.lit(False)
        return self.oid(a) == self.oid(b)

    def keep(self, *tests: Column) -> Table:
        """The rows that pass."""
        frame = self.table.frame
        for test in tests:
            frame = frame.filter(test)
        return replace(self.table, frame=frame)


def _matches(kind: str, value: Value, pattern: str) -> Column:
    def test(text: Column) -> Column:
        if kind == "like":
            return like(text, pattern)
        if kind == "grep":
            return searched(text, pattern)
        return v.soundex(text) == v.soundex(F.lit(pattern))

    cases = [(value.type == "string") & test(value.text)] if "string" in value.kinds else []
    if value.kinds & {"integer", "real"}:
        cases.append(value.type.isin("integer", "real") & test(v.text_of(value)))
    return v.either(cases)


def valued(
    table: Table,
    refs: Iterable[ValueOf],
    graph_of: GraphOf,
    needed: frozenset[ValueOf],
    *,
    small: bool = False,
) -> Valued:
    """Join the values that are read. A row whose object is not there goes, if its value is `needed`.

    A `small` table is sent to the objects at every join: an object has one value, so it stays small.
    """
    table, found = table.opened(), dict[ValueOf, Value]()
    for ref in dict.fromkeys(refs):
        if table.kinds.get(ref.var) == "value":
            found[ref] = v.of_struct(table.col(ref.var))
            continue
        if is_constant(ref.var) and oid_of(ref.var) == _ROOT:
            root = v.of_constant(None)
            found[ref] = Value(
                F.lit("complex"), root.text, root.integer, root.number, frozenset({"complex"}), F.lit(0)
            )
            continue
        objects = graph_of(ref.graph, ref.state).objects
        known = table.known.get(ref.var, frozenset({oid_of(ref.var)}) if is_constant(ref.var) else None)
        if known is not None:
            objects = objects.filter(among("oid", known))
        name = table.next
        found[ref] = v.of_object(f"{name}.")
        same = f"{table.place(ref.var)} = {name}.oid" if ref.var in table.kinds else "true"
        if small:
            table = replace(table, frame=F.broadcast(table.frame))
        table = table.joined_with(objects.alias(name), same, "inner" if ref in needed else "left")
    return Valued(table, found)


def filtered(table: Table, tests: Iterable[Test], graph_of: GraphOf, *, small: bool = False) -> Table:
    """The rows that pass all tests."""
    listed = list(tests)
    negated = {ref for test in listed if getattr(test, "negated", False) for ref in values_tested(test)}
    refs = [ref for test in listed for ref in values_tested(test)]
    rows = valued(table, refs, graph_of, frozenset(refs) - negated, small=small)
    return rows.keep(*(rows.test(test) for test in listed))


def computed(table: Table, name: str, scalar: Scalar, required: bool, graph_of: GraphOf) -> Table:
    """One more column with the value of a scalar."""
    refs = list(values_read(scalar))
    rows = valued(table, refs, graph_of, frozenset(refs) if required else frozenset())
    value = rows.scalar(scalar)
    kept = rows.keep(value.type.isNotNull()) if required else rows.table
    return kept.with_column(name, value.struct)
