"""Views on views: a batch flows through the chain, each view fed by what changed in the one below."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from lorel import ast
from lorel.errors import LorelMeaningError
from lorel.normal import State
from lorel.parser import parse
from lorel.scope import Catalog
from oemviews.edits import Change, Delete, Edit, Insert, NetChange
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.maintain.changes import changes_of
from oemviews.maintain.maintain import maintain
from oemviews.model import COLLECTION, COMPLEX, ROOT
from oemviews.views.definition import define
from oemviews.views.materialise import materialise
from oemviews.views.tables import graph_tables, state_of
from tests import oracle
from tests.guide import GUIDE
from tests.maintain.kit import Kept, contents, net_between
from tests.maintain.random_cases import Near, random_batch, random_graph, random_view
from tests.oracle import OracleGraph


class Chain:
    """Views, each over the one before; the first over the base."""

    def __init__(self, base: OracleGraph, *texts: str) -> None:
        self.graph = base
        names = Catalog(frozenset(base.names))
        engine_graphs: dict[tuple[str, State], LocalGraph] = {}
        first = Kept.of(texts[0], base)
        self.local: dict[str, LocalGraph] = {"": first.local}
        self.views = []
        views: dict[str, str] = {}
        for text in texts:
            definition = define(text, Catalog(names.names, dict(views)), "incremental", stored=True)
            statement = parse(text)
            assert isinstance(statement, ast.DefineView)
            engine_graphs = {(name, "new"): graph for name, graph in self.local.items()}
            made = materialise(definition, LocalEngine(engine_graphs))
            self.views.append((definition, statement.query, made.state, made.table))
            self.local[definition.name] = LocalGraph.of_tables(*graph_tables(definition, made.table))
            views[definition.name] = definition.collection

    def apply(self, *batch: Edit) -> None:
        new = oracle.apply(self.graph, batch)
        nets: dict[str, NetChange] = {"": net_between(self.graph, new)}
        graphs: dict[tuple[str, State], LocalGraph] = {}
        kept = []
        for name in self.local:
            graphs[name, "old"] = self.local[name]
        graphs["", "new"] = self.local[""].apply(nets[""])
        for definition, query, state, table in self.views:
            engine = LocalEngine({key: graph for key, graph in graphs.items() if (key[0], "new") in graphs})
            delta = maintain(definition, state, engine, changes_of(nets))
            delta.install()
            nets[definition.name] = delta.net
            graphs[definition.name, "new"] = self.local[definition.name].apply(delta.net)
            kept.append((definition, query, state, pa.concat_tables([table, delta.table])))
        self.views, self.graph = kept, new
        self.local = {name: graphs[name, "new"] for name in self.local}

    def check(self) -> None:
        below, texts = self.graph, []
        for definition, query, state, table in self.views:
            wanted = oracle.view(below, query)
            assert set(state.rows) == {tuple(item[1] for item in row) for row in wanted.rows}, definition.name
            stored = contents(table)
            assert {edge[1:] for edge in stored["with"]} == wanted.visible_edges
            assert stored["object"].keys() == wanted.objects.keys()
            assert all(stored["object"][oid][1] == value for oid, value in wanted.objects.items())
            edges = {(ROOT, definition.name, COLLECTION)} | wanted.visible_edges
            edges |= {(COLLECTION, definition.collection, oid) for oid in wanted.primaries}
            below = OracleGraph({COLLECTION: COMPLEX, **wanted.objects}, edges)
            texts.append(definition.statement)


def test_a_chain_of_three() -> None:
    chain = Chain(
        GUIDE,
        """define view A as item = select r from Guide.Restaurant r where r.Entree
           with r.Entree e, e.Ingredient i, r.Name n""",
        """define view B as item = select e from A.item r, r.Entree e where e.Ingredient = "Beef"
           with e.Ingredient i""",
        "define view C as item = select x from B.item e, e.Ingredient x",
    )
    chain.check()
    for edit in (
        Insert(9, "Ingredient", 17),
        Change(17, "Pork"),
        Change(19, "Beef"),
        Delete(1, "Restaurant", 3),
        Insert(2, "Entree", 10),
        Change(17, "Beef"),
    ):
        chain.apply(edit)
        chain.check()
    assert set(chain.views[2][2].rows) == {(17,), (19,)}


def test_random_chains() -> None:
    for seed in range(24):
        rng = Random(seed)
        first = random_view(rng, wanted="with").text
        second = random_view(rng, over="V").text
        chain = Chain(random_graph(rng), first, second, random_view(rng, over="VV").text)
        chain.check()
        for _ in range(6):
            near = Near(frozenset(chain.graph.values), ("a", "b"))
            chain.apply(*random_batch(rng, chain.graph, near, set()))
            chain.check()


def test_a_view_does_not_read_itself() -> None:
    with pytest.raises(LorelMeaningError, match="nothing is named 'V'"):
        define("define view V = select x from V.V x", Catalog(frozenset({"Guide"})))


def test_a_state_read_back_from_its_rows_goes_on_alike() -> None:
    """What a store keeps of a view is enough to go on maintaining it."""
    for seed in range(24):
        rng = Random(seed)
        view = Kept.of(random_view(rng).text, random_graph(rng))
        for _ in range(4):
            again = state_of(view.definition, _added_up(view.table))
            assert again.rows == view.state.rows
            assert again.walked == view.state.walked
            assert {v: s.oids for v, s in again.reached.items()} == {
                v: s.oids for v, s in view.state.reached.items()
            }
            assert {k: v for k, v in again.relevant.items() if v} == {
                k: v for k, v in view.state.relevant.items() if v
            }
            view.state = again
            view.apply(random_batch(rng, view.graph, Near(frozenset(view.graph.values), ("a", "b")), set()))
            view.check()


def _added_up(table: pa.Table) -> pa.Table:
    names = [name for name in table.column_names if name != "n"]
    total = table.group_by(names).aggregate([("n", "sum")]).rename_columns([*names, "n"])
    return total.filter(pa.compute.greater(total["n"], 0)).select(table.column_names)
