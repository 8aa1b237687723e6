"""Binding tables as both engines hand them over: one row a binding, one column a variable, a signed count.

A column holds oids, or values (label and path variables, measures, computed items).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from oemviews.store.values import Ints, Values

Column: TypeAlias = Ints | Values


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in no particular order. A count is how often the row was derived; below zero it was lost."""

    columns: Mapping[str, Column]
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def of(
        cls, names: Sequence[str], rows: Iterable[tuple[int, ...]], counts: Iterable[int] | None = None
    ) -> Rows:
        """Rows of oids, each once unless `counts` says otherwise.

        >>> Rows.of(("r", "e"), [(3, 9), (3, 10)]).oids("e").tolist()
        [9, 10]
        """
        table = np.array(list(rows), np.int64).reshape(-1, len(names))
        number = np.ones(len(table), np.int64) if counts is None else np.array(list(counts), np.int64)
        return cls({name: table[:, i].copy() for i, name in enumerate(names)}, number)

    @classmethod
    def of_set(cls, name: str, oids: Ints) -> Rows:
        """One column of oids, each once."""
        return cls({name: oids}, np.ones(len(oids), np.int64))

    def oids(self, name: str) -> Ints:
        column = self.columns[name]
        assert not isinstance(column, Values), f"{name} holds values"
        return column

    def values(self, name: str) -> Values:
        column = self.columns[name]
        assert isinstance(column, Values), f"{name} holds oids"
        return column

    def tuples(self, names: Sequence[str]) -> list[tuple[int, ...]]:
        """The rows of some oid columns.

        >>> Rows.of(("r", "e"), [(3, 9), (3, 10)]).tuples(("e", "r"))
        [(9, 3), (10, 3)]
        """
        if not names:
            return [()] * len(self)
        return list(zip(*(self.oids(name).tolist() for name in names), strict=True))


NO_ROWS: Final[Mapping[str, Rows]] = {}
