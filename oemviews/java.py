"""The Java that Spark would start: found as Spark finds it, before anything is started."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from oemviews.errors import EnvironmentLacks

OLDEST: Final = 17
"""Spark 4 is compiled for this version of Java."""

MEND: Final = (
    f"install a Java runtime of version {OLDEST} or later and set JAVA_HOME to it, or put it on PATH"
)


def find() -> str | None:
    """The java program: JAVA_HOME's if that is set, else the first on PATH; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(str(Path(home, "bin", "java")) if home else "java")


def major(banner: str) -> int | None:
    """The major version in what `java -version` prints.

    >>> major('openjdk version "17.0.15" 2025-04-15'), major('java version "1.8.0_402"'), major("?")
    (17, 8, None)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found[1]) if found else None


def version(program: str) -> int | None:
    """The major version of `program`; None if it does not run or does not say."""
    try:
        ran = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return major(ran.stderr + ran.stdout)


def require() -> int:
    """The version of the Java that Spark would start.

    Raises:
        EnvironmentLacks: there is none, or it is too old.
    """
    program = find()
    if program is None:
        place = f"JAVA_HOME={os.environ['JAVA_HOME']}" if os.environ.get("JAVA_HOME") else "PATH"
        raise EnvironmentLacks(f"Spark needs Java {OLDEST} or later and {place} has no java: {MEND}.")
    found = version(program)
    if found is None or found < OLDEST:
        what = f"is version {found}" if found else "does not tell its version"
        raise EnvironmentLacks(f"Spark needs Java {OLDEST} or later but {program} {what}: {MEND}.")
    return found
