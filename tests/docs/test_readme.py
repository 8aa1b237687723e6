"""The README as a newcomer tries it: in a clone, in a real shell, with the output that it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Page, Runner, blocks, commands, in_process, in_shell

README = ROOT / "README.md"


@pytest.mark.parametrize("runner", [in_process, pytest.param(in_shell, marks=pytest.mark.slow)])
def test_every_block_gives_what_it_shows(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    faults = Page(README, tmp_path, runner).run()
    assert not faults, "\n\n".join(faults)


def test_it_has_blocks_to_run() -> None:
    found = blocks(README)
    assert {block.language for block in found} >= {"console", "python"}
    verbs = {command.split()[1] for block in found for _, command, _ in commands(block)}
    assert {"load", "define", "apply"} <= verbs


def test_it_begins_with_what_it_is() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# oemviews"
    assert lines[2].startswith("Materialized views over JSON and XML")


def test_its_commands_are_those_of_make() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    said = set(re.findall(r"(?:^    |`)make ([a-z]+)", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= said <= targets
