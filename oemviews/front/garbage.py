"""Objects that no name reaches: found by walking, dropped by compaction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lorel.normal import ANY
from oemviews.answers.rendering import counted
from oemviews.engines.local import LocalGraph
from oemviews.front.keeping import Keeper
from oemviews.front.live import Live
from oemviews.model import ROOT
from oemviews.store.compact import Compaction, change_without
from oemviews.store.values import Ints


def garbage_of(graph: LocalGraph) -> Ints:
    """The objects that no name reaches, in order."""
    oids = np.asarray(graph.tables()[1]["oid"].to_numpy(), dtype=np.int64)
    top = max(int(oids.max(initial=0)), ROOT) + 1
    seen = np.zeros(top, np.bool_)
    frontier = np.zeros(1, np.int64)
    seen[ROOT] = True
    while len(frontier):
        ends = np.unique(graph.out(frontier, ANY).other)
        frontier = ends[~seen[ends]]
        seen[frontier] = True
    return np.sort(oids[~seen[oids]])


def compacted(live: Live, keeper: Keeper, keep_batches: int) -> Compaction:
    """Take the objects that no name reaches away, as a batch of its own, then what no batch needs.

    That batch makes RelevantOids of every view exact; it comes also if only that is to be done.
    """
    store, graph = live.store, live.graph()
    garbage = garbage_of(graph)
    change = change_without(store.state(), garbage)
    if len(change) or keeper.has_surplus():
        what = f"{counted(len(change.gone), 'object')} that no name reaches"
        info = store.append(change, kind="compact", what=what if len(change) else "RelevantOids made exact")
        keeper.keep(change, info.batch, exact=True)
    live.forget()
    done = store.compact(keep_batches=keep_batches)
    return replace(done, objects=len(change.gone))
