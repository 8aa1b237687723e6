"""Materialized views over JSON and XML, kept up to date edit by edit.

import oemviews as ov

db = ov.create("guide.store")
db.load("guide.json", name="Guide")
db.query("select Guide.Restaurant.Name")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from oemviews.errors import (
    BadInput,
    DamagedStore,
    DocumentError,
    EditError,
    EnvironmentLacks,
    LockedStore,
    OemError,
    StoreError,
)
from oemviews.model import COMPLEX

if TYPE_CHECKING:
    from oemviews.answers.answer import Answer
    from oemviews.answers.dataguide import DataGuide
    from oemviews.edits import Change, Delete, Insert, Name, New, Unname
    from oemviews.front.database import Database, create, open
    from oemviews.front.view import View

__all__ = [
    "COMPLEX",
    "Answer",
    "BadInput",
    "Change",
    "DamagedStore",
    "DataGuide",
    "Database",
    "Delete",
    "DocumentError",
    "EditError",
    "EnvironmentLacks",
    "Insert",
    "LockedStore",
    "Name",
    "New",
    "OemError",
    "StoreError",
    "Unname",
    "View",
    "create",
    "open",
]

_WHERE = {
    "Answer": "answers.answer",
    "Change": "edits",
    "DataGuide": "answers.dataguide",
    "Database": "front.database",
    "Delete": "edits",
    "Insert": "edits",
    "Name": "edits",
    "New": "edits",
    "Unname": "edits",
    "View": "front.view",
    "create": "front.database",
    "open": "front.database",
}
"""Loaded when first asked for, so that `import oemviews` is quick."""


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'oemviews' has no attribute {name!r}")
    found = getattr(import_module(f"oemviews.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What completion offers, whether it is loaded yet or not."""
    return sorted([*globals(), *_WHERE])


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext oemviews` brings the cell magic `%%lorel`."""
    import_module("oemviews.jupyter").load_ipython_extension(ipython)
