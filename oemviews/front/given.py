"""What callers hand in from Python, checked at the front door.

A store takes only what it can give back, and a slip is told as every other fault: found, wanted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any, Final

from oemviews.edits import UNKNOWN, Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.errors import BadInput, EditError
from oemviews.front.chooser import WISHES, Wish
from oemviews.model import COMPLEX

_EDITS: Final = (Insert, Delete, Change, New, Name, Unname)
_ATOMS: Final = (str, int, float, bool, bytes, type(None))


def text_in(found: object, what: str) -> str:
    """
    >>> text_in("Guide", "a name")
    'Guide'
    """
    if not isinstance(found, str):
        raise BadInput(f"found {_called(found)}, wanted {what} as a string")
    return found


def legible(text: str) -> str:
    """A path as text that can be stored: bytes of it that are not UTF-8 are written as such.

    >>> print(legible("guide\\udcff.json"))
    guide\\udcff.json
    """
    return text.encode("utf-8", "backslashreplace").decode()


def number_in(found: object, what: str, least: int | None = None) -> int:
    """
    >>> number_in(3, "a batch")
    3
    """
    if not isinstance(found, Integral) or isinstance(found, bool):
        raise BadInput(f"found {_called(found)}, wanted {what} as a whole number")
    if least is not None and found < least:
        raise BadInput(f"found {found}, wanted {what} from {least} on")
    return int(found)


def engine_in(found: object) -> Wish:
    """
    >>> engine_in("local")
    'local'
    """
    for wish in WISHES:
        if found == wish:
            return wish
    raise BadInput(f"there is no engine {found!r}: the engines are {', '.join(WISHES)}")


def paths_in(found: Any) -> list[Path]:
    """One path, or some.

    >>> [path.name for path in paths_in("guide.json")]
    ['guide.json']
    """
    listed = [found] if isinstance(found, str | os.PathLike) or not isinstance(found, Iterable) else found
    try:
        return [Path(path) for path in listed]
    except TypeError as fault:
        raise BadInput(f"found {_called(found)}, wanted a path, or a list of them") from fault


def edits_in(found: Edit | str | Iterable[Edit | str]) -> list[tuple[str, Edit]]:
    """Edits with the words that a message calls them by; one may be written in the paper's notation.

    >>> edits_in("<Ins,&10,Ingredient,&15>")
    [('edit 1', Insert(src=10, label='Ingredient', dst=15))]
    """
    listed = [found] if isinstance(found, (str, *_EDITS)) else found
    if not isinstance(listed, Iterable):
        raise BadInput(f"found {_called(found)}, wanted edits, as in [Insert(10, 'Ingredient', 15)]")
    return [(f"edit {number}", edit_in(edit, f"edit {number}")) for number, edit in enumerate(listed, 1)]


def edit_in(edit: Edit | str, place: str) -> Edit:
    """An edit whose parts are what they should be, or what a text says: a line of an edit log."""
    if isinstance(edit, str):
        return _read(edit, place)
    match edit:
        case Insert(src, label, dst) | Delete(src, label, dst):
            wrong = _ref(src) or _string(label, "a label") or _ref(dst)
        case Change(oid, new, old):
            wrong = _ref(oid) or _atom(new) or ("" if old is UNKNOWN else _atom(old))
        case New(oid, value):
            wrong = _string(oid, "a name of the log's own") or ("" if value is COMPLEX else _atom(value))
        case Name(name, oid):
            wrong = _string(name, "a name") or _ref(oid)
        case Unname(name):
            wrong = _string(name, "a name")
        case _:
            wrong = f"found {_called(edit)}, wanted an edit, as in Insert(10, 'Ingredient', 15)"
    if wrong:
        raise EditError(f"{place}: {wrong}")
    return edit


def _read(text: str, place: str) -> Edit:
    from oemviews.documents.edit_text import BadEdit, Commit, edit_of  # a query starts sooner without

    try:
        read = edit_of(text)
    except BadEdit as fault:
        raise EditError(f"{place}: found {fault.args[0]}, wanted {fault.args[1]}") from fault
    if isinstance(read, Commit):
        raise EditError(f"{place}: found a commit, wanted an edit")
    return read


def _ref(ref: object) -> str:
    if type(ref) is int or isinstance(ref, str) or (isinstance(ref, Integral) and not isinstance(ref, bool)):
        return ""
    return f"found {_called(ref)}, wanted an oid, or a name that New made"


def _string(text: object, wanted: str) -> str:
    return "" if isinstance(text, str) else f"found {_called(text)}, wanted {wanted} as a string"


def _atom(value: object) -> str:
    if value is COMPLEX:
        return "found COMPLEX, wanted an atomic value: an atomic object stays one"
    if isinstance(value, _ATOMS):
        return ""
    return f"found {_called(value)}, wanted an atomic value: str, int, float, bool, bytes or None"


def _called(found: Any) -> str:
    """
    >>> _called(1.5), _called([1])
    ('1.5 (float)', '[1] (list)')
    """
    text = repr(found)
    return f"{text if len(text) <= 40 else text[:40] + '…'} ({type(found).__name__})"
