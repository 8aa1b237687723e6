"""Loads: stored as one batch that views are kept up with, and what they came to, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from oemviews.answers.rendering import counted
from oemviews.documents.load import LoadReport
from oemviews.edits import NetChange
from oemviews.errors import BadInput
from oemviews.front.keeping import Keeper, following
from oemviews.front.live import Live
from oemviews.store.batch import BatchInfo


@dataclass(frozen=True, slots=True)
class Loaded:
    """A load that is stored: its batch, and what was read."""

    name: str
    batch: int
    report: LoadReport

    def __str__(self) -> str:
        found = self.report
        return (
            f"loaded {self.name} as batch {self.batch}: {counted(found.files, 'file')}, "
            f"{counted(found.objects, 'object')}, {counted(found.edges, 'edge')} in {found.seconds:.2f} s"
        )

    __repr__ = __str__

    @property
    def warnings(self) -> list[str]:
        """References that stay strings, with samples."""
        return list(self._told())

    def _told(self) -> Iterator[str]:
        fate = self.report.references
        if fate.made:
            yield f"{counted(fate.made, 'reference')} became edges"
        stay = {
            "found nothing": fate.unresolved,
            "found several": fate.ambiguous,
            "repeat an edge": fate.repeated,
        }
        for why, number in stay.items():
            if number:
                samples = "; ".join(fate.samples)
                such = f", such as {samples}" if samples else ""
                yield f"{counted(number, 'reference')} {why} and stay strings{such}"


def stored(live: Live, keeper: Keeper, chunks: Iterable[NetChange], name: str, what: str) -> BatchInfo:
    """Store a load and bring every view up to it. The caller holds the right to write."""
    taken = name in live.snapshot().names
    if taken or name in live.definitions:
        kind = "an object" if taken else "a view"
        raise BadInput(f"the name {name!r} is already taken by {kind}: load under another name")
    keeper.catch_up()
    info = live.store.load(chunks, what=what)
    with following(info.batch):
        keeper.keep_loaded(info.batch)
        live.store.fold()
    return info
