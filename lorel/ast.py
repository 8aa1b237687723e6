"""What was written: the tree of a Lorel statement, with the place of every node in the text.

Trees are frozen. Where a node was written is not part of what it is, so that
`parse(print(t)) == t` can be stated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lorel.errors import NOWHERE, Span

Quantifier: TypeAlias = Literal["", "*", "+", "?"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of all nodes: a span that takes no part in equality."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


# ---- paths ----


@dataclass(frozen=True, slots=True)
class Label(Node):
    """`.Restaurant`, or `` .`my label` ``: exactly this label."""

    name: str


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """`.Ra%`: any label that matches, `%` being any run of characters."""

    pattern: str


@dataclass(frozen=True, slots=True)
class AnyPath(Node):
    """`.#`: any path, also the empty one."""


@dataclass(frozen=True, slots=True)
class Unquote(Node):
    """`.unquote(e)`: the label that the expression gives."""

    expr: Expr


Unit: TypeAlias = Label | Pattern | AnyPath | Unquote


@dataclass(frozen=True, slots=True)
class Step(Node):
    """One component of a path: `.Name`, `.%@L`, `.Entree{e}`, `.Nearby+`."""

    unit: Unit
    via: str | None = None  # `@x`: a label variable, after `#` a path variable
    bind: str | None = None  # `{x}`: an object variable inside the path
    quant: Quantifier = ""


@dataclass(frozen=True, slots=True)
class Group(Node):
    """`(.Price|.Ingredient)*`: alternatives, each a sequence of components."""

    alternatives: tuple[tuple[Component, ...], ...]
    quant: Quantifier = ""


Component: TypeAlias = Step | Group


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name or a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class OidRef(Node):
    """`&10`: an object by its oid."""

    oid: int


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """`(select ...)` where an object or a set of them is wanted."""

    query: Query


@dataclass(frozen=True, slots=True)
class Path(Node):
    """`Guide.Restaurant.Name`: a head, then components; a lone name or variable has none."""

    head: Ident | OidRef | Subquery | Call
    components: tuple[Component, ...] = ()


# ---- expressions ----


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """`4`, `4.5`, `"four"`, `true`, `null`. `4`, `4.0` and `true` are different literals."""

    value: int | float | str | bool | None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`a + b`, `-`, `*`, `/`, `mod`, and `||` for strings."""

    op: Literal["+", "-", "*", "/", "mod", "||"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """`-a`."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`count(r.Entree)`, `label-of(L)`, `type-of(x)`: a function by its name in lower case."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Construct(Node):
    """`oem(name: r.Name, dishes: (select ...))`: a new object; `struct` is the same."""

    kind: Literal["oem", "struct"]
    fields: tuple[tuple[str, Expr], ...]


Expr: TypeAlias = Path | Constant | Binary | Negative | Call | Construct | Subquery
"""An oid alone is `Path(OidRef(n))`, a variable alone `Path(Ident(x))`."""


# ---- conditions ----


@dataclass(frozen=True, slots=True)
class Or(Node):
    items: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class And(Node):
    items: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    item: Condition


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """`a = b`; `<>` is read as `!=`; `==` compares oids."""

    op: Literal["=", "!=", "<", "<=", ">", ">=", "=="]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class LiteralSet(Node):
    """`{1, 2, "three"}`."""

    items: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class In(Node):
    """`x in r.Category`, `x in (select ...)`, `x in {1, 2}`."""

    item: Expr
    collection: Path | Subquery | LiteralSet


@dataclass(frozen=True, slots=True)
class Match(Node):
    """`e like "%Cafe"` (SQL pattern), `grep` (regular expression), `soundex` (sounds alike)."""

    kind: Literal["like", "grep", "soundex"]
    expr: Expr
    pattern: str


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`exists x in r.Name : x = "Thai City"`, `for all x in ... : ...`; the body is one atom."""

    kind: Literal["exists", "for all"]
    variable: str
    range: Path | Subquery
    body: Condition


@dataclass(frozen=True, slots=True)
class NotEmpty(Node):
    """`exists (r.Address)`, or the bare path `r.Address` as a condition."""

    range: Path | Subquery


Condition: TypeAlias = Or | And | Not | Compare | In | Match | Quantified | NotEmpty


# ---- queries ----


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """`e`, `dish: e.Name`, `e.Name as dish`."""

    expr: Expr
    label: str | None = None


@dataclass(frozen=True, slots=True)
class FromItem(Node):
    """`Guide.Restaurant r`, `r in Guide.Restaurant`, `x in (select ...)`, or a path with no variable."""

    range: Path | Subquery
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class OrderKey(Node):
    expr: Expr
    descending: bool = False


@dataclass(frozen=True, slots=True)
class WithPath(Node):
    """`e.Name n`: one path from a select variable or an earlier with variable."""

    path: Path
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Select(Node):
    items: tuple[SelectItem, ...]
    from_: tuple[FromItem, ...] = ()
    where: Condition | None = None
    group_by: tuple[Expr, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    distinct: bool = False
    with_: tuple[WithPath, ...] = ()


@dataclass(frozen=True, slots=True)
class SetQuery(Node):
    op: Literal["union", "intersect", "except"]
    left: Query
    right: Query


@dataclass(frozen=True, slots=True)
class ExprQuery(Node):
    """A query that is only an expression: `Guide.Restaurant.Name`, `count(Guide.#)`."""

    expr: Expr


Query: TypeAlias = Select | SetQuery | ExprQuery


# ---- statements ----


@dataclass(frozen=True, slots=True)
class DefineView(Node):
    """`define view FavoriteEntrees as Entrees = select ...`."""

    name: str
    query: Query
    collection: str | None = None
    kind: Literal["", "materialized", "virtual"] = ""


@dataclass(frozen=True, slots=True)
class DropView(Node):
    name: str


@dataclass(frozen=True, slots=True)
class NameObject(Node):
    """`name Best := element(select ...)`."""

    name: str
    value: Query


@dataclass(frozen=True, slots=True)
class Unname(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Update(Node):
    """`update r.Price := 12 from Guide.Restaurant r where ...`."""

    target: Ident | OidRef
    label: str | None
    op: Literal[":=", "+=", "-="]
    value: Query
    from_: tuple[FromItem, ...] = ()
    where: Condition | None = None


Statement: TypeAlias = Select | SetQuery | ExprQuery | DefineView | DropView | NameObject | Unname | Update
