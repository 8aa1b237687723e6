"""A handle on a view: what it holds, how it is kept, what a batch did to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lorel.scope import listed, suggestion
from oemviews.answers.cells import Cell, cell_json, unique
from oemviews.answers.rendering import Grid, cell_text, counted, grid, html_table, plain
from oemviews.edits import Edit
from oemviews.errors import BadInput
from oemviews.front.given import edit_in
from oemviews.front.keeping import Keeper
from oemviews.front.live import Live
from oemviews.maintain.shown import Statements
from oemviews.model import Oid, Value
from oemviews.store.schema import value_of
from oemviews.views.definition import Definition
from oemviews.views.tables import graph_tables, primaries_of


class ViewEdge(NamedTuple):
    """An edge that a with path brought into a view."""

    variable: str
    src: Oid
    label: str
    dst: Oid


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """A view, as it is after its newest batch. Each look at it reads the store anew."""

    _live: Live
    _keeper: Keeper
    definition: Definition

    # ---- what it is ----

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def collection(self) -> str:
        """The label of the edges from the view's collection to its primary objects."""
        return self.definition.collection

    @property
    def statement(self) -> str:
        return self.definition.statement

    @property
    def policy(self) -> str:
        return self.definition.policy

    @property
    def method(self) -> str:
        """How it is kept: `counting`, `recheck` or `full`."""
        return self.definition.method

    @property
    def reason(self) -> str:
        """Why it is kept that way."""
        return self.definition.reason

    @property
    def batch(self) -> int:
        """The last batch that it contains."""
        return self._live.store.view_stamp(self.name) or 0

    @property
    def behind(self) -> int:
        """How many batches it does not contain yet."""
        return self._live.store.head - self.batch

    # ---- what it holds ----

    @property
    def table(self) -> pa.Table:
        """Its rows as the store keeps them, the auxiliary ones too."""
        self._live.store.refresh()
        return self._live.store.view_rows(self.name)

    def _role(self, role: str, table: pa.Table | None = None) -> list[dict[str, Any]]:
        table = self.table if table is None else table
        rows: list[dict[str, Any]] = table.filter(pc.equal(table["role"], role)).to_pylist()
        return rows

    @property
    def primaries(self) -> set[Oid]:
        """The objects that the select clause gives."""
        return set(primaries_of(self.definition, self.table))

    @property
    def rows(self) -> list[Mapping[str, Oid]]:
        """One mapping a row, from the label of an item to its object."""
        return self._rows(self.table)

    def _rows(self, table: pa.Table) -> list[Mapping[str, Oid]]:
        labels = unique(self.definition.labels)
        found = self._role("primary", table)
        if self.definition.width == 1:
            return [{labels[0]: oid} for oid in sorted(row["dst"] for row in found)]
        return [
            dict(zip(labels, oids, strict=True))
            for oids in sorted(orjson.loads(row["text"]) for row in found)
        ]

    @property
    def edges(self) -> list[ViewEdge]:
        """The edges that the with clause brought along, by its variables."""
        return self._edges(self.table)

    def _edges(self, table: pa.Table) -> list[ViewEdge]:
        shown = {step.variable: step.shown for step in self.definition.with_steps}
        place = {variable: i for i, variable in enumerate(shown.values())}
        found = {
            ViewEdge(shown[row["variable"]], row["src"], row["label"], row["dst"])
            for row in self._role("with", table)
        }
        return sorted(found, key=lambda edge: (place[edge.variable], edge))

    @property
    def edge_count(self) -> int:
        return self._sizes(self.table)[1]

    def _sizes(self, table: pa.Table) -> tuple[int, int]:
        """How many primary objects and how many edges it has."""
        with_ = table.filter(pc.equal(table["role"], "with"))
        edges = with_.group_by(["src", "label", "dst"]).aggregate([]).num_rows
        if self.definition.width > 1:
            return len(primaries_of(self.definition, table)), edges
        return pc.sum(pc.equal(table["role"], "primary"), min_count=0).as_py(), edges

    @property
    def objects(self) -> dict[Oid, Value]:
        """Its delegates: base oid to value."""
        return self._objects(self.table)

    def _objects(self, table: pa.Table) -> dict[Oid, Value]:
        found = sorted(self._role("object", table), key=lambda row: row["dst"])
        return {
            row["dst"]: value_of(row["type"], row["text"], row["integer"], row["number"]) for row in found
        }

    @property
    def graph(self) -> Any:
        """Its own graph as a GraphFrame."""
        from oemviews.graph import graphframe_of_tables

        return graphframe_of_tables(self._live.spark(), *graph_tables(self.definition, self.table))

    def to_json(self) -> dict[str, Any]:
        """As `show --format json` prints it."""
        table, batch = self.table, self.batch
        shown: dict[str, Any] = {
            "view": self.name,
            "collection": self.collection,
            "batch": batch,
            "primaries": primaries_of(self.definition, table),
        }
        if self.definition.width > 1:
            shown["rows"] = self._rows(table)
        shown["edges"] = [edge._asdict() for edge in self._edges(table)]
        shown["objects"] = [_object_json(oid, value) for oid, value in self._objects(table).items()]
        return shown

    def summary(self) -> dict[str, Any]:
        """As `views --json` prints it."""
        primaries, edges = self._sizes(self.table)
        return {
            "view": self.name,
            "statement": self.statement,
            "policy": self.policy,
            "method": self.method,
            "batch": self.batch,
            "primaries": primaries,
            "edges": edges,
        }

    # ---- how it is kept ----

    def statements(self, edit: Edit | str) -> Statements:
        """The maintenance statements that an edit would run on the state of now; each prints as Lorel."""
        self._live.store.refresh()
        return self._keeper.statements(self.definition, edit_in(edit, str(edit)))

    @property
    def filled(self) -> str:
        """The engine that filled it when it was defined, and why that one."""
        extra = self._live.store.definitions()[self.name]
        return f"{extra['engine']} ({extra.get('why', 'not recorded')})"

    def explain(self) -> str:
        """How it is kept and why, which edits matter to it, and what that costs in auxiliary rows."""
        self._live.store.refresh()
        return self._keeper.explain(self.definition)

    def changes(self, from_batch: int, to_batch: int) -> pa.Table:
        """What the batches after `from_batch` up to `to_batch` did to it, as signed rows (`n`)."""
        self._live.store.refresh()
        found = self._live.store.view_changes(self.name, from_batch, to_batch)
        return found.filter(pc.not_equal(found["role"], "relevant"))

    # ---- shown ----

    def _texts(self) -> Iterator[tuple[tuple[str, ...], list[list[str]]]]:
        """Headers and rows of what is shown: primary objects, then the edges that came along."""
        table = self.table
        values = self._objects(table)

        def text(oid: Oid) -> str:
            return cell_text(Cell(values[oid], oid)) if oid in values else f"&{oid}"

        labels = unique(self.definition.labels)
        yield labels, [[text(row[label]) for label in labels] for row in self._rows(table)]
        edges = self._edges(table)
        if edges:
            header = ("variable", "src", "label", "dst")
            yield header, [[e.variable, text(e.src), e.label, text(e.dst)] for e in edges]

    def tables(self) -> Iterator[Grid]:
        """Primary objects, and the edges that came along."""
        return (grid(header, rows) for header, rows in self._texts())

    def __repr__(self) -> str:
        head = f"view {self.name} after batch {self.batch}, kept by {self.method}"
        return "\n\n".join([head, *(plain(table) for table in self.tables())])

    def _repr_html_(self) -> str:
        note = f"{self.name} after batch {self.batch}, kept by {self.method}"
        shown = list(self._texts())
        return "".join(
            html_table(header, rows, note if number == len(shown) else "")
            for number, (header, rows) in enumerate(shown, 1)
        )


class Views(Mapping[str, View]):
    """The views of a store by name."""

    def __init__(self, views: Mapping[str, View]) -> None:
        self._views = dict(views)

    def __getitem__(self, name: str) -> View:
        if name not in self._views:
            known = listed(self._views)
            raise BadInput(f"there is no view {name!r}: {suggestion(name, self._views)}views: {known}")
        return self._views[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self._views.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._views

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def _rows(self) -> list[list[str]]:
        return [_listed(view) for view in self._views.values()]

    def table(self) -> Grid:
        """A line a view: how it is kept, how fresh and how big it is."""
        return grid(_HEADER, self._rows(), right=("primaries", "edges"))

    def __repr__(self) -> str:
        return plain(self.table())

    def _repr_html_(self) -> str:
        return html_table(_HEADER, self._rows(), counted(len(self), "view"))


_HEADER = ("view", "policy", "method", "primaries", "edges", "batch", "query")
_DEFINED = re.compile(r"\s*define\s+view\b.*?=\s*", re.IGNORECASE | re.DOTALL)


def _listed(view: View) -> list[str]:
    found = view.summary()
    behind = f" ({view.behind} behind)" if view.behind else ""
    query = " ".join(_DEFINED.sub("", view.statement, count=1).split())
    sizes = [f"{found['primaries']:,}", f"{found['edges']:,}"]
    return [view.name, view.policy, view.method, *sizes, f"{view.batch}{behind}", query]


def _object_json(oid: Oid, value: Value) -> dict[str, Any]:
    return cell_json(Cell(value, oid), None, 0)
