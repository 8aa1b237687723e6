"""Views with ranges over queries of several items are kept like any other."""

from __future__ import annotations

from collections import Counter
from random import Random

from lorel.printer import print_statement
from tests.generators import graphs, queries
from tests.maintain.kit import Kept


def test_views_with_rows_are_kept() -> None:
    seen: Counter[str] = Counter()
    for seed in range(80):
        rng = Random(seed)
        view = Kept.of(print_statement(queries.random_row_view(rng)), graphs.random_graph(rng))
        view.check()
        seen[view.definition.method] += 1
        for _ in range(4):
            delta = view.apply(graphs.random_edits(rng, view.graph, rng.choice((1, 1, 6))))
            seen["changed"] += bool(delta.appeared or delta.vanished)
            view.check(fresh=False)
    assert min(seen["counting"], seen["recheck"], seen["changed"]) > 5, seen


def test_a_view_over_the_groups_of_a_query() -> None:
    """Ingredients of several entrees: what is written `having` elsewhere."""
    from oemviews.edits import Delete, Insert
    from tests.guide import GUIDE

    view = Kept.of(
        "define view Common = select g.i from g in "
        "(select i, n: count(e) from Guide.Restaurant.Entree e, e.Ingredient i group by i) where g.n > 1",
        GUIDE,
    )
    assert view.state.rows.keys() == {(17,)}
    for edit, rows in (
        (Insert(10, "Ingredient", 19), {(17,), (19,)}),
        (Delete(13, "Ingredient", 17), {(19,)}),
    ):
        view.apply([edit])
        view.check()
        assert view.state.rows.keys() == rows
