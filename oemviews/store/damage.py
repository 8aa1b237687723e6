"""What is wrong with a table that does not open, in words."""

from __future__ import annotations

import os
import re
from typing import Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

_COMMIT: Final = re.compile(r"(\d{20})\.json")
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint\.parquet")


def faults_of(folder: str) -> str:
    """The first fault found in a table's own log, with the way out; empty if there is none to see."""
    log = os.path.join(folder, "_delta_log")
    if not os.path.isdir(folder):
        return f"{folder} is missing."
    if not os.path.isdir(log):
        return f"{log} is missing, so {folder} is no table of this store."
    names = sorted(os.listdir(log))
    checkpoints = [name for name in names if _CHECKPOINT.fullmatch(name)]
    for name in reversed(checkpoints):
        try:
            pq.read_metadata(os.path.join(log, name))
        except (pa.ArrowInvalid, OSError) as error:
            return (
                f"{os.path.join(log, name)} is torn ({error}). It only sums up the commits before it: "
                "remove it and _last_checkpoint beside it, and nothing is lost."
            )
    summed = int(checkpoints[-1][:20]) if checkpoints else -1
    commits = [name for name in names if (match := _COMMIT.fullmatch(name)) and int(match[1]) > summed]
    for expected, name in enumerate(commits, start=summed + 1):
        if int(name[:20]) != expected:
            missing = os.path.join(log, f"{expected:020d}.json")
            return f"{missing} is missing; later commits cannot be read without it."
        fault = _fault_of_commit(os.path.join(log, name))
        if fault:
            last = name == commits[-1]
            way_out = (
                "remove it: all commits before it are whole"
                if last
                else "restore it from a copy of the store"
            )
            return f"{os.path.join(log, name)} is torn ({fault}); {way_out}."
    return ""


def _fault_of_commit(path: str) -> str:
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
        for line in lines:
            orjson.loads(line)
    except (OSError, orjson.JSONDecodeError) as error:
        return str(error)
    return "" if lines else "it is empty"
