"""An automaton written as the path it came from, or one that means the same: `(.Nearby)+`, `#`.

States are taken out one by one; the arrows that led through a state are joined to longer paths, until one
arrow from the start to the end is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from lorel.normal import Automaton, Labels
from lorel.words import backquoted, is_word

_LONGEST: Final = 2000
"""Taking states out can make paths grow without bound; a longer one is shown by its number of states."""


@dataclass(frozen=True, slots=True)
class _One:
    labels: Labels


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Path, ...]


@dataclass(frozen=True, slots=True)
class _Either:
    parts: tuple[_Path, ...]


@dataclass(frozen=True, slots=True)
class _Repeated:
    part: _Path
    quant: Literal["*", "+", "?"]


_Path: TypeAlias = _One | _Sequence | _Either | _Repeated

_NOTHING: Final = _Sequence(())


def labels_text(labels: Labels) -> str:
    """
    >>> labels_text(Labels("Name")), labels_text(Labels("zip code")), labels_text(Labels("Ra%", exact=False))
    ('.Name', '.`zip code`', '.Ra%')
    """
    plain = not labels.exact or (is_word(labels.text) and labels.text.lower() != "unquote")
    return f".{labels.text if plain else backquoted(labels.text)}"


def automaton_text(automaton: Automaton) -> str:
    """
    >>> nearby = Labels("Nearby")
    >>> automaton_text(Automaton(2, ((0, nearby, 1), (1, nearby, 1)), frozenset({1})))
    '.Nearby+'
    """
    start, end = automaton.states, automaton.states + 1
    arrows: dict[tuple[int, int], _Path] = {(start, 0): _NOTHING}
    arrows |= dict.fromkeys(((state, end) for state in automaton.accepting), _NOTHING)
    for src, labels, dst in automaton.moves:
        arrows[src, dst] = _either(arrows.get((src, dst)), _One(labels))
    for state in range(automaton.states):
        arrows = _without(arrows, state)
        if sum(_size(path) for path in arrows.values()) > _LONGEST:
            return f"(path of {automaton.states} states)"
    whole = arrows.get((start, end))
    return "(no path)" if whole is None else _components(whole)


def _without(arrows: dict[tuple[int, int], _Path], state: int) -> dict[tuple[int, int], _Path]:
    loop = arrows.get((state, state))
    around = _NOTHING if loop is None else _repeated(loop, "*")
    kept = {ends: path for ends, path in arrows.items() if state not in ends}
    into = [(src, path) for (src, dst), path in arrows.items() if dst == state != src]
    out = [(dst, path) for (src, dst), path in arrows.items() if src == state != dst]
    for src, first in into:
        for dst, last in out:
            kept[src, dst] = _either(kept.get((src, dst)), _sequence(_sequence(first, around), last))
    return kept


def _sequence(left: _Path, right: _Path) -> _Path:
    if _NOTHING in (left, right):
        return right if left == _NOTHING else left
    if right == _repeated(left, "*"):
        return _Repeated(left, "+")
    if left == _repeated(right, "*"):
        return _Repeated(right, "+")
    parts = [
        part for side in (left, right) for part in (side.parts if isinstance(side, _Sequence) else (side,))
    ]
    return _Sequence(tuple(parts))


def _either(left: _Path | None, right: _Path) -> _Path:
    if left is None or left == right:
        return right
    sides = [
        part for side in (left, right) for part in (side.parts if isinstance(side, _Either) else (side,))
    ]
    parts = tuple(dict.fromkeys(part for part in sides if part != _NOTHING))
    either = parts[0] if len(parts) == 1 else _Either(parts)
    return _repeated(either, "?") if _NOTHING in sides else either


def _repeated(part: _Path, quant: Literal["*", "+", "?"]) -> _Path:
    if part == _NOTHING:
        return part
    if isinstance(part, _Repeated):
        return part if part.quant == quant else _Repeated(part.part, "*")
    return _Repeated(part, quant)


def _size(path: _Path) -> int:
    match path:
        case _One():
            return 1
        case _Repeated(part):
            return 1 + _size(part)
        case _Sequence(parts) | _Either(parts):
            return 1 + sum(map(_size, parts))


def _components(path: _Path) -> str:
    match path:
        case _One(labels):
            return labels_text(labels)
        case _Sequence(parts):
            return "".join(_components(part) for part in parts)
        case _Either(parts):
            return f"({'|'.join(_components(part) for part in parts)})"
        case _Repeated(_One(labels), "*") if labels.every:
            return ".#"
        case _Repeated(_One(labels), quant):
            return labels_text(labels) + quant
        case _Repeated(_Either() as part, quant):
            return _components(part) + quant
        case _Repeated(part, quant):
            return f"({_components(part)}){quant}"
