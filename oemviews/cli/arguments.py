"""Commands from functions: what the parameters of a function are annotated with is what can be typed.

    def log(store: Annotated[Path, Argument("STORE", "The folder of the store.")],
            json: Annotated[bool, Option("--json", "One line of JSON each.")] = False) -> None:

`argparse` does the parsing: libraries that do more take a quarter of the time that a small query takes.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from types import NoneType
from typing import Any, NoReturn, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True)
class Argument:
    """What stands at its place; a parameter that is a list takes all there are."""

    metavar: str
    help: str


@dataclass(frozen=True, slots=True)
class Option:
    """What stands after its flag; a parameter that is a list takes the flag several times."""

    flag: str
    help: str
    metavar: str = ""
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a command, its annotation taken apart."""

    name: str
    kind: Any
    many: bool
    default: Any  # inspect.Parameter.empty if it must be given
    typed: Argument | Option

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def words(self) -> str:
        """How it is written in a line of help."""
        if isinstance(self.typed, Argument):
            words = self.typed.metavar + ("..." if self.many else "")
            return words if self.required else f"[{words}]"
        if self.kind is bool:
            return self.typed.flag
        if issubclass(self.kind, Enum):
            return f"{self.typed.flag} {'|'.join(each.value for each in self.kind)}"
        return f"{self.typed.flag} {self.typed.metavar or ('N' if self.kind is int else self.name.upper())}"

    @property
    def help(self) -> str:
        default = self.default.value if isinstance(self.default, Enum) else self.default
        said = "" if self.required or not default or self.many else f"  [default: {default}]"
        needed = "  [required]" if self.required and isinstance(self.typed, Option) else ""
        return self.typed.help + said + needed

    def value(self, text: str) -> Any:
        """What a text stands for; raises ValueError with what was wanted instead."""
        if issubclass(self.kind, Enum):
            known = {each.value: each for each in self.kind}
            if text not in known:
                raise ValueError(f"found {text!r}, wanted one of {', '.join(known)}")
            return known[text]
        if self.kind is int:
            least = self.typed.least if isinstance(self.typed, Option) else None
            number = int(text) if text.lstrip("-").isdecimal() else None
            if number is None or (least is not None and number < least):
                wanted = "a whole number" if least is None else f"a whole number of at least {least}"
                raise ValueError(f"found {text!r}, wanted {wanted}")
            return number
        return self.kind(text)


def parameters(function: Callable[..., None]) -> Iterator[Parameter]:
    """The parameters of a command, in order."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        kind, typed = get_args(hints[name])
        kinds = (
            [each for each in get_args(kind) if each is not NoneType] if NoneType in get_args(kind) else []
        )
        kind = kinds[0] if kinds else kind
        many = get_origin(kind) is list
        yield Parameter(name, get_args(kind)[0] if many else kind, many, parameter.default, typed)


class Parser(argparse.ArgumentParser):
    """The parser of one command."""

    def __init__(self, name: str, function: Callable[..., None]) -> None:
        super().__init__(prog=f"oemviews {name}", add_help=False, allow_abbrev=False)
        self._function, self._parameters = function, list(parameters(function))
        self.add_argument("-h", "--help", action="store_true", dest="help")
        for each in self._parameters:
            if isinstance(each.typed, Argument):
                nargs = ("+" if each.required else "*") if each.many else None if each.required else "?"
                self.add_argument(each.name, metavar=each.typed.metavar, nargs=nargs)
            elif each.kind is bool:
                self.add_argument(each.typed.flag, dest=each.name, action="store_true")
            else:
                action = "append" if each.many else "store"
                self.add_argument(each.typed.flag, dest=each.name, action=action, required=each.required)

    def call(self, given: Sequence[str]) -> None:
        """Run the command with what was typed."""
        if not {"-h", "--help"}.isdisjoint(given[: given.index("--")] if "--" in given else given):
            sys.stdout.write(self.format_help())
            return
        found, unknown = self.parse_known_intermixed_args(list(given))
        if unknown:
            self.error(self._refusal(unknown[0]))
        self._function(
            **{each.name: self._value(each, getattr(found, each.name)) for each in self._parameters}
        )

    def _value(self, parameter: Parameter, given: Any) -> Any:
        if given is None or given == []:
            return None if parameter.required else parameter.default
        if parameter.kind is bool:
            return given
        try:
            return [parameter.value(t) for t in given] if parameter.many else parameter.value(given)
        except ValueError as error:
            typed = parameter.typed
            self.error(f"{typed.metavar if isinstance(typed, Argument) else typed.flag}: {error}")

    def _refusal(self, word: str) -> str:
        if not word.startswith("-"):
            return f"found {word!r} after all that this command takes"
        flag = word.split("=")[0]
        flags = [each.typed.flag for each in self._parameters if isinstance(each.typed, Option)]
        close = get_close_matches(flag, flags, 1)
        return f"there is no option {flag}" + (f": did you mean {close[0]}?" if close else "")

    def error(self, message: str) -> NoReturn:
        """Say how the command is used and end with the code of bad input."""
        sys.stderr.write(f"{self.format_usage()}\nerror: {message}\nhint: {self.prog} --help\n")
        raise SystemExit(2)

    def format_usage(self) -> str:
        places = " ".join(each.words for each in self._parameters if isinstance(each.typed, Argument))
        return f"Usage: {self.prog} {places} [OPTIONS]\n".replace("  ", " ")

    def format_help(self) -> str:
        lines = [self.format_usage(), textwrap.indent(inspect.getdoc(self._function) or "", "  "), ""]
        for title, kind in (("Arguments:", Argument), ("Options:", Option)):
            shown = [(each.words, each.help) for each in self._parameters if isinstance(each.typed, kind)]
            shown += [("-h, --help", "Show this message.")] if kind is Option else []
            if shown:
                lines += [title, *columns(shown), ""]
        return "\n".join(lines)


def columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Words and what they mean, beside each other; below where the words are long."""
    width = max((len(word) for word, _ in rows if len(word) <= 30), default=30)
    for word, meaning in rows:
        first, *more = textwrap.wrap(meaning, 100 - width - 4) or [""]
        if len(word) > width:
            yield f"  {word}"
            word = ""
        yield f"  {word:{width}}  {first}".rstrip()
        yield from (f"  {'':{width}}  {line}" for line in more)
