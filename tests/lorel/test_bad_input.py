"""Statements of megabytes and nesting of thousands work or end in a sentence, never in a traceback."""

from __future__ import annotations

from contextlib import suppress

import pytest

from lorel import ast
from lorel.canonical_text import normal_text
from lorel.errors import LorelError, LorelMeaningError
from lorel.normal import Block, Branch, Labels, ObjectItem, Step
from lorel.normalise import Catalog, normalise
from lorel.parser import parse, parse_query
from lorel.printer import print_statement

GUIDE = Catalog(frozenset({"Guide"}))
DEEP = 5000


def steps(many: int) -> str:
    """A chain of from items."""
    return "Guide.R x0, " + ", ".join(f"x{i}.a x{i + 1}" for i in range(many - 1))


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select Guide" + ".a" * 1500, "1500 steps"),
        ("select " + ", ".join(f"x{i}" for i in range(1100)) + " from " + steps(1100), "takes 1101 steps"),
        ("select r from Guide.R r where " + " or ".join(["r.a = 1"] * 6000), "in {1, 2, 3}"),
        ("select r from Guide.R r order by " + ", ".join(["r.a"] * 100), "100 keys"),
    ],
    ids=["path", "from", "or", "order"],
)
def test_a_query_of_too_many_steps_is_said(text: str, message: str) -> None:
    with pytest.raises(LorelMeaningError) as found:
        normalise(parse_query(text), GUIDE, text=text)
    assert message in str(found.value)


MANY = 300
RESTAURANTS = "select r from Guide.Restaurant r where "


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("select Guide.Restaurant" + ".Nearby" * MANY, 2),
        (RESTAURANTS + "r" + ".Nearby" * MANY + ".Price = 12", 1),
        (RESTAURANTS + " and ".join(f'r.Name != "x{i}"' for i in range(MANY)), 3),
        (RESTAURANTS + " and ".join(f"r.Price < {i + 100}" for i in range(MANY)), 1),
        (RESTAURANTS + " and ".join(f"not (r.Price = {i + 100})" for i in range(MANY)), 3),
        (RESTAURANTS + " or ".join(f"r.Price = {i}" for i in range(MANY)), 1),
        ("select " + ", ".join(f"r.Name as n{i}" for i in range(MANY)) + " from Guide.Restaurant r", 3),
        (
            "select " + ", ".join(f"count(r.Name) as n{i}" for i in range(MANY)) + " from Guide.Restaurant r",
            1,
        ),
        (" union ".join(["select Guide.Restaurant"] * 200), 3),
        (
            RESTAURANTS + "r.Rating > 0 and r.Price > 0 and (r.Price = 12 or r.Price = 13)"
            " and " + " and ".join(f"r.Name != 'x{i}'" for i in range(MANY)),
            1,
        ),
    ],
    ids=["path", "where_path", "and", "less", "not", "or", "items", "counts", "union", "either"],
)
def test_statements_of_hundreds_of_parts_are_answered(text: str, rows: int) -> None:
    from lorel.planner import Planner
    from tests.engines.support import local_engine
    from tests.guide import GUIDE as DATA

    engine = local_engine(DATA)
    plan = Planner(engine.statistics).query(normalise(parse_query(text), GUIDE, text=text))
    assert len(engine.run(plan)) == rows


def test_alternatives_are_not_multiplied_with_a_long_statement() -> None:
    both = "(" + " or ".join(["r.b = 1"] * 60) + ")"
    text = "select r from Guide.R r where " + " and ".join([both, *["r.a != 1"] * 300])
    query = normalise(parse_query(text), GUIDE, text=text)
    assert isinstance(query, Block)
    assert len(query.where) == 1


def test_a_canonical_form_too_deep_to_write_is_said() -> None:
    chain = tuple(Step(f"x{i}", Labels("a"), f"x{i + 1}") for i in range(1100))
    with pytest.raises(LorelError, match="nested too deeply to be written"):
        normal_text(Block((ObjectItem("x", "&1"),), Branch(), (Branch(chain),)))


def test_a_view_has_fewer_steps() -> None:
    from oemviews.views.definition import define

    with pytest.raises(LorelMeaningError, match=r"the view takes 101 steps.*at most 64"):
        define("define view V = select Guide" + ".a" * 100, GUIDE)


def test_a_tree_too_deep_to_print_is_said() -> None:
    tree = parse("select r from Guide.R r where " + "not (" * DEEP + "r.a = 1" + ")" * DEEP)
    with pytest.raises(LorelError, match="nested too deeply"):
        print_statement(tree)


LITERALS = ["1", "-4", "2.5", "-1e3", "007", '"a, b}"', "'it\\'s'", '"\\u00e9\\\\"', "TRUE", "false", "Null"]


def test_a_set_reads_the_same_as_one_word_and_literal_by_literal() -> None:
    """A comment in it makes the difference: the word knows none."""
    word, one_by_one = (
        parse_query(f"select r from Guide.R r where r.a in {{{text}}}")
        for text in (" , ".join(LITERALS), " , ".join(LITERALS) + "-- \n")
    )
    assert word == one_by_one
    assert isinstance(word, ast.Select)
    assert isinstance(one_by_one, ast.Select)
    assert isinstance(word.where, ast.In)
    assert isinstance(one_by_one.where, ast.In)
    first, second = word.where.collection, one_by_one.where.collection
    assert isinstance(first, ast.LiteralSet)
    assert isinstance(second, ast.LiteralSet)
    assert [item.span for item in first.items] == [item.span for item in second.items]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{1, foo}", "found 'foo', wanted a number"),
        ("{1, 2", "wanted `,` or `}`"),
        ("{}", "found '}', wanted a number"),
        ('{1, "\\q"}', "no escape"),
        ("{2, 1e999}", "too large for a real"),
    ],
)
def test_mistakes_in_a_set_are_found_at_their_place(text: str, message: str) -> None:
    with pytest.raises(LorelError, match=message) as found:
        parse(f"select r from Guide.R r where r.a in {text}")
    assert found.value.span.start > len("select r from Guide.R r where r.a in ")
