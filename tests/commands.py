"""The command line as tests use it: what a command did, and a store with the Guide in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeAlias

from oemviews.cli import run

FAVORITE = (
    "define view FavoriteEntrees as Entrees = select e from Guide.Restaurant r, r.Entree e "
    'where exists x in r.Name : x = "Baghdad Cafe" and exists y in e.Ingredient : y = "Mushroom" '
    "with e.Name n, e.Ingredient i"
)


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output, every line of it JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


Cli: TypeAlias = Callable[..., Ran]


def guide_store(folder: Path) -> Path:
    """A new store in `folder`, with the Guide as batch 1."""
    path = folder / "guide.store"
    assert run(["init", str(path)]) == 0
    with as_file(files("oemviews") / "data" / "guide.oem") as guide:
        assert run(["load", str(path), str(guide), "--name", "Guide"]) == 0
    return path
