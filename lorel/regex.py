"""Regular expressions of `grep`: those that end, and that mean the same in every engine.

| accepted                                  | becomes                                        |
| ----------------------------------------- | ---------------------------------------------- |
| letters, digits, `\\.`, `\\t`, `\\n`, `\\r` | themselves, escaped where an engine wants it   |
| `.`                                       | any character but a newline                    |
| `[a-z_]`, `[^0-9]`, `\\d \\w \\s \\D \\W \\S` | a class, of ASCII characters for the short ones |
| `^`, `$`, `|`, `(...)`, `(?:...)`         | themselves; groups capture nothing             |
| `*`, `+`, `?`, `{2}`, `{2,}`, `{2,5}`     | themselves; a lazy mark changes no answer and goes |

All else is refused: what an engine may search for ever (repetition inside repetition, references back, a
repeated choice between alternatives that start alike), and what Python, Java and RE2 read in different ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_LONGEST: Final = 1000
_DEEPEST: Final = 20
_MOST_REPEATS: Final = 255
_MOST_UNBOUNDED: Final = 4
"""Each unbounded repetition multiplies the work of a failing search by the length of the text."""

_SHORT: Final = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r\\f\x0b"}
_CONTROLS: Final = {"t": "\\t", "n": "\\n", "r": "\\r", "f": "\\f"}
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")


class PatternError(ValueError):
    """A pattern that is refused: what was found; `hint` says what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a pattern, and what is known of the texts it matches."""

    text: str
    first: str = ""  # the character it must start with; "" if there is no single one
    repeats: bool = False  # a repetition stands somewhere in it
    unbounded: int = 0  # repetitions without an upper bound
    choices: tuple[str, ...] = ()  # of a group: the first characters of its alternatives
    anchor: bool = False


def portable(pattern: str) -> str:
    """The pattern in the words that all engines share; PatternError if it has none.

    >>> portable("^Thai|Cafe.?$"), portable("[a-c]\\\\d{2}")
    ('^Thai|Cafe[^\\\\n]?$', '[a-c][0-9]{2}')
    """
    if len(pattern) > _LONGEST:
        raise PatternError(f"it has {len(pattern)} characters", f"patterns have up to {_LONGEST}")
    reader = _Reader(pattern)
    whole = reader.alternatives(0)
    if reader.at < len(pattern):
        raise PatternError("a `)` closes nothing", "a bracket itself is written `\\)`")
    if whole.unbounded > _MOST_UNBOUNDED:
        hint = f"use up to {_MOST_UNBOUNDED}, or several `grep` joined with `and`"
        raise PatternError(f"it has {whole.unbounded} repetitions without an upper bound", hint)
    return whole.text


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self, word: str) -> bool:
        found = self.pattern.startswith(word, self.at)
        self.at += len(word) * found
        return found

    def alternatives(self, depth: int) -> _Part:
        if depth > _DEEPEST:
            raise PatternError("it is nested too deeply", f"groups nest up to {_DEEPEST} deep")
        ways = [self.sequence(depth)]
        while self.take("|"):
            ways.append(self.sequence(depth))
        if len(ways) == 1:
            return ways[0]
        return _Part(
            "|".join(way.text for way in ways),
            repeats=any(way.repeats for way in ways),
            unbounded=sum(way.unbounded for way in ways),
            choices=tuple(way.first for way in ways),
        )

    def sequence(self, depth: int) -> _Part:
        parts: list[_Part] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated(self.atom(depth)))
        if len(parts) == 1:
            return parts[0]
        first = next((part.first for part in parts if not part.anchor), "")
        return _Part(
            "".join(part.text for part in parts),
            first,
            any(part.repeats or _alike(part.choices) for part in parts),
            sum(part.unbounded for part in parts),
        )

    def atom(self, depth: int) -> _Part:
        char = self.pattern[self.at]
        self.at += 1
        match char:
            case "(":
                return self.group(depth)
            case "[":
                return _Part(self.char_class())
            case "\\":
                return self.escape()
            case ".":
                return _Part("[^\\n]")
            case "^" | "$":
                return _Part(char, anchor=True)
            case "*" | "+" | "?":
                raise PatternError(f"{char!r} repeats nothing", f"the character itself is written `\\{char}`")
            case "{" | "}" | "]":
                raise PatternError(f"a lone {char!r}", f"the character itself is written `\\{char}`")
        return _Part(_literal(char), char)

    def group(self, depth: int) -> _Part:
        if self.take("?") and not self.take(":"):
            kinds = {"=": "it looks ahead", "!": "it looks ahead", "<": "it looks back or names a group"}
            found = kinds.get(self.peek(), f"it has the extension `(?{self.peek()}`")
            raise PatternError(
                found, "plain groups `(...)` and `(?:...)` can be used; for letters of both cases `[Cc]`"
            )
        inner = self.alternatives(depth + 1)
        if not self.take(")"):
            raise PatternError("a `(` is not closed", "a bracket itself is written `\\(`")
        return _Part(f"(?:{inner.text})", inner.first, inner.repeats, inner.unbounded, inner.choices)

    def escape(self) -> _Part:
        char = self.peek()
        self.at += 1
        if char.lower() in _SHORT:
            return _Part(f"[{'^' if char.isupper() else ''}{_SHORT[char.lower()]}]")
        if char in _CONTROLS:
            return _Part(_CONTROLS[char], char)
        if char.isdigit():
            raise PatternError(
                f"`\\{char}` refers back to a group", "references back can be searched for ever"
            )
        if char == "" or char.isalpha():
            hint = "escapes are `\\d \\w \\s \\D \\W \\S \\t \\n \\r \\f`, and any sign such as `\\.`"
            raise PatternError(f"`\\{char}` is no escape that all engines share", hint)
        return _Part(_literal(char), char)

    def char_class(self) -> str:
        text = "[^" if self.take("^") else "["
        members = 0
        while True:
            char = self.peek()
            if char in ("", "["):
                raise PatternError(
                    "a `[` is not closed", "inside a class a bracket is written `\\[` or `\\]`"
                )
            self.at += 1
            if char == "]":
                break
            text += self.class_member(char)
            members += 1
        if not members:
            raise PatternError("an empty class `[]`", "a bracket itself is written `\\]`")
        return text + "]"

    def class_member(self, char: str) -> str:
        low, text = self.class_char(char)
        if low == "" or self.peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("", "]"):
            return text
        self.at += 2
        high, end = self.class_char(self.pattern[self.at - 1])
        if high == "" or high < low:
            raise PatternError(f"the range `{low}-{high}` has no end or runs backwards")
        return f"{text}-{end}"

    def class_char(self, char: str) -> tuple[str, str]:
        """A character of a class and its text; "" for one that stands for several."""
        if char != "\\":
            return char, _literal(char, in_class=True)
        escaped = self.peek()
        part = self.escape()
        if escaped in _SHORT:
            return "", _SHORT[escaped]
        if escaped.lower() in _SHORT:
            raise PatternError(f"`\\{escaped}` inside a class", "put it outside, as in `(?:[ab]|\\\\D)`")
        return (escaped, part.text if escaped in _CONTROLS else _literal(escaped, in_class=True))

    def repeated(self, part: _Part) -> _Part:
        least, most, text = self.quantifier()
        if text == "":
            return part
        self.take("?")  # a lazy search finds a match exactly when an eager one does
        if self.peek() in ("*", "+", "?", "{"):
            raise PatternError("a repetition is repeated", "one of the two is enough")
        if part.anchor:
            raise PatternError("`^` or `$` is repeated")
        many = most is None or most > 1
        if many and part.repeats:
            hint = "a repetition inside a repetition can be searched for ever; write it as one, as in `[ab]*`"
            raise PatternError("a repeated group has a repetition in it", hint)
        if many and _alike(part.choices):
            hint = "let them start with different characters, or use a class, as in `[ab]*`"
            raise PatternError("a repeated choice has alternatives that may start alike", hint)
        first = part.first if least else ""
        return _Part(part.text + text, first, True, part.unbounded + (most is None))

    def quantifier(self) -> tuple[int, int | None, str]:
        for word, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(word):
                return least, most, word
        if not self.take("{"):
            return 1, 1, ""
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at : max(end, self.at)].partition(",")
        wellformed = all(
            bound.isascii() and bound.isdigit() and len(bound) < 5 for bound in (low or "0", high or "0")
        )
        if end < 0 or not wellformed or not (low or high):
            raise PatternError(
                "a `{` that is no repetition", "write `{2}`, `{2,}`, `{2,5}`, or `\\{` for the sign"
            )
        self.at = end + 1
        least, most = int(low or 0), (int(high) if high else None) if comma else int(low)
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
            raise PatternError(
                f"the repetition {{{low}{comma}{high}}}", f"counts go up to {_MOST_REPEATS}, upwards"
            )
        return least, most, f"{{{least}}}" if not comma else f"{{{least},{'' if most is None else most}}}"


def _alike(choices: tuple[str, ...]) -> bool:
    """Whether two of the alternatives may start with the same character."""
    return "" in choices or len(set(choices)) < len(choices)


def _literal(char: str, *, in_class: bool = False) -> str:
    if char == "\n":
        return "\\n"
    awkward = char in "\\^-[]&~" if in_class else char in _SPECIAL
    return f"\\{char}" if awkward else char
