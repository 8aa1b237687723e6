"""The picture of `maintain.py`: for each view the time to keep it against the time to compute it again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

_COLOURS: Final = {"kept": "#1b6ca8", "local": "#7a9e3a", "duck": "#c9742b", "spark": "#9c3a5b"}
_WORDS: Final = {
    "kept": "kept by oemviews",
    "local": "recomputed, local engine",
    "duck": "recomputed, DuckDB",
    "spark": "recomputed, Spark",
}
_WIDE, _HIGH, _GAP = 210, 200, 46
_LEAST, _MOST = 0.1, 20_000.0


class Timed(Protocol):
    """What is drawn of a result."""

    @property
    def view(self) -> str: ...
    @property
    def size(self) -> int: ...


def write_picture(path: Path, edges: int, results: Sequence[Timed]) -> None:
    """One panel a view, both axes logarithmic; where several kinds of edit were tried, their median."""
    views = list(dict.fromkeys(result.view for result in results))
    width = len(views) * (_WIDE + _GAP) + _GAP
    panels = "".join(_panel(v, n, [r for r in results if r.view == v]) for n, v in enumerate(views))
    legend = "".join(
        f'<text x="{_GAP + i * 200}" y="{_HIGH + 92}" fill="{_COLOURS[key]}">&#9632; {words}</text>'
        for i, (key, words) in enumerate(_WORDS.items())
    )
    title = f'<text x="{_GAP}" y="18">milliseconds a batch, by number of edits; {edges:,} edges</text>'
    style = 'font-family="sans-serif" font-size="11" fill="#333"'
    size = f'width="{width}" height="{_HIGH + 104}"'
    back = '<rect width="100%" height="100%" fill="white"/>'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{back}{title}{panels}{legend}</svg>\n'
    path.write_text(text, encoding="utf-8")


def _panel(view: str, number: int, results: Sequence[Timed]) -> str:
    left = _GAP + number * (_WIDE + _GAP)
    frame = f'<rect width="{_WIDE}" height="{_HIGH}" fill="none" stroke="#ccc"/>'
    parts = [f'<g transform="translate({left},40)">{frame}']
    parts.append(f'<text x="4" y="-6">{view}</text>')
    for power in range(-1, 5):
        y = _y(10.0**power)
        parts.append(f'<path d="M0 {y:.1f}H{_WIDE}" stroke="#eee"/>')
        parts.append(f'<text x="-30" y="{y + 4:.1f}">{10.0**power:g}</text>')
    sizes = sorted({_rounded(result.size) for result in results})
    for size in sizes:
        parts.append(f'<text x="{_x(size) - 8:.1f}" y="{_HIGH + 16}">{_short(size)}</text>')
    for key, colour in _COLOURS.items():
        points = [
            (size, _median(getattr(r, key) for r in results if _rounded(r.size) == size)) for size in sizes
        ]
        known = [(_x(size), _y(value)) for size, value in points if value]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in known)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in known]
    return "".join(parts) + "</g>"


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 else f"{size}"


def _rounded(size: int) -> int:
    return 10 ** round(math.log10(max(1, size)))


def _median(values: Iterable[float | None]) -> float | None:
    known = sorted(value for value in values if value)
    return known[len(known) // 2] if known else None


def _x(size: int) -> float:
    return 14 + math.log10(size) / 5.2 * (_WIDE - 28)


def _y(milliseconds: float) -> float:
    share = math.log(milliseconds / _LEAST) / math.log(_MOST / _LEAST)
    return _HIGH * (1 - min(1.0, max(0.0, share)))
