"""Named write points: where a process may be killed, for the tests that prove it does no harm."""

from __future__ import annotations

import os
import signal
from typing import Final

POINTS: Final = (
    "create:made",
    "log:file-written",
    "log:committed",
    "load:chunk-written",
    "load:log-committed",
    "load:edges-committed",
    "merge:file-written",
    "merge:committed",
    "changes:file-written",
    "changes:committed",
    "fold:edges-written",
    "fold:edges-committed",
    "fold:objects-written",
    "fold:objects-committed",
    "view:file-written",
    "view:committed",
    "view:set-aside",
    "compact:log-written",
    "compact:log-committed",
    "compact:file-removed",
    "compact:commits-removed",
)
"""Every point, in the order a store's life meets them."""

VARIABLE: Final = "OEMVIEWS_CRASH_AT"


def reached(point: str) -> None:
    """Kill this process if the environment names `point`; else do nothing."""
    if os.environ.get(VARIABLE) == point:
        os.kill(os.getpid(), signal.SIGKILL)
