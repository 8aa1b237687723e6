"""RelevantOids after a batch: what it gains by edges that came, and now and then what it may lose again."""

from __future__ import annotations

from pyroaring import BitMap64

from oemviews.engines.engine import Engine
from oemviews.maintain.relevance import Relevance
from oemviews.views.definition import Definition
from oemviews.views.materialise import relevant_of
from oemviews.views.ports import Sets, grow
from oemviews.views.state import ViewState
from oemviews.views.walks import edges_from


def upkeep(definition: Definition, state: ViewState, engine: Engine, found: Relevance) -> Sets:
    """What RelevantOids gains by the edges that came. What it could lose by others it keeps: still sound."""
    seeds: Sets = {}
    for port, met in found.edges.items():
        came = met.targets
        if came:
            seeds[port.target] = seeds[port.target] | came if port.target in seeds else came
    return grow(
        definition.ports,
        state.relevant,
        seeds,
        lambda oids, labels, graph: edges_from(engine, oids, labels, graph).dst,
    )


def surplus(definition: Definition, state: ViewState, engine: Engine, gained: Sets) -> Sets:
    """What RelevantOids may lose again, gains included, to be exact in the new state of the graphs."""
    exact = relevant_of(definition.ports, engine)
    kept = {key: oids | gained.get(key, BitMap64()) for key, oids in state.relevant.items()}
    return {key: oids - exact[key] for key, oids in kept.items() if not oids <= exact[key]}
