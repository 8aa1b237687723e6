"""A batch as maintenance reads it: changed edges and values of each graph, in columns, for all views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from oemviews.edits import NetChange
from oemviews.engines.local.adjacency import sorted_order
from oemviews.store.values import Ints, Values, column_numpy, from_columns
from oemviews.views.members import Asked

_VALUE: Final = ("type", "text", "integer", "number")


@dataclass(frozen=True)
class GraphChange:
    """What a batch did to one graph. Edges that came have sign +1, edges that went -1."""

    net: NetChange

    @cached_property
    def src(self) -> Ints:
        return np.concatenate([_ints(self.net.plus["src"]), _ints(self.net.minus["src"])])

    @cached_property
    def dst(self) -> Ints:
        return np.concatenate([_ints(self.net.plus["dst"]), _ints(self.net.minus["dst"])])

    @cached_property
    def sign(self) -> Ints:
        plus = len(self.net.plus)
        sign = np.full(plus + len(self.net.minus), -1, np.int64)
        sign[:plus] = 1
        return sign

    @cached_property
    def labels(self) -> tuple[list[str], Ints]:
        """The different labels, and for each edge which of them it has."""
        both = pa.chunked_array(
            [*self.net.plus["label"].chunks, *self.net.minus["label"].chunks], self.net.plus["label"].type
        )
        if len(both) < 64:
            texts = both.to_pylist()
            number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
            return list(number), np.array([number[text] for text in texts], np.int64)
        encoded = both.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        return encoded.dictionary.to_pylist(), column_numpy(encoded.indices).astype(np.int64)

    @cached_property
    def by_label(self) -> list[tuple[str, Ints, Asked]]:
        """For each label the places of the edges that have it, and the objects that they leave.

        They come in the order of these objects: look-ups then walk the memory in one direction.
        """
        names, codes = self.labels
        if len(codes) == 1:
            return [(names[0], np.zeros(1, np.int64), Asked(self.src))]
        order = sorted_order(codes, self.src)
        ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
        places = [order[ends[i] : ends[i + 1]] for i in range(len(names))]
        return [(name, at, Asked(self.src[at])) for name, at in zip(names, places, strict=True)]

    @cached_property
    def changed(self) -> Asked:
        """Objects with another value."""
        return Asked(_ints(self.net.changed["oid"]))

    @cached_property
    def old_values(self) -> Values:
        """The values that those objects had."""
        return from_columns(*(self.net.changed[f"old_{name}"] for name in _VALUE))

    @cached_property
    def new_values(self) -> Values:
        """The values that those objects have now."""
        return from_columns(*(self.net.changed[name] for name in _VALUE))

    def __len__(self) -> int:
        return len(self.net.plus) + len(self.net.minus) + len(self.net.changed)


Changes: TypeAlias = Mapping[str, GraphChange]
"""The change of each graph, by its name: "" is the base graph, any other name a view's."""


def changes_of(nets: Mapping[str, NetChange]) -> Changes:
    return {graph: GraphChange(net) for graph, net in nets.items()}


def _ints(column: pa.ChunkedArray) -> Ints:
    if len(column) < 64:
        return np.array(column.to_pylist(), np.int64)
    return column_numpy(column).astype(np.int64, copy=False)
