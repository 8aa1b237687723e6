"""Words and literals of Lorel: which need quotes, and how a text is written between them."""

from __future__ import annotations

import re
from typing import Final

from lorel.errors import LorelSyntaxError, Span

KEYWORDS: Final = frozenset(
    "all and as asc by define desc distinct drop except exists false for from grep group in intersect "  # noqa: SIM905
    "like materialised materialized mod name not null oem or order select soundex struct true union unname "
    "unquote update view virtual where with".split()
)
"""Every word that means something somewhere. The grammar's NAME lists those that are reserved everywhere."""

_WORD: Final = re.compile(r"[^\W\d]\w*")
_HIGH, _LOW, _FOUR = "([dD][89aAbB][0-9a-fA-F]{2})", "([dD][c-fC-F][0-9a-fA-F]{2})", "([0-9a-fA-F]{4})"
_ESCAPED: Final = re.compile(rf"\\(?:u{_HIGH}\\u{_LOW}|u{_FOUR}|(.))", re.DOTALL)
_ESCAPES: Final = {c: c for c in "\"'\\/"} | {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WRITTEN: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_AWKWARD: Final = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029]')


def is_word(text: str) -> bool:
    """
    >>> is_word("Name"), is_word("first name"), is_word("2nd")
    (True, False, False)
    """
    return _WORD.fullmatch(text) is not None


def backquoted(text: str) -> str:
    """
    >>> print(backquoted("a `b`"))
    `a ``b```
    """
    return "`" + text.replace("`", "``") + "`"


def label_text(label: str) -> str:
    """A label as it is written before a colon or after `as`: any word is one."""
    return label if is_word(label) else backquoted(label)


def name_text(name: str) -> str:
    """A name or variable as it is written: words of the language are quoted.

    >>> print(name_text("r"), name_text("order"))
    r `order`
    """
    return name if is_word(name) and name.lower() not in KEYWORDS else backquoted(name)


def unquoted(text: str) -> str:
    """A word as it is, a backquoted text without its quotes.

    >>> unquoted("`a ``b```"), unquoted("Name")
    ('a `b`', 'Name')
    """
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def string_text(value: str) -> str:
    r"""A string literal; `string_value` reads it back.

    >>> print(string_text('say "hi"\n'))
    "say \"hi\"\n"
    """
    return '"' + _AWKWARD.sub(lambda m: _WRITTEN.get(m[0]) or f"\\u{ord(m[0]):04x}", value) + '"'


def string_value(literal: str, start: int = 0) -> str:
    r"""What a string literal in single or double quotes stands for; `start` is its place in the statement.

    >>> string_value(r'"caf\u00e9"'), string_value(r"'it\'s'")
    ('café', "it's")
    """
    if "\\" not in literal:
        return literal[1:-1]

    def character(match: re.Match[str]) -> str:
        high, low, code, escape = match.groups()
        if high:
            return bytes.fromhex(high + low).decode("utf-16-be")
        if code and not 0xD800 <= int(code, 16) <= 0xDFFF:
            return chr(int(code, 16))
        if escape in _ESCAPES:
            return _ESCAPES[escape]
        span = Span(start + 1 + match.start(), start + 1 + match.end())
        if code:
            raise LorelSyntaxError(f"{match[0]} is half of a pair, not a character", span=span)
        hint = f"a backslash itself is written twice: \\\\{escape}"
        raise LorelSyntaxError(f"a string has no escape {match[0]}", span=span, hint=hint)

    return _ESCAPED.sub(character, literal[1:-1])
