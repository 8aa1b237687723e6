"""What `maintain.py` found: a line for each case, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

TARGETS: Final = {1: 300, 100: 100, 10_000: 10}
"""How many times faster than DuckDB, which applies and computes again, so many edits should be kept: the aim
for 10 M edges; on a smaller graph DuckDB is faster and keeping costs the same."""


@dataclass(frozen=True)
class Result:
    """One line of the table; times in milliseconds."""

    view: str
    edit: str
    size: int  # edits asked for
    edits: int  # of them that change anything
    method: str
    kept: float
    duck: float
    local: float
    spark: float | None
    rows: int
    dismissed: float
    auto: str

    @property
    def auto_was_right(self) -> bool:
        return (self.auto == "full") == (self.local < self.kept)

    def line(self) -> str:
        spark = f"{self.spark / self.kept:>9,.0f}x" if self.spark else f"{'-':>10}"
        ratios = f"{self.duck / self.kept:>9,.1f}x{self.local / self.kept:>8,.1f}x{spark}"
        return (
            f"{self.view:<9}{self.edit:<15}{self.edits:>8,}  {self.method:<9}{self.kept:>9.2f}"
            f"{self.duck:>8.0f}{self.local:>8.1f}{ratios}{self.rows:>11,}{self.dismissed:>7.0%}  {self.auto}"
        )


HEAD: Final = (
    f"{'view':<9}{'edit':<15}{'edits':>8}  {'method':<9}{'kept':>9}{'duckdb':>8}{'local':>8}"
    f"{'/duckdb':>10}{'/local':>9}{'/spark':>10}{'rows':>11}{'dism.':>7}  auto"
)


def print_summary(results: Sequence[Result]) -> None:
    """Which targets are met, where recomputing wins, and how often policy `auto` knew it."""
    print()
    for size, target in TARGETS.items():
        ratios = {f"{r.view} {r.edit}": r.duck / r.kept for r in results if r.size == size}
        below = [f"{case} {ratio:,.1f}x" for case, ratio in ratios.items() if ratio < target]
        met = f"{len(ratios) - len(below)} of {len(ratios)} cases at least {target}x faster than DuckDB"
        print(f"{size:,} edits: {met}{'; below: ' + ', '.join(below) if below else ''}")
    for case in dict.fromkeys((r.view, r.edit) for r in results):
        mine = sorted((r for r in results if (r.view, r.edit) == case), key=lambda r: r.size)
        wins = [
            f"{peer} from {next((f'{r.edits:,}' for r in mine if getattr(r, peer) < r.kept), 'none')}"
            for peer in ("local", "duck")
        ]
        print(f"{' '.join(case):<24} edits at which recomputing wins: {', '.join(wins)}")
    right = sum(result.auto_was_right for result in results)
    print(
        f"policy auto took the faster of keeping and recomputing locally in {right} of {len(results)} cases"
    )


def print_flatness(few: int, small: Sequence[Result], many: int, large: Sequence[Result]) -> None:
    """The same batch on two sizes of graph: it should cost about the same."""
    print(f"\nkept in ms, {few:,} edges against {many:,} edges")
    found = {(r.view, r.edit, r.size): r for r in small}
    for result in large:
        same = found.get((result.view, result.edit, result.size))
        if same is not None:
            case = f"{result.view:<9}{result.edit:<15}{result.size:>8,}"
            print(f"{case}{same.kept:>9.2f}{result.kept:>9.2f}{result.kept / same.kept:>7.2f}x")
