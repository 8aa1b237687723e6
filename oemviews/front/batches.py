"""The log as it is shown: one line a batch."""

from __future__ import annotations

from oemviews.answers.rendering import Grid, counted, grid, html_table, plain
from oemviews.store.batch import BatchInfo

_HEADER = ("batch", "time (UTC)", "kind", "what", "net")


class Batches(list[BatchInfo]):
    """The headers of batches, in order; prints as a table."""

    def _rows(self) -> list[list[str]]:
        return [
            [str(info.batch), f"{info.at:%Y-%m-%d %H:%M:%S}", info.kind, info.what, f"{len(info.counts):,}"]
            for info in self
        ]

    def table(self) -> Grid:
        return grid(_HEADER, self._rows(), right=("batch", "net"))

    def __repr__(self) -> str:
        return plain(self.table())

    def _repr_html_(self) -> str:
        return html_table(_HEADER, self._rows(), counted(len(self), "batch"))
