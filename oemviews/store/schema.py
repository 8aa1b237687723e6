"""The columns of every table, and how a value is spread over them.

A value is four columns. `number` is filled for numbers *and* for strings that read as numbers,
so that a coerced comparison never casts; `integer` is exact, and an integer beyond 64 bits keeps
its digits in `text`.

    value            type     text      integer  number
    "4.0"            string   "4.0"     -        4.0
    4                integer  -         4        4.0
    2**70            integer  digits    -        1.18e21
    4.5              real     -         -        4.5
    true             boolean  -         1        -
    null             null     -         -        -
    b"..."           binary   base64    -        -
    complex object   complex  -         -        -
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Final

import pyarrow as pa

from oemviews.model import COMPLEX, Value, as_number, type_of

FORMAT: Final = 1
"""Version of the store's layout; a store with a newer one is refused."""

_VALUE: Final = [
    ("type", pa.string()),
    ("text", pa.string()),
    ("integer", pa.int64()),
    ("number", pa.float64()),
]

OBJECTS: Final = pa.schema([("oid", pa.int64()), *_VALUE, ("shape", pa.string())])
"""One row an object. `shape` is what only an export needs (docs/documents.md)."""

EDGES: Final = pa.schema(
    [
        ("src", pa.int64()),
        ("label", pa.string()),
        ("dst", pa.int64()),
        ("pos", pa.int64()),
        ("shape", pa.string()),
    ]
)
"""One row an edge; identity is (src, label, dst). `pos` grows in the order edges were written."""

CHANGES_OF_VALUE: Final = pa.schema(
    [
        ("oid", pa.int64()),
        *((f"old_{name}", kind) for name, kind in _VALUE),
        *_VALUE,
    ]
)
"""One row an atomic object whose value changed: the old value and the new."""

LOG: Final = pa.schema(
    [
        ("batch", pa.int64()),
        ("seq", pa.int64()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("op", pa.string()),
        ("src", pa.int64()),
        ("label", pa.string()),
        ("dst", pa.int64()),
        ("pos", pa.int64()),
        ("oid", pa.int64()),
        *((f"old_{name}", kind) for name, kind in _VALUE),
        *_VALUE,
        ("shape", pa.string()),
    ]
)
"""The edit log. op is `batch` (row 0 of each batch: its header as JSON in `text`), `new`, `ins`,
`del`, `chg`, `gone`, `define` or `drop`. Only effective, net changes stand in it, with old values."""

VIEW_ROWS: Final = pa.schema(
    [
        ("role", pa.string()),
        ("variable", pa.string()),
        ("src", pa.int64()),
        ("label", pa.string()),
        ("dst", pa.int64()),
        *_VALUE,
        ("n", pa.int64()),
    ]
)
"""Rows of a view, with a signed count. role is `primary`, `with`, `object` or `relevant`."""

CHANGES: Final = pa.schema([("batch", pa.int64()), ("view", pa.string()), *VIEW_ROWS])
"""What each batch did to the views."""

_INT64: Final = range(-(2**63), 2**63)


def columns_of(value: Value) -> tuple[str, str | None, int | None, float | None]:
    """`value` as (type, text, integer, number).

    >>> columns_of("4.0"), columns_of(4)
    (('string', '4.0', None, 4.0), ('integer', None, 4, 4.0))
    """
    kind, number = type_of(value), as_number(value)
    if isinstance(value, str):
        return kind, value, None, number
    if isinstance(value, bytes):
        return kind, b64encode(value).decode("ascii"), None, None
    if isinstance(value, int):  # booleans too
        return (kind, None, int(value), number) if value in _INT64 else (kind, str(value), None, number)
    return kind, None, None, number


def value_of(kind: str, text: str | None, integer: int | None, number: float | None) -> Value:
    """The inverse of `columns_of`."""
    if kind == "string":
        return text
    if kind == "integer":
        return integer if integer is not None else int(text or "")
    if kind == "real":
        return number
    if kind == "boolean":
        return bool(integer)
    if kind == "binary":
        return b64decode(text or "")
    return COMPLEX if kind == "complex" else None
