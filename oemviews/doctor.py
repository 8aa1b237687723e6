"""What the environment has and lacks, each lack with the line that mends it. Starts no session."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Final

from oemviews import jar, java
from oemviews.errors import EnvironmentLacks

_OLDEST_PYTHON: Final = (3, 10)
_SPARK: Final = "4.1"
_GRAPHFRAMES: Final = range(9, 13)
"""Minor versions of graphframes-py 0.x that are taken."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found and, if that will not do, how to mend it."""

    name: str
    ok: bool
    found: str
    mend: str = ""


def run(fix: bool = False, store: Path | None = None) -> list[Check]:
    """Look at everything; with `fix`, fetch the GraphFrames JAR first if it is not there.

    Law: a check that is not ok has a mending line, and only those have one.

    Args:
        fix: mend what can be mended from here.
        store: the store whose folder must be writable; a temporary folder if None.
    """
    checks: Sequence[Callable[[], Check]] = (
        check_python,
        check_java,
        check_spark,
        check_graphframes,
        partial(check_jar, fix=fix),
        partial(check_write, store or Path(tempfile.gettempdir())),
    )
    return [check() for check in checks]


def check_python() -> Check:
    """The interpreter is new enough."""
    return _checked(
        "Python",
        sys.version_info >= _OLDEST_PYTHON,
        f"{sys.version.split()[0]} at {sys.executable}",
        "run oemviews with Python {}.{} or later".format(*_OLDEST_PYTHON),
    )


def check_java() -> Check:
    """The Java that Spark would start is there and new enough."""
    try:
        version = java.require()
    except EnvironmentLacks as lack:
        return Check("Java", False, str(lack).partition(": ")[0], java.MEND)
    return Check("Java", True, f"{version} at {java.find()}")


def check_spark() -> Check:
    """The installed pyspark is of the minor version that oemviews is tested with."""
    version = _installed("pyspark")
    return _checked("Spark", version.startswith(_SPARK + "."), version, f"pip install 'pyspark~={_SPARK}.0'")


def check_graphframes() -> Check:
    """The Python half of GraphFrames is there."""
    version = _installed("graphframes-py")
    major, minor = [*version.split("."), ""][:2]
    ok = major == "0" and minor.isdigit() and int(minor) in _GRAPHFRAMES
    return _checked("graphframes-py", ok, version, "pip install 'graphframes-py~=0.9.3'")


def check_jar(fix: bool = False) -> Check:
    """The JVM half of GraphFrames is there, whole, and belongs to the Python half."""
    name, mend = "GraphFrames JAR", jar.MEND
    try:
        files = jar.fetch() if fix else jar.found()
    except EnvironmentLacks as lack:
        found, _, rest = str(lack).partition(": ")
        return Check(name, False, found, rest.rstrip("."))
    except metadata.PackageNotFoundError:
        return Check(name, False, "graphframes-py is not installed", "pip install 'graphframes-py~=0.9.3'")
    if not files:
        state = "damaged" if jar.folder().exists() else "missing"
        return Check(name, False, f"{jar.coordinate()} is {state} in {jar.folder()}", mend)
    shown = ", ".join(map(str, files))
    if not jar.holds_classes(files):
        return Check(name, False, f"no GraphFrames classes in {shown}", f"unset {jar.VARIABLE}, then {mend}")
    together = jar.belong_together(jar.python_version(), files)
    found = shown if together else f"{shown} does not belong to graphframes-py {jar.python_version()}"
    return _checked(
        name, together, found, f"set {jar.VARIABLE} to {jar.coordinate()}, or unset it and run {mend}"
    )


def check_write(folder: Path) -> Check:
    """A file can be written in `folder`, made durable, renamed and removed: all that a store asks."""
    try:
        with tempfile.TemporaryDirectory(prefix=".oemviews-doctor-", dir=folder) as place:
            first, second = Path(place, "first"), Path(place, "second")
            with first.open("wb") as file:
                file.write(b"oemviews")
                file.flush()
                os.fsync(file.fileno())
            first.rename(second)
            whole = second.read_bytes() == b"oemviews"
    except OSError as error:
        return Check(
            "Write",
            False,
            f"{folder}: {error.strerror}",
            "choose a folder you may write to, or free some space",
        )
    return _checked("Write", whole, str(folder), "check the disk: what was written did not come back")


def _checked(name: str, ok: bool, found: str, mend: str) -> Check:
    return Check(name, ok, found, "" if ok else mend)


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
