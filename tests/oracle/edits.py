"""Edit lists applied one after the other to a graph, as the log's text says."""

from __future__ import annotations

from collections.abc import Iterable

from oemviews import edits as e
from oemviews.model import COMPLEX, ROOT
from tests.oracle.graph import OracleGraph


class ImpossibleEdit(Exception):
    """An edit that must refuse its whole batch."""


def apply(graph: OracleGraph, batch: Iterable[e.Edit], names: dict[str, int] | None = None) -> OracleGraph:
    """The graph after a batch. `names` are the log's own names; new ones are added to it.

    New objects get the oids after the highest, in order.
    """
    values, edges = dict(graph.values), set(graph.edges)
    own = {} if names is None else names

    def oid_of(ref: e.Ref) -> int:
        oid = own.get(ref) if isinstance(ref, str) else ref
        if oid is None or oid not in values or oid == ROOT:
            raise ImpossibleEdit(f"no object {ref!r}")
        return oid

    for edit in batch:
        match edit:
            case e.Insert(src, label, dst):
                if values[oid_of(src)] is not COMPLEX:
                    raise ImpossibleEdit(f"&{src} is atomic")
                edges.add((oid_of(src), label, oid_of(dst)))
            case e.Delete(src, label, dst):
                edges.discard((oid_of(src), label, oid_of(dst)))
            case e.Change(oid, new, old):
                if values[oid_of(oid)] is COMPLEX:
                    raise ImpossibleEdit(f"&{oid} is complex")
                if old is not e.UNKNOWN and (type(old), old) != (
                    type(values[oid_of(oid)]),
                    values[oid_of(oid)],
                ):
                    raise ImpossibleEdit(f"&{oid} has another value")
                values[oid_of(oid)] = new
            case e.New(name, value):
                own[name] = max(values) + 1
                values[own[name]] = value
            case e.Name(name, oid):
                target = oid_of(oid)
                edges = {edge for edge in edges if edge[:2] != (ROOT, name)} | {(ROOT, name, target)}
            case e.Unname(name):
                edges = {edge for edge in edges if edge[:2] != (ROOT, name)}
    return OracleGraph(values, edges)
