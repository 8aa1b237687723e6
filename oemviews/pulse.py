"""Signs of life from long work: counters that the work moves on and that a progress line may read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Touching(Protocol):
    """Work that counts the rows it has touched."""

    touched: int


@dataclass(slots=True)
class Pulse:
    """How far the work of this process is; `doing` names a part of it that takes long by itself."""

    rows: int = 0
    levels: int = 0
    doing: str = ""
    running: Touching | None = None

    def ran(self, rows: int) -> None:
        """A piece of work is done."""
        self.running = None
        self.rows += rows

    def reset(self) -> None:
        self.rows, self.levels, self.doing, self.running = 0, 0, "", None

    def __str__(self) -> str:
        """
        >>> print(Pulse(rows=1200, levels=3))
        1,200 rows, 3 levels so far
        >>> print(Pulse(doing="indexing"))
        indexing
        """
        running = self.running
        rows = self.rows + (0 if running is None else running.touched)
        counted = [f"{rows:,} rows"] if rows else []
        counted += [f"{self.levels:,} levels"] if self.levels else []
        so_far = ", ".join(counted) + " so far" if counted else ""
        return "; ".join(filter(None, [self.doing, so_far]))


PULSE = Pulse()
