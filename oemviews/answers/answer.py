"""The answer to a query: lazy rows, as Python values, Arrow, pandas, Spark, JSON, a table or HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from oemviews.answers.cells import (
    Cell,
    Column,
    NewColumn,
    ObjectColumn,
    ValueColumn,
    arrow_of,
    cell_json,
    plain_json,
    rows_of,
)
from oemviews.documents.exportable import Exportable
from oemviews.errors import BadInput
from oemviews.model import Complex, Oid

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

DEEPEST: Final = 100
"""Levels of nested JSON that an answer shows."""

_SHOWN: Final = 20
"""Rows that a table or a page shows."""


@dataclass(frozen=True, slots=True)
class About:
    """How an answer is found: the engine and why that one, the plan in words, what a reader should know."""

    engine: str
    why: str
    explain: Callable[[], str]
    why_empty: Callable[[], str]
    notes: tuple[str, ...] = ()


class Answer:
    """Rows of a query, one item a column. Nothing runs before the first look at them.

    Law: without `order by` rows come in the order of their oids, on either engine.
    """

    def __init__(
        self,
        labels: tuple[str, ...],
        columns: Callable[[], tuple[Column, ...]],
        about: About,
        *,
        graph: Callable[[], Exportable],
        frame: Callable[[Answer], DataFrame],
    ) -> None:
        self.labels, self.about = labels, about
        self._make, self._graph, self._frame = columns, graph, frame

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return self._make()

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Mapping[str, Cell]]:
        for i in range(len(self)):
            yield {label: column.cell(i) for label, column in zip(self.labels, self.columns, strict=True)}

    @property
    def rows(self) -> list[Mapping[str, Cell]]:
        """One mapping a row, from the label of an item to its cell (`.oid`, `.type`, `.value`)."""
        return rows_of(self.labels, self.columns)

    @property
    def oids(self) -> list[Oid]:
        """The objects of the answer, each once, in the order of the rows."""
        found: dict[Oid, None] = {}
        objects = [_oids(column) for column in self.columns if not isinstance(column, ValueColumn)]
        for row in zip(*objects, strict=True):
            found.update((oid, None) for oid in row if oid is not None)
        return list(found)

    @property
    def engine(self) -> str:
        """The engine that runs it: `local` or `spark`."""
        return self.about.engine

    @property
    def notes(self) -> list[str]:
        """What a reader should know: labels that no edge has and, of an empty answer, where its paths end."""
        known = list(self.about.notes)
        if not known and not len(self):
            known += filter(None, [self.about.why_empty()])
        return known

    def explain(self) -> str:
        """The plan: one line an operator, with the rows expected and, after a run, those it gave."""
        return f"engine: {self.about.engine} ({self.about.why})\n{self.about.explain()}"

    # ---- other forms ----

    def to_arrow(self) -> pa.Table:
        """One struct column an item: oid, type, text, integer, number."""
        return pa.table([arrow_of(column) for column in self.columns], names=list(self.labels))

    def to_pandas(self) -> pd.DataFrame:
        """Values as Python objects, one column an item; for objects their oids too, in `<label>.oid`."""
        import pandas as pd

        series: dict[str, Any] = {}
        for label, column in zip(self.labels, self.columns, strict=True):
            if isinstance(column, NewColumn):
                shown = [cell_json(cell, None, 0).get("value") for cell in column.cells]
                series[label] = pd.Series(shown, dtype=object)
                if any(oid is not None for oid in _oids(column)):
                    series[f"{label}.oid"] = pd.Series(_oids(column), dtype="Int64")
                continue
            values = [None if isinstance(value, Complex) else value for value in column.values.items()]
            series[label] = pd.Series(values, dtype=object).infer_objects()
            if isinstance(column, ObjectColumn):
                series[f"{label}.oid"] = pd.Series(column.oids)
        return pd.DataFrame(series)

    def to_spark(self) -> DataFrame:
        """A DataFrame with the columns of `to_arrow`; on the Spark engine nothing has run yet."""
        return self._frame(self)

    def json_lines(self, depth: int = 0) -> Iterator[str]:
        """One JSON object a row; with `depth` complex objects show their contents so many levels down."""
        if depth > DEEPEST:
            raise BadInput(f"found a depth of {depth}, wanted at most {DEEPEST}: OEM text has no such bound")
        graph = self._graph() if depth else None
        for row in self:
            yield plain_json({label: cell_json(cell, graph, depth) for label, cell in row.items()}).decode()

    def to_json(self, depth: int = 0) -> str:
        """JSON Lines, as `oemviews query --format json` prints them."""
        return "".join(f"{line}\n" for line in self.json_lines(depth))

    @property
    def graph(self) -> Exportable:
        """The graph that the objects live in."""
        return self._graph()

    def table(self, limit: int | None = _SHOWN) -> str:
        """A table in plain text."""
        from oemviews.answers.rendering import answer_text

        return answer_text(self, limit)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from oemviews.answers.rendering import answer_html

        return answer_html(self, _SHOWN)


def _oids(column: ObjectColumn | NewColumn) -> list[Oid | None]:
    """The object of each cell; None for a value, and for an object made for the answer."""
    if isinstance(column, NewColumn):
        return [cell.oid for cell in column.cells]
    return list(column.oids.tolist())
