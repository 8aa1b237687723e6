"""The headers of batches, read from the log when they are asked for.

No question here looks at all batches but `all`: the newest batch of a kind is a stamp of the log, and its
header says where the others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Final

from oemviews.store.batch import JSON, BatchInfo, infos_in
from oemviews.store.delta import DataFile
from oemviews.store.ledger import Ledger

FIRST_OID: Final = 1
FIRST_POS: Final = 0
_EMPTY: Final = BatchInfo(0, datetime.fromtimestamp(0, timezone.utc), "create", "", FIRST_OID, FIRST_POS)

DEFINITIONS: Final = "definitions"
"""Stamp of the log: the newest batch that defined or dropped a view."""


def stamp_of_log(log_id: str) -> str:
    """Stamp of the log: the newest batch that consumed lines of an edit log."""
    return f"consumed:{log_id}"


class Headers:
    """Headers by number of batch; batch 0 is the empty store."""

    def __init__(self, log: Ledger) -> None:
        self._log = log
        self._known: dict[int, BatchInfo] = {0: _EMPTY}

    def add(self, info: BatchInfo) -> None:
        self._known[info.batch] = info

    def of(self, batch: int) -> BatchInfo:
        if batch not in self._known:
            self._read([self._log.files(batch - 1, batch)[0]])
        return self._known[batch]

    def between(self, after: int, upto: int) -> list[BatchInfo]:
        """Headers of the batches after `after` up to `upto`."""
        wanted = range(after + 1, upto + 1)
        lacking = [batch for batch in wanted if batch not in self._known]
        if lacking:
            self._read(self._log.files(lacking[0] - 1, lacking[-1]))
        return [self._known[batch] for batch in wanted]

    def _read(self, files: Iterable[DataFile]) -> None:
        for file in files:
            for info in infos_in(self._log.headers(file)):
                self.add(info)

    def live(self) -> tuple[int, ...]:
        """The define batches of the views that are alive, in order of definition."""
        newest = self._log.table.stamp(DEFINITIONS)
        return () if newest is None else self.of(newest).live

    def definitions(self) -> dict[str, Mapping[str, JSON]]:
        """Live views: what their define batch says, and its number."""
        infos = [self.of(batch) for batch in self.live()]
        return {info.extra["view"]: {**info.extra, "batch": info.batch} for info in infos}

    def live_after(self, kind: str, view: str, batch: int) -> tuple[int, ...]:
        """What `live` is after a batch that defines or drops `view`."""
        others = tuple(number for number in self.live() if self.of(number).extra["view"] != view)
        return (*others, batch) if kind == "define" else others

    def consumed(self, log_id: str) -> list[BatchInfo]:
        """The batches that consumed lines of an edit log, in order."""
        newest = self._log.table.stamp(stamp_of_log(log_id))
        if newest is None:
            return []
        since = self.of(newest).since or newest
        return [info for info in self.between(since - 1, newest) if info.log_id == log_id]

    def since(self, log_id: str) -> int | None:
        """The first batch that consumed lines of an edit log."""
        newest = self._log.table.stamp(stamp_of_log(log_id))
        return None if newest is None else self.of(newest).since
