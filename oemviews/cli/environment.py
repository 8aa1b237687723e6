"""Commands about the environment: demo, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from oemviews.answers.rendering import Grid
from oemviews.cli.arguments import Argument, Option
from oemviews.cli.options import Engine, EngineOption
from oemviews.cli.output import data, data_table, note


def demo(engine: EngineOption = Engine.auto) -> None:
    """Run the example of the 1998 paper. It is made in a temporary store, and shown start to end.

    Example: oemviews demo
    """
    from oemviews.cli.demo import run

    run(engine.value)


def doctor(
    fix: Annotated[bool, Option("--fix", "Mend what can be mended from here: fetch the JAR.")] = False,
    store: Annotated[Path | None, Argument("STORE", "Try to write beside this store.")] = None,
) -> None:
    """Look for what the environment lacks.

    Java, Python, Spark, the GraphFrames JAR, a disk to write on: what was found, and how to mend each.

    Example: oemviews doctor --fix
    """
    from oemviews import doctor as looking
    from oemviews.cli import ENVIRONMENT

    checks = looking.run(fix, store)
    rows = tuple(("ok" if check.ok else "missing", check.name, check.found) for check in checks)
    data_table(Grid(("", "what", "found"), rows))  # not clipped: a path is there to be copied
    lacks = [check for check in checks if not check.ok]
    for check in lacks:
        note(f"{check.name}: {check.found}. To mend it: {check.mend}")
    if lacks:
        raise SystemExit(ENVIRONMENT)
    data("everything is here")
