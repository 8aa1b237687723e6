"""From text to tree. What the text should have been is said in the reader's words.

The parser is LALR(1) and builds the tree as it goes, so the depth of nesting is bounded by memory alone.
"""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final, cast

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from lorel import ast
from lorel.builder import TreeBuilder
from lorel.errors import LorelError, LorelSyntaxError, Span
from lorel.scope import suggestion
from lorel.wanted import CLOSING, HINTS, wanted
from lorel.words import KEYWORDS

_FIRST_WORDS: Final = ("select", "define", "drop", "name", "unname", "update")
_QUOTES: Final = {'"': "string", "'": "string", "`": "quoted name"}
_LONGEST_SHOWN: Final = 40


def parse(text: str) -> ast.Statement:
    """The one statement of a text; a semicolon may end it.

    >>> parse("select r.Name from Guide.Restaurant r").from_
    (FromItem(range=Path(head=Ident(name='Guide'), components=(Step(unit=Label(name='Restaurant'), via=None, \
bind=None, quant=''),)), variable='r'),)
    """
    statements = parse_program(text)
    if not statements:
        hint = "a statement begins with select, define view, drop view, name, unname or update, or is a path"
        raise LorelSyntaxError("found nothing, wanted a statement", text=text, hint=hint)
    if len(statements) > 1:
        hint = "give them one at a time"
        span = statements[1].span
        raise LorelSyntaxError(
            f"found {len(statements)} statements, wanted one", text=text, span=span, hint=hint
        )
    return statements[0]


def parse_query(text: str) -> ast.Query:
    """The query that a text is; any other statement is refused."""
    statement = parse(text)
    if isinstance(statement, ast.Select | ast.SetQuery | ast.ExprQuery):
        return statement
    hint = "queries begin with select, or are a path"
    raise LorelSyntaxError(
        "found another statement, wanted a query", text=text, span=statement.span, hint=hint
    )


def parse_program(text: str) -> tuple[ast.Statement, ...]:
    """All statements of a text, with semicolons between them.

    >>> len(parse_program("drop view A; drop view B;"))
    2
    """
    if not isinstance(text, str):
        raise LorelSyntaxError(f"found {type(text).__name__}, wanted a statement as a string", text="")
    try:
        text.encode()
    except UnicodeEncodeError as error:  # a byte that is not UTF-8, by way of a command line
        span = Span(error.start, error.end)
        raise LorelSyntaxError("found half a character, wanted text in UTF-8", text=text, span=span) from None
    try:
        return cast("tuple[ast.Statement, ...]", _grammar().parse(text))
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    except LorelError as error:
        error.text = text
        raise


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    grammar = files("lorel").joinpath("grammar.lark").read_text(encoding="utf-8")
    kept = _kept_tables(sha256(grammar.encode()).hexdigest()[:16])
    return Lark(grammar, start="program", parser="lalr", transformer=TreeBuilder(), cache=kept)


def _kept_tables(version: str) -> str | bool:
    """Where the parser's tables are kept from one process to the next: making them takes a third of a second.

    Only in a folder of the user's own, for whoever can write there decides what is read.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oemviews"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK)
    except (OSError, RuntimeError):
        return False
    return str(folder / f"lorel-{version}.tables") if own else False


def _syntax_error(text: str, error: UnexpectedInput) -> LorelSyntaxError:
    if isinstance(error, UnexpectedToken):
        return _unexpected_word(text, error)
    start = error.pos_in_stream or 0
    span, found = Span(start, start + 1), text[start : start + 1]
    if found in _QUOTES:
        hint = f"close it with {found} on the same line"
        return LorelSyntaxError(
            f"found a {_QUOTES[found]} that does not end", text=text, span=span, hint=hint
        )
    allowed = error.allowed if isinstance(error, UnexpectedCharacters) else ()
    message = f"found {found!r}, wanted {wanted(allowed or ())}"
    return LorelSyntaxError(message, text=text, span=span, hint=HINTS.get(found, ""))


def _unexpected_word(text: str, error: UnexpectedToken) -> LorelSyntaxError:
    token = error.token
    possible = error.accepts if error.interactive_parser is not None else set(error.expected)
    if token.type == "$END":
        hint = next((hint for name, hint in CLOSING.items() if name in possible), "")
        end = Span(len(text.rstrip()), len(text.rstrip()) + 1)
        message = f"found the end of the statement, wanted {wanted(possible)}"
        return LorelSyntaxError(message, text=text, span=end, hint=hint)
    start = token.start_pos or 0
    span, word = Span(start, token.end_pos or start + 1), str(token)
    shown = word if len(word) <= _LONGEST_SHOWN else word[:_LONGEST_SHOWN] + "..."
    keywords = sorted(KEYWORDS & {name.lower() for name in possible})
    before = text[:start].split()
    unknown = len(before) == 1 and before[0].lower() not in _FIRST_WORDS  # `selct r` reads as a path
    misspelt = suggestion(before[0], _FIRST_WORDS) if unknown else ""
    known = word.lower() in KEYWORDS  # spelt right, but in the wrong place
    meant = (misspelt or ("" if known else suggestion(word, keywords))).strip()
    hint = meant or HINTS.get(word.lower(), HINTS.get(token.type, ""))
    return LorelSyntaxError(f"found {shown!r}, wanted {wanted(possible)}", text=text, span=span, hint=hint)
