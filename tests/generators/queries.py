"""Seeded random queries over the whole grammar, and random views: few words, so that things meet.

Every query has a meaning: its variables are bound, its functions exist, its subqueries select one item.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal, TypeVar

from lorel import ast
from tests.generators.graphs import ATOMS, LABELS, NAMES

T = TypeVar("T")

_PATTERNS = ("%", "%", "a%", "%b", "c%")
_TEXT_PATTERNS = {
    "like": ("%", "x%", "_", "%4%", ""),
    "grep": ("x", "^4", "[0-9]", "x|1"),
    "soundex": ("Rupert", "x", "1"),
}
_WORDS = "uvwxyzpqrstdefghij"


def random_query(rng: Random) -> ast.Query:
    """Any query: set operators, groups, order, distinct, constructed objects, all that a select can hold."""
    return _Maker(rng).query(2)


def random_row_query(rng: Random) -> ast.Query:
    """A query with rows in it: ranges over queries of several items, objects united with values, elements."""
    return _Maker(rng, rows=True).query(2)


def random_row_view(rng: Random) -> ast.DefineView:
    """A view with ranges over queries of several items."""
    return ast.DefineView("V", _Maker(rng, view=True, rows=True).view_query())


def random_view(rng: Random, name: str = "V") -> ast.DefineView:
    """A query that can be a view: objects are selected, nothing is computed, grouped or put in order."""
    return ast.DefineView(name, _Maker(rng, view=True).view_query(), rng.choice((None, "item")))


def _inside(query: ast.Query) -> ast.Path | ast.Subquery:
    """A query in brackets as the parser gives it: around a path alone they only group."""
    if isinstance(query, ast.ExprQuery):
        assert isinstance(query.expr, ast.Path)
        return query.expr
    return ast.Subquery(query)


@dataclass
class _Maker:
    rng: Random
    view: bool = False
    objects: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    made: int = 0
    rows: bool = False
    items: list[tuple[ast.Path, bool]] = field(default_factory=list)  # of rows in reach; whether an object

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *options: T) -> T:
        return self.rng.choice(options)

    def variable(self) -> str:
        self.made += 1
        return _WORDS[(self.made - 1) % len(_WORDS)] + ("" if self.made <= len(_WORDS) else str(self.made))

    # ---- queries ----

    def view_query(self) -> ast.Query:
        width = 2 if self.chance(0.15) else 1
        left: ast.Query = self.select(2, width)
        if self.chance(0.2):
            left = ast.SetQuery(self.pick("union", "intersect", "except"), left, self.select(1, width))
        return left

    def query(self, depth: int) -> ast.Query:
        roll = self.rng.random()
        if self.rows and roll < 0.15:
            return self.mixed(2)
        if roll < 0.15 and depth:
            op: Literal["union", "intersect", "except"] = self.pick("union", "intersect", "except")
            return ast.SetQuery(op, self.member_query(depth - 1), self.member_query(depth - 1))
        if roll < 0.25:
            return ast.ExprQuery(self.expr(depth))
        return self.select(depth, self.pick(1, 1, 1, 2, 3))

    def mixed(self, depth: int) -> ast.Query:
        """Objects and values on the sides of set operators."""
        if depth == 0:
            value = ast.Select((ast.SelectItem(self.pick(self.constant(), self.path(), self.path())),))
            return self.pick(self.member_query(1), value)
        op: Literal["union", "intersect", "except"] = self.pick("union", "union", "intersect", "except")
        return ast.SetQuery(op, self.mixed(self.pick(0, depth - 1)), self.mixed(0))

    def row_range(self, variable: str) -> ast.Subquery:
        """A query of several items; what they can be used as is noted."""
        labels = ("i", "j", "a")[: self.pick(2, 2, 3)]
        kinds = [self.chance(0.75) for _ in labels]
        distinct, grouped = self.chance(0.2), self.chance(0.2)
        query: ast.Query = self.row_select(labels, kinds, distinct=distinct, grouped=grouped)
        if self.chance(0.25):
            other = self.row_select(labels, kinds, distinct=False, grouped=False)
            query = ast.SetQuery(self.pick("union", "intersect", "except"), query, other)
        for label, kind in zip(labels, kinds, strict=True):
            self.items.append((ast.Path(ast.Ident(variable), (ast.Step(ast.Label(label)),)), kind))
        return ast.Subquery(query)

    def row_select(
        self, labels: tuple[str, ...], kinds: list[bool], *, distinct: bool, grouped: bool
    ) -> ast.Select:
        kept = list(self.objects), list(self.texts), list(self.items)
        from_ = self.from_clause(self.pick(1, 2), 0)
        where = self.condition(1) if self.chance(0.3) else None
        exprs: list[ast.Expr] = []
        for kind in kinds:
            one: ast.Expr = self.plain_path(self.pick(0, 1))
            if grouped and not kind:
                one = ast.Call(self.pick("count", "max"), (one,))
            elif not kind:
                one = self.pick(self.constant(), ast.Call("type-of", (one,)), ast.Call("oid", (one,)))
            exprs.append(one)
        self.objects, self.texts, self.items = kept
        items = tuple(ast.SelectItem(expr, label) for expr, label in zip(exprs, labels, strict=True))
        keys = tuple(dict.fromkeys(expr for expr, kind in zip(exprs, kinds, strict=True) if kind))
        if grouped and keys:
            element = ast.SelectItem(ast.Call("element", (exprs[0],)), labels[0])
            items = (element, *items[1:]) if kinds[0] and self.chance(0.5) and len(keys) > 1 else items
            return ast.Select(items, from_, where, keys)
        if grouped:
            items = tuple(replace(item, expr=self.constant()) for item in items)
        return ast.Select(items, from_, where, distinct=distinct)

    def plain_path(self, steps: int) -> ast.Path:
        """A path from a variable that is no row."""
        name = self.rng.choice(self.objects) if self.objects else self.rng.choice(NAMES)
        return ast.Path(ast.Ident(name), self.components(steps, plain=True))

    def member_query(self, depth: int) -> ast.Query:
        """A query that gives objects, one item a row; variables in reach may be used in it."""
        if depth and self.chance(0.15):
            op: Literal["union", "intersect", "except"] = self.pick("union", "intersect", "except")
            return ast.SetQuery(op, self.member_query(depth - 1), self.member_query(depth - 1))
        if self.chance(0.2):
            return ast.ExprQuery(self.object_path(steps=1) if self.rows else self.path())
        kept = list(self.objects), list(self.texts), list(self.items)
        from_ = self.from_clause(self.pick(1, 1, 2), depth)
        item = ast.SelectItem(self.object_path(steps=self.pick(0, 0, 1)))
        where = self.condition(depth - 1) if depth and self.chance(0.5) else None
        self.objects, self.texts, self.items = kept
        distinct = not self.view and self.chance(0.1)
        return ast.Select((item,), from_, where, distinct=distinct)

    def select(self, depth: int, width: int) -> ast.Select:
        kept = list(self.objects), list(self.texts), list(self.items)
        self.objects, self.texts, self.items = (list(each) for each in kept)  # type: ignore[assignment]
        implicit = not self.view and self.chance(0.15)
        from_ = () if implicit else self.from_clause(self.pick(1, 1, 2, 2, 3), depth)
        where = self.condition(self.pick(1, 2)) if self.chance(0.6) else None
        if not self.view and from_ and self.chance(0.1):
            select = self.grouped(from_, where)
        elif self.view:
            select = ast.Select(self.view_items(width), from_, where, with_=())
            select = replace(select, with_=self.with_paths(select))
        else:
            items = tuple(
                ast.SelectItem(self.item(depth), f"i{i}" if self.chance(0.3) else None) for i in range(width)
            )
            orders = (ast.OrderKey(self.expr(0), self.chance(0.5)),) if self.chance(0.1) else ()
            select = ast.Select(items, from_, where, (), orders, self.chance(0.1))
        self.objects, self.texts, self.items = kept
        return select

    def grouped(self, from_: tuple[ast.FromItem, ...], where: ast.Condition | None) -> ast.Select:
        keys: tuple[ast.Expr, ...] = tuple(dict.fromkeys(self.path() for _ in range(self.pick(1, 1, 2))))
        funcs = ("element", "count", "max") if self.rows else ("count", "sum", "avg", "min", "max")
        total: ast.Expr = ast.Call(self.pick(*funcs), (self.path(),))
        extra: ast.Expr = ast.Binary("+", total, ast.Constant(1)) if self.chance(0.3) else total
        items = (*(ast.SelectItem(key) for key in keys if self.chance(0.8)), ast.SelectItem(extra, "total"))
        orders = (ast.OrderKey(self.pick(keys[0], total)),) if self.chance(0.2) else ()
        return ast.Select(items, from_, where, keys, orders)

    def item(self, depth: int) -> ast.Expr:
        roll = self.rng.random()
        if roll < 0.6:
            return self.object_path(steps=self.pick(0, 0, 1, 2))
        if roll < 0.7:
            fields = [
                ("f", self.expr(0)),
                ("g", _inside(self.member_query(1)) if depth else self.path()),
            ]
            return ast.Construct(self.pick("oem", "struct"), tuple(fields[: self.pick(1, 2)]))
        return self.expr(depth)

    def view_items(self, width: int) -> tuple[ast.SelectItem, ...]:
        items = []
        for i in range(width):
            steps = self.pick(0, 0, 0, 0, 1)
            label = f"i{i}" if steps or self.chance(0.2) else None
            path = self.object_path(steps=steps)
            items.append(ast.SelectItem(path, label or (f"i{i}" if path.components else None)))
        return tuple(items)

    def with_paths(self, select: ast.Select) -> tuple[ast.WithPath, ...]:
        heads = [item.label or item.expr.head.name for item in select.items]  # type: ignore[union-attr]
        paths: list[ast.WithPath] = []
        for number in range(self.pick(0, 1, 1, 2, 3)):
            components = self.components(self.pick(1, 1, 2), plain=False)
            variable = None if self.chance(0.1) else f"w{number}"
            paths.append(ast.WithPath(ast.Path(ast.Ident(self.rng.choice(heads)), components), variable))
            heads += [variable] if variable else []
        return tuple(paths)

    # ---- from ----

    def from_clause(self, width: int, depth: int) -> tuple[ast.FromItem, ...]:
        items = []
        for _ in range(width):
            named = self.view or self.chance(0.85)
            range_: ast.Path | ast.Subquery
            if self.rows and depth and self.chance(0.5):
                name = self.variable()
                items.append(ast.FromItem(self.row_range(name), name))
                continue
            if depth and self.chance(0.08):
                range_ = _inside(self.member_query(depth - 1))
                named = True
            else:
                range_ = self.range_path()
            variable = self.variable() if named else None
            items.append(ast.FromItem(range_, variable))
            self.objects += [variable] if variable else []
        return tuple(items)

    def range_path(self) -> ast.Path:
        """A path of a from clause: now and then a step binds a label or an object."""
        path = self.path(least=1)
        *before, last = path.components
        roll = self.rng.random()
        if roll < 0.08 and isinstance(last, ast.Step) and not last.quant:
            mark = self.variable().upper()
            if isinstance(last.unit, ast.AnyPath) and self.view:
                return path
            last = replace(last, via=mark)
            self.texts.append(mark)
        elif roll < 0.15 and isinstance(last, ast.Step) and not last.quant:
            inner = self.variable()
            last = replace(last, bind=inner)
            self.objects.append(inner)
        return replace(path, components=(*before, last))

    # ---- paths ----

    def path(self, least: int = 0) -> ast.Path:
        head: ast.Ident | ast.OidRef
        if self.items and self.chance(0.5):
            start, is_object = self.rng.choice(self.items)
            more = self.components(max(least, self.pick(0, 1)), plain=True) if is_object else ()
            if is_object or not least:
                return replace(start, components=start.components + more)
        if self.objects and self.chance(0.65):
            head = ast.Ident(self.rng.choice(self.objects))
        else:
            head = (
                ast.Ident(self.rng.choice(NAMES)) if self.chance(0.9) else ast.OidRef(self.rng.randint(1, 9))
            )
        return ast.Path(head, self.components(self.pick(least, 1, 1, 1, 1, 2), plain=True))

    def object_path(self, steps: int) -> ast.Path:
        rows = [start for start, is_object in self.items if is_object]
        if rows and (not self.objects or self.chance(0.6)):
            start = self.rng.choice(rows)
            return replace(start, components=start.components + self.components(steps, plain=True))
        name = self.rng.choice(self.objects) if self.objects else self.rng.choice(NAMES)
        return ast.Path(ast.Ident(name), self.components(steps, plain=True))

    def components(self, length: int, *, plain: bool) -> tuple[ast.Component, ...]:
        return tuple(self.component(plain=plain) for _ in range(length))

    def component(self, *, plain: bool) -> ast.Component:
        roll = self.rng.random()
        if roll < 0.75:
            return ast.Step(ast.Label(self.rng.choice(LABELS)))
        if roll < 0.83:
            return ast.Step(ast.Pattern(self.rng.choice(_PATTERNS)))
        if roll < 0.87:
            return ast.Step(ast.AnyPath())
        if roll < 0.93:
            return ast.Step(ast.Label(self.rng.choice(LABELS)), quant=self.pick("*", "+", "?"))
        if roll < 0.985 or self.view or not plain:
            ways = tuple(self.components(self.pick(1, 1, 2), plain=False) for _ in range(self.pick(1, 2)))
            return ast.Group(ways, self.pick("", "*", "+", "?"))
        return ast.Step(ast.Unquote(ast.Constant(self.rng.choice(LABELS))))

    # ---- expressions ----

    def expr(self, depth: int) -> ast.Expr:
        roll = self.rng.random()
        if roll < 0.5 or not depth:
            return self.path() if self.chance(0.6) else self.constant()
        if roll < 0.65:
            op: Literal["+", "-", "*", "/", "mod", "||"] = self.pick("+", "-", "*", "/", "mod", "||")
            return ast.Binary(op, self.expr(depth - 1), self.expr(depth - 1))
        if roll < 0.7:
            inner = self.expr(depth - 1)
            return ast.Negative(inner)
        if roll < 0.85:
            return self.aggregate(depth)
        if roll < 0.9 and self.texts:
            return ast.Path(ast.Ident(self.rng.choice(self.texts)))
        if roll < 0.95:
            return ast.Call(self.pick("type-of", "is-atomic"), (self.expr(depth - 1),))
        return ast.Call("oid", (self.object_path(steps=0) if self.rows else self.path(),))

    def aggregate(self, depth: int) -> ast.Call:
        if self.rows and self.chance(0.3):
            kept = list(self.items)
            rows = self.row_range("none")
            self.items = kept
            return ast.Call("count", (rows,))
        name = self.pick("count", "count", "count", "sum", "avg", "min", "max", "element")
        return ast.Call(name, (_inside(self.member_query(depth - 1)) if self.chance(0.2) else self.path(),))

    def constant(self) -> ast.Constant:
        return ast.Constant(self.rng.choice(ATOMS))  # type: ignore[arg-type]

    # ---- conditions ----

    def condition(self, depth: int) -> ast.Condition:
        roll = self.rng.random()
        if depth <= 0 or roll < 0.45:
            return self.atom(depth)
        if roll < 0.6:
            return ast.And(tuple(self.condition(depth - 1) for _ in range(self.pick(2, 2, 3))))
        if roll < 0.73:
            return ast.Or(tuple(self.condition(depth - 1) for _ in range(self.pick(2, 2, 3))))
        if roll < 0.85:
            return ast.Not(self.condition(depth - 1))
        kind: Literal["exists", "for all"] = self.pick("exists", "exists", "for all")
        range_: ast.Path | ast.Subquery = self.path(least=1)
        if self.chance(0.1):
            range_ = _inside(self.member_query(depth - 1))
        variable = self.variable()
        if self.rows and self.chance(0.3):
            return self.quantified_row(kind, variable, depth)
        self.objects.append(variable)
        body = self.condition(depth - 1)
        self.objects.remove(variable)
        return ast.Quantified(kind, variable, range_, body)

    def quantified_row(self, kind: Literal["exists", "for all"], variable: str, depth: int) -> ast.Condition:
        kept = list(self.items)
        range_ = self.row_range(variable)
        body = self.condition(depth - 1)
        self.items = kept
        return ast.Quantified(kind, variable, range_, body)

    def atom(self, depth: int) -> ast.Condition:
        roll = self.rng.random()
        if roll < 0.65:
            op: Literal["=", "!=", "<", "<=", ">", ">="] = self.pick(
                "=", "=", "=", "!=", "<", "<=", ">", ">="
            )
            left = self.expr(depth) if self.chance(0.25) else self.path()
            right = self.expr(depth) if self.chance(0.5) else self.constant()
            return ast.Compare(op, left, right)
        if roll < 0.72:
            if self.rows:
                return ast.Compare("==", self.object_path(steps=1), self.object_path(steps=0))
            return ast.Compare("==", self.path(), self.path())
        if roll < 0.79:
            among = ast.LiteralSet(tuple(self.constant() for _ in range(self.pick(1, 2))))
            return ast.In(self.path(), among if self.chance(0.5) else self.path())
        if roll < 0.88:
            kind: Literal["like", "grep", "soundex"] = self.pick("like", "grep", "soundex")
            return ast.Match(kind, self.path(), self.rng.choice(_TEXT_PATTERNS[kind]))
        return ast.NotEmpty(self.path(least=1))
