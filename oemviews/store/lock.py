"""One writer at a time, and readers that hold on to the files they may still read.

Both are `flock`s, which end with the process that holds them, however it ends. Lease of a reader: a small
file in `readers/`, locked as long as the reader lives, that names the versions of the tables it reads.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Final
from uuid import uuid4

import orjson

from oemviews.errors import LockedStore, StoreError

_TO_LOCK: Final = 60.0
"""Seconds in which a reader surely has locked the lease it made."""


class WriterLock:
    """The right to write to a store."""

    def __init__(self, folder: str) -> None:
        self._path, self._store = os.path.join(folder, "lock"), folder
        self._handle: int | None = None

    def take(self) -> None:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StoreError(
                f"cannot write to {self._store}: {error.strerror}. It can still be read."
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(handle, 1000, 0)
            os.close(handle)
            raise LockedStore(_refusal(self._store, owner)) from error
        now = datetime.now(timezone.utc).isoformat(" ", "seconds")
        note = orjson.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": now})
        with contextlib.suppress(OSError):  # on a full disk the owner stays unnamed
            os.ftruncate(handle, 0)
            os.pwrite(handle, note, 0)
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(OSError):  # a full disk does not keep the lock
                os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None


def _refusal(store: str, owner: bytes) -> str:
    try:
        note = orjson.loads(owner)
        who = f"process {note['pid']} on {note['host']}, since {note['since']}"
    except (orjson.JSONDecodeError, KeyError, TypeError):  # the owner has not written it yet
        who = "another process"
    return f"{store} is being written by {who}. Reading is possible meanwhile; to write, wait for it to end."


class Lease:
    """A reader's claim on the versions of the tables that it reads; none where the store is read-only."""

    def __init__(self, folder: str, versions: Mapping[str, int]) -> None:
        self._folder, self._handle, self._length = os.path.join(folder, "readers"), -1, 0
        self.path, self._claimed = os.path.join(self._folder, uuid4().hex), {"": -1}
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)
            # Made under a hidden name and locked before anybody can take it for a dead reader's.
            hidden = f"{self.path}.new"
            handle = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            fcntl.flock(handle, fcntl.LOCK_EX)
            self._handle = handle
            self.renew(versions)
            os.rename(hidden, self.path)

    def renew(self, versions: Mapping[str, int]) -> None:
        """Claim other versions instead."""
        if self._handle >= 0 and versions != self._claimed:
            with contextlib.suppress(OSError):
                note = orjson.dumps(
                    {"pid": os.getpid(), "host": socket.gethostname(), "versions": dict(versions)}
                )
                self._length = max(self._length, len(note))
                os.pwrite(self._handle, note.ljust(self._length), 0)
                self._claimed = dict(versions)

    def release(self) -> None:
        if self._handle >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(self._handle)
            self._handle = -1


def leases(folder: str) -> list[dict[str, int]]:
    """The versions that living readers claim; leases of dead ones are removed.

    An empty claim is one of a reader that does not know its versions yet: it may need any.
    """
    readers, claims = os.path.join(folder, "readers"), []
    for name in os.listdir(readers) if os.path.isdir(readers) else ():
        path = os.path.join(readers, name)
        with contextlib.suppress(FileNotFoundError):
            if name.endswith(".new") and time.time() - os.path.getmtime(path) < _TO_LOCK:
                continue  # its reader has not opened a table yet
            handle = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)
            except BlockingIOError:
                claims.append(_claim_in(os.pread(handle, 1 << 20, 0)))
            finally:
                os.close(handle)
    return claims


def _claim_in(note: bytes) -> dict[str, int]:
    try:
        return dict(orjson.loads(note)["versions"])
    except (orjson.JSONDecodeError, KeyError):  # being written just now
        return {}
