"""Binding tables as frames: a column a variable, and a signed count.

Spark does not tell `r` from `R` in column names, so a variable's column has an encoded name. A value
column is a struct of the four columns of `store/schema.py`, null where the value is missing; a complex
object has its oid in `integer`.

Every call that makes a frame goes to the JVM and has the plan analysed there, which for a small query costs
more than the query. So a table is open as long as it can be: relations joined under the names `t0`, `t1`, ...
and for each variable where it is found. To project or rename is then only to remember something else, and
names and conditions are SQL text, one call each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

N: Final = "_n"
ONE: Final = "1L"
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_#&$")

Kind: TypeAlias = Literal["oid", "value"]
How: TypeAlias = Literal["inner", "left", "left_semi", "left_anti", "cross"]


def column_name(variable: str) -> str:
    """The column of a variable.

    >>> column_name("r"), column_name("R"), column_name("#0")
    ('v_r', 'v_^52^', 'v_#0')
    """
    return "v_" + "".join(c if c in _PLAIN else f"^{ord(c):x}^" for c in variable)


@dataclass(frozen=True, slots=True)
class Table:
    """A frame with what is known of it without running it.

    `known` are oids that a column cannot be outside of, if they are few; `positive` says that no count
    is below one, so that a set test needs no adding up. `places` says where a variable is found if not under
    its own name, `count` where the count is, both in SQL; `relations` is how many are joined under names.
    """

    frame: DataFrame
    kinds: Mapping[str, Kind]
    known: Mapping[str, frozenset[int]] = field(default_factory=dict)
    positive: bool = True
    places: Mapping[str, str] = field(default_factory=dict)
    count: str = N
    relations: int = 0

    def place(self, variable: str) -> str:
        """A variable in SQL."""
        return self.places.get(variable) or f"`{column_name(variable)}`"

    def col(self, variable: str) -> Column:
        return F.expr(self.place(variable))

    @property
    def named(self) -> list[str]:
        """The columns of the settled table but for the count, as items of a select clause."""
        return [f"{self.place(name)} AS `{column_name(name)}`" for name in self.kinds]

    def settled(self) -> Table:
        """The same rows with the columns of `kinds` under their own names, and `_n`."""
        if not self.places and not self.relations and self.count == N:
            return self
        return Table(
            self.frame.selectExpr(*self.named, f"{self.count} AS {N}"), self.kinds, self.known, self.positive
        )

    def opened(self, place: int = 0) -> Table:
        """The table as one relation, the `place`-th of those it is going to be joined with."""
        if self.relations and not place:
            return self
        table = self if not self.places and not self.relations else self.settled()
        alias = f"t{place}"
        places = {name: f"{alias}.`{column_name(name)}`" for name in self.kinds}
        count = f"{alias}.{N}" if table.count == N else table.count
        return replace(table, frame=table.frame.alias(alias), places=places, count=count, relations=place + 1)

    def joined_with(self, other: DataFrame, condition: str, how: How = "inner") -> Table:
        """This open table with one more relation, which has the name `self.next`."""
        test = None if how == "cross" else F.expr(condition)
        return replace(self, frame=self.frame.join(other, test, how), relations=self.relations + 1)

    @property
    def next(self) -> str:
        return f"t{self.relations}"

    def with_column(self, name: str, column: Column) -> Table:
        """One more column of values, or another one under the same name."""
        kept = [F.expr(each) for old, each in zip(self.kinds, self.named, strict=True) if old != name]
        frame = self.frame.select(*kept, column.alias(column_name(name)), F.expr(f"{self.count} AS {N}"))
        return Table(frame, {**self.kinds, name: "value"}, self.known, self.positive)

    def select(self, pairs: Iterable[tuple[str, str]]) -> Table:
        """Some columns under new names: pairs (old, new)."""
        listed = list(pairs)
        return replace(
            self,
            kinds={new: self.kinds[old] for old, new in listed},
            known={new: self.known[old] for old, new in listed if old in self.known},
            places={new: self.place(old) for old, new in listed},
        )

    def keep(self, names: Iterable[str]) -> Table:
        listed = list(names)
        return self if listed == list(self.kinds) else self.select((name, name) for name in listed)


def consolidated(table: Table) -> Table:
    """Equal rows added up, what comes to zero left out."""
    return replace(_summed(table, "<> 0"), positive=table.positive)


def distinct(table: Table) -> Table:
    """Every row with a count above zero, once."""
    if not table.positive or not table.kinds:
        return replace(_summed(table, "> 0"), count=ONE)
    return Table(table.frame.selectExpr(*table.named).distinct(), table.kinds, table.known, count=ONE)


def _summed(table: Table, wanted: str) -> Table:
    names = map(column_name, table.kinds)
    summed = table.settled().frame.groupBy(*names).agg(F.sum(N).alias(N)).filter(f"{N} {wanted}")
    return Table(summed, table.kinds, table.known)


def among(place: str, oids: Iterable[int]) -> str:
    """Whether an oid is one of some, in SQL; as text, for one call a literal would be a second a thousand."""
    return f"{place} IN ({', '.join(map(str, sorted(oids))) or 'NULL'})"


def united(tables: Sequence[Table]) -> Table:
    """All rows of all tables.

    In a column that holds objects in one table and values in another an object is a complex value.
    """
    names = list(tables[0].kinds)
    kinds: dict[str, Kind] = {
        name: "oid" if all(table.kinds[name] == "oid" for table in tables) else "value" for name in names
    }
    frame = as_kinds(tables[0], kinds).settled().frame
    for table in tables[1:]:
        frame = frame.union(as_kinds(table, kinds).settled().frame)
    known = {
        name: frozenset().union(*(table.known[name] for table in tables))
        for name in names
        if all(name in table.known for table in tables)
    }
    return Table(frame, kinds, known, all(table.positive for table in tables))


def as_kinds(table: Table, kinds: Mapping[str, Kind]) -> Table:
    """The table with columns in this order, objects made complex values where values are wanted."""
    if dict(table.kinds) == dict(kinds):
        return table.keep(kinds)
    columns = [
        struct_of(F.lit("complex"), None, table.col(name), None).alias(column_name(name))
        if (table.kinds[name], kind) == ("oid", "value")
        else table.col(name).alias(column_name(name))
        for name, kind in kinds.items()
    ]
    known = {name: oids for name, oids in table.known.items() if kinds.get(name) == "oid"}
    frame = table.frame.select(*columns, F.expr(table.count).alias(N))
    return Table(frame, kinds, known, table.positive)


def struct_of(kind: Column, text: Column | None, integer: Column | None, number: Column | None) -> Column:
    """A value as one column."""
    return F.struct(
        kind.alias("type"),
        (F.lit(None).cast("string") if text is None else text).alias("text"),
        (F.lit(None).cast("bigint") if integer is None else integer).alias("integer"),
        (F.lit(None).cast("double") if number is None else number).alias("number"),
    )


def joined(left: Table, right: Table, how: Literal["inner", "left_semi", "left_anti"] = "inner") -> Table:
    """Rows that agree on the shared columns; counts multiply. None shared: the product."""
    both: dict[str, Kind] = {
        name: "oid" if left.kinds[name] == right.kinds[name] == "oid" else "value"
        for name in left.kinds
        if name in right.kinds
    }
    mine = as_kinds(left, {**left.kinds, **both}).opened()
    other = as_kinds(right, {**right.kinds, **both}).opened(mine.relations)
    tests = [
        f"{mine.place(name)} {'=' if kind == 'oid' else '<=>'} {other.place(name)}"  # missing equals missing
        for name, kind in both.items()
    ]
    if how != "inner":  # nothing shared: whether the right side has any row at all
        return mine.joined_with(
            other.frame if both else other.frame.limit(1), " AND ".join(tests) or "true", how
        )
    whole = mine.joined_with(other.frame, " AND ".join(tests), "inner" if both else "cross")
    kinds = {**mine.kinds, **{name: kind for name, kind in right.kinds.items() if name not in both}}
    counts = [count for count in (mine.count, other.count) if count != ONE]
    return replace(
        whole,
        kinds=kinds,
        known={name: oids for name, oids in {**right.known, **left.known}.items() if kinds[name] == "oid"},
        positive=left.positive and right.positive,
        places={**other.places, **mine.places},
        count=" * ".join(counts) or ONE,
    )
