"""Small steps of laying one thing over another, and the constants of tests that an index answers."""

from __future__ import annotations

from typing import Final

import numpy as np

from lorel.normal import Compare, Const, OneOf, Test, ValueOf
from oemviews.engines.local.adjacency import Adjacency, Found
from oemviews.engines.local.layer import Layer
from oemviews.store.values import Bools, Ints, Strings, Values, values_of

_FLIPPED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def constants(test: Test) -> list[tuple[str, Values]]:
    """The (operator, constants) pairs of which a value must pass one; only `=` has several constants.

    >>> [(op, c.items()) for op, c in constants(Compare("<", Const(3), ValueOf("x")))]
    [('>', [3])]
    """
    match test:
        case Compare(op, ValueOf(), Const(value)):
            return [(op, values_of([value]))]
        case Compare(op, Const(value), ValueOf()):
            return [(_FLIPPED[op], values_of([value]))]
        case OneOf(ValueOf(), values):
            return [("=", values_of(constant.value for constant in values))]
    raise TypeError(f"found {test}, wanted a comparison of a variable with constants")


def with_rows(values: Values, rows: Ints, newer: Values) -> Values:
    """`values` with other ones in some rows; texts are still fetched only when they are asked for."""
    kind, whole, number = values.kind.copy(), values.integer.copy(), values.number.copy()
    kind[rows], whole[rows], number[rows] = newer.kind, newer.integer, newer.number
    place = np.full(len(values), -1, np.int64)
    place[rows] = np.arange(len(rows))

    def texts(at: Ints) -> Strings:
        found, changed = values.take(at).text.copy(), place[at]
        hit = changed >= 0
        found[hit] = newer.take(changed[hit]).text
        return found

    return Values(kind, whole, number, None, texts, np.arange(len(values)))


def columns_of_edges(edges: Adjacency, label: int | None, wanted: Bools | None) -> tuple[Ints, Ints, Ints]:
    if label is not None:
        lo, hi = edges.section(label)
        codes = np.full(hi - lo, label, np.int64)
        return edges.near[lo:hi].astype(np.int64), codes, edges.far[lo:hi].astype(np.int64)
    at = edges.places(None, wanted)
    return edges.near[at].astype(np.int64), edges.labels_at(at), edges.far[at].astype(np.int64)


def one_label_over(
    row: Ints, other: Ints, layer: Layer, side: int, oids: Ints, label: int
) -> tuple[Ints, Ints]:
    """Edges of one label found below, with a layer laid over."""
    minus, plus = layer.minus[side], layer.plus[side]
    if len(row) and label in minus:
        keep = minus.find(oids[row], label, other) < 0
        row, other = row[keep], other[keep]
    if label in plus:
        more = plus.follow(oids, label)
        row, other = np.concatenate((row, more[0])), np.concatenate((other, more[1]))
    return row, other


def every_label_over(found: Found, layer: Layer, side: int, oids: Ints, wanted: Bools | None) -> Found:
    minus, plus = layer.minus[side], layer.plus[side]
    if len(minus) and len(found.row):
        keep = minus.find_mixed(oids[found.row], found.label, found.other) < 0
        found = Found(*(column[keep] for column in found))
    more = plus.every(oids, wanted)
    return (
        Found(*(np.concatenate(pair) for pair in zip(found, more, strict=True))) if len(more.row) else found
    )
