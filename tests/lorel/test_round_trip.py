"""What is printed reads back as the same tree; what was printed prints the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorel.parser import parse, parse_program
from lorel.printer import print_statement
from tests.generators.syntax import random_statement

IDENTITY = (Path(__file__).parent / "identity.txt").read_text(encoding="utf-8").splitlines()


@given(st.integers(0, 2**32))
def test_parse_undoes_print(seed: int) -> None:
    tree = random_statement(Random(seed))
    text = print_statement(tree)
    assert parse(text) == tree, text


def test_parse_undoes_print_on_many_statements() -> None:
    for seed in range(2000):
        tree = random_statement(Random(seed))
        assert parse(print_statement(tree)) == tree, print_statement(tree)


@pytest.mark.parametrize("line", IDENTITY)
def test_prints_as_read(line: str) -> None:
    assert print_statement(parse(line)) == line


def test_a_program_is_its_statements() -> None:
    text = ";\n".join(IDENTITY) + ";"
    assert [print_statement(each) for each in parse_program(text)] == IDENTITY


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (
            "SELECT r FROM Guide.Restaurant AS r WHERE r.Price <> 3",
            "select r from Guide.Restaurant r where r.Price != 3",
        ),
        ("select r from r in Guide.Restaurant", "select r from Guide.Restaurant r"),
        ("select e.Name as dish from Guide.# e", "select dish: e.Name from Guide.# e"),
        ("select r from G.R r where r.Address", "select r from G.R r where exists (r.Address)"),
        ("select r from G.R r where is-atomic(r)", "select r from G.R r where is-atomic(r) = true"),
        ("select r from G.R r where not r.Price < 3", "select r from G.R r where not (r.Price < 3)"),
        ("((select r from G.R r))", "select r from G.R r"),
        ("select 'it''s'".replace("''", "\\'"), 'select "it\'s"'),
        (
            "define materialised view V = select r from G.R r",
            "define materialized view V = select r from G.R r",
        ),
        ("select r -- all of them\nfrom G.R r", "select r from G.R r"),
        ("select count((select r from G.R r))", "select count(select r from G.R r)"),
        ("select 4--4", "select 4 - -4"),
    ],
)
def test_another_way_to_write_it(written: str, printed: str) -> None:
    assert print_statement(parse(written)) == printed
