"""Values as column expressions against the oracle: every pair of awkward values, in one job each."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from oemviews.engines.rows import Rows
from oemviews.engines.spark import values as v
from oemviews.engines.spark.arrow import given_table, values_of
from oemviews.engines.spark.engine import failing_in_words
from oemviews.engines.spark.graph import like
from oemviews.engines.spark.membership import one_of
from oemviews.errors import OemError
from oemviews.model import COMPLEX, type_of
from oemviews.store.values import BIG, MISSING, NAMES
from oemviews.store.values import values_of as column_of
from tests.oracle import values as oracle

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.spark

ATOMS: tuple[Any, ...] = (
    *(0, 1, -1, 4, 92310, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)),
    *(2**63, 2**64, -(2**64), 10**30, 10**400, -(10**400)),
    *(0.0, -0.0, 4.0, 4.5, -0.5, 1e16, 1.5e-4, 1e-5, 123456789.25, 1e22, 1.7976931348623157e308),
    *("", "4", "4.0", "-0", "04", " 4", "4 ", "1e3", "1e999", "NaN", "Infinity"),
    *("4d", "0x10", "٤", "x\n", "4\n"),
    *("cheap", "Cheap", "é", "\U0001f600", "z", "9007199254740993"),
    *(True, False, None, b"", b"4"),
)  # fmt: skip


def typed(atom: Any) -> oracle.Typed:
    return type_of(atom), atom


def pairs(spark: SparkSession, atoms: tuple[Any, ...]) -> tuple[DataFrame, v.Value, v.Value]:
    """Every pair of atoms as columns a and b, with its number in column `_n`."""
    both = list(product(atoms, atoms))
    columns = {"a": column_of(a for a, _ in both), "b": column_of(b for _, b in both)}
    rows = Rows(columns, column_of(range(len(both))).integer)
    table = given_table(spark, rows, ("a", "b"))
    return table.frame, v.of_struct(table.col("a")), v.of_struct(table.col("b"))


def collected(frame: DataFrame, **columns: Column) -> pa.Table:
    named = [column.alias(name) for name, column in columns.items()]
    return frame.select("_n", *named).toArrow().sort_by("_n")


def test_comparison_is_that_of_the_coercion_table(spark: SparkSession) -> None:
    frame, a, b = pairs(spark, ATOMS)
    tests = {f"op{i}": v.holds(v.compare(op, a, b), negated=True) for i, op in enumerate(v.OPERATORS)}
    found = collected(frame, **tests)
    for i, op in enumerate(v.OPERATORS):
        wrong = [
            (x, op, y)
            for (x, y), denied in zip(product(ATOMS, ATOMS), found[f"op{i}"].to_pylist(), strict=True)
            if denied == oracle.compare(op, typed(x), typed(y))
        ]
        assert wrong == []


def test_comparison_with_a_constant_is_the_same(spark: SparkSession) -> None:
    """The expression is another one: the types of a constant are known."""
    constants = (0, 4, -1, 2**53, 2**64, 10**400, 4.0, 1e16, "4", "4.0", "cheap", True, None)
    table = given_table(spark, Rows({"a": column_of(ATOMS)}, column_of(range(len(ATOMS))).integer), ("a",))
    a = v.of_struct(table.col("a"))
    names = {(op, i): f"c{n}" for n, (op, i) in enumerate(product(v.OPERATORS, range(len(constants))))}
    found = collected(
        table.frame,
        **{name: v.compare(op, a, v.of_constant(constants[i])) for (op, i), name in names.items()},
    )
    for (op, i), name in names.items():
        wanted = [oracle.compare(op, typed(x), typed(constants[i])) for x in ATOMS]
        assert [bool(held) for held in found[name].to_pylist()] == wanted, (op, constants[i])


@pytest.mark.parametrize("many", [0, 200])
def test_one_of_constants_is_equality_with_each(spark: SparkSession, many: int) -> None:
    """Also of so many that Spark looks them up in a hash set, and in columns as well as in a struct."""
    lists: tuple[tuple[Any, ...], ...] = (
        *((0,), (-0.0, 7), ("4", "it's", "a\\b"), ("cheap", 4, True), (2**53, 2**64, 10**400)),
        *((None, b"4"), ("1e3", 4.5), ("", "\U0001f600"), ()),
    )
    atoms = (*ATOMS, "it's", "a\\b")
    table = given_table(spark, Rows({"a": column_of(atoms)}, column_of(range(len(atoms))).integer), ("a",))
    frame = table.frame.select("v_a", "v_a.*", "_n")
    filler = [*range(10_000, 10_000 + many), *(f"word {i}" for i in range(many))]
    columns = {}
    for i, constants in enumerate(lists):
        columns[f"s{i}"] = one_of(v.of_struct(table.col("a")), [*constants, *filler])
        place = v.of_struct(table.col("a"))
        columns[f"c{i}"] = one_of(replace(place, place=""), [*constants, *filler])
    found = collected(frame, **columns)
    for i, constants in enumerate(lists):
        wanted = [any(oracle.compare("=", typed(x), typed(c)) for c in constants) for x in atoms]
        for name in (f"s{i}", f"c{i}"):
            assert [bool(held) for held in found[name].to_pylist()] == wanted, (name, constants)


def items(column: pa.ChunkedArray) -> list[oracle.Typed | None]:
    values = values_of(column)
    kinds = [None if kind == MISSING else NAMES[kind] for kind in values.kind.tolist()]
    return [None if kind is None else (kind, values.item(i)) for i, kind in enumerate(kinds)]


def test_arithmetic_is_exact_and_missing_where_it_must_be(spark: SparkSession) -> None:
    atoms = tuple(atom for atom in ATOMS if type(atom) is not int or abs(atom) <= 2**63)  # products fit
    frame, a, b = pairs(spark, atoms)
    ops = ("+", "-", "*", "/", "mod", "||")
    results = {f"op{i}": v.arithmetic(op, a, b).struct for i, op in enumerate(ops)}
    found = collected(frame, **results)
    for i, op in enumerate(ops):
        wanted = [oracle.arithmetic(op, typed(x), typed(y)) for x, y in product(atoms, atoms)]
        for pair, mine, theirs in zip(product(atoms, atoms), items(found[f"op{i}"]), wanted, strict=True):
            assert mine == theirs, (op, *pair)


def test_an_integer_too_long_to_compute_fails_in_words(spark: SparkSession) -> None:
    frame, a, b = pairs(spark, (10**30, 10**20))
    with pytest.raises(OemError, match=r"beyond 38 digits.*use the local engine"), failing_in_words():
        collected(frame, product=v.arithmetic("*", a, b).struct)


def test_big_integers_keep_their_digits(spark: SparkSession) -> None:
    frame, a, b = pairs(spark, (2**62, 2**40))
    found = values_of(collected(frame, x=v.arithmetic("*", a, b).struct)["x"])
    assert found.kind.tolist() == [BIG, BIG, BIG, BIG]
    assert found.items() == [2**124, 2**102, 2**102, 2**80]


WORDS = (
    *(
        "Robert",
        "Rupert",
        "Ashcraft",
        "Tymczak",
        "Pfister",
        "Honeyman",
        "Jackson",
        "Wheeler",
        "a",
        "hw",
        "12",
    ),
    *("O'Hara", "", "Éa", "bbb", "McDonald", "Schmidt", "aeiouy", "Kelvin \u212a", "x1y2z"),
)


def test_texts_and_soundex(spark: SparkSession) -> None:
    atoms = (*ATOMS, *WORDS)
    table = given_table(spark, Rows({"a": column_of(atoms)}, column_of(range(len(atoms))).integer), ("a",))
    a = v.of_struct(table.col("a"))
    text = v.text_of(a)
    found = collected(table.frame, text=text, code=v.soundex(text), number=v.of_text(a.text).number)
    wanted = [oracle.text_of(typed(atom)) for atom in atoms]
    assert found["text"].to_pylist() == wanted
    assert found["code"].to_pylist() == [None if each is None else oracle.soundex(each) for each in wanted]
    read = [oracle.real_of(typed(atom)) if isinstance(atom, str) else None for atom in atoms]
    strings = [isinstance(atom, str) for atom in atoms]
    assert [n for n, s in zip(found["number"].to_pylist(), strings, strict=True) if s] == [
        n for n, s in zip(read, strings, strict=True) if s
    ]


@pytest.mark.parametrize("pattern", ["%", "_", "", "4%", "%.0", "__", r"a\%", r"\\_", "%é%", "a.c", "x_"])
def test_like_has_no_escape(spark: SparkSession, pattern: str) -> None:
    texts = ["", "4", "4.0", "ab", r"a\b", r"\\x", "\U0001f600", "é", "a.c", "abc", "x\n", "a%"]
    frame = spark.createDataFrame(pa.table({"t": texts, "_n": range(len(texts))}))
    from pyspark.sql import functions as F

    found = collected(frame, hit=like(F.col("t"), pattern))["hit"].to_pylist()
    assert found == [oracle.matches("like", ("string", text), pattern) for text in texts]


def test_a_complex_value_keeps_its_oid_on_the_way_in_and_out(spark: SparkSession) -> None:
    values = column_of([COMPLEX, COMPLEX, 7])
    values.integer[:] = [3, 4, 7]
    table = given_table(spark, Rows({"x": values}, column_of([1, 1, 1]).integer), ("x",))
    back = values_of(table.frame.toArrow()["v_x"])
    assert sorted(zip(back.kind.tolist(), back.integer.tolist(), strict=True)) == [(0, 3), (0, 4), (1, 7)]
