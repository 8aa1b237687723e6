"""From tree to text, on one line: `parse(print_statement(t)) == t`.

| tree                       | printed                                                            |
| -------------------------- | ------------------------------------------------------------------ |
| oid test                   | `a == b`, for `=` compares values                                  |
| `exists (p)`, bare path    | `exists (p)`                                                       |
| `from p x`, `from x in p`  | `p x`, and `x in (query)` for a query                              |
| `e as dish`, `dish: e`     | `dish: e`                                                          |
| brackets                   | only where leaving them out would read differently, and after `not` |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lorel import ast
from lorel.errors import LorelError
from lorel.words import backquoted, is_word, label_text, name_text, string_text

_SUM, _PRODUCT, _UNARY, _OPERAND = range(4)
"""How tightly an expression holds together; one that holds less than its place wants stands in brackets."""

_LEVEL: Final = {"+": _SUM, "-": _SUM, "||": _SUM, "*": _PRODUCT, "/": _PRODUCT, "mod": _PRODUCT}
_DASHED: Final = frozenset({"label-of", "path-of", "type-of", "is-atomic"})


def print_statement(statement: ast.Statement) -> str:
    """
    >>> print(print_statement(ast.Unname("Best")))
    unname Best
    """
    try:
        return _statement(statement)
    except RecursionError:
        raise LorelError("the statement is nested too deeply to be printed") from None


def _statement(statement: ast.Statement) -> str:
    match statement:
        case ast.DefineView(name, query, collection, kind):
            words = ["define", *([kind] if kind else []), "view", name_text(name)]
            words += ["as", label_text(collection)] if collection is not None else []
            return f"{' '.join(words)} = {print_query(query)}"
        case ast.DropView(name):
            return f"drop view {name_text(name)}"
        case ast.NameObject(name, value):
            return f"name {name_text(name)} := {print_query(value)}"
        case ast.Unname(name):
            return f"unname {name_text(name)}"
        case ast.Update():
            return _update(statement)
        case _:
            return print_query(statement)


def _update(update: ast.Update) -> str:
    target = _head(update.target) + ("" if update.label is None else f".{label_text(update.label)}")
    words = [f"update {target} {update.op} {_single(update.value)}", *_from_where(update.from_, update.where)]
    return " ".join(words)


def _from_where(from_: tuple[ast.FromItem, ...], where: ast.Condition | None) -> list[str]:
    clauses = [f"from {_list(_from_item(item) for item in from_)}"] if from_ else []
    return [*clauses, f"where {print_condition(where)}"] if where is not None else clauses


# ---- queries ----


def print_query(query: ast.Query) -> str:
    match query:
        case ast.ExprQuery(expr):
            return print_expr(expr)
        case ast.SetQuery(op, left, right):
            return f"{_set_operand(left, op, right=False)} {op} {_set_operand(right, op, right=True)}"
        case ast.Select():
            return _select(query)


def _select(select: ast.Select) -> str:
    clauses = ["select distinct" if select.distinct else "select"]
    clauses.append(_list(_select_item(item) for item in select.items))
    clauses += _from_where(select.from_, select.where)
    if select.group_by:
        clauses.append(f"group by {_list(print_expr(expr) for expr in select.group_by)}")
    if select.order_by:
        clauses.append(f"order by {_list(_order_key(key) for key in select.order_by)}")
    if select.with_:
        clauses.append(f"with {_list(_with_path(path) for path in select.with_)}")
    return " ".join(clauses)


def _list(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _set_operand(query: ast.Query, op: str, *, right: bool) -> str:
    """`union` and `except` read from left to right, `intersect` binds tighter."""
    if not isinstance(query, ast.SetQuery):
        return print_query(query)
    tighter = query.op == "intersect" and op != "intersect"
    same = (query.op == "intersect") == (op == "intersect") and not right
    return print_query(query) if tighter or same else f"({print_query(query)})"


def _single(query: ast.Query) -> str:
    """A query that takes no clause or comma that follows for its own."""
    return print_query(query) if isinstance(query, ast.ExprQuery) else f"({print_query(query)})"


def _select_item(item: ast.SelectItem) -> str:
    label = "" if item.label is None else f"{label_text(item.label)}: "
    return label + print_expr(item.expr)


def _from_item(item: ast.FromItem) -> str:
    if item.variable is None:
        return print_expr(item.range)
    if isinstance(item.range, ast.Subquery):
        return f"{name_text(item.variable)} in {print_expr(item.range)}"
    return f"{print_expr(item.range)} {name_text(item.variable)}"


def _order_key(key: ast.OrderKey) -> str:
    return print_expr(key.expr) + (" desc" if key.descending else "")


def _with_path(path: ast.WithPath) -> str:
    return print_expr(path.path) + ("" if path.variable is None else f" {name_text(path.variable)}")


# ---- conditions ----


def print_condition(condition: ast.Condition) -> str:
    match condition:
        case ast.Or(items):
            return " or ".join(_joined(item, ast.Or) for item in items)
        case ast.And(items):
            return " and ".join(_joined(item, ast.Or, ast.And) for item in items)
        case ast.Not(ast.NotEmpty() | ast.Quantified() as item):
            return f"not {print_condition(item)}"
        case ast.Not(item):
            return f"not ({print_condition(item)})"
        case ast.Compare(op, left, right):
            return f"{print_expr(left)} {op} {print_expr(right)}"
        case ast.In(item, ast.LiteralSet(items)):
            return f"{print_expr(item)} in {{{_list(print_expr(each) for each in items)}}}"
        case ast.In(item, ast.Path() | ast.Subquery() as collection):
            return f"{print_expr(item)} in {print_expr(collection)}"
        case ast.Match(kind, expr, pattern):
            return f"{print_expr(expr)} {kind} {string_text(pattern)}"
        case ast.Quantified(kind, variable, range_, body):
            inner = _joined(body, ast.Or, ast.And, ast.Not)
            return f"{kind} {name_text(variable)} in {print_expr(range_)} : {inner}"
        case ast.NotEmpty(ast.Subquery(query)):
            return f"exists ({print_query(query)})"
        case ast.NotEmpty(range_):
            return f"exists ({print_expr(range_)})"
    raise AssertionError(condition)


def _joined(condition: ast.Condition, *loose: type[ast.Node]) -> str:
    text = print_condition(condition)
    return f"({text})" if isinstance(condition, loose) else text


# ---- expressions ----


def print_expr(expr: ast.Expr) -> str:
    """
    >>> four, five = ast.Constant(4), ast.Constant(5)
    >>> print_expr(ast.Binary("*", ast.Binary("+", four, five), five))
    '(4 + 5) * 5'
    """
    match expr:
        case ast.Path(head, components):
            return _head(head) + "".join(_component(component) for component in components)
        case ast.Constant(value):
            return constant_text(value)
        case ast.Binary(op, left, right):
            level = _LEVEL[op]
            return f"{_operand(left, level)} {op} {_operand(right, level + 1)}"
        case ast.Negative(inner):
            return (
                f"-({print_expr(inner)})"
                if isinstance(inner, ast.Constant)
                else f"-{_operand(inner, _OPERAND)}"
            )
        case ast.Call(name, args):
            return f"{_function(name)}({_arguments(args)})"
        case ast.Construct(kind, entries):
            return f"{kind}({_list(f'{label_text(label)}: {print_expr(value)}' for label, value in entries)})"
        case ast.Subquery(query):
            return f"({print_query(query)})"


def constant_text(value: int | float | str | bool | None) -> str:
    """A literal as it is written.

    >>> [constant_text(v) for v in (4, -4.5, "four", True, None)]
    ['4', '-4.5', '"four"', 'true', 'null']
    """
    if isinstance(value, str):
        return string_text(value)
    return (
        {True: "true", False: "false", None: "null"}[value] if isinstance(value, bool | None) else repr(value)
    )


def _operand(expr: ast.Expr, level: int) -> str:
    own = (
        _LEVEL[expr.op]
        if isinstance(expr, ast.Binary)
        else _UNARY
        if isinstance(expr, ast.Negative)
        else _OPERAND
    )
    return print_expr(expr) if own >= level else f"({print_expr(expr)})"


def _function(name: str) -> str:
    return name if name in _DASHED else name_text(name)


def _arguments(args: tuple[ast.Expr, ...]) -> str:
    match args:
        case (ast.Subquery(query),):
            return print_query(query)
        case _:
            return _list(print_expr(arg) for arg in args)


# ---- paths ----


def _head(head: ast.Ident | ast.OidRef | ast.Subquery | ast.Call) -> str:
    match head:
        case ast.Ident(name):
            return name_text(name)
        case ast.OidRef(oid):
            return f"&{oid}"
        case _:
            return print_expr(head)


def _component(component: ast.Component) -> str:
    if isinstance(component, ast.Group):
        ways = ("".join(_component(part) for part in way) for way in component.alternatives)
        return f"({'|'.join(ways)}){component.quant}"
    via = "" if component.via is None else f"@{name_text(component.via)}"
    bind = "" if component.bind is None else f"{{{name_text(component.bind)}}}"
    return f".{_unit(component.unit)}{via}{bind}{component.quant}"


def _unit(unit: ast.Unit) -> str:
    match unit:
        case ast.Label(name):  # every other word is a label after a dot
            return name if is_word(name) and name.lower() != "unquote" else backquoted(name)
        case ast.Pattern(pattern):
            return pattern
        case ast.AnyPath():
            return "#"
        case ast.Unquote(expr):
            return f"unquote({_arguments((expr,))})"
