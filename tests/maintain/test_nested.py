"""Queries inside conditions and ranges: groups, distinct values, values, objects named by their oids."""

from __future__ import annotations

from random import Random

import pytest

from tests.maintain.kit import Kept
from tests.maintain.random_cases import Near, random_batch, random_graph

STATEMENTS = (
    "select n from N.a x, s in (x.a union x.b), s(.a)+ n",  # the start has another name inside
    "select r from N.a r where count(select distinct x from r.% x) > 1",
    "select y from y in (select distinct x from N.% x)",
    "select r from N.a r, y in (select distinct x from r.% x) where y.a",
    "select r from N.# r where sum(select distinct x from r.% x) > 2",
    "select r from N.% r where count(select k from r.a x, x.b k group by k) >= 1",
    "select r from N.# r where exists y in (select count(x) from r.% x) : y > 1",
    "select r from N.# r where exists y in (select max(x) from r.a z, z.% x group by z) : y > 1",
    "select r from N.# r where exists y in (select z from r.% z, z.% x group by z) : y.a",
    "select r from N.# r, y in (select x.a + 1 from r.% x) where y > 2",
    "select x from N.a x where x in (N.b union N.a.a)",
    "select r from N.# r where element(r.a) = element(r.b)",
    "select r from N.# r where count(r.a) = r.b",
    "select r from N.# r where for all x in r.a : exists y in r.b : (x = y and not (y.a = x.b))",
    "select x from N.% r, (select y from r.a y).b x",
    "select i: &3 from N.a x where x.b = 2 with i.a w",
    "select &3, x from N.a x where not exists (x.b)",
    "select i: &9 from N.a x",
    "select x from N.a x where &9 = 2",
    'select x from N.a x where not (type-of(&9) = "complex")',
    "select x from N.a x, y in (&9 union &8)",
    "select x from N.a x, &2.b y where &4 = 2 and y = &5",
    "select N",
    "select N.a",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_kept(statement: str) -> None:
    for seed in range(8):
        rng = Random(seed)
        view = Kept.of(f"define view V as item = {statement}", random_graph(rng))
        view.check()
        for _ in range(5):
            near = Near(frozenset(view.graph.values), ("a", "b"))
            view.apply(random_batch(rng, view.graph, near, set()))
            view.check(fresh=False)
