"""The views of a store as they were defined; a statement is read when somebody asks for its view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lorel.scope import Catalog

if TYPE_CHECKING:
    from oemviews.views.definition import Definition


class Definitions(Mapping[str, "Definition"]):
    """Views by name, in order of definition: a query that reads none of them need not understand any."""

    def __init__(self, stored: Mapping[str, Mapping[str, object]]) -> None:
        self._stored = dict(stored)
        self._read: dict[str, Definition] = {}

    @property
    def collections(self) -> dict[str, str]:
        """The label of each view's collection."""
        return {name: str(extra["collection"]) for name, extra in self._stored.items()}

    def __getitem__(self, name: str) -> Definition:
        if name not in self._read:
            from oemviews.views.definition import define

            extra, collections = self._stored[name], self.collections
            before = list(collections)[: list(collections).index(name)]  # all that was there to be read
            catalog = Catalog(frozenset(), {view: collections[view] for view in before})
            self._read[name] = define(str(extra["statement"]), catalog, str(extra["policy"]), stored=True)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._stored

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)
