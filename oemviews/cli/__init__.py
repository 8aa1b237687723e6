"""The command line: arguments in, text out; all the work is done by `oemviews.Database`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Final

DONE: Final = 0
DIFFERENT: Final = 1
BAD_INPUT: Final = 2
STORE: Final = 3
ENVIRONMENT: Final = 4
FAULT: Final = 70
"""A fault of the program itself, as `sysexits.h` numbers it."""
INTERRUPTED: Final = 128 + signal.SIGINT
"""As shells number it."""

_WRITERS: Final = frozenset(("load", "define", "drop", "apply", "compact", "shell"))
_STORED: Final = "; no batch is ever stored in part: `oemviews log STORE` lists those that are stored"


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code: 0 done, 1 `check` found a difference, 2 bad input,
    3 the store is missing, locked or damaged, 4 the environment lacks something.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    _arrow_alone()
    sys.exit(run(arguments, debug=debug))


def run(arguments: Sequence[str], *, debug: bool = False) -> int:
    """Run one command; the exit code."""
    from oemviews.cli.app import app
    from oemviews.cli.output import error
    from oemviews.errors import OemError

    try:
        app([argument for argument in arguments if argument != "--debug"])
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else DONE
    except OemError as fault:
        if debug:
            _traceback()
        error(_told(fault))
        return code_of(fault)
    except BrokenPipeError:  # the reader of our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        error(f"interrupted{_STORED if {*arguments[:1]} & _WRITERS else ''}")
        return INTERRUPTED
    except Exception as fault:
        if debug:
            _traceback()
        error(f"a fault of oemviews itself: {type(fault).__name__}: {fault}")
        error("run the same command with --debug to see where, and report it")
        return FAULT
    return DONE


class _Absent(MetaPathFinder):
    """Takes some modules for absent."""

    names: Final = frozenset(
        ("pandas", "pyarrow._azurefs", "pyarrow._gcsfs", "pyarrow._hdfs", "pyarrow._s3fs")
    )

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in self.names:
            raise ModuleNotFoundError(name, name=name)


def _arrow_alone() -> None:
    """Import pyarrow without what it would import beside, where that is installed, and no command needs.

    That is pandas, to recognise its types when it first makes an array, and the clients of object stores:
    together a third of the time that a small query takes.
    """
    if "pandas" in sys.modules or "pyarrow.fs" in sys.modules:
        return
    finder = _Absent()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa
        import pyarrow.fs

        pa.array([None])
    finally:
        sys.meta_path.remove(finder)


def code_of(fault: Exception) -> int:
    """The exit code for a kind of error."""
    from oemviews.errors import EnvironmentLacks, StoreError

    if isinstance(fault, StoreError):
        return STORE
    return ENVIRONMENT if isinstance(fault, EnvironmentLacks) else BAD_INPUT


def _told(fault: Exception) -> str:
    """The message, with the notes that were added to it on the way up."""
    return "\n".join([str(fault), *getattr(fault, "__notes__", ())])


def _traceback() -> None:
    import traceback

    traceback.print_exc()
