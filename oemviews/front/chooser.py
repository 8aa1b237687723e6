"""Which engine runs a piece of work, and why that one.

The local engine needs its index: arrays in the store's folder, memory-mapped once they are built. So
it is taken when the index is at hand or the graph is small enough to build it at once, and the rows that
the plan is expected to touch are few enough for one process. By the figures of docs/benchmarks.md it
evaluated views over 10 million edges 30 to 500 times as fast as Spark on the same machine: the limits below
are about memory, not speed: the index and the binding tables (8 bytes a row and column) have to fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from oemviews.answers.rendering import counted

EngineName: TypeAlias = Literal["local", "spark"]
Wish: TypeAlias = Literal["auto", "local", "spark"]

WISHES: Final = ("auto", "local", "spark")

MOST_EDGES: Final = 50_000_000
"""A graph of more edges is not indexed on the fly."""

MOST_ROWS: Final = 100_000_000
"""Rows that one process should have to touch at most."""


@dataclass(frozen=True, slots=True)
class Choice:
    engine: EngineName
    why: str


def choose(wish: Wish, *, edges: int, indexed: bool, rows: float, spark: bool) -> Choice:
    """The engine for a piece of work.

    Args:
        wish: what the user asked for.
        edges: of the graph.
        indexed: the local index is at hand.
        rows: that the plan is expected to touch; 0 before there is a plan.
        spark: Spark can be started here.

    >>> choose("auto", edges=32, indexed=False, rows=10, spark=True)
    Choice(engine='local', why='about 10 rows to touch')
    >>> choose("auto", edges=32, indexed=False, rows=1, spark=True).why
    'about 1 row to touch'
    >>> choose("auto", edges=10**9, indexed=False, rows=0, spark=True).engine
    'spark'
    """
    if wish != "auto":
        return Choice(wish, "asked for")
    touched = f"about {counted(round(rows), 'row')} to touch"
    if edges > MOST_EDGES and not indexed:
        why = f"{edges:,} edges and no local index"
    elif rows > MOST_ROWS:
        why = touched
    else:
        return Choice("local", touched if rows else f"{edges:,} edges")
    return Choice("spark", why) if spark else Choice("local", f"{why}, but there is no Java for Spark")
