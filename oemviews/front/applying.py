"""A batch of edits, from the edits to the report: net change, log, views."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lorel.scope import listed
from oemviews.answers.rendering import counted, grid, html_table, plain
from oemviews.batch import Netted, Placed, net_change
from oemviews.documents.edit_log import EditLog, LogBatch
from oemviews.edits import Name
from oemviews.errors import EditError
from oemviews.front.given import legible
from oemviews.front.keeping import Keeper, following
from oemviews.front.live import Live
from oemviews.maintain.report import ViewReport
from oemviews.model import Oid
from oemviews.store.batch import BatchInfo


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch did: to the graph and to each view. `batch` is None if nothing was stored."""

    batch: int | None
    edits: int
    net: int
    noops: int
    new: Mapping[str, Oid]
    seconds: float
    views: Sequence[ViewReport] = ()

    def to_json(self) -> dict[str, Any]:
        """As `apply --json` prints it."""
        return {
            "batch": self.batch,
            "edits": self.edits,
            "net": self.net,
            "noops": self.noops,
            "new": dict(self.new),
            "seconds": round(self.seconds, 6),
            "views": [view.as_json() for view in self.views],
        }

    @property
    def headline(self) -> str:
        stored = "nothing stored" if self.batch is None else f"batch {self.batch}"
        noops = f", {counted(self.noops, 'no-op')}" if self.noops else ""
        made = listed([f"{name} is &{oid}" for name, oid in self.new.items()])
        new = f", new: {made}" if self.new else ""
        edits = f"{counted(self.edits, 'edit')}, net {self.net:,}{noops}"
        return f"{stored}: {edits} in {self.seconds * 1000:,.1f} ms{new}"

    def _rows(self) -> list[list[str]]:
        return [_view_row(view) for view in self.views]

    @property
    def remarks(self) -> list[str]:
        """Views that were evaluated in full, and why."""
        return [f"{view.view} was evaluated in full: {view.reason}" for view in self.views if view.reason]

    def __repr__(self) -> str:
        table = [plain(grid(_HEADER, self._rows()))] if self.views else []
        return "\n".join([self.headline, *table, *self.remarks])

    def _repr_html_(self) -> str:
        return html_table(_HEADER, self._rows(), "; ".join([self.headline, *self.remarks]))


_HEADER = (
    "view",
    "relevant",
    "dismissed",
    "statements",
    "touched (expected)",
    "rows",
    "edges",
    "method",
    "engine",
    "ms",
)


def _view_row(view: ViewReport) -> list[str]:
    dismissed = "; ".join(f"{why}: {number:,}" for why, number in view.dismissed.items()) or "0"
    expected = "" if view.predicted is None else f" ({view.predicted:,.0f})"
    return [
        view.view,
        f"{view.relevant:,}",
        dismissed,
        f"{view.statements:,}",
        f"{view.rows:,}{expected}",
        f"+{view.added:,} -{view.removed:,}",
        f"+{view.edges_added:,} -{view.edges_removed:,}",
        view.method,
        view.engine,
        f"{view.seconds * 1000:,.1f}",
    ]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a batch comes from, as the log records it."""

    kind: str
    what: str
    log_id: str | None = None
    lines: int | None = None
    log_hash: str | None = None


def apply_edits(
    live: Live,
    keeper: Keeper,
    edits: Sequence[Placed],
    origin: Origin,
    names: Mapping[str, Oid] | None = None,
) -> BatchReport:
    """Store one batch and bring every view up to it. The caller holds the right to write."""
    start = time.perf_counter()
    store = live.store
    keeper.catch_up()
    netted = netted_of(live, edits, names or {})
    info = store.append(
        netted.change,
        kind=origin.kind,
        what=origin.what,
        log_id=origin.log_id,
        lines=origin.lines,
        log_hash=origin.log_hash,
        new=netted.new,
        next_oid=netted.next_oid,
        next_pos=netted.next_pos,
    )
    with following(info.batch):
        views = keeper.keep(netted.change, info.batch)
        store.fold()
    return _report(info.batch, netted, start, views)


class Trial:
    """Batches that are not stored: each is tried on what the ones before it would leave."""

    def __init__(self, live: Live) -> None:
        store = live.store
        self._views, self._keeper = live.definitions, Keeper(live, "local", lambda: None)
        self._graph, self._next_oid, self._next_pos = live.graph(), store.next_oid, store.next_pos

    def batch(self, edits: Sequence[Placed], names: Mapping[str, Oid] | None = None) -> BatchReport:
        """What a batch would do to the graph and to the views."""
        start = time.perf_counter()
        _free_names(edits, self._views)
        netted = net_change(edits, self._graph, names or {}, self._next_oid, self._next_pos)
        old, self._graph = self._graph, self._graph.apply(netted.change)
        self._next_oid, self._next_pos = netted.next_oid, netted.next_pos
        return _report(None, netted, start, self._keeper.tried(old, self._graph, netted.change))


def netted_of(live: Live, edits: Sequence[Placed], names: Mapping[str, Oid]) -> Netted:
    """What edits come to on the newest state."""
    _free_names(edits, live.definitions)
    return net_change(edits, live.graph(), names, live.store.next_oid, live.store.next_pos)


def _free_names(edits: Sequence[Placed], views: Container[str]) -> None:
    """Refuse a name that a view has."""
    for place, edit in edits:
        if isinstance(edit, Name) and edit.name in views:
            raise EditError(f"{place}: found the name {edit.name!r}, which is a view, wanted a free name")


def _report(batch: int | None, netted: Netted, start: float, views: Sequence[ViewReport]) -> BatchReport:
    seconds = time.perf_counter() - start
    return BatchReport(batch, netted.edits, len(netted.change), netted.noops, netted.new, seconds, views)


# ---- edit logs ----


@dataclass(slots=True, repr=False)
class LogRun:
    """The application of one edit log: iterate it for its reports. `resumed` lines were applied before."""

    live: Live
    keeper: Keeper
    log: EditLog
    log_id: str | None
    size: int | None = None
    again: bool = False
    dry: bool = False
    resumed: int = field(default=0, init=False)

    def __repr__(self) -> str:
        return f"<the edit log {self.log.name}: iterate to apply it, batch by batch>"

    def __iter__(self) -> Iterator[BatchReport]:
        store = self.live.store
        if self.dry:
            yield from self._tried()
            return
        with store.writing():
            names = self._begin()
            for batch in self.log.batches(self.size, self.resumed):
                origin = Origin("edits", self._what(batch), self.log_id, batch.last_line, batch.hash)
                report = apply_edits(self.live, self.keeper, batch.edits, origin, names)
                names = {**names, **report.new}
                yield report

    def _begin(self) -> dict[str, Oid]:
        """Find where to resume; the log's own names up to there. A log without an id begins anew."""
        if self.again or self.log_id is None:
            return {}
        before: dict[tuple[int, str], list[BatchInfo]] = {}
        for info in self.live.store.consumed(self.log_id):
            if info.lines is not None and info.log_hash is not None:
                before.setdefault((info.lines, info.log_hash), []).append(info)
        names: dict[str, Oid] = {}
        after: int | None = None  # a later run of the log that got less far gave its names to other objects
        for beginning in sorted(self.log.beginnings(before), reverse=True):
            self.resumed = max(self.resumed, beginning[0])
            for info in reversed(before[beginning]):
                if after is None or info.batch < after:
                    names, after = {**info.new, **names}, info.batch
                    break
        return names

    def _what(self, batch: LogBatch) -> str:
        return legible(f"lines {batch.first_line} to {batch.last_line} of {self.log.name}")

    def _tried(self) -> Iterator[BatchReport]:
        """The report of every batch; nothing is stored."""
        names = self._begin()
        trial = Trial(self.live)
        for batch in self.log.batches(self.size, self.resumed):
            report = trial.batch(batch.edits, names)
            names = {**names, **report.new}
            yield report
