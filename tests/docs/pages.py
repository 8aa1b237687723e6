"""Pages of documentation, run as they stand: what a block shows must be what comes out.

    ```console          `$ ` begins a command, `> ` goes on with it, the other lines are what it prints
    ```python           `>>> ` as in doctests, or a program that must run
    ```json, ```text    with a file's name after the language: the file is made for the blocks below

Blocks of a page share one folder and one Python namespace. Times, dates and costs may differ; a line
`...` stands for any lines.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oemviews.cli import run

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"[|<>;&$`*]|^[A-Z]+=")
_TIMES = (
    (re.compile(r"\d[\d,]*(\.\d+)? (?=m?s\b)"), "N "),
    (re.compile(r"\b(counting|recheck|full)\s+(local|spark)\s+[\d,.]+$", re.MULTILINE), r"\1 \2 N"),
    (re.compile(r" [\d,]+ \([\d,]+\) (?= *\+)"), " N (N) "),
    (re.compile(r"([\d,]+ rows? expected, )?[\d,]+( rows?)? touched"), "N touched"),
    (re.compile(r"engine: local \(.*\)"), "engine: local"),
    (re.compile(r"\[~[\d,]+, was [\d,]+\]"), "[~N]"),
    (re.compile(r'("seconds":\s*)[\d.e-]+'), r"\1N"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.\d+:]*"), "DATE"),
    (re.compile(r"─+"), "─"),
    (re.compile(r"[ \t]+"), " "),
)

Runner = Callable[[str, Path], str]


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    file: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        language, _, file = match["info"].strip().partition(" ")
        found.append(Block(language, file.strip(), match["text"], text.count("\n", 0, match.start()) + 2))
    return found


def commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """Line, command and what it prints, of each command of a console block."""
    command: list[str] = []
    printed: list[str] = []
    start = block.line
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            if command:
                yield start, "\n".join(command), "\n".join(printed)
            command, printed, start = [line[2:]], [], number
        elif line.startswith("> ") and command and not printed:
            command.append(line[2:])
        else:
            printed.append(line)
    if command:
        yield start, "\n".join(command), "\n".join(printed)


def in_shell(command: str, folder: Path) -> str:
    """Run a command in a real shell; everything it prints, in the order of a terminal."""
    here = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return done.stdout


def in_process(command: str, folder: Path) -> str:
    """The same, but a plain `oemviews` command runs in this process, which is much quicker."""
    words = [] if _SHELL.search(_unquoted(command)) else shlex.split(command)
    if not words or words[0] != "oemviews":
        return in_shell(command, folder)
    out = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            run(words[1:])
    finally:
        os.chdir(before)
    return out.getvalue()


def _unquoted(command: str) -> str:
    return re.sub(r"'[^']*'", "''", command)


def same(shown: str, found: str) -> bool:
    """Whether a text is the one shown, but for times, dates, costs and the lines that `...` stands for."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n?", _bare(shown), flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), _bare(found)) is not None


def _bare(text: str) -> str:
    for pattern, word in _TIMES:
        text = pattern.sub(word, text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))


class _Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return same(want, got) or super().check_output(want, got, optionflags)


@dataclass
class Page:
    """A page being run in a folder; `faults` says where it shows what is not so."""

    path: Path
    folder: Path
    runner: Runner = in_process
    names: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def run(self) -> list[str]:
        """Run every block; the faults."""
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            for block in blocks(self.path):
                if block.file:
                    (self.folder / block.file).write_text(block.text, encoding="utf-8")
                elif block.language == "console":
                    self._console(block)
                elif block.language == "python":
                    self._python(block)
        finally:
            os.chdir(before)
        return self.faults

    def _console(self, block: Block) -> None:
        for line, command, shown in commands(block):
            found = self.runner(command, self.folder)
            if not same(shown, found):
                self.faults.append(f"{self.path.name}:{line}: $ {command}\nshown\n{shown}\nfound\n{found}")

    def _python(self, block: Block) -> None:
        where = f"{self.path.name}:{block.line}"
        if ">>> " not in block.text:
            try:
                exec(compile(block.text, where, "exec"), self.names)
            except Exception:
                self.faults.append(f"{where}\n{traceback.format_exc()}")
            return
        test = doctest.DocTestParser().get_doctest(block.text, self.names, where, where, block.line)
        told: list[str] = []
        runner = doctest.DocTestRunner(checker=_Checker(), optionflags=doctest.ELLIPSIS)
        runner.run(test, out=told.append, clear_globs=False)
        self.names.update(test.globs)
        if runner.failures:
            self.faults.append(f"{where}\n{''.join(told)}")
