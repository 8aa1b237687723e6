"""Labels as small numbers.

A book only ever grows: a number, once given, stands for the same label in every later state, so
states of one graph share their book. Matching a pattern looks at each label once, ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from lorel.normal import Labels
from oemviews.errors import OemError
from oemviews.store.values import Bools, Ints, Strings, strings

LABEL_BITS: Final = 24
LABEL_MASK: Final = (1 << LABEL_BITS) - 1


class LabelBook:
    """Numbers for labels and the way back.

    >>> book = LabelBook(["Name", "Price"])
    >>> book.add("Rating"), book.add("Name"), book.names([2]).tolist()
    (2, 0, ['Rating'])
    >>> book.matching(Labels("%e", exact=False)).tolist()
    [True, True, False]
    """

    __slots__ = ("_array", "_matches", "ids", "texts")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = list(texts)
        self.ids = {text: number for number, text in enumerate(self.texts)}
        self._matches: dict[Labels, Bools] = {}
        self._array = strings(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, text: str) -> int:
        number = self.ids.get(text)
        if number is None:
            number = len(self.texts)
            if number > LABEL_MASK:
                raise OemError(
                    f"the graph has more than {LABEL_MASK:,} different labels, the most an index can hold"
                )
            self.texts.append(text)
            self.ids[text] = number
        return number

    def names(self, numbers: Ints | list[int]) -> Strings:
        if len(self._array) < len(self.texts):
            self._array = strings(self.texts)
        return np.asarray(self._array[numbers], dtype=object)

    def one(self, labels: Labels) -> int | None:
        """The number of an exact label: -1 if no edge ever had it; None if `labels` is a pattern."""
        return self.ids.get(labels.text, -1) if labels.exact else None

    def matching(self, labels: Labels) -> Bools:
        """Which numbers match, as a mask over all labels."""
        known = self._matches.get(labels)
        if known is None or len(known) < len(self.texts):
            done = 0 if known is None else len(known)
            fresh = np.array([labels.matches(text) for text in self.texts[done:]], bool)
            known = fresh if known is None else np.concatenate((known, fresh))
            self._matches[labels] = known
        return known
