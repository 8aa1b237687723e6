"""One edge: from a bound end of a step to the other, or a check that the edge is there."""

from __future__ import annotations

import numpy as np

from lorel.normal import Labels, Step, is_constant, oid_of
from oemviews.engines.local.graph import LocalGraph
from oemviews.engines.local.keys import take, taken
from oemviews.engines.rows import Column, Rows
from oemviews.store.values import Ints, Values, string_values


def scanned(step: Step, graph: LocalGraph) -> Rows:
    """All edges of a step."""
    assert isinstance(step.path, Labels)
    src, label, dst = graph.scan(step.path)
    keep = np.ones(len(src), bool)
    for name, column in ((step.src, src), (step.dst, dst)):
        if is_constant(name):
            keep &= column == oid_of(name)
    if step.src == step.dst:
        keep &= src == dst
    columns: dict[str, Column] = {step.src: src, step.dst: dst}
    if step.via is not None:
        columns[step.via] = label_values(graph, label)
    rows = Rows(columns, np.ones(len(src), np.int64))
    return rows if keep.all() else take(rows, keep)


def expanded(rows: Rows, step: Step, forward: bool, graph: LocalGraph) -> Rows:
    """Each row with every edge of the step that fits it."""
    assert isinstance(step.path, Labels)
    near, far = (step.src, step.dst) if forward else (step.dst, step.src)
    start = rows.columns[near]
    if isinstance(start, Values):  # a value has no edges
        return _with(rows, np.zeros(0, np.int64), far, np.zeros(0, np.int64))
    label, side = graph.book.one(step.path), 0 if forward else 1
    bound = rows.columns.get(far)
    if label is not None and step.via is None:
        if isinstance(bound, np.ndarray):
            return take(rows, graph.joined(side, start, label, bound))
        row, other = graph.follow(side, start, label)
        return _with(rows, row, far, other)
    found = graph.out(start, step.path) if forward else graph.into(start, step.path)
    row, codes, other = found
    if bound is not None:
        assert isinstance(bound, np.ndarray)
        keep = bound[row] == other
        row, codes, other = row[keep], codes[keep], other[keep]
    extended = _with(rows, row, far, other)
    if step.via is None:
        return extended
    return Rows({**extended.columns, step.via: label_values(graph, codes)}, extended.counts)


def _with(rows: Rows, row: Ints, name: str, column: Ints) -> Rows:
    """The rows at these places, with one more column."""
    return Rows({**taken(rows.columns, row), name: column}, rows.counts[row])


def label_values(graph: LocalGraph, codes: Ints) -> Values:
    """Labels as a column of strings."""
    different, place = np.unique(codes, return_inverse=True)
    return string_values(graph.book.names(different)).take(place)
