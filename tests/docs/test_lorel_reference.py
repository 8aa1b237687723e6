"""Every example of docs/lorel.md gives what the page says: on the oracle, and on the local engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lorel import ast
from lorel.canonical_text import normal_text
from lorel.errors import LorelError
from lorel.normalise import Catalog, normalise
from lorel.parser import parse, parse_query
from lorel.printer import constant_text
from oemviews import edits as e
from oemviews.answers.evaluate import Evaluation
from oemviews.front.updates import edits_of
from oemviews.model import COMPLEX
from tests.engines.support import local_engine
from tests.guide import GUIDE
from tests.oracle import answer, view
from tests.oracle.graph import Item

PAGE = (Path(__file__).parents[2] / "docs" / "lorel.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```lorel\n(.*?)```\n```(\w+)\n(.*?)```", PAGE, re.DOTALL)
NAMES = Catalog(frozenset({"Guide"}))


def _of_kind(*kinds: str) -> list[tuple[str, str]]:
    found = [(text.strip("\n"), wanted.rstrip("\n")) for text, kind, wanted in EXAMPLES if kind in kinds]
    assert found, f"no examples of {kinds}"
    return found


def test_every_example_says_what_it_gives() -> None:
    assert len(EXAMPLES) == PAGE.count("```lorel")
    assert {kind for _, kind, _ in EXAMPLES} == {"answer", "view", "edits", "canonical", "error"}


def _shown(item: Item) -> str:
    """An item as the page writes it."""
    if item[0] == "value":
        return constant_text(item[2])
    if item[0] == "new":
        return "{" + ", ".join(sorted(f"{label}: {_shown(part)}" for label, part in item[1])) + "}"
    value = GUIDE.values[item[1]]
    return f"&{item[1]}" if value is COMPLEX else f"&{item[1]} {constant_text(value)}"  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "wanted"), _of_kind("answer"))
def test_answers_on_the_oracle(text: str, wanted: str) -> None:
    query = parse_query(text)
    rows = [", ".join(_shown(item) for item in row) for row in answer(GUIDE, query)]
    ordered = isinstance(query, ast.Select) and query.order_by
    assert (rows if ordered else sorted(rows)) == (
        wanted.splitlines() if ordered else sorted(wanted.splitlines())
    )


@pytest.mark.parametrize(("text", "wanted"), _of_kind("answer"))
def test_answers_on_the_local_engine(text: str, wanted: str) -> None:
    query = parse_query(text)
    columns = Evaluation(local_engine(GUIDE)).columns(normalise(query, NAMES, text=text))
    rows = [", ".join(repr(column.cell(i)) for column in columns) for i in range(len(columns[0]))]
    if "{" in wanted:
        assert len(rows) == len(wanted.splitlines())
    elif isinstance(query, ast.Select) and query.order_by:
        assert rows == wanted.splitlines()
    else:
        assert sorted(rows) == sorted(wanted.splitlines())


@pytest.mark.parametrize(("text", "wanted"), _of_kind("view"))
def test_views(text: str, wanted: str) -> None:
    statement = parse(text)
    assert isinstance(statement, ast.DefineView)
    found = view(GUIDE, statement.query)
    lines = [f"&{oid}" for oid in sorted(found.primaries)]
    for variable, edges in found.edges.items():
        lines += [f"{variable}: &{src} -{label}-> &{dst}" for src, label, dst in sorted(edges)]
    assert lines == wanted.splitlines()


@pytest.mark.parametrize(("text", "wanted"), _of_kind("edits"))
def test_updates(text: str, wanted: str) -> None:
    statement = parse(text)
    assert isinstance(statement, ast.Update)
    found = edits_of(statement, text, NAMES, Evaluation(local_engine(GUIDE)))
    made = {edit.oid: edit.value for edit in found if isinstance(edit, e.New)}

    def ref(oid: e.Ref) -> str:
        return f"&{oid}" if isinstance(oid, int) else f"new {constant_text(made[oid])}"  # type: ignore[arg-type]

    lines = []
    for edit in found:
        match edit:
            case e.New(oid):
                lines.append(ref(oid))
            case e.Insert(src, label, dst):
                lines.append(f"ins {ref(src)} {label} {ref(dst)}")
            case e.Delete(src, label, dst):
                lines.append(f"del {ref(src)} {label} {ref(dst)}")
            case e.Change(oid, new):
                lines.append(f"chg {ref(oid)} {constant_text(new)}")  # type: ignore[arg-type]
    assert sorted(lines) == sorted(wanted.splitlines())


@pytest.mark.parametrize(("text", "wanted"), _of_kind("canonical"))
def test_canonical_forms(text: str, wanted: str) -> None:
    assert normal_text(normalise(parse_query(text), NAMES)) == wanted


@pytest.mark.parametrize(("text", "wanted"), _of_kind("error"))
def test_errors(text: str, wanted: str) -> None:
    with pytest.raises(LorelError) as found:
        normalise(parse_query(text), NAMES, text=text)
    assert str(found.value) == wanted
