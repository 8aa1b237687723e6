"""Graphs and plans inside the process: sorted arrays, numpy only, no JVM."""

from oemviews.engines.local.engine import LocalEngine
from oemviews.engines.local.graph import LocalGraph

__all__ = ["LocalEngine", "LocalGraph"]
