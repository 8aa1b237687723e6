"""What a word of a statement stands for: a variable, a name, a view; or an error that says what exists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

from lorel import ast
from lorel.dnf import Piece
from lorel.errors import LorelMeaningError, Span
from lorel.normal import Arith, Const, Normal, Scalar, TextOf, ValueOf

_MOST_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class Catalog:
    """The words a statement may start a path with: names, and views with the label of their collection."""

    names: frozenset[str] = frozenset()
    views: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


# ---- what a variable stands for ----


@dataclass(frozen=True, slots=True)
class Object:
    """An object of the base graph, or of the graph of a view."""

    var: str
    graph: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A label variable (`%@L`) or a path variable (`#@P`)."""

    var: str
    kind: Literal["label", "path"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value with no object behind it."""

    scalar: Scalar


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a query inside that selects several items, each under its label."""

    items: tuple[tuple[str, Bound], ...]


Bound: TypeAlias = Object | Text | Value | Row

_NO_VALUE: Final = Arith("/", Const(1), Const(0))
"""A scalar that is always missing."""


def scalar_of(bound: Bound) -> Scalar:
    match bound:
        case Object(var, graph):
            return ValueOf(var, graph)
        case Text(var):
            return TextOf(var)
        case Value(scalar):
            return scalar
        case Row():
            return _NO_VALUE


# ---- fresh names ----

_GENERATED: Final = re.compile(r"_[1-9][0-9]*")


def is_generated(name: str) -> bool:
    """Has the form of a made-up name; a user may have written one too."""
    return _GENERATED.fullmatch(name) is not None


def words(node: object) -> Iterator[str]:
    """Every word of a tree that could be a variable."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, ast.LiteralSet):
        return
    elif isinstance(node, tuple):
        for item in node:
            yield from words(item)
    elif is_dataclass(node) and not isinstance(node, Span):
        for entry in fields(node):
            yield from words(getattr(node, entry.name))


class Names:
    """A supply of names `_1`, `_2`, ... that steers clear of those in use.

    >>> names = Names(["r", "_2"])
    >>> names.fresh(), names.fresh(), names.claim("x"), names.claim("x")
    ('_1', '_3', 'x', '_4')
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self._reserved = frozenset(name for name in reserved if is_generated(name))
        self._claimed: set[str] = set()
        self._with: set[str] = set()
        self._last = 0

    def mark(self) -> Callable[[], None]:
        """A way back to the names that are free now, for what is tried and given up."""
        claimed, with_, last = set(self._claimed), set(self._with), self._last

        def back() -> None:
            self._claimed, self._with, self._last = claimed, with_, last

        return back

    def fresh(self) -> str:
        self._last += 1
        while f"_{self._last}" in self._reserved:
            self._last += 1
        return f"_{self._last}"

    def claim(self, name: str) -> str:
        """The name itself for the first who asks, a fresh one for the next."""
        if name in self._claimed:
            return self.fresh()
        self._claimed.add(name)
        return name

    def claim_with(self, name: str) -> str:
        """The name itself for a with variable, also for one of that name in another block."""
        if name not in self._with:
            if name in self._claimed:
                return self.fresh()
            self._claimed.add(name)
            self._with.add(name)
        return name


# ---- scopes ----


class Inside(Protocol):
    """The lowering of queries inside paths and conditions, which are themselves inside queries."""

    def query(self, query: ast.Query, scope: Scope) -> Normal: ...

    def merged(self, query: ast.Query, scope: Scope) -> tuple[Piece, tuple[Bound, ...]] | None:
        """Bindings and select items, to be made part of the query around it; None if it must stay apart."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables in reach, and where to look when a word is none of them.

    A lenient scope takes an unknown word for a name: a view outlives the names it was defined on.
    """

    catalog: Catalog
    names: Names
    inside: Inside
    text: str = ""
    lenient: bool = False
    variables: Mapping[str, Bound] = field(default_factory=lambda: MappingProxyType({}))
    own: frozenset[str] = frozenset()  # bound by the clause at hand: none of them may be bound again

    def inner(self) -> Scope:
        """A scope inside this one; its variables may hide those outside."""
        return replace(self, own=frozenset())

    def bind(self, variable: str, bound: Bound, span: Span) -> Scope:
        if variable in self.own:
            hint = "give one of the two another name"
            raise self.error(f"the variable {variable!r} is bound twice", span, hint)
        known = MappingProxyType({**self.variables, variable: bound})
        return replace(self, variables=known, own=self.own | {variable})

    def error(self, message: str, span: Span, hint: str = "") -> LorelMeaningError:
        return LorelMeaningError(message, text=self.text, span=span, hint=hint)

    def start(self, ident: ast.Ident) -> Bound | str:
        """The variable of that name; else the graph, "" or a view, whose root has an edge of that name."""
        if ident.name in self.variables:
            return self.variables[ident.name]
        if ident.name not in self.catalog.names and ident.name in self.catalog.views:
            return ident.name
        if ident.name in self.catalog.names or self.lenient:
            return ""
        hint = self._what_exists(ident.name)
        if self.text[ident.span.start - 1 : ident.span.start] == "-":
            hint = "a label with a dash is written between backquotes, as in `` r.`zip-code` ``; " + hint
        raise self.error(f"nothing is named {ident.name!r} here", ident.span, hint)

    def _what_exists(self, name: str) -> str:
        groups = {
            "variables": list(self.variables),
            "names": sorted(self.catalog.names),
            "views": sorted(self.catalog.views),
        }
        return suggestion(name, [word for group in groups.values() for word in group]) + "; ".join(
            f"{kind}: {listed(group)}" for kind, group in groups.items() if group or kind == "names"
        )


def suggestion(word: str, known: Iterable[str]) -> str:
    """
    >>> suggestion("Guid", ["Guide", "Menu"])
    "did you mean 'Guide'? "
    """
    by_folded = {each.casefold(): each for each in known}
    close = get_close_matches(word.casefold(), by_folded, n=1)
    return f"did you mean {by_folded[close[0]]!r}? " if close else ""


def listed(items: Iterable[str]) -> str:
    """
    >>> listed("abc"), listed([])
    ('a, b, c', 'none')
    """
    every = list(items)
    more = f", and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return ", ".join(every[:_MOST_LISTED]) + more or "none"
