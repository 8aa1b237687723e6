"""Golden cases: rewritings, canonical forms, plans, and errors as a user sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorel import ast
from lorel.analysis import faults
from lorel.canonical_text import normal_text
from lorel.desugar import DESUGARINGS
from lorel.errors import LorelError
from lorel.moves import guessed_reach
from lorel.normal import Automaton, Compare, Labels, OneOf, Test
from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.plan import explain
from lorel.planner import Planner
from lorel.printer import print_query
from tests import golden

NAMES = Catalog(frozenset({"Guide", "Menu"}), {"Favorites": "Entrees"})


EDGES = {"Guide": 1, "Restaurant": 1000, "Entree": 5000, "Name": 6000, "Nearby": 3000, "Category": 900}


class GuideStatistics:
    """Numbers of a Guide with a thousand restaurants; the planner must choose the same way every time."""

    def edges(self, labels: Labels, graph: str) -> float:
        return float(EDGES.get(labels.text, 2000)) if labels.exact else 30_000.0

    def fan_out(self, labels: Labels, graph: str) -> float:
        return max(1.0, self.edges(labels, graph) / (1 if labels.text == "Restaurant" else 1000))

    def fan_in(self, labels: Labels, graph: str) -> float:
        return 1.0 if labels.exact else 3.0

    def passing(self, test: Test, graph: str) -> float:
        return 3.0 if isinstance(test, OneOf) or (isinstance(test, Compare) and test.op == "=") else 700.0

    def entering(self, test: Test, labels: Labels, graph: str) -> float:
        return self.passing(test, graph) * self.fan_in(labels, graph)

    def reach(self, path: Automaton, graph: str, forward: bool) -> float:
        return guessed_reach(self, path, graph, forward)

    def objects(self, graph: str) -> float:
        return 20_000.0


@pytest.mark.parametrize("path", golden.cases("desugar"), ids=lambda path: path.stem)
def test_desugarings(path: Path, update_golden: bool) -> None:
    """The rewriting that the case names, after those before it."""
    case = golden.load(path)
    query: ast.Query = parse_query(case["query"])
    for rewriting in DESUGARINGS:
        query = rewriting(query)
        if rewriting.__name__ == case["rule"]:
            break
    golden.check(path, print_query(query), update=update_golden)


def test_every_desugaring_has_cases() -> None:
    ruled = {golden.load(path)["rule"] for path in golden.cases("desugar")}
    assert ruled == {rewriting.__name__ for rewriting in DESUGARINGS}


@pytest.mark.parametrize("path", golden.cases("normal"), ids=lambda path: path.stem)
def test_canonical_forms(path: Path, update_golden: bool) -> None:
    text = golden.load(path)["query"]
    normal = normalise(parse_query(text), NAMES, text=text)
    assert faults(normal) == []
    golden.check(path, normal_text(normal), update=update_golden)


@pytest.mark.parametrize("path", golden.cases("plan"), ids=lambda path: path.stem)
def test_plans(path: Path, update_golden: bool) -> None:
    normal = normalise(parse_query(golden.load(path)["query"]), NAMES)
    golden.check(path, explain(Planner(GuideStatistics()).query(normal)), update=update_golden)


@pytest.mark.parametrize("path", golden.cases("errors"), ids=lambda path: path.stem)
def test_errors(path: Path, update_golden: bool) -> None:
    text = golden.load(path)["query"]
    with pytest.raises(LorelError) as found:
        normalise(parse_query(text), NAMES, text=text)
    golden.check(path, str(found.value), update=update_golden)
