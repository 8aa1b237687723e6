"""What is kept of a view against a fresh evaluation of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from oemviews.answers.rendering import counted
from oemviews.front.chooser import EngineName
from oemviews.front.snapshot import Snapshot, Tables
from oemviews.store.schema import VIEW_ROWS
from oemviews.store.store import Store
from oemviews.views.materialise import materialise
from oemviews.views.tables import graph_tables

Shown: TypeAlias = int | list[int] | dict[str, Any]
"""An object, a row of several, or an edge."""

_VALUE: Final = ["type", "text", "integer", "number"]


@dataclass(frozen=True, slots=True, repr=False)
class Checked:
    """A view compared: what it lacks, what it has too much, and objects whose copied value is old."""

    view: str
    missing: tuple[Shown, ...] = ()
    extra: tuple[Shown, ...] = ()
    stale: tuple[Shown, ...] = ()

    @property
    def equal(self) -> bool:
        return not (self.missing or self.extra or self.stale)

    def to_json(self) -> dict[str, Any]:
        """As `check --json` prints it."""
        if self.equal:
            return {"view": self.view, "equal": True}
        return {
            "view": self.view,
            "equal": False,
            "missing": list(self.missing),
            "extra": list(self.extra),
            "stale": list(self.stale),
        }

    def __str__(self) -> str:
        """
        >>> print(Checked("Cheap", missing=(9,)))
        Cheap: differs from a fresh evaluation: 1 missing (&9)
        """
        if self.equal:
            return f"{self.view}: equal to a fresh evaluation"
        parts = (("missing", self.missing), ("too much", self.extra), ("with an old value", self.stale))
        told = [f"{len(found)} {what} ({_words(found)})" for what, found in parts if found]
        return f"{self.view}: differs from a fresh evaluation: {', '.join(told)}"

    __repr__ = __str__


def _words(found: Iterable[Shown]) -> str:
    listed = list(found)
    texts = [_word(each) for each in listed[:5]]
    return ", ".join(texts) + (f" and {counted(len(listed) - 5, 'other')}" if len(listed) > 5 else "")


def _word(shown: Shown) -> str:
    match shown:
        case dict():
            return f"&{shown['src']} -{shown['label']}-> &{shown['dst']}"
        case list():
            return "(" + ", ".join(f"&{oid}" for oid in shown) + ")"
        case _:
            return f"&{shown}"


def compared(view: str, kept: pa.Table, fresh: pa.Table) -> Checked:
    """Rows, edges and delegates of a view against those of a fresh evaluation; counts are not looked at."""
    mine, other = _visible(kept), _visible(fresh)
    both = mine.keys() & other.keys()
    return Checked(
        view,
        missing=_shown(key for key in other if key not in both),
        extra=_shown(key for key in mine if key not in both),
        stale=_shown(key for key in both if mine[key] != other[key]),
    )


_Key: TypeAlias = tuple[Any, ...]


def _visible(table: pa.Table) -> Mapping[_Key, tuple[Any, ...]]:
    """What a reader of the view sees: rows, edges, and objects with their values."""
    found: dict[_Key, tuple[Any, ...]] = {}
    for row in table.select([name for name in VIEW_ROWS.names if name != "n"]).to_pylist():
        if row["role"] == "object":
            found["object", row["dst"]] = tuple(row[name] for name in _VALUE)
        elif row["role"] == "primary":
            found["primary", row["dst"] if row["dst"] is not None else row["text"]] = ()
        elif row["role"] == "with":
            found["with", row["variable"], row["src"], row["label"], row["dst"]] = ()
    return found


def _shown(keys: Iterable[_Key]) -> tuple[Shown, ...]:
    import orjson

    shown: dict[str, Shown] = {}
    for key in sorted(keys, key=repr):
        match key:
            case ("with", variable, src, label, dst):
                shown[repr(key)] = {"variable": variable, "src": src, "label": label, "dst": dst}
            case (_, str(text)):
                shown[text] = orjson.loads(text)
            case (_, oid):  # an object is named once, as a primary or as a delegate
                shown[str(oid)] = oid
    return tuple(shown.values())


def signed_difference(kept: pa.Table, fresh: pa.Table) -> pa.Table:
    """The rows to add to `kept` to have `fresh`, with signed counts."""
    counts: dict[tuple[Any, ...], int] = {}
    names = [name for name in VIEW_ROWS.names if name != "n"]
    for table, sign in ((fresh, 1), (kept, -1)):
        columns = [table[name].to_pylist() for name in names]
        for row, n in zip(zip(*columns, strict=True), table["n"].to_pylist(), strict=True):
            counts[row] = counts.get(row, 0) + sign * n
    left = {row: n for row, n in counts.items() if n}
    arrays = [pa.array([row[i] for row in left], VIEW_ROWS.field(name).type) for i, name in enumerate(names)]
    return pa.table([*arrays, pa.array(list(left.values()), pa.int64())], schema=VIEW_ROWS)


def differences(store: Store, fresh: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """What to add to the rows that a store keeps of views to have fresh ones."""
    kept = {
        name: store.view_rows(name) if store.view_stamp(name) is not None else VIEW_ROWS.empty_table()
        for name in fresh
    }
    return {name: signed_difference(kept[name], table) for name, table in fresh.items()}


def evaluated(snapshot: Snapshot, engine: EngineName) -> dict[str, pa.Table]:
    """Fresh rows of all views, each on fresh graphs of those below it."""
    made: dict[str, Tables] = {}
    fresh: dict[str, pa.Table] = {}
    for name, view in snapshot.definitions.items():
        fresh[name] = materialise(view, snapshot.with_tables(made).engine(engine, view.graphs)).table
        made[name] = graph_tables(view, fresh[name])
    return fresh
