"""Errors of the language: where, what was found, what was wanted, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class OemError(Exception):
    """Base of every error that a user can cause. Its text is all a user needs to see."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters of a statement, `start` inclusive, `end` exclusive."""

    start: int
    end: int

    def line_col(self, text: str) -> tuple[int, int]:
        """Line and column of the start, both counted from 1.

        >>> Span(9, 10).line_col("select r\\nfrom G")
        (2, 1)
        """
        before = text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1


NOWHERE: Final = Span(0, 0)

_SHOWN: Final = 160
_LONGEST: Final = 1000
"""A longer line is cut around the fault, so that a statement of megabytes prints as a line."""


class LorelError(OemError):
    """A statement that cannot be read or has no meaning, shown with the place in it."""

    def __init__(self, message: str, *, text: str = "", span: Span = NOWHERE, hint: str = "") -> None:
        if len(message) > _LONGEST:  # it quotes something of the statement, which may be as long as it likes
            message = f"{message[: _LONGEST // 2]}…{message[-_LONGEST // 2 :]}"
        self.message, self.text, self.span, self.hint = message, text, span, hint
        super().__init__(message)

    def __str__(self) -> str:
        hint = [f"hint: {self.hint}"] if self.hint else []
        if not self.text or self.span == NOWHERE:
            return "\n".join([self.message, *hint])
        line, col = self.span.line_col(self.text)
        shown = self.text.split("\n")[line - 1]  # not splitlines: the fault may be at the very end
        start = max(0, col - 1 - _SHOWN // 2)
        shown = shown[start : start + _SHOWN]
        at = col - 1 - start
        width = max(1, min(self.span.end - self.span.start, len(shown) - at))
        place = f"{self.message} (line {line}, column {col})"
        return "\n".join([place, f"  {shown}", "  " + " " * at + "^" * width, *hint])


class LorelSyntaxError(LorelError):
    """The text is not a statement of the language."""


class LorelMeaningError(LorelError):
    """The statement is well-formed but says something that cannot be: an unknown variable, say."""


class RefusedError(LorelError):
    """The statement has a meaning, but not here: a view that cannot be kept, an update in a query."""
