"""What can be asked of a database, whether it is the present one or a past one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from oemviews.answers.answer import Answer
from oemviews.front.chooser import Wish
from oemviews.front.given import engine_in, number_in, text_in
from oemviews.front.querying import ask
from oemviews.front.snapshot import Snapshot
from oemviews.model import Oid

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from oemviews.answers.dataguide import DataGuide


class Readable(ABC):
    """Queries, guides, documents and Spark frames of one batch."""

    _wish: Wish

    @abstractmethod
    def _seen(self) -> Snapshot:
        """What there is to read, at one batch."""

    def query(self, statement: str, *, engine: Wish | None = None) -> Answer:
        """The answer to a Lorel query. It is found when it is looked at, on the state of now."""
        return ask(statement, self._seen(), self._wish if engine is None else engine_in(engine))

    @property
    def names(self) -> dict[str, Oid]:
        """The names and the objects they stand for."""
        return self._seen().names

    def dataguide(self, name: str | None = None, *, depth: int = 6) -> DataGuide:
        """Every label path from the names, or from one of them or a view, with counts, types and samples.

        `depth` is the number of levels below the names.
        """
        from oemviews.answers.dataguide import Limits, guide_of
        from oemviews.answers.kept_guide import keep

        snapshot, depth = self._seen(), number_in(depth, "a depth", 0)
        if name is None:
            guide = guide_of(snapshot.base(), snapshot.names, Limits(depth + 1))
            if snapshot.guide_file is not None:  # queries of this batch can rule out paths by it
                keep(guide, snapshot.guide_file)
            return guide
        graph, oid = snapshot.place(text_in(name, "a name"))
        return guide_of(graph, {name: oid}, Limits(depth + 1))

    def export_pieces(self, name: str, format: str = "json", *, max_size: int | None = None) -> Iterator[str]:
        """The document that a name or a view stands for, in pieces."""
        from oemviews.documents.export import MAX_SIZE, export
        from oemviews.engines.local.ahead import Ahead

        graph, oid = self._seen().place(text_in(name, "a name"))
        return export(
            Ahead(graph), oid, format, name=name, max_size=MAX_SIZE if max_size is None else max_size
        )

    def export(self, name: str, format: str = "json", *, max_size: int | None = None) -> str:
        """The document that a name or a view stands for: `json`, `xml` or `oem`."""
        return "".join(self.export_pieces(name, format, max_size=max_size))

    # ---- as Spark sees it ----

    @property
    def vertices(self) -> DataFrame:
        """The objects as a DataFrame: id, type, value, text, integer, number."""
        from oemviews.graph import vertices

        return vertices(self._seen().spark(), self._seen().state())

    @property
    def edges(self) -> DataFrame:
        """The edges as a DataFrame: src, dst, label, pos."""
        from oemviews.graph import edges

        return edges(self._seen().spark(), self._seen().state())

    @property
    def graph(self) -> Any:
        """The graph as a GraphFrame."""
        from oemviews.graph import graphframe

        return graphframe(self._seen().spark(), self._seen().state())
