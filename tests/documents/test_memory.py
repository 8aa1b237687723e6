"""Memory is bounded by what is open, not by the file: loads under a hard limit, in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

SIZE = 40_000_000
"""Bytes of the file. Decoded at once it takes more than ten times as much, far above the limit."""

LOAD = """
import re, resource, sys
from oemviews.documents.load import load_documents

mapped = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
limit = mapped + 250_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
loading = load_documents([sys.argv[1]], name="Doc", first_oid=1, first_pos=1)
print(sum(len(chunk.created) for chunk in loading))
"""


def entree(number: int) -> str:
    return json.dumps(
        {
            "Name": f"Dish {number}",
            "Price": number / 4,
            "Ingredient": ["Salt", "Rice", f"Spice {number % 100}"],
        }
    )


def xml_entree(number: int) -> str:
    tags = (
        f"<Name>Dish {number}</Name>\n <Price>{number / 4}</Price>\n " + "<Ingredient>Salt</Ingredient>" * 3
    )
    return f"<Entree>\n {tags}\n</Entree>"


def oem_entree(number: int) -> str:
    first = 6 * number + 2
    inner = [f'<Name &{first + 1} "Dish {number}">', f"<Price &{first + 2} {number / 4}>"]
    inner += [f'<Ingredient &{first + n} "Salt">' for n in (3, 4, 5)]
    return f"<Entree &{first} {{ {' '.join(inner)} }}>"


FORMS: Final[dict[str, tuple[str, str, str, Callable[[int], str]]]] = {
    "one.json": ('{"Entree": [', ", ", "]}", entree),
    "many.jsonl": ("", "\n", "", entree),
    "one.xml": ("<Guide>", "\n", "</Guide>", xml_entree),
    "one.oem": ("<Guide &1 {", "\n", "}>", oem_entree),
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the size of the process from /proc")
@pytest.mark.parametrize("name", FORMS)
def test_a_large_file_loads_under_a_hard_limit(tmp_path: Path, name: str) -> None:
    before, between, after, item = FORMS[name]
    path, count = tmp_path / name, SIZE // len(item(100_000) + between)
    with path.open("w") as file:
        file.write(before)
        for number in range(count):
            file.write((between if number else "") + item(number))
        file.write(after)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == 1 + 6 * count
