"""Edits as users write them, and the net change they come to.

A user's edit is one of six small values. A batch of them, applied in order to a state, comes to a
`NetChange`: final state minus initial state, never a cancelling of pairs (with e present,
[Ins e, Del e] is a deletion). Everything below the front door works on net changes, in columns,
so that a load of a million objects and a batch of one take the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import pyarrow as pa

from oemviews.model import COMPLEX, Atom, Oid, Value
from oemviews.store.schema import CHANGES_OF_VALUE, EDGES, OBJECTS

Ref: TypeAlias = Oid | str
"""An object in an edit: its oid, or a name of the log's own, made by `New`."""


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
"""The old value of a `Change` that does not state it."""


@dataclass(frozen=True, slots=True)
class Insert:
    """`<Ins,&src,label,&dst>`."""

    src: Ref
    label: str
    dst: Ref


@dataclass(frozen=True, slots=True)
class Delete:
    """`<Del,&src,label,&dst>`."""

    src: Ref
    label: str
    dst: Ref


@dataclass(frozen=True, slots=True)
class Change:
    """`<Chg,&oid,old,new>`: a new value, of any atomic type, for an atomic object."""

    oid: Ref
    new: Atom
    old: Atom | _Unknown = UNKNOWN


@dataclass(frozen=True, slots=True)
class New:
    """A new object, under a name that later edits of the same log may use."""

    oid: str
    value: Value = COMPLEX


@dataclass(frozen=True, slots=True)
class Name:
    """Make `name` stand for `oid`, whatever it stood for before."""

    name: str
    oid: Ref


@dataclass(frozen=True, slots=True)
class Unname:
    """Take a name away."""

    name: str


Edit: TypeAlias = Insert | Delete | Change | New | Name | Unname


def _empty(schema: pa.Schema) -> pa.Table:
    """What `schema.empty_table()` gives, which would import pandas where that is installed."""
    return pa.Table.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)


# Made once: an empty table costs as much as a small batch.
_NO_OBJECTS: Final = _empty(OBJECTS)
_NO_EDGES: Final = _empty(EDGES)
_NO_CHANGES: Final = _empty(CHANGES_OF_VALUE)


@dataclass(frozen=True, slots=True)
class NetChange:
    """What a batch did to the graph, or a piece of it, in columns.

    `created` are new objects (schema OBJECTS), `plus` and `minus` edges that came and went (EDGES;
    `minus` keeps pos and shape, so that a log can be run backwards), `changed` atomic objects with
    another value (CHANGES_OF_VALUE), `gone` objects that `compact` took away because no name reached them
    (OBJECTS, as they were). An object of `created` or `gone` never stands in `changed`.
    """

    created: pa.Table = field(default_factory=lambda: _NO_OBJECTS)
    plus: pa.Table = field(default_factory=lambda: _NO_EDGES)
    minus: pa.Table = field(default_factory=lambda: _NO_EDGES)
    changed: pa.Table = field(default_factory=lambda: _NO_CHANGES)
    gone: pa.Table = field(default_factory=lambda: _NO_OBJECTS)

    def __len__(self) -> int:
        return len(self.created) + len(self.plus) + len(self.minus) + len(self.changed) + len(self.gone)
