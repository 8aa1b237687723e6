"""Errors that a user can cause, by kind; the exit codes of the command line follow the kinds."""

from __future__ import annotations

from lorel.errors import OemError

__all__ = [
    "BadInput",
    "DamagedStore",
    "DocumentError",
    "EditError",
    "EnvironmentLacks",
    "LockedStore",
    "OemError",
    "StoreError",
]


class BadInput(OemError):
    """Something given to a command cannot be taken: nothing was stored."""


class DocumentError(BadInput):
    """A document that cannot be read, with file, line and column."""


class EditError(BadInput):
    """An edit that cannot be; its whole batch is refused."""


class StoreError(OemError):
    """The store is missing, locked or damaged."""


class LockedStore(StoreError):
    """Another process writes to this store."""


class DamagedStore(StoreError):
    """A file of the store is torn, missing or foreign."""


class EnvironmentLacks(OemError):
    """Java, the GraphFrames JAR or another part of the environment is missing."""
