"""Statements of megabytes and nesting of thousands work or end in a sentence, never in a traceback."""

from __future__ import annotations

from contextlib import suppress

import pytest

from lorel import ast
from lorel.errors import LorelError, LorelMeaningError
from lorel.normalise import Catalog, normalise
from lorel.parser import parse, parse_query
from lorel.printer import print_statement

GUIDE = Catalog(frozenset({"Guide"}))
DEEP = 5000


@pytest.mark.parametrize(
    "text",
    [
        "(" * DEEP + "Guide" + ")" * DEEP,
        "select r from Guide.R r where " + "not (" * DEEP + "r.a = 1" + ")" * DEEP,
        "select r from Guide.R r where " + "exists x in r.a : " * DEEP + "x = 1",
        "select " + "-(" * DEEP + "1" + ")" * DEEP,
        "select " + "(select " * DEEP + "Guide" + ")" * DEEP,
        "select Guide" + "(.a" * DEEP + ")*" * DEEP,
        "select " + " + ".join(["1"] * DEEP),
        "select " + "count(" * DEEP + "Guide" + ")" * DEEP,
    ],
    ids=["brackets", "not", "exists", "minus", "select", "groups", "sum", "calls"],
)
def test_nesting_of_thousands(text: str) -> None:
    query = parse_query(text)
    with suppress(LorelMeaningError):
        normalise(query, GUIDE, text=text)


def test_a_statement_of_megabytes() -> None:
    text = "select r from Guide.R r where r.a in {" + ", ".join(map(str, range(150_000))) + "}"
    query = parse(text)
    assert isinstance(query, ast.Select)
    assert isinstance(query.where, ast.In)


def test_a_long_path() -> None:
    query = parse_query("select Guide" + ".a" * 20_000)
    assert isinstance(query, ast.Select)


def test_an_error_in_a_long_line_shows_a_part_of_it() -> None:
    text = "select r from Guide.R r where r.a in {" + ", ".join(map(str, range(50_000))) + "} andd r.b = 1"
    with pytest.raises(LorelError) as found:
        parse(text)
    assert len(str(found.value)) < 1000
    assert "did you mean 'and'" in str(found.value)


@pytest.mark.parametrize(
    "text", ["\x00", "select \ud800", "\ufeffselect r", "select r\x00", "\u2028", "&", "'", '"', "`", ";;"]
)
def test_odd_characters(text: str) -> None:
    with pytest.raises(LorelError):
        parse(text)


def test_integers_have_a_limit() -> None:
    with pytest.raises(LorelError, match="digits"):
        parse("select " + "9" * 5000)


def test_what_is_nested_too_deeply_is_said() -> None:
    text = "select " + "(select " * DEEP + "Guide" + ")" * DEEP
    with pytest.raises(LorelMeaningError, match="nested too deeply") as found:
        normalise(parse_query(text), GUIDE, text=text)
    assert len(str(found.value)) < 1000


def test_a_query_of_too_many_steps_is_said() -> None:
    text = "select Guide" + ".a" * 150
    with pytest.raises(LorelMeaningError, match="150 steps"):
        normalise(parse_query(text), GUIDE, text=text)


def test_a_tree_too_deep_to_print_is_said() -> None:
    tree = parse("select r from Guide.R r where " + "not (" * DEEP + "r.a = 1" + ")" * DEEP)
    with pytest.raises(LorelError, match="nested too deeply"):
        print_statement(tree)
