"""Edits written in Python, collected in a block and applied as one batch at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oemviews.edits import UNKNOWN, Change, Delete, Edit, Insert, Name, New, Ref, Unname, _Unknown
from oemviews.model import COMPLEX, Atom, Value

if TYPE_CHECKING:
    from oemviews.front.applying import BatchReport


class Edits:
    """A batch in the making; `db.edits()` hands one out. After the block, `report` says what it did.

    >>> e = Edits()
    >>> soup = e.new()
    >>> e.insert(3, "Entree", soup)
    >>> e.made
    [New(oid='new1', value=COMPLEX), Insert(src=3, label='Entree', dst='new1')]
    """

    def __init__(self) -> None:
        self.made: list[Edit] = []
        self.report: BatchReport | None = None
        self._count = 0

    def new(self, value: Value = COMPLEX) -> str:
        """A new object, complex unless a value is given; the name returned stands for it in this block."""
        self._count += 1
        name = f"new{self._count}"
        self.made.append(New(name, value))
        return name

    def insert(self, src: Ref, label: str, dst: Ref) -> None:
        self.made.append(Insert(src, label, dst))

    def delete(self, src: Ref, label: str, dst: Ref) -> None:
        self.made.append(Delete(src, label, dst))

    def change(self, oid: Ref, new: Atom, old: Atom | _Unknown = UNKNOWN) -> None:
        """Another value for an atomic object; `old`, if given, must be the value it has."""
        self.made.append(Change(oid, new, old))

    def name(self, name: str, oid: Ref) -> None:
        self.made.append(Name(name, oid))

    def unname(self, name: str) -> None:
        self.made.append(Unname(name))

    def __len__(self) -> int:
        return len(self.made)
