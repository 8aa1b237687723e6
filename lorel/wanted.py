"""What the parser wanted, in the reader's words, and what to do about common slips."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_CALCULATION: Final = "an operator"

WANTED: Final[dict[str, str]] = {
    "NAME": "a name",
    "WORD": "a label",
    "QUOTED": "",  # stands beside NAME or WORD
    "PATTERN": "a pattern such as `Ra%`",
    "HASH": "`#`",
    "FIELD": "a label and a colon",
    "DASHED_NAME": "a function",
    "UNQUOTE": "",
    "OID": "an oid such as `&10`",
    "INTEGER": "a number",
    "REAL": "a number",
    "STRING": "a string",
    "TRUE": "",
    "FALSE": "",
    "NULL": "",
    "OEM": "",
    "STRUCT": "",
    "COMPARISON": "a comparison",
    "ASSIGN": "`:=`",
    "ADD_TO": "`+=`",
    "TAKE_FROM": "`-=`",
    "QUANTIFIER": "",
    "PLUS": _CALCULATION,
    "MINUS": _CALCULATION,
    "STAR": _CALCULATION,
    "SLASH": _CALCULATION,
    "MOD": _CALCULATION,
    "CONCAT": _CALCULATION,
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LITERALS": "",
    "DOT": "a step such as `.Name`",
    "AT": "",
    "COMMA": "`,`",
    "COLON": "`:`",
    "SEMICOLON": "",
    "EQUALS": "`=`",
    "VBAR": "`|`",
    "MATERIALIZED": "",
    "VIRTUAL": "",
    "LIKE": "",
    "GREP": "",
    "SOUNDEX": "",
    "$END": "the end of the statement",
}
"""Terminals and the words shown for them; "" is not worth a mention, a keyword not listed is its own word."""

_STARTS_A_VALUE: Final = frozenset({"NAME", "OID", "INTEGER", "STRING", "LPAR"})
_STARTS_A_STATEMENT: Final = frozenset({"DEFINE", "DROP", "UPDATE"})
_CONTINUES_A_VALUE: Final = frozenset({"COMPARISON", "PLUS"})
_MOST: Final = 6
_RARE: Final = frozenset(
    {"EXCEPT", "INTERSECT", "UNION", "GROUP", "ORDER", "WITH", "AS", "IN", "EQUALS", "ASC", "DESC", "LBRACE"}
    | {"VBAR", "COLON", "ASSIGN", "ADD_TO", "TAKE_FROM", "RBRACE"}
)
"""Left out where much else is possible."""

CLOSING: Final[dict[str, str]] = {
    "RPAR": "a `(` was opened and not closed",
    "RBRACE": "a `{` was opened and not closed",
}
"""At the end of the text: what would close the thing that is still open."""

HINTS: Final[dict[str, str]] = {
    "&&": "conditions are joined with `and`",
    "&": "conditions are joined with `and`; an oid is written `&10`",
    "|": "conditions are joined with `or`; alternatives stand in brackets, as in `(.Price|.Rating)`",
    "!": "`not` negates a condition, `!=` compares",
    "[": "alternatives and repetitions stand in round brackets, as in `(.Nearby)*`",
    "-": "a label with a dash is written between backquotes, as in `` r.`zip-code` ``",
    ">": "",
    "$": "a name that has other characters than letters, digits and `_` is written between backquotes",
    "\\": "a backslash stands in strings only",
    "limit": "Lorel has no limit: take as many rows of the answer as you want",
    "having": "Lorel has no having: put the grouped query into from, and a where around it",
    "join": "a join is two from items and a condition, as in `from Guide.Restaurant r, r.Nearby s where ...`",
    "not": "`not` stands before a whole condition, as in `not (x in p)`; after a colon it needs brackets, "
    "as in `for all x in p : (not x = 4)`",
    "is": "`exists (r.Price)` says that there is one; a null value is found with `= null`",
    "between": "write `x >= 1 and x <= 9`",
    "*": "`%` stands for any label, `#` for any path; select takes variables and paths",
}
"""By what was found where it could not be."""


def wanted(terminals: Collection[str]) -> str:
    """The terminals as a phrase.

    >>> wanted({"RPAR", "COMMA"}), wanted({"FROM", "WHERE", "$END"})
    ('`)` or `,`', '`from`, `where` or the end of the statement')
    """
    left = set(terminals)
    first, last = "", WANTED["$END"]
    if left >= _STARTS_A_STATEMENT:
        return "a statement: select, define view, drop view, name, unname, update, or a path"
    if left >= _STARTS_A_VALUE:
        first = "a condition" if {"NOT", "EXISTS"} <= left and "SELECT" not in left else "a value or a path"
        left &= {"RPAR"}
    elif left >= _CONTINUES_A_VALUE:
        left -= {"DOT", "LPAR"}
    if len(left) > _MOST:
        left -= _RARE
    shown = {WANTED.get(name, f"`{name.lower()}`") for name in left} - {""}
    ordered = [word for word in (first, *sorted(shown - {last})) if word] + [last] * (last in shown)
    if len(ordered) < 2:
        return "".join(ordered) or "something else"
    return f"{', '.join(ordered[:-1])} or {ordered[-1]}"
