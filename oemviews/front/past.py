"""A database as it was after an earlier batch: to be read, not written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from oemviews.engines.local import LocalGraph
from oemviews.front.chooser import Wish
from oemviews.front.defined import Definitions
from oemviews.front.readable import Readable
from oemviews.front.snapshot import Snapshot
from oemviews.store.store import Store
from oemviews.views.materialise import materialise
from oemviews.views.tables import graph_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Past(Readable):
    """The database after one batch, whatever came later. Its views are evaluated when they are asked for."""

    def __init__(self, store: Store, batch: int, wish: Wish, spark: Callable[[], SparkSession]) -> None:
        self.batch, self._wish = batch, wish
        state = store.state(batch)
        definitions = Definitions(_defined_at(store, batch))

        @lru_cache(maxsize=1)
        def base() -> LocalGraph:
            return LocalGraph.of_state(state)

        def tables(name: str) -> tuple[pa.Table, pa.Table]:
            found = materialise(definitions[name], self._snapshot.engine("local", definitions[name].graphs))
            return graph_tables(definitions[name], found.table)

        self._snapshot = Snapshot(
            batch=batch,
            definitions=definitions,
            base=base,
            indexed=lambda: False,
            state=lambda: state,
            tables=tables,
            spark=spark,
        )

    def _seen(self) -> Snapshot:
        return self._snapshot

    def __repr__(self) -> str:
        return f"<the database after batch {self.batch}>"


def _defined_at(store: Store, batch: int) -> dict[str, Mapping[str, Any]]:
    """The views that were defined and not dropped after a batch."""
    live: dict[str, Mapping[str, Any]] = {}
    for info in store.batches():
        if info.batch > batch:
            break
        if info.kind == "define":
            live[info.extra["view"]] = info.extra
        elif info.kind == "drop":
            live.pop(info.extra["view"], None)
    return live
