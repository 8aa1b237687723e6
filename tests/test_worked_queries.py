"""The worked queries give their answers: on the oracle, in canonical form, and on the local engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from lorel import ast
from lorel.analysis import faults
from lorel.canonical_text import normal_text
from lorel.normal import Normal
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from tests.engines.support import answer_of, local_engine
from tests.guide import GUIDE
from tests.oracle import answer
from tests.worked import WORKED, WORKED_VALUES

Rows: TypeAlias = list[tuple[tuple[object, ...], ...]]

GUIDE_NAMES = Catalog(frozenset({"Guide"}))


def _normal(query: ast.Query) -> Normal:
    return normalise(query, GUIDE_NAMES)


def _on_oracle(query: ast.Query) -> Rows:
    return answer(GUIDE, query)


def _as_canonical_text(query: ast.Query) -> Rows:
    return answer(GUIDE, parse_query(normal_text(_normal(query))))


def _on_local(query: ast.Query) -> Rows:
    return answer_of(local_engine(GUIDE), _normal(query))


ENGINES: dict[str, Callable[[ast.Query], Rows]] = {
    "oracle": _on_oracle,
    "canonical": _as_canonical_text,
    "local": _on_local,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "oids"), [case[1:] for case in WORKED], ids=[case[0] for case in WORKED])
def test_worked_queries(text: str, oids: set[int], engine: str) -> None:
    assert {row[0] for row in ENGINES[engine](parse_query(text))} == {("oid", oid) for oid in oids}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "values"), [case[1:] for case in WORKED_VALUES], ids=[case[0] for case in WORKED_VALUES]
)
def test_worked_queries_of_values(text: str, values: set[str], engine: str) -> None:
    rows = ENGINES[engine](parse_query(text))
    assert {row[0] for row in rows} == {("value", "string", value) for value in values}


@pytest.mark.parametrize(
    "text",
    [case[1] for case in (*WORKED, *WORKED_VALUES)],
    ids=[case[0] for case in (*WORKED, *WORKED_VALUES)],
)
def test_worked_queries_are_canonical(text: str) -> None:
    assert faults(_normal(parse_query(text))) == []
