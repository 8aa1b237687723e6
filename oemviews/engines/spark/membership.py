"""Whether a value equals one of many constants: a few `IN` lists, not a comparison for each constant.

Equality under coercion of a value with constants, by the kind of constant:

    a string                     strings by text; integers and reals by the number that the text reads as
    a real, a plain integer      whatever has that number
    any other                    compared one by one: integers that doubles do not tell apart, booleans, ...

The lists are SQL text: a call of the JVM for each constant would take longer than the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lorel.normal import Atom
from oemviews.engines.spark import values as v
from oemviews.engines.spark.values import Value
from oemviews.store.schema import columns_of


def one_of(value: Value, constants: Sequence[Atom]) -> Column:
    """`value` equals one of the constants; null or false if not."""
    texts: set[str] = set()
    read: set[float] = set()
    numbers: set[float] = set()
    tests: list[Column] = []
    for atom in constants:
        number = columns_of(atom)[3]
        if isinstance(atom, str):
            texts.add(atom)
            read |= set() if number is None else {number}
        elif v.is_plain(atom) and number is not None:
            numbers.add(number)
        else:
            tests.append(v.compare("=", value, v.of_constant(atom)))
    if texts and "string" in value.kinds:
        tests.append((value.type == "string") & _among(value, "text", map(_string, sorted(texts))))
    if read and value.kinds & {"integer", "real"}:
        tests.append(value.type.isin("integer", "real") & _among(value, "number", _doubles(read)))
    if numbers:
        tests.append(_among(value, "number", _doubles(numbers)))
    return v.either(tests)


def _among(value: Value, column: str, literals: Iterable[str]) -> Column:
    listed = ", ".join(literals)
    if value.place is not None:
        return F.expr(f"{value.place}{column} IN ({listed})")
    return F.array_contains(F.expr(f"array({listed})"), getattr(value, column))


def _string(text: str) -> str:
    """A string as SQL text, whatever its characters and the session's rules for escapes."""
    return f"CAST(X'{text.encode('utf-8', 'surrogatepass').hex()}' AS STRING)"


def _doubles(numbers: Iterable[float]) -> list[str]:
    """Both zeros where there is one: a long list is a hash set, which tells them apart."""
    found = {repr(number) for number in numbers} | {"-0.0" for number in numbers if number == 0}
    return [f"{text}D" for text in sorted(found | {text[1:] for text in found if text == "-0.0"})]
