"""Golden cases: one file a case, sections in plain text; `--update-golden` rewrites `expect`.

-- query
select Guide.Restaurant.Name
-- expect
select Name: _1.Name from Guide.Restaurant _1
"""

from __future__ import annotations

from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


def cases(folder: str) -> list[Path]:
    """The case files of a folder; at least one, or a test would pass for want of cases."""
    found = sorted((CASES / folder).glob("*.txt"))
    assert found, f"no cases in {CASES / folder}"
    return found


def load(path: Path) -> dict[str, str]:
    """The sections of a case by their names."""
    sections: dict[str, str] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-- "):
            name = line[3:].strip()
            sections[name] = ""
        else:
            sections[name] += line + "\n"
    return {name: text.strip("\n") for name, text in sections.items()}


def check(path: Path, found: str, *, update: bool) -> None:
    """Compare with the section `expect`, or rewrite it."""
    sections = load(path)
    if update:
        sections["expect"] = found
        path.write_text("".join(f"-- {name}\n{text}\n" for name, text in sections.items()), encoding="utf-8")
    elif found != sections.get("expect"):
        pytest.fail(f"{path.name}: found\n{found}\nwanted\n{sections.get('expect')}")
