"""What a statement reads: the base graph and the views after one batch, each opened when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lorel.normal import State as StateName
from lorel.scope import Catalog, listed, suggestion
from oemviews import java
from oemviews.answers.kept_guide import guide_file, kept
from oemviews.answers.known_paths import KnownPaths
from oemviews.engines.engine import Engine
from oemviews.engines.local import LocalGraph
from oemviews.engines.local.cache import digest
from oemviews.errors import BadInput
from oemviews.front.chooser import MOST_EDGES, Choice, EngineName, choose
from oemviews.front.defined import Definitions
from oemviews.model import ROOT, Oid
from oemviews.store.state import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

G = TypeVar("G")
Tables: TypeAlias = tuple[pa.Table, pa.Table]
"""Edges and objects of a graph."""


class Opened(Mapping[tuple[str, StateName], G], Generic[G]):
    """Graphs by name and state, made when first asked for. Nothing changes here: old and new are the same."""

    def __init__(self, make: Callable[[str], G], names: frozenset[str]) -> None:
        self._make, self._names = make, names
        self._made: dict[str, G] = {}

    def __getitem__(self, key: tuple[str, StateName]) -> G:
        name = key[0]
        if name not in self._names:
            raise KeyError(key)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[tuple[str, StateName]]:
        return ((name, state) for name in self._names for state in ("old", "new"))

    def __len__(self) -> int:
        return 2 * len(self._names)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A database after one batch.

    Args:
        base: opens the base graph in this process.
        indexed: whether that takes no time.
        state: the base graph as files, for Spark.
        tables: the edges and objects of a view's own graph.
        spark: a live session, started if there is none.
        stamps: the last batch that each view contains, where that is not this one.
        cache: a folder for what is dear to make again and loses nothing when it goes.
    """

    batch: int
    definitions: Definitions
    base: Callable[[], LocalGraph]
    indexed: Callable[[], bool]
    state: Callable[[], State]
    tables: Callable[[str], Tables]
    spark: Callable[[], SparkSession]
    stamps: Mapping[str, int] = field(default_factory=dict)
    cache: Path | None = None
    _engines: dict[tuple[EngineName, frozenset[str]], Engine] = field(default_factory=dict)
    _graphs: dict[str, LocalGraph] = field(default_factory=dict)
    _documents: dict[str, LocalGraph] = field(default_factory=dict)

    @cached_property
    def choice(self) -> Choice:
        """The engine that the base graph is for, by its size: a large one without an index is Spark's."""
        state = self.state()
        edges = sum(pq.read_metadata(file).num_rows for file in state.edge_files) + len(state.tail.plus)
        there = edges <= MOST_EDGES or java.find() is not None
        return choose("auto", edges=edges, indexed=self.indexed(), rows=0, spark=there)

    @property
    def names(self) -> dict[str, Oid]:
        """The names and the objects they stand for."""
        if self.choice.engine == "local":
            return self.base().names()
        found = self.state().edges(lambda edges: pc.equal(edges["src"], ROOT))
        return dict(zip(found["label"].to_pylist(), found["dst"].to_pylist(), strict=True))

    @property
    def catalog(self) -> Catalog:
        return Catalog(frozenset(self.names), self.definitions.collections)

    def graph(self, name: str = "") -> LocalGraph:
        """The base graph, or the graph of a view."""
        if not name:
            return self.base()
        if name not in self._graphs:
            self._graphs[name] = LocalGraph.of_tables(*self.tables(name))
        return self._graphs[name]

    def document(self, name: str = "") -> LocalGraph:
        """The same to be written out: a view's edges in the order and the shapes of the base."""
        if not name:
            return self.base()
        if name not in self._documents:
            from oemviews.views.order import in_base_order

            ordered = in_base_order(*self.tables(name), self.base())
            self._documents[name] = LocalGraph.of_tables(*ordered)
        return self._documents[name]

    @property
    def guide_file(self) -> Path | None:
        """Where the DataGuide of exactly this state is kept, if one was made."""
        if self.cache is None:
            return None
        return guide_file(self.cache, f"{self.batch}-{digest(self.state())}")

    @property
    def paths(self) -> KnownPaths:
        """What is known of label paths without looking at any edge."""
        file = self.guide_file
        opened = self.choice.engine == "local"
        guide = None if file is None else kept(file)
        return KnownPaths(lambda name: self.graph(name) if opened else None, guide)

    def engine(self, name: EngineName, graphs: Iterable[str] = ()) -> Engine:
        """An engine over the base graph and these views."""
        key = name, frozenset(graphs) | {""}
        if key not in self._engines:
            self._engines[key] = self._local(key[1]) if name == "local" else self._spark(key[1])
        return self._engines[key]

    def _local(self, graphs: frozenset[str]) -> Engine:
        from oemviews.engines.local import LocalEngine

        return LocalEngine(Opened(self.graph, graphs))

    def _spark(self, graphs: frozenset[str]) -> Engine:
        from oemviews.engines.spark.engine import SparkEngine
        from oemviews.engines.spark.graph import SparkGraph

        spark = self.spark()

        def make(name: str) -> SparkGraph:
            if not name:
                return SparkGraph.of_state(spark, self.state())
            return SparkGraph.of_tables(spark, *self.tables(name))

        known = self.engine("local", graphs).statistics if self.choice.engine == "local" else None
        return SparkEngine(spark, Opened(make, graphs), known)

    def with_tables(self, tables: Mapping[str, Tables]) -> Snapshot:
        """The same base graph, with other rows in some views."""
        return replace(
            self,
            tables=lambda name: tables[name] if name in tables else self.tables(name),
            _engines={},
            _graphs={},
            _documents={},
        )

    def place(self, name: str) -> tuple[LocalGraph, Oid]:
        """The graph and the object that a name or a view stands for."""
        known = self.names
        if name in known:
            return self.base(), known[name]
        if name in self.definitions:
            graph = self.document(name)
            return graph, graph.names()[name]
        words = [*known, *self.definitions]
        raise BadInput(
            f"nothing is named {name!r} here: {suggestion(name, words)}names: {listed(sorted(known))}"
            + (f"; views: {listed(self.definitions)}" if self.definitions else "")
        )
