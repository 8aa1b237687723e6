"""Values as column expressions: coerced comparison, text, arithmetic. The same meaning as `model.compare`.

A `Value` is four columns of one row. What is missing has null in all of them, so a comparison with it is
null, which a filter takes as false; a negated test has to say so itself (`holds`).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from lorel.normal import Atom
from oemviews.engines.spark.table import struct_of
from oemviews.model import OPERATORS, TYPES
from oemviews.store.schema import columns_of

VALUE: Final = ("type", "text", "integer", "number")
EVERY: Final = frozenset(TYPES)
_NUMERIC: Final = frozenset({"string", "integer", "real"})
_OTHER: Final = EVERY - _NUMERIC
_JSON_NUMBER: Final = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\z"
_LONGEST: Final = 1 << 30
_LARGEST: Final = 1.7976931348623157e308


_TURNED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Value:
    """The columns of a value, and the types it can have: a smaller set makes a smaller expression."""

    type: Column
    text: Column
    integer: Column
    number: Column
    kinds: frozenset[str] = EVERY
    oid: Column | None = None  # of an object: a complex one compares by it
    place: str | None = None  # what stands before the names of its columns in SQL, if they are columns
    plain: bool = False  # a constant that is decided by doubles

    @property
    def exact(self) -> Column:
        """`integer`, or the oid of a complex object."""
        if self.oid is None:
            return self.integer
        return F.when(self.type == "complex", self.oid).otherwise(self.integer)

    @property
    def struct(self) -> Column:
        """The value as one column, null if it is missing."""
        return F.when(self.type.isNotNull(), struct_of(self.type, self.text, self.exact, self.number))


def of_struct(column: Column) -> Value:
    type_, text, integer, number = (column.getField(name) for name in VALUE)
    return Value(type_, text, integer, number)


def of_object(prefix: str = "") -> Value:
    """The value of an object whose columns were joined, under names with `prefix`."""
    oid, type_, text, integer, number = (F.col(prefix + name) for name in ("oid", *VALUE))
    return Value(type_, text, integer, number, oid=oid, place=prefix)


def of_constant(atom: Atom) -> Value:
    kind, text, integer, number = columns_of(atom)
    return Value(
        F.lit(kind),
        F.lit(text).cast("string"),
        F.lit(integer).cast("bigint"),
        F.lit(number).cast("double"),
        frozenset({kind}),
        plain=is_plain(atom),
    )


def is_plain(atom: Atom) -> bool:
    """Whether doubles decide every comparison with a constant: a real, or an integer that alone rounds to it.

    >>> is_plain(20), is_plain(2**53), is_plain(0.5), is_plain("20"), is_plain(True)
    (True, False, True, False, False)
    """
    if isinstance(atom, float):
        return True
    return isinstance(atom, int) and not isinstance(atom, bool) and abs(atom) < 2**53


def of_integer(column: Column) -> Value:
    kind = F.when(column.isNotNull(), "integer")
    return Value(kind, _no("string"), column, column.cast("double"), frozenset({"integer"}))


def of_boolean(column: Column) -> Value:
    kind = F.when(column.isNotNull(), "boolean")
    return Value(kind, _no("string"), column.cast("bigint"), _no("double"), frozenset({"boolean"}))


def of_real(column: Column) -> Value:
    """A double, missing if it is null or not finite."""
    finite = F.when(F.abs(column) <= _LARGEST, column)
    return Value(
        F.when(finite.isNotNull(), "real"), _no("string"), _no("bigint"), finite, frozenset({"real"})
    )


def of_text(column: Column) -> Value:
    """A string, with the number it reads as."""
    number = F.when(column.rlike(_JSON_NUMBER), column.try_cast("double"))
    finite = F.when(F.abs(number) <= _LARGEST, number)
    kind = F.when(column.isNotNull(), "string")
    return Value(kind, column, _no("bigint"), finite, frozenset({"string"}))


def missing() -> Value:
    return Value(_no("string"), _no("string"), _no("bigint"), _no("double"), frozenset())


def _no(kind: str) -> Column:
    return F.lit(None).cast(kind)


def either(tests: list[Column]) -> Column:
    return reduce(operator.or_, tests) if tests else F.lit(False)


def holds(test: Column, negated: bool) -> Column:
    """A test as a plain truth: what has no value is false, and true when negated."""
    return ~F.coalesce(test, F.lit(False)) if negated else test


# ---- comparison ----


def compare(op: str, a: Value, b: Value) -> Column:
    """The coercion table; cases that the types rule out are left out of the expression."""
    if b.plain:
        return _with_plain(op, a, b)
    if a.plain:
        return _with_plain(_TURNED[op], b, a)
    cases: list[Column] = []
    if "string" in a.kinds & b.kinds:
        cases.append(_guarded("string", a, b, OPERATORS[op](a.text, b.text)))
    if "integer" in a.kinds & b.kinds:
        cases.append(_guarded("integer", a, b, _integers(op, a, b)))
    if _mixed_numbers(a.kinds, b.kinds):
        test = OPERATORS[op](a.number, b.number)
        if a.kinds & b.kinds & {"string", "integer"}:
            test = ((a.type != b.type) | (a.type == "real")) & test
        cases.append(test)
    others = sorted(a.kinds & b.kinds & _OTHER)
    if others and op in ("=", "!="):
        equal = a.exact.eqNullSafe(b.exact) & a.text.eqNullSafe(b.text)
        cases.append((a.type == b.type) & a.type.isin(others) & (equal if op == "=" else ~equal))
    return either(cases)


def _with_plain(op: str, a: Value, b: Value) -> Column:
    """A comparison with a plain constant: by doubles alone, which Spark can hand down to the files.

    Only an integer beyond the doubles, which has no number, has to be looked at.
    """
    test: Column = OPERATORS[op](a.number, b.number)
    if op == "=" or "integer" not in a.kinds & b.kinds:
        return test
    beyond = a.number.isNull() & (a.type == "integer")
    if op != "!=":
        below = a.text.startswith("-")
        beyond = beyond & (below if op in ("<", "<=") else ~below)
    return test | beyond


def _guarded(kind: str, a: Value, b: Value, test: Column) -> Column:
    for value in (a, b):
        if value.kinds != {kind}:
            test = (value.type == kind) & test
    return test


def _mixed_numbers(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two values can compare as doubles: numbers or strings, not two strings nor two integers."""
    return any(x != y or x == "real" for x in a & _NUMERIC for y in b & _NUMERIC)


def _integers(op: str, a: Value, b: Value) -> Column:
    """Two integers, exactly; one beyond 64 bits has its digits in `text`, and null in `integer`."""
    if op == "=":
        return (a.integer == b.integer) | (a.text == b.text)
    if op == "!=":
        return ~(a.integer.eqNullSafe(b.integer) & a.text.eqNullSafe(b.text))
    test, rank, other = OPERATORS[op], _rank(a), _rank(b)
    long = (
        F.when(rank != other, test(rank, other))
        .when(rank > 0, test(a.text, b.text))
        .otherwise(test(b.text, a.text))
    )
    # rounding keeps the order, so different doubles decide
    return F.when(a.number != b.number, test(a.number, b.number)).otherwise(
        F.coalesce(test(a.integer, b.integer), long)
    )


def _rank(value: Value) -> Column:
    """Signed number of digits beyond 64 bits, else 0: integers of different rank are in the order of rank."""
    digits = F.length(value.text)
    long = F.when(value.text.startswith("-"), -digits).otherwise(digits)
    return F.when(value.integer.isNull(), long).otherwise(0)


# ---- arithmetic ----

_EXACT: Final = {"+": F.try_add, "-": F.try_subtract, "*": F.try_multiply, "mod": F.try_mod}
_REAL: Final = {**_EXACT, "/": F.try_divide}
_DECIMAL: Final = "decimal(38,0)"
TOO_LONG: Final = "integer arithmetic beyond 38 digits"


def arithmetic(op: str, a: Value, b: Value) -> Value:
    """`a op b`; missing if an operand does not convert, on division by zero, or if the result is not finite.

    Two integers are computed exactly up to 38 digits; beyond that the job fails with `TOO_LONG`.
    """
    if op == "||":
        return of_text(F.concat(text_of(a), text_of(b)))
    real = of_real(_real(op, a.number, b.number))
    if op == "/" or "integer" not in a.kinds & b.kinds:
        return real
    whole = (a.type == "integer") & (b.type == "integer")
    short = _EXACT[op](a.integer, b.integer)
    wide = _EXACT[op](_decimal(a), _decimal(b)).cast(_DECIMAL)
    if op == "mod":
        by_zero = b.integer.eqNullSafe(F.lit(0))
        short, wide = F.when(~by_zero, short), F.when(~by_zero, wide)
        fails = wide.isNull() & ~by_zero
    else:
        fails = wide.isNull()
    wide = F.when(
        whole & short.isNull(), F.when(fails, F.raise_error(F.lit(TOO_LONG)).cast(_DECIMAL)).otherwise(wide)
    )
    integer = F.when(whole, F.coalesce(short, wide.try_cast("bigint")))
    text = F.when(integer.isNull(), wide.cast("string"))
    exact = integer.isNotNull() | text.isNotNull()
    kind = F.when(whole, F.when(exact, "integer")).otherwise(real.type)
    number = F.when(whole, F.coalesce(integer.cast("double"), wide.cast("double"))).otherwise(real.number)
    return Value(kind, text, integer, number, frozenset({"integer", "real"}))


def _real(op: str, x: Column, y: Column) -> Column:
    return _REAL[op](x, y) if op != "mod" else F.when(y != 0, x % y)


def _decimal(value: Value) -> Column:
    return F.coalesce(value.integer.cast(_DECIMAL), value.text.try_cast(_DECIMAL))


# ---- text ----


def text_of(value: Value) -> Column:
    """What `like`, `grep` and `||` see; only strings and numbers have a text."""
    ways = {
        "string": value.text,
        "integer": F.coalesce(value.text, value.integer.cast("string")),
        "real": real_text(value.number),
    }
    return F.coalesce(
        _no("string"), *(F.when(value.type == kind, ways[kind]) for kind in ways if kind in value.kinds)
    )


def real_text(number: Column) -> Column:
    """A double as JSON writes it, from Java's digits: `1.0E16` is `1e+16`, `1.5E-4` is `0.00015`."""
    java = number.cast("string")
    sign = F.when(java.startswith("-"), "-").otherwise("")
    digits = F.regexp_replace(F.regexp_extract(java, r"^-?([0-9.]+)E", 1), r"\.0$|\.", "")
    power = F.regexp_extract(java, r"E(-?[0-9]+)$", 1).try_cast("int")
    size = F.abs(power).cast("string")
    fraction = F.substring(digits, 2, _LONGEST)
    exponent = F.concat(
        F.when(power < 0, "-").otherwise("+"), F.when(F.length(size) < 2, "0").otherwise(""), size
    )
    short = F.concat(sign, F.substring(digits, 1, 1), _after_point(fraction, ""), F.lit("e"), exponent)
    whole = F.rpad(F.substring(digits, F.lit(1), power + 1), power + 1, F.lit("0"))
    plain = F.concat(sign, whole, _after_point(F.substring(digits, power + 2, F.lit(_LONGEST)), ".0"))
    return (
        F.when(~java.contains("E"), java)
        .when((power >= 0) & (power < 16), plain)
        .when(power == -4, F.concat(sign, F.lit("0.000"), digits))
        .otherwise(short)
    )


def _after_point(digits: Column, none: str) -> Column:
    return F.when(digits == "", none).otherwise(F.concat(F.lit("."), digits))


def soundex(text: Column) -> Column:
    """The four-letter American code over the ASCII letters, `h` and `w` transparent; null without letters."""
    letters = F.regexp_replace(F.lower(text), "[^a-z]", "")
    first = F.substring(letters, 1, 1)
    sounding = F.concat(first, F.regexp_replace(F.substring(letters, 2, _LONGEST), "[hw]", ""))
    digits = F.translate(sounding, "abcdefghijklmnopqrstuvwxyz", "01230120022455012623010202")
    code = F.regexp_replace(F.substring(F.regexp_replace(digits, r"(.)\1+", "$1"), 2, _LONGEST), "0", "")
    padded = F.substring(F.concat(code, F.lit("000")), 1, 3)
    return F.when(letters != "", F.concat(F.upper(first), padded))
