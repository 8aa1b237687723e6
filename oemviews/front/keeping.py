"""Views beside the graph: filled when they are defined, kept up by every batch, checked when somebody doubts.

Definitions come in the order of their batches, and a view reads only views that were there before it: that
order is the order of maintenance. One commit stamps all views with the batch they contain.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa

from lorel.errors import RefusedError
from lorel.normal import State as StateName
from lorel.scope import listed, suggestion
from oemviews.edits import Edit, NetChange
from oemviews.engines.engine import Engine
from oemviews.engines.local import LocalEngine, LocalGraph
from oemviews.errors import BadInput, StoreError
from oemviews.front.checking import Checked, compared, differences, evaluated
from oemviews.front.chooser import EngineName, Wish, choose
from oemviews.front.live import Live
from oemviews.front.querying import chosen
from oemviews.maintain.changes import changes_of
from oemviews.maintain.delta import ViewDelta
from oemviews.maintain.explain import explain
from oemviews.maintain.maintain import maintain
from oemviews.maintain.report import ViewReport
from oemviews.maintain.shown import Statements, statements_for
from oemviews.maintain.upkeep import surplus
from oemviews.store.schema import VIEW_ROWS
from oemviews.views.definition import Definition, define
from oemviews.views.materialise import materialise
from oemviews.views.state import ViewState
from oemviews.views.tables import graph_tables, state_of

if TYPE_CHECKING:
    from oemviews.engines.spark.graph import SparkGraph

Key: TypeAlias = tuple[str, StateName]

_LOG: Final = logging.getLogger("oemviews")
"""Says what was done to views apart from any report; warnings go to standard error by default."""


@dataclass(slots=True)
class _Held:
    """A view in memory after the batch `stamp`; its graph only if another view reads it."""

    stamp: int
    state: ViewState
    graph: LocalGraph | None = None


class Keeper:
    """Keeps the views of a store. The caller of anything that writes holds the right to write."""

    def __init__(self, live: Live, wish: Wish, changed: Callable[[], None]) -> None:
        """`changed` is told when views have changed."""
        self._live, self._wish, self._changed = live, wish, changed
        self._held: dict[str, _Held] = {}

    # ---- definitions ----

    def define(self, statement: str, policy: str) -> str:
        """Log a definition and fill the view; its name."""
        self.catch_up()
        snapshot, store = self._live.snapshot(), self._live.store
        made = define(statement, snapshot.catalog, policy)
        choice, _ = chosen(made.query, snapshot, self._wish)
        engine = snapshot.engine(choice.engine, made.graphs)
        table = materialise(made, engine).table  # before anything is stored: it may fail
        extra = {
            "view": made.name,
            "statement": statement,
            "policy": made.policy,
            "collection": made.collection,
            "engine": choice.engine,
            "why": choice.why,
        }
        what = f"define view {made.name}"
        info = store.append(NetChange(), kind="define", what=what, extra=extra)
        self._live.moved(NetChange(), info.batch)
        with following(info.batch):
            self._stamp(info.batch, {made.name: table})
        return made.name

    def drop(self, name: str) -> None:
        known = self._live.definitions
        if name not in known:
            raise BadInput(f"there is no view {name!r}: {suggestion(name, known)}views: {listed(known)}")
        readers = [view.name for view in known.values() if name in view.graphs]
        if readers:
            raise RefusedError(
                f"the view {name!r} is read by {listed(readers)}", hint=f"drop {listed(readers)} first"
            )
        self.catch_up()
        info = self._live.store.append(
            NetChange(), kind="drop", what=f"drop view {name}", extra={"view": name}
        )
        self._live.moved(NetChange(), info.batch)
        self._held.pop(name, None)
        with following(info.batch):
            self._stamp(info.batch, {})

    def _stamp(self, batch: int, tables: Mapping[str, pa.Table]) -> None:
        """Commit the changes of some views; the others contain the batch too, it did nothing to them."""
        store = self._live.store
        every = {name: tables.get(name, VIEW_ROWS.empty_table()) for name in store.definitions()}
        if every:
            store.append_changes(batch, every)
        for name in every.keys() - tables.keys():
            if name in self._held:
                self._held[name].stamp = batch
        self._changed()

    # ---- batches ----

    def keep(self, change: NetChange, batch: int, *, exact: bool = False) -> list[ViewReport]:
        """Bring every view up to a batch that was just appended, from the one before it.

        With `exact`, RelevantOids of every view is then as small as can be.
        """
        definitions = self._live.definitions
        old = self._live.graph_before(batch) if definitions else None
        self._live.moved(change, batch)
        if old is None:
            return []
        views = list(definitions.values())
        return self._maintained(views, old, self._live.graph(), change, batch, exact=exact)

    def has_surplus(self) -> bool:
        """Whether RelevantOids of some view holds what no evaluation could touch any more."""
        snapshot = self._live.snapshot()
        return any(
            surplus(view, self._held_at(view).state, snapshot.engine("local", view.graphs), {})
            for view in self._live.definitions.values()
        )

    def keep_loaded(self, batch: int) -> list[ViewReport]:
        """The same for a load, whose change is in the log only."""
        if not self._live.definitions:
            return []
        return self.keep(self._live.store.change(batch - 1, batch), batch)

    def catch_up(self) -> None:
        """Bring views that a crash left behind up to the newest batch, and say so."""
        store, definitions = self._live.store, self._live.definitions
        behind = {
            name: store.view_stamp(name) for name in definitions if store.view_stamp(name) != store.head
        }
        if not behind:
            return
        stamps = [stamp for stamp in behind.values() if stamp is not None]
        lagging = [definitions[name] for name in behind]
        if len(stamps) < len(behind):
            self._filled_again(lagging, "not all of them were ever filled")
        elif len(set(stamps)) > 1 or not all(view.graphs - {""} <= behind.keys() for view in lagging):
            self._filled_again(lagging, "they, or what they read, contain different batches")
        elif stamps[0] < store.floor:
            self._filled_again(lagging, f"the batches after {stamps[0]} are not retained")
        else:
            old = LocalGraph.of_state(store.state(stamps[0]))
            change = store.change(stamps[0], store.head)
            for report in self._maintained(lagging, old, self._live.graph(), change, store.head):
                _LOG.warning("caught up with batches %d to %d: %s", stamps[0] + 1, store.head, report)

    def _maintained(
        self,
        views: Sequence[Definition],
        old: LocalGraph,
        new: LocalGraph,
        change: NetChange,
        batch: int,
        *,
        exact: bool = False,
    ) -> list[ViewReport]:
        """Maintain views in order, commit them together, then move what is in memory.

        A view that is due to be folded gets exact RelevantOids by the same commit.
        """
        store = self._live.store
        due = {view.name for view in views if exact or store.fold_due(view.name)}
        deltas, graphs = self._deltas(views, old, new, change, batch, due)
        store.append_changes(batch, {delta.definition.name: delta.table for delta in deltas})
        self._install(deltas, graphs, batch)
        for name in due:
            store.fold_view(name, force=True)
        self._changed()
        return [delta.report for delta in deltas]

    def tried(self, old: LocalGraph, new: LocalGraph, change: NetChange) -> list[ViewReport]:
        """What a batch would do to the views that are up to date: only what is in memory moves on.

        A keeper that tried a batch keeps nothing more: it is made for a trial and thrown away.
        """
        store = self._live.store
        views = [
            view for view in self._live.definitions.values() if store.view_stamp(view.name) == store.head
        ]
        deltas, graphs = self._deltas(views, old, new, change, store.head)
        self._install(deltas, graphs, store.head)
        return [delta.report for delta in deltas]

    def _deltas(
        self,
        views: Sequence[Definition],
        old: LocalGraph,
        new: LocalGraph,
        change: NetChange,
        batch: int,
        exact: Container[str] = (),
    ) -> tuple[list[ViewDelta], dict[Key, LocalGraph]]:
        """What a batch does to views, in order, and the graphs that were read for it."""
        graphs: dict[Key, LocalGraph] = {("", "old"): old, ("", "new"): new}
        on_spark: dict[Key, SparkGraph] = {}
        nets = {"": change}
        deltas: list[ViewDelta] = []
        for view in views:
            mine = {key: graph for key, graph in graphs.items() if key[0] in view.graphs | {""}}
            changes = changes_of({name: net for name, net in nets.items() if name in view.graphs | {""}})
            state = self._held_at(view).state
            try:
                engine = self._engine(view, mine, nets, on_spark)
                delta = maintain(view, state, engine, changes, exact=view.name in exact)
            except Exception as error:
                _add_note(
                    error, f"while maintaining the view {view.name!r} for batch {batch}, which is stored"
                )
                raise
            deltas.append(delta)
            if any(view.name in other.graphs for other in views):
                nets[view.name] = delta.net
                graphs[view.name, "old"] = before = self._graph_of(view)
                graphs[view.name, "new"] = before.apply(delta.net)
        return deltas, graphs

    def _install(self, deltas: Sequence[ViewDelta], graphs: Mapping[Key, LocalGraph], stamp: int) -> None:
        """Move what is in memory."""
        for delta in deltas:
            name = delta.definition.name
            graph = graphs.get((name, "new")) if self._held[name].graph is not None else None
            self._held[name] = _Held(stamp, delta.install(), graph)

    def _held_at(self, view: Definition) -> _Held:
        """A view as the store has it, read again if another process wrote it."""
        stamp = self._live.store.view_stamp(view.name)
        held = self._held.get(view.name)
        if held is None or held.stamp != stamp:
            state = state_of(view, self._live.store.view_rows(view.name))
            held = self._held[view.name] = _Held(stamp or 0, state)
        return held

    def _graph_of(self, view: Definition) -> LocalGraph:
        held = self._held_at(view)
        if held.graph is None:
            held.graph = LocalGraph.of_tables(*graph_tables(view, self._live.store.view_rows(view.name)))
        return held.graph

    def _engine(
        self,
        view: Definition,
        graphs: Mapping[Key, LocalGraph],
        nets: Mapping[str, NetChange],
        on_spark: dict[Key, SparkGraph],
    ) -> Engine:
        """The engine for the graphs of a batch, in both states; `on_spark` keeps those made for Spark."""
        rows = float(sum(len(net) for net in nets.values()))
        edges = graphs["", "new"].edge_count
        choice = choose(self._wish, edges=edges, indexed=True, rows=rows, spark=True)
        local = LocalEngine(dict(graphs))
        if choice.engine == "local":
            return local
        from oemviews.engines.spark.engine import SparkEngine
        from oemviews.engines.spark.graph import SparkGraph

        spark, store = self._live.spark(), self._live.store
        for name in {name for name, _ in graphs if (name, "old") not in on_spark}:
            if name:
                old = SparkGraph.of_tables(spark, *graphs[name, "old"].tables())
            else:  # the state that the views contain, which may lie several batches back
                old = SparkGraph.of_state(spark, store.state(store.view_stamp(view.name)))
            on_spark[name, "old"], on_spark[name, "new"] = old, old.apply(nets[name])
        return SparkEngine(spark, {key: on_spark[key] for key in graphs}, local.statistics)

    # ---- questions ----

    def statements(self, view: Definition, edit: Edit) -> Statements:
        """The maintenance statements that an edit would run on the state of now."""
        engine = self._live.snapshot().engine("local", view.graphs)
        return statements_for(view, edit, self._held_at(view).state, engine)

    def explain(self, view: Definition) -> str:
        """How a view is kept, in words."""
        return explain(view, self._held_at(view).state)

    # ---- doubts ----

    def check(self) -> list[Checked]:
        """Evaluate every view again, views below it too, and compare."""
        store = self._live.store
        fresh = self._evaluated()
        return [compared(name, store.view_rows(name), table) for name, table in fresh.items()]

    def repair(self) -> list[Checked]:
        """Write what a fresh evaluation gives where it differs; what was wrong."""
        store = self._live.store
        self.catch_up()
        found = self.check()
        if not all(each.equal for each in found):
            info = store.append(NetChange(), kind="repair", what="repair of views")
            self._live.moved(NetChange(), info.batch)
            fresh = self._evaluated()
            self._stamp(info.batch, differences(store, fresh))
            self._held.clear()
        return found

    def _filled_again(self, views: Iterable[Definition], why: str) -> None:
        """Evaluate views that cannot be caught up with step by step."""
        fresh = self._evaluated()
        wanted = {view.name for view in views}
        store = self._live.store
        changes = differences(store, {name: table for name, table in fresh.items() if name in wanted})
        store.append_changes(store.head, changes)
        self._held.clear()
        _LOG.warning("evaluated in full, left behind by an earlier run: %s: %s", listed(sorted(wanted)), why)

    def _evaluated(self) -> dict[str, pa.Table]:
        engine: EngineName = "spark" if self._wish == "spark" else "local"
        return evaluated(self._live.snapshot(), engine)


@contextmanager
def following(batch: int) -> Iterator[None]:
    """Tell what fails once the log has a batch as that: who took it for refused would apply it twice."""
    try:
        yield
    except StoreError as error:
        why = error.__cause__ or error
        raise StoreError(
            f"batch {batch} is stored, do not apply it again; the views are not up to it: {why}. "
            "Mend that; the next batch, or `oemviews check`, brings them up to date."
        ) from error


def _add_note(error: Exception, note: str) -> None:
    """What `Exception.add_note` does, which Python 3.10 lacks."""
    notes: list[Any] = getattr(error, "__notes__", [])
    error.__notes__ = [*notes, note]
