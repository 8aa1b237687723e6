"""What one edit costs does not depend on the size of the graph."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from lorel.scope import Catalog
from oemviews.edits import Delete, NetChange
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.maintain.changes import changes_of
from oemviews.maintain.maintain import maintain
from oemviews.maintain.report import ViewReport
from oemviews.model import COMPLEX, Value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS
from oemviews.views.definition import define
from oemviews.views.materialise import materialise
from tests.maintain.kit import Kept
from tests.oracle import OracleGraph

VIEWS: Final = {
    "chain": """select e from Guide.Restaurant r, r.Entree e
                where r.Name = "text 10" and e.Ingredient = "text 3" with e.Name n, e.Ingredient i""",
    "join": """select e from Guide.Restaurant r, r.Entree e, r.Entree f
               where e.Ingredient = f.Ingredient and r.Name = "text 10" """,
    "negation": 'select r from Guide.Restaurant r where not exists e in r.Entree : e.Ingredient = "text 3"',
    "closure": 'select n from Guide.Restaurant r, r(.Nearby)+ n where r.Name = "text 10"',
    "aggregate": "select r from Guide.Restaurant r where count(r.Entree) > 4 with r.Entree e, e.Name n",
}


class Sized:
    """A guide of so many restaurants: every neighbourhood looks the same, whatever the size.

    A restaurant has a name, five entrees and one neighbour, in rings of ten; an entree has a name and two
    ingredients; an ingredient is used ten times.
    """

    def __init__(self, restaurants: int) -> None:
        count = restaurants
        self.rest = np.arange(2, count + 2)
        self.name = self.rest + count
        self.entree = np.arange(2 * count + 2, 7 * count + 2)
        self.dish = self.entree + 5 * count
        self.ingredient = np.arange(12 * count + 2, 13 * count + 2)
        ring = np.arange(count) // 10 * 10
        parts: list[tuple[str, Any, Any]] = [
            ("Guide", np.zeros(1, int), np.ones(1, int)),
            ("Restaurant", np.ones(count, int), self.rest),
            ("Name", self.rest, self.name),
            ("Entree", np.repeat(self.rest, 5), self.entree),
            ("Nearby", self.rest, self.rest[ring + (np.arange(count) + 1 - ring) % 10]),
            ("Name", self.entree, self.dish),
            ("Ingredient", np.repeat(self.entree, 2), self.ingredient[np.arange(10 * count) % count]),
        ]
        self.edges = pa.concat_tables(edges(label, src, dst) for label, src, dst in parts)
        oids = np.arange(1, 13 * count + 2)
        atomic = np.isin(oids, np.concatenate([self.name, self.dish, self.ingredient]))
        text = [f"text {i % count}" if atom else None for i, atom in zip(oids - 2, atomic, strict=True)]
        self.objects = pa.table(
            [
                oids,
                np.where(atomic, "string", "complex"),
                pa.array(text, pa.string()),
                *(pa.nulls(len(oids), OBJECTS.field(name).type) for name in ("integer", "number", "shape")),
            ],
            schema=OBJECTS,
        )


def edges(label: str, src: Any, dst: Any) -> pa.Table:
    size = len(src)
    return pa.table(
        [src, pa.array([label] * size, pa.string()), dst, np.arange(size), pa.nulls(size, pa.string())],
        schema=EDGES,
    )


def batches(guide: Sized) -> dict[str, NetChange]:
    """One edit each: an edge that comes, an edge that goes, a value that changes."""
    one = [guide.rest[10:11], guide.entree[50:51], guide.ingredient[3:4]]
    value = ["string", "text 10", None, None]
    row = dict(
        zip(CHANGES_OF_VALUE.names, [int(guide.name[11]), "string", "x", None, None, *value], strict=True)
    )
    return {
        "ingredient": NetChange(plus=edges("Ingredient", one[1], one[2])),
        "entree": NetChange(minus=edges("Entree", one[0], one[1])),
        "nearby": NetChange(plus=edges("Nearby", one[0], guide.rest[15:16])),
        "value": NetChange(changed=pa.Table.from_pylist([row], schema=CHANGES_OF_VALUE)),
    }


def reports(restaurants: int) -> dict[str, ViewReport]:
    guide = Sized(restaurants)
    graph = LocalGraph.of_tables(guide.edges, guide.objects)
    found = {}
    for name, text in VIEWS.items():
        view = define(f"define view V as item = {text}", Catalog(frozenset({"Guide"})), "auto")
        state = materialise(view, LocalEngine({("", "new"): graph})).state
        for kind, net in batches(guide).items():
            engine = LocalEngine({("", "old"): graph, ("", "new"): graph.apply(net)})
            found[f"{name}, {kind}"] = maintain(view, state, engine, changes_of({"": net})).report
    return found


@pytest.mark.slow
def test_one_edit_touches_as_many_rows_whatever_the_size() -> None:
    small, large = reports(500), reports(50_000)
    assert {name: report.rows for name, report in large.items()} == {
        name: report.rows for name, report in small.items()
    }
    assert max(report.rows for report in large.values()) < 1000
    assert all(report.method != "full" for report in large.values())


def test_a_recheck_of_all_keys_is_reported_as_full() -> None:
    guide = Sized(40)
    graph = LocalGraph.of_tables(guide.edges, guide.objects)
    text = "define view V = select r from Guide.Restaurant r where not exists (Guide.Closed)"
    view = define(text, Catalog(frozenset({"Guide"})), "incremental")
    state = materialise(view, LocalEngine({("", "new"): graph})).state
    net = NetChange(plus=edges("Closed", np.ones(1, int), guide.name[:1]))
    engine = LocalEngine({("", "old"): graph, ("", "new"): graph.apply(net)})
    report = maintain(view, state, engine, changes_of({"": net})).report
    assert (report.removed, report.method) == (40, "full")
    assert report.reason == "every row of the view had to be checked again"
    assert "evaluated in full: every row" in str(report)
    assert report.as_json()["method"] == "full"


def test_policy_full_says_so() -> None:
    guide = Sized(40)
    graph = LocalGraph.of_tables(guide.edges, guide.objects)
    view = define(f"define view V = {VIEWS['chain']}", Catalog(frozenset({"Guide"})), "full")
    state = materialise(view, LocalEngine({("", "new"): graph})).state
    net = batches(guide)["ingredient"]
    engine = LocalEngine({("", "old"): graph, ("", "new"): graph.apply(net)})
    delta = maintain(view, state, engine, changes_of({"": net}))
    assert (delta.report.method, delta.report.reason) == ("full", "the policy is full")
    assert delta.report.added == 1


def test_policy_auto_recomputes_when_most_of_the_graph_changes() -> None:
    guide = Sized(400)
    graph = LocalGraph.of_tables(guide.edges, guide.objects)
    view = define(f"define view V = {VIEWS['chain']}", Catalog(frozenset({"Guide"})), "auto")
    state = materialise(view, LocalEngine({("", "new"): graph})).state
    net = NetChange(
        minus=edges("Ingredient", np.repeat(guide.entree, 2), guide.ingredient[np.arange(4000) % 400])
    )
    engine = LocalEngine({("", "old"): graph, ("", "new"): graph.apply(net)})
    report = maintain(view, state, engine, changes_of({"": net})).report
    assert report.method == "full"
    assert report.reason.startswith("maintaining was expected to touch")
    assert report.predicted is not None
    assert report.recompute is not None
    assert report.predicted > report.recompute


def test_a_closure_that_reaches_more_than_expected_is_recomputed() -> None:
    """One ring among thousands of pairs: each edge of it lies on the way to every object of it."""
    first, last = 3002, 3101
    values: dict[int, Value] = {oid: COMPLEX for oid in range(1, last + 1)}
    edges = {(0, "R", 1), *((1, "a", oid) for oid in range(2, last + 1))}
    edges |= {(oid, "b", oid + 1) for oid in [*range(2, first, 2), *range(first, last)]} | {
        (last, "b", first)
    }
    values |= {last + oid: oid % 7 for oid in range(first, last)}
    edges |= {(oid, "p", last + oid) for oid in range(first, last)}
    text = "define view V as v = select r, n from R.a r, r(.b)+ n where r.p < 6"
    auto, kept = (Kept.of(text, OracleGraph(values, edges), policy) for policy in ("auto", "incremental"))
    report = auto.apply([Delete(first + 5, "b", first + 6)]).report
    assert report.method == "full"
    assert "rows again was expected to touch" in report.reason
    assert not report.predicted > report.recompute  # type: ignore[operator]
    kept.apply([Delete(first + 5, "b", first + 6)])
    assert auto.state.rows == kept.state.rows
    auto.check_fresh()
