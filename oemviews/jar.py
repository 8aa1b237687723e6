"""The GraphFrames JAR: found in the cache, fetched once, checked at every use.

The Python package `graphframes` has no JVM classes in it, and its two halves must be of one minor
version. So the coordinate follows from the installed Python half, and what was fetched lies in
`<user cache>/oemviews/graphframes-<version>/` with a `SHA256SUMS` beside it. Starting a session
reads that folder and nothing else; only `fetch` uses the network.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oemviews import java
from oemviews.errors import EnvironmentLacks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLE: Final = "OEMVIEWS_JARS"
"""JAR files, separated by commas, that are taken instead of any found or fetched."""

MEND: Final = "oemviews doctor --fix"

SEDONA: Final = "org.apache.sedona:sedona-spark-shaded-4.0_2.13:1.8.0"
"""Carries the GraphFrames classes of `SEDONA_CARRIES` under their own names, among much else."""

SEDONA_CARRIES: Final = "0.9"

_PREFIXES: Final = ("org/graphframes/", "org/apache/spark/sql/graphframes/")
_CLASS: Final = "org.graphframes.GraphFramePythonAPI"
_SUMS: Final = "SHA256SUMS"
_SECONDS: Final = 300


def python_version() -> str:
    """The version of the installed Python half."""
    return metadata.version("graphframes-py")


def coordinate() -> str:
    """The official coordinate that belongs to the installed Python half."""
    return f"io.graphframes:graphframes-spark4_2.13:{python_version()}"


def folder() -> Path:
    """Where the JAR that belongs to the installed Python half is cached."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "oemviews", f"graphframes-{python_version()}")


def named() -> tuple[Path, ...] | None:
    """The files that the environment variable names; None if it is not set.

    Raises:
        EnvironmentLacks: one of them is not a file.
    """
    value = os.environ.get(VARIABLE, "")
    files = tuple(Path(part.strip()).expanduser() for part in value.split(",") if part.strip())
    for file in files:
        if not file.is_file():
            raise EnvironmentLacks(f"{VARIABLE} names {file}, which is not a file: mend or unset {VARIABLE}.")
    return files or None


def cached() -> tuple[Path, ...]:
    """The cached files, if all are there and each has the digest recorded when it was cached; else none."""
    try:
        lines = (folder() / _SUMS).read_text(encoding="utf-8").splitlines()
        sums = [line.split("  ", 1) for line in lines]
        files = tuple(folder() / name for _, name in sums)
        whole = all(digest(file) == recorded for file, (recorded, _) in zip(files, sums, strict=True))
    except (OSError, ValueError):
        return ()
    return files if whole else ()


def found() -> tuple[Path, ...]:
    """The JARs a session should be given: those named by the environment, else those cached."""
    return named() or cached()


def digest(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def holds_classes(files: Sequence[Path]) -> bool:
    """Whether one of the files is a JAR with the class that the Python half asks for."""
    entry = _CLASS.replace(".", "/") + ".class"
    for file in files:
        try:
            with zipfile.ZipFile(file) as archive:
                if entry in archive.namelist():
                    return True
        except (OSError, zipfile.BadZipFile):
            continue
    return False


def belong_together(python: str, files: Sequence[Path]) -> bool:
    """Whether the versions in the files' names have the minor version of the Python half.

    A name that tells no version is taken at its word.

    >>> belong_together("0.9.3", [Path("graphframes-spark4_2.13-0.9.1.jar")])
    True
    >>> belong_together("0.12.3", [Path("graphframes-spark4_2.13-0.9.3.jar")])
    False
    """
    versions = [re.search(r"graphframes.*-(\d+\.\d+)[.\d]*\.jar$", file.name) for file in files]
    return all(each[1] == _minor(python) for each in versions if each)


def fetch() -> tuple[Path, ...]:
    """The JARs, fetched into the cache if they are not there: the official ones, else cut from Sedona's.

    Raises:
        EnvironmentLacks: no Java to fetch with, or neither coordinate could be had.
    """
    have = found()
    if have:
        return have
    java.require()
    with tempfile.TemporaryDirectory(prefix="oemviews-ivy-") as ivy:
        official = resolve(coordinate(), Path(ivy))
        if official:
            return store(official)
        shaded = resolve(SEDONA, Path(ivy)) if _minor(python_version()) == SEDONA_CARRIES else ()
        if shaded:
            small = Path(ivy, f"graphframes-cut-{SEDONA_CARRIES}.jar")
            cut(shaded[0], small)
            return store((small,))
    raise EnvironmentLacks(
        f"could not fetch {coordinate()}: check that Maven Central can be reached and run `{MEND}` again, "
        f"or set {VARIABLE} to a copy of that JAR."
    )


def resolve(package: str, ivy: Path) -> tuple[Path, ...]:
    """The JARs of a coordinate and of all it needs; none if it cannot be had.

    By Spark's own Ivy, in a process of its own: Spark resolves packages before it looks for the main
    class, of which there is none here, so it stops after that.
    """
    import pyspark

    home = Path(pyspark.__file__).parent
    submit = [str(home / "bin" / "spark-submit"), "--packages", package, "--conf", f"spark.jars.ivy={ivy}"]
    try:
        subprocess.run(
            [*submit, "--class", "none", "spark-internal"],
            env={**os.environ, "SPARK_HOME": str(home)},
            capture_output=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ()
    return tuple(sorted((ivy / "jars").glob("*.jar")))


def cut(source: Path, target: Path) -> None:
    """Copy the GraphFrames entries of `source`, and nothing else, into `target`.

    The same source gives the same bytes, so that two caches can be compared by digest.
    """
    with zipfile.ZipFile(source) as whole, zipfile.ZipFile(target, "w") as small:
        for name in sorted(n for n in whole.namelist() if n.startswith(_PREFIXES) and not n.endswith("/")):
            small.writestr(zipfile.ZipInfo(name), whole.read(name))


def store(files: Sequence[Path]) -> tuple[Path, ...]:
    """Move `files` into the cache with their digests: all of them or, if the process dies, none."""
    if not holds_classes(files):
        raise EnvironmentLacks(f"what was fetched lacks {_CLASS}: set {VARIABLE} to a JAR of {coordinate()}.")
    final = folder()
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=final.parent) as work:
        new = Path(work, "whole")
        new.mkdir()
        for file in files:
            shutil.copyfile(file, new / file.name)
        (new / _SUMS).write_text("".join(f"{digest(f)}  {f.name}\n" for f in files), encoding="utf-8")
        shutil.rmtree(
            final, ignore_errors=True
        )  # nothing, or a damaged one: a whole one is not fetched again
        new.rename(final)
    return cached()


def require_graphframes(spark: SparkSession) -> None:
    """Return if GraphFrames can be used in this session.

    Raises:
        EnvironmentLacks: the session was started without the JAR; says which and how to get it.
    """
    if loadable(spark):
        return
    raise EnvironmentLacks(
        f"this Spark session has no GraphFrames classes: {coordinate()} is missing; "
        f"run `{MEND}` and start a new session."
    )


def loadable(spark: SparkSession) -> bool:
    """Whether the session's JVM has the GraphFrames classes. A Connect session cannot be asked: yes."""
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        return True
    from py4j.protocol import Py4JJavaError

    try:
        jvm.Thread.currentThread().getContextClassLoader().loadClass(_CLASS)
    except Py4JJavaError:
        return False
    return True


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
