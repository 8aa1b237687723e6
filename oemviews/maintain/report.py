"""What a batch did to each view, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from oemviews.views.definition import Method


@dataclass(frozen=True, repr=False)
class ViewReport:
    """One view's part in a batch."""

    view: str
    relevant: int = 0
    dismissed: Mapping[str, int] = field(default_factory=dict)
    statements: int = 0
    rows: int = 0  # that operators gave: what was touched; on Spark those that whole statements gave
    added: int = 0
    removed: int = 0
    edges_added: int = 0
    edges_removed: int = 0
    method: Method = "counting"
    engine: Literal["local", "spark"] = "local"
    seconds: float = 0.0
    reason: str = ""  # why everything was evaluated again, if it was
    predicted: float | None = None  # rows to maintain, by the cost model
    recompute: float | None = None  # rows to recompute, by the cost model

    def as_json(self) -> dict[str, Any]:
        """The shape that `apply --json` prints."""
        shape: dict[str, Any] = {
            "view": self.view,
            "relevant": self.relevant,
            "dismissed": dict(self.dismissed),
            "statements": self.statements,
            "rows": self.rows,
            "added": self.added,
            "removed": self.removed,
            "edges_added": self.edges_added,
            "edges_removed": self.edges_removed,
            "method": self.method,
            "engine": self.engine,
            "seconds": round(self.seconds, 6),
        }
        return shape | ({"reason": self.reason} if self.reason else {})

    def __str__(self) -> str:
        """
        >>> print(ViewReport("Cheap", 1, {"label not in the view": 2}, 1, 17, added=1, seconds=0.004))
        Cheap: +1 -0 rows, +0 -0 edges, by counting on local in 4.0 ms
          1 relevant, 2 dismissed (label not in the view: 2); 1 statement; 17 rows touched
        >>> print(ViewReport("Cheap", 1, {}, 1, 35, added=1, seconds=0.004, predicted=17))
        Cheap: +1 -0 rows, +0 -0 edges, by counting on local in 4.0 ms
          1 relevant, 0 dismissed; 1 statement; 17 rows expected, 35 touched
        """
        lines = [
            f"{self.view}: +{self.added:,} -{self.removed:,} rows, "
            f"+{self.edges_added:,} -{self.edges_removed:,} edges, "
            f"by {self.method} on {self.engine} in {self.seconds * 1000:,.1f} ms"
        ]
        why = _shown(self.dismissed)
        gone = sum(self.dismissed.values())
        plural = "" if self.statements == 1 else "s"
        # On Spark only what the statements give is counted, not what they pass on their way.
        done = "touched" if self.engine == "local" else "given"
        touched = f"{self.rows:,} rows {done}"
        if self.predicted is not None:
            touched = f"{self.predicted:,.0f} rows expected, {self.rows:,} {done}"
        lines.append(
            f"  {self.relevant:,} relevant, {gone:,} dismissed{f' ({why})' if gone else ''}; "
            f"{self.statements} statement{plural}; {touched}"
        )
        if self.reason:
            lines.append(f"  evaluated in full: {self.reason}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        expected = {} if self.predicted is None else {"rows expected": round(self.predicted)}
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(str(name))}</th><td>{escape(_shown(value))}</td></tr>"
            for name, value in (self.as_json() | expected).items()
        )
        return f"<table>{rows}</table>"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{reason}: {n:,}" for reason, n in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
