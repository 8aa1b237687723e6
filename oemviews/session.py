"""The Spark session: yours if one is live, else one tuned for small work on this machine.

A live session is used as it is and never changed. A new one gets the profile below, but only where
neither the caller's builder nor `spark-defaults.conf` says otherwise, and lists are merged: JARs and
packages that were there stay there. With the JAR in the cache, nothing here uses the network.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from oemviews import jar, java
from oemviews.errors import EnvironmentLacks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JARS: Final = "spark.jars"
_PACKAGES: Final = "spark.jars.packages"


def session(
    app: str = "oemviews",
    master: str | None = None,
    extra_packages: Sequence[str] = (),
    jars: Sequence[str | Path] | None = None,
) -> SparkSession:
    """The live session if there is one, else a new one.

    Args:
        app: the name a new session shows.
        master: where a new session runs; all cores of this machine if not said.
        extra_packages: Maven coordinates that a new session should have besides GraphFrames.
        jars: files to use instead of the cached GraphFrames JAR.

    Raises:
        EnvironmentLacks: Java is missing or too old, or Spark did not start.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    live = SparkSession.getActiveSession()
    if live is not None:
        return live
    if SparkContext._active_spark_context is not None:  # started in another thread
        return SparkSession.builder.getOrCreate()
    builder = SparkSession.builder.appName(app)
    if master is not None:
        builder = builder.master(master)
    return _started(configure(builder, extra_packages=extra_packages, jars=jars))


def configure(
    builder: SparkSession.Builder,
    extra_packages: Sequence[str] = (),
    jars: Sequence[str | Path] | None = None,
) -> SparkSession.Builder:
    """Add to `builder` what oemviews wants of a session, keeping all that the builder already says."""
    given = {**_defaults(), **getattr(builder, "_options", {})}
    files = [str(file) for file in (jar.found() if jars is None else jars)]
    lists = {_JARS: files, _PACKAGES: list(extra_packages)}
    if given.get("spark.master", "local").startswith("local"):
        # Spark starts its Python workers as `python3`, which may be another one, without our packages.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for key, value in wanted(given, lists, cores=os.cpu_count() or 1).items():
        builder = builder.config(key, value)
    return builder


def wanted(given: Mapping[str, str], lists: Mapping[str, Sequence[str]], cores: int) -> dict[str, str]:
    """The settings to add to those `given`: the profile where nothing is said, and `lists` merged in.

    >>> given = {"spark.master": "yarn", "spark.jars": "a.jar", "spark.sql.session.timeZone": "CET"}
    >>> wanted(given, {"spark.jars": ["b.jar"]}, cores=2)
    {'spark.ui.showConsoleProgress': 'false', 'spark.jars': 'a.jar,b.jar'}
    """
    master = given.get("spark.master", "local[*]")
    profile = {"spark.sql.session.timeZone": "UTC", "spark.ui.showConsoleProgress": "false"}
    if master.startswith("local"):
        profile |= _local(master, cores)
    merged = {
        key: ",".join(dict.fromkeys([*filter(None, given.get(key, "").split(",")), *items]))
        for key, items in lists.items()
        if items
    }
    return {key: value for key, value in profile.items() if key not in given} | merged


def _local(master: str, cores: int) -> dict[str, str]:
    """The profile for small work in one process: few partitions, plans made once, only this host."""
    threads = re.match(r"local\[(\d+)", master)
    partitions = threads[1] if threads else "1" if master == "local" else str(cores)
    return {
        "spark.master": master,
        "spark.sql.shuffle.partitions": partitions,
        "spark.default.parallelism": partitions,
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # dearer than the expression it locates
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }


def _defaults() -> dict[str, str]:
    """What `spark-defaults.conf` says: a setting of ours on the builder would silently replace it."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    folder = Path(os.environ.get("SPARK_CONF_DIR") or Path(home, "conf"))
    try:
        text = (folder / "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    pairs = (re.split(r"[\s=:]+", line.strip(), maxsplit=1) for line in text.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and not pair[0].startswith("#")}


def _started(builder: SparkSession.Builder) -> SparkSession:
    """Start the session; what the JVM says at its start is shown only if it fails."""
    from pyspark.errors import PySparkRuntimeError

    java.require()
    with _quiet() as said:
        try:
            spark = builder.getOrCreate()
        except PySparkRuntimeError as error:
            said.seek(0)
            reason = re.findall(r"(?:Exception[^:\n]*|Error): (.+)", said.read().decode(errors="replace"))
            what = reason[0] if reason else error
            raise EnvironmentLacks(
                f"Spark did not start: {what}; run `oemviews doctor` to see what is missing."
            ) from error
        spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def _quiet() -> Iterator[IO[bytes]]:
    """Give a process started inside a file for its standard error instead of ours.

    The JVM prints warnings before any log setting can reach it, and inherits the file descriptor.
    """
    with tempfile.TemporaryFile() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)


@contextmanager
def settings(spark: SparkSession, values: Mapping[str, Any]) -> Iterator[None]:
    """Run a block with these settings, then put back what was there, also when the block raises."""
    before = {key: spark.conf.get(key, None) for key in values}
    try:
        for key, value in values.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)
