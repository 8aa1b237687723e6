"""Loads into a durable store against parsing alone, in the same run.

    python benchmarks/load.py [--values 900000] [--seed 1]

One Guide-like document is written as JSON, JSON Lines and XML. Each line is a process of its own, so that its
peak memory is its own too: `parse` is the fastest parser at hand (orjson, lxml) building its tree, `chunks`
all work up to the columns, `store` the load into a new store until it is on the disk.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

IMPORTED = (
    "lxml.etree",
    "orjson",
    "oemviews.documents.load",
    "oemviews.documents.xml_in",
    "oemviews.store.store",
    "deltalake",
)
FILES = {"json": "guide.json", "jsonl": "guide.jsonl", "xml": "guide.xml"}
LINE = "{:6}{:8}{:>8}{:>10}{:>8}{:>10}{:>11}{:>9}{:>9}"
WORDS = ("Thai", "Cafe", "Grill", "Baghdad", "Palace", "Golden", "Lotus", "Corner", "Harbour", "Old", "Town")
CITIES = ("Palo Alto", "Menlo Park", "Mountain View", "Lytton")
INGREDIENTS = ("Mushroom", "Beef", "Salt", "Rice", "Basil", "Lentils", "Saffron")


def restaurants(values: int, seed: int) -> Iterator[dict[str, Any]]:
    """Restaurants with so many objects in all."""
    rng = random.Random(seed)
    made = 1
    while made < values:
        entrees = [
            {
                "Name": " ".join(rng.choices(WORDS, k=3)),
                "Price": round(rng.uniform(5, 60), 2),
                "Ingredient": rng.sample(INGREDIENTS, rng.randrange(4)),
            }
            for _ in range(rng.randrange(6))
        ]
        yield {
            "Name": f"{' '.join(rng.choices(WORDS, k=2))} {made}",
            "Zipcode": rng.randrange(10_000, 99_999),
            "Open": rng.random() < 0.7,
            "Address": {"Street": f"{rng.randrange(2000)} El Camino Real", "City": rng.choice(CITIES)},
            "Entree": entrees,
        }
        made += 7 + sum(3 + len(entree["Ingredient"]) for entree in entrees)


def as_xml(label: str, value: Any) -> str:
    if isinstance(value, list):
        return "".join(as_xml(label, item) for item in value)
    inside = (
        "".join(as_xml(*member) for member in value.items())
        if isinstance(value, dict)
        else escape(str(value))
    )
    return f"<{label}>{inside}</{label}>"


def write(folder: Path, values: int, seed: int) -> None:
    opened = {format: (folder / name).open("w", encoding="utf-8") for format, name in FILES.items()}
    opened["json"].write('{"Restaurant": [')
    opened["xml"].write("<Guide>")
    for number, restaurant in enumerate(restaurants(values, seed)):
        text = json.dumps(restaurant)
        opened["json"].write((", " if number else "") + text)
        opened["jsonl"].write(text + "\n")
        opened["xml"].write(as_xml("Restaurant", restaurant))
    opened["json"].write("]}")
    opened["xml"].write("</Guide>")
    for file in opened.values():
        file.close()


def parse(path: Path, format: str) -> int:
    """Parse alone; the number of objects is not known to it."""
    if format == "xml":
        from lxml import etree

        etree.parse(str(path))
    else:
        import orjson

        data = path.read_bytes()
        documents = data.splitlines() if format == "jsonl" else [data]
        held = [orjson.loads(document) for document in documents]
        assert held
    return 0


def chunks(path: Path, format: str) -> int:
    from oemviews.documents.load import load_documents

    return sum(len(c.created) for c in load_documents([path], name="Guide", first_oid=1, first_pos=0))


def store(path: Path, format: str) -> int:
    from oemviews.documents.load import load_documents
    from oemviews.store.store import Store

    folder = Store.create(path.with_name(f"{format}.store"))
    loading = load_documents([path], name="Guide", first_oid=folder.next_oid, first_pos=folder.next_pos)
    folder.load(loading, what=path.name)
    return loading.report.objects


CASES: dict[str, Callable[[Path, str], int]] = {"parse": parse, "chunks": chunks, "store": store}


def run(case: str, format: str, path: Path) -> None:
    """One measurement, in the process that was started for it; imports are not part of it."""
    for module in IMPORTED:
        import_module(module)
    start = time.perf_counter()
    objects = CASES[case](path, format)
    seconds = time.perf_counter() - start
    print(json.dumps([objects, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--values", type=int, default=900_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.case:
        run(given.case[0], given.case[1], Path(given.case[2]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, given.values, given.seed)
        print(LINE.format("", "", "MB", "seconds", "MB/s", "objects", "objects/s", "x parse", "peak MB"))
        for format, file in FILES.items():
            path, alone = folder / file, 0.0
            for case in CASES:
                command = [sys.executable, __file__, "--case", case, format, str(path)]
                said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                objects, seconds, peak = json.loads(said)
                alone = alone or seconds
                size = path.stat().st_size / 1e6
                rate = f"{objects / seconds:,.0f}" if objects else ""
                figures = f"{size:.1f}", f"{seconds:.2f}", f"{size / seconds:.1f}", objects or "", rate
                print(LINE.format(format, case, *figures, f"{seconds / alone:.1f}", f"{peak:.0f}"))


if __name__ == "__main__":
    main()
