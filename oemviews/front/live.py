"""The present of a database: graphs that move on with each batch instead of being opened again.

A batch costs what it changes, not what the graph holds: `moved` makes the next state of the base graph
from the last one. What another process wrote is caught up with from the log.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from oemviews.edits import NetChange
from oemviews.engines.local import LocalGraph
from oemviews.engines.local.cache import at_hand
from oemviews.front.defined import Definitions
from oemviews.front.snapshot import Snapshot
from oemviews.store.state import State
from oemviews.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from oemviews.front.snapshot import Tables

_MUCH: Final = 200_000
"""A change of more rows is not laid over an open graph: the graph is opened again."""


class Live:
    """The newest batch of a store, as graphs in this process."""

    def __init__(self, store: Store, spark: Callable[[], SparkSession]) -> None:
        self.store, self.spark = store, spark
        self._graph: LocalGraph | None = None
        self._state: State | None = None
        self._batch = 0
        self._snapshot: Snapshot | None = None
        self._mark: object = None
        self._definitions = Definitions({})
        self._defined: tuple[tuple[str, int], ...] = ()

    @property
    def definitions(self) -> Definitions:
        """The views, in order of definition."""
        stored = self.store.definitions()
        defined = tuple((name, int(extra["batch"])) for name, extra in stored.items())
        if defined != self._defined:
            self._definitions, self._defined = Definitions(stored), defined
        return self._definitions

    def graph(self) -> LocalGraph:
        """The base graph after the newest batch; of threads that ask, one brings it there."""
        with self.store.turn:
            return self._moved_on()

    def _moved_on(self) -> LocalGraph:
        head = self.store.head
        if self._graph is not None and self._batch < head:
            change = self.store.change(self._batch, head) if self._batch >= self.store.floor else None
            if change is not None and len(change) <= _MUCH:
                self._graph = self._graph.apply(change)
            else:
                self._graph = None
        if self._graph is None:
            self._graph = LocalGraph.of_state(self.state(), self.store.cache)
        self._batch = head
        return self._graph

    def state(self) -> State:
        """The base graph after the newest batch, as files and what lies over them."""
        if self._state is None or self._state.batch != self.store.head:
            self._state = self.store.state()
        return self._state

    def graph_before(self, batch: int) -> LocalGraph:
        """The base graph before a batch that was just appended."""
        if self._graph is not None and self._batch == batch - 1:
            return self._graph
        return LocalGraph.of_state(self.store.state(batch - 1))

    def moved(self, change: NetChange, batch: int) -> None:
        """A batch was appended: the open graph moves on by its change."""
        self._state = None  # let go of its files: a compaction may remove them
        if self._graph is not None and self._batch == batch - 1 and len(change) <= _MUCH:
            self._graph, self._batch = self._graph.apply(change), batch

    def forget(self) -> None:
        """Close the graph; it is opened again when it is asked for."""
        self._graph, self._snapshot, self._state = None, None, None

    def snapshot(self) -> Snapshot:
        """The database after the newest batch; it stays what it is when the next batch comes."""
        definitions = self.definitions
        mark = (self.store.head, tuple(self.store.view_stamp(name) for name in definitions))
        if self._snapshot is None or self._mark != mark:
            self._snapshot, self._mark = self._made(definitions), mark
        return self._snapshot

    def _made(self, definitions: Definitions) -> Snapshot:
        store, batch = self.store, self.store.head

        @lru_cache(maxsize=1)
        def state() -> State:
            return self.state() if store.head == batch else store.state(batch)

        @lru_cache(maxsize=1)
        def base() -> LocalGraph:
            return self.graph() if store.head == batch else LocalGraph.of_state(state())

        def tables(name: str) -> Tables:
            from oemviews.views.tables import graph_tables

            return graph_tables(definitions[name], store.view_rows(name))

        return Snapshot(
            batch=batch,
            definitions=definitions,
            base=base,
            indexed=lambda: self._graph is not None or at_hand(state(), store.cache),
            state=state,
            tables=tables,
            spark=self.spark,
            stamps={
                name: store.view_stamp(name) or 0 for name in definitions if store.view_stamp(name) != batch
            },
            cache=store.cache,
        )
