"""`grep` on Spark: the automaton for long texts agrees with the oracle, and ends where Java would not."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from lorel.regex import PatternError, portable
from oemviews.engines.spark.grep import searched
from oemviews.errors import OemError
from oemviews.session import settings
from tests.engines.batched import INTERPRETED
from tests.oracle import values as oracle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ALWAYS = (0, 0, 0, 0, 0)
"""No text is short enough for Java."""

PATTERNS = (
    *(
        "a*b",
        "^a*b",
        "a*b$",
        "^[ab]*$",
        "^[^a]*$",
        "a{2,}",
        "a{2,}b{1,3}c",
        "(?:ab)+",
        "^(?:ab|c)*$",
        "a.*b.*c",
    ),
    *(
        "x|^a+",
        "b+$|^c",
        r"\d+\.",
        r"[\]\-]+a",
        r"é+|😀+",
        "^$|a+b",
        r"a\n+",
        "[b-d]*c?a",
        "(?:a|b*)c",
        "^a+$",
    ),
)
TEXTS = (
    *(
        "",
        "a",
        "b",
        "ab",
        "aab",
        "abab",
        "ba",
        "c",
        "abc",
        "aabbc",
        "a b c",
        "a\nb",
        "b\n",
        "ab\n\n",
        "aaa\n",
        "\n",
    ),
    *("12.", ".", "]a", "-a", "éé", "😀", "x\n", "ca", "da", "abcabc", "start", "end", "null", "\0", "a\r"),
)


def found(spark: SparkSession, patterns: list[str], texts: list[str]) -> list[list[bool]]:
    frame = spark.createDataFrame(pa.table({"t": texts, "n": range(len(texts))}))
    tests = [searched(F.col("t"), pattern, ALWAYS).alias(f"p{i}") for i, pattern in enumerate(patterns)]
    with settings(spark, INTERPRETED):
        rows = frame.select("n", *tests).toArrow().sort_by("n")
    return [rows[f"p{i}"].to_pylist() for i in range(len(patterns))]


def test_oracle_awkward_patterns(spark: SparkSession) -> None:
    patterns = [portable(pattern) for pattern in PATTERNS]
    for pattern, hits in zip(patterns, found(spark, patterns, list(TEXTS)), strict=True):
        wanted = [oracle.matches("grep", ("string", text), pattern) for text in TEXTS]
        assert dict(zip(TEXTS, hits, strict=True)) == dict(zip(TEXTS, wanted, strict=True)), pattern


def test_oracle_random_patterns(spark: SparkSession) -> None:
    rng, patterns = Random(4), list[str]()
    while len(patterns) < 60:
        pieces = ("a", "b", "[ab]", "[^a]", ".", "c", "(?:ab|c)", "(?:b|ca)")
        signs = ("", "", "*", "+", "?", "{2}", "{1,}", "{0,2}")
        middle = "".join(rng.choice(pieces) + rng.choice(signs) for _ in range(rng.randint(1, 4)))
        text = rng.choice(("", "^")) + middle + rng.choice(("", "$")) + rng.choice(("", "", "|bb+"))
        try:
            patterns.append(portable(text))
        except PatternError:
            continue
    texts = ["".join(rng.choice("abc\n") for _ in range(rng.randint(0, 7))) for _ in range(60)]
    for pattern, hits in zip(patterns, found(spark, patterns, texts), strict=True):
        wanted = [oracle.matches("grep", ("string", text), pattern) for text in texts]
        assert dict(zip(texts, hits, strict=True)) == dict(zip(texts, wanted, strict=True)), pattern


def test_a_search_that_java_would_not_end(spark: SparkSession) -> None:
    """About 10,000 to the power of five ways to share out the text."""
    frame = spark.createDataFrame(pa.table({"t": ["a" * 10_000, "a" * 10_000 + "b", None]}))
    hits = frame.select(searched(F.col("t"), "a*a*a*a*b").alias("hit")).toArrow()["hit"].to_pylist()
    assert hits == [False, True, None]


def test_a_repeated_group_does_not_exhaust_the_stack(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.table({"t": ["abc" * 30_000 + "d", "abc" * 30_000]}))
    hits = frame.select(searched(F.col("t"), "^(?:ab|c)+d").alias("hit")).toArrow()["hit"].to_pylist()
    assert hits == [True, False]


@pytest.mark.parametrize("pattern", ["a{80}b*", "a*(?:^b|c)", "a*^b", "a$b*"])
def test_what_the_automaton_cannot_hold_is_refused_in_words(spark: SparkSession, pattern: str) -> None:
    with pytest.raises(OemError, match=r"wanted, on the Spark engine, .*use the local engine"):
        searched(F.col("t"), portable(pattern))


def test_a_pattern_that_must_end_is_left_to_java(spark: SparkSession) -> None:
    assert str(searched(F.col("t"), "^a(?:^b){3}")).startswith("Column<'rlike(")
