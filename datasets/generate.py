"""Guides of any size: graphs straight to Arrow, and documents; the same seed gives the same Guide.

Irregular like the small Guide: an address is a text, an object or missing, a rating an integer, a real or a
text, a price a number or a word. Restaurants stand in districts of eight: `Nearby` stays within one, so
cycles and what `(.Nearby)*` reaches stay small. Entrees are shared within a district now and then,
ingredients across the whole Guide. Every name says its number: "Restaurant 123", "Entree 7", "Ingredient 0".

    python -m datasets.generate guide.jsonl --restaurants 1000        (also .json and .xml)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from oemviews.edits import NetChange
from oemviews.model import ROOT
from oemviews.store.schema import EDGES, OBJECTS

DISTRICT: Final = 8
"""Restaurants of a district."""

EDGES_OF_A_RESTAURANT: Final = 17.4
"""On average, all that hangs below it included."""

_RESTAURANTS_OF_A_CHUNK: Final = 2048 * DISTRICT
_INGREDIENT_EVERY: Final = 200
_CATEGORIES: Final = (
    "Thai",
    "Chinese",
    "Italian",
    "Mexican",
    "Indian",
    "Greek",
    "French",
    "Japanese",
    "Vegan",
)
_CITIES: Final = ("Palo Alto", "Menlo Park", "Mountain View", "Los Altos", "Sunnyvale", "Redwood City")
_PRICES: Final = ("cheap", "moderate", "expensive")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class _Chunk:
    """Objects and edges in the making; each method gives the oids of the objects it makes."""

    def __init__(self, first_oid: int) -> None:
        self.next_oid = first_oid
        self._objects: list[pa.Table] = []
        self._edges: list[tuple[Ints, str, Ints]] = []

    def _made(self, kind: str, n: int, **columns: pa.Array) -> Ints:
        oids = np.arange(self.next_oid, self.next_oid + n, dtype=np.int64)
        self.next_oid += n
        columns |= {"oid": pa.array(oids), "type": pa.repeat(kind, n)}
        cells = [columns.get(f.name, pa.nulls(n, f.type)) for f in OBJECTS]
        self._objects.append(pa.Table.from_arrays(cells, schema=OBJECTS))
        return oids

    def complex(self, n: int) -> Ints:
        return self._made("complex", n)

    def strings(self, texts: pa.Array, numbers: Floats | None = None) -> Ints:
        """`numbers` if all the texts read as numbers."""
        number = {} if numbers is None else {"number": pa.array(numbers)}
        return self._made("string", len(texts), text=texts, **number)

    def numbered(self, word: str, numbers: Ints) -> Ints:
        digits = pc.cast(pa.array(numbers), pa.string())
        return self.strings(pc.binary_join_element_wise(pa.scalar(word), digits, " "))

    def chosen(self, words: tuple[str, ...], rng: np.random.Generator, n: int) -> Ints:
        return self.strings(pa.array(words).take(pa.array(rng.integers(len(words), size=n))))

    def integers(self, values: Ints) -> Ints:
        return self._made(
            "integer", len(values), integer=pa.array(values), number=pa.array(values.astype(float))
        )

    def reals(self, values: Floats) -> Ints:
        return self._made("real", len(values), number=pa.array(values))

    def edges(self, src: Ints, label: str, dst: Ints) -> None:
        self._edges.append((src, label, dst))

    def change(self, first_pos: int) -> NetChange:
        src = np.concatenate([src for src, _, _ in self._edges])
        dst = np.concatenate([dst for _, _, dst in self._edges])
        labels = pa.concat_arrays([pa.repeat(label, len(src)) for src, label, _ in self._edges])
        pos = np.arange(first_pos, first_pos + len(src), dtype=np.int64)
        columns = [pa.array(src), labels, pa.array(dst), pa.array(pos), pa.nulls(len(src), pa.string())]
        plus = pa.Table.from_arrays(columns, schema=EDGES)
        return NetChange(created=pa.concat_tables(self._objects).combine_chunks(), plus=plus)


def guide_graph(
    edges: int,
    seed: int = 1,
    *,
    name: str = "Guide",
    first_oid: int = 1,
    first_pos: int = 1,
    fan_in: int | None = None,
) -> Iterator[NetChange]:
    """A Guide of about so many edges, in chunks of some 300,000; its root is `first_oid`.

    A few ingredients are in very many entrees, unless `fan_in` bounds the entrees of each.
    """
    restaurants = max(1, round(edges / EDGES_OF_A_RESTAURANT / DISTRICT)) * DISTRICT
    chunk = _Chunk(first_oid)
    guide = chunk.complex(1)
    chunk.edges(np.array([ROOT]), name, guide)
    pool = None
    if fan_in is None:
        pool = chunk.numbered("Ingredient", np.arange(max(10, edges // _INGREDIENT_EVERY)))
    entrees = 0
    for first in range(0, restaurants, _RESTAURANTS_OF_A_CHUNK):
        rng = np.random.default_rng([seed, first])
        numbers = np.arange(first, min(first + _RESTAURANTS_OF_A_CHUNK, restaurants))
        restaurant = chunk.complex(len(numbers))
        chunk.edges(np.repeat(guide, len(numbers)), "Restaurant", restaurant)
        chunk.edges(restaurant, "Name", chunk.numbered("Restaurant", numbers))
        _describe(chunk, restaurant, rng)
        entree = _serve(chunk, restaurant, entrees, rng)
        _fill(chunk, entree, pool, fan_in or 1, rng)
        _near(chunk, restaurant, rng)
        entrees += len(entree)
        change = chunk.change(first_pos)
        first_pos += len(change.plus)
        chunk = _Chunk(chunk.next_oid)
        yield change


def _some(oids: Ints, share: float, rng: np.random.Generator) -> Ints:
    return oids[rng.random(len(oids)) < share]


def _split(oids: Ints, shares: tuple[float, ...], rng: np.random.Generator) -> list[Ints]:
    """The oids dealt out by chance, so much to each; what is left over goes to nobody."""
    dealt = np.searchsorted(np.cumsum(shares), rng.random(len(oids)), side="right")
    return [oids[dealt == part] for part in range(len(shares))]


def _describe(chunk: _Chunk, restaurant: Ints, rng: np.random.Generator) -> None:
    """Category, Address, Rating and Price."""
    some = _some(restaurant, 0.8, rng)
    chunk.edges(some, "Category", chunk.chosen(_CATEGORIES, rng, len(some)))
    plain, full = _split(restaurant, (0.4, 0.4), rng)
    chunk.edges(plain, "Address", chunk.chosen(_CITIES, rng, len(plain)))
    address = chunk.complex(len(full))
    chunk.edges(full, "Address", address)
    chunk.edges(address, "Street", chunk.numbered("Street", rng.integers(1000, size=len(full))))
    chunk.edges(address, "City", chunk.chosen(_CITIES, rng, len(full)))
    number, text = _split(address, (0.6, 0.4), rng)
    chunk.edges(number, "Zipcode", chunk.integers(rng.integers(90000, 96000, size=len(number))))
    codes = rng.integers(90000, 96000, size=len(text))
    chunk.edges(text, "Zipcode", chunk.strings(pc.cast(pa.array(codes), pa.string()), codes.astype(float)))
    whole, half, text = _split(restaurant, (0.3, 0.2, 0.2), rng)
    chunk.edges(whole, "Rating", chunk.integers(rng.integers(1, 6, size=len(whole))))
    chunk.edges(half, "Rating", chunk.reals(rng.integers(2, 11, size=len(half)) / 2))
    stars = rng.integers(1, 6, size=len(text))
    texts = pc.binary_join_element_wise(pc.cast(pa.array(stars), pa.string()), "0", ".")
    chunk.edges(text, "Rating", chunk.strings(texts, stars.astype(float)))
    number, word = _split(restaurant, (0.5, 0.2), rng)
    chunk.edges(number, "Price", chunk.integers(rng.integers(5, 60, size=len(number))))
    chunk.edges(word, "Price", chunk.chosen(_PRICES, rng, len(word)))


def _serve(chunk: _Chunk, restaurant: Ints, entrees: int, rng: np.random.Generator) -> Ints:
    """Entrees, none to four a restaurant, with Name and Price; a tenth of them is served next door too."""
    owner = np.repeat(np.arange(len(restaurant)), rng.integers(5, size=len(restaurant)))
    entree = chunk.complex(len(owner))
    chunk.edges(restaurant[owner], "Entree", entree)
    chunk.edges(entree, "Name", chunk.numbered("Entree", np.arange(entrees, entrees + len(entree))))
    priced = _some(entree, 0.5, rng)
    chunk.edges(priced, "Price", chunk.reals(rng.integers(6, 80, size=len(priced)) / 2))
    shared = rng.random(len(entree)) < 0.1
    chunk.edges(restaurant[_neighbour(owner[shared], 1)], "Entree", entree[shared])
    return entree


def _fill(chunk: _Chunk, entree: Ints, pool: Ints | None, fan_in: int, rng: np.random.Generator) -> None:
    """Ingredients, one to three an entree."""
    user = np.repeat(entree, rng.integers(1, 4, size=len(entree)))
    if pool is None:
        used = rng.permutation(np.arange(len(user)) // fan_in)
        first = chunk.next_oid
        pool = chunk.numbered("Ingredient", first + np.arange(used.max(initial=-1) + 1))
    else:
        used = (len(pool) * rng.random(len(user)) ** 3).astype(np.int64)
    pairs = np.unique(np.stack([user, pool[used]], axis=1), axis=0)  # edges are a set
    chunk.edges(pairs[:, 0], "Ingredient", pairs[:, 1])


def _near(chunk: _Chunk, restaurant: Ints, rng: np.random.Generator) -> None:
    """Each restaurant is near the next of its district, and often near two more."""
    rows = np.arange(len(restaurant))
    for step, share in ((1, 1.0), (2, 0.6), (5, 0.4)):
        near = _some(rows, share, rng)
        chunk.edges(restaurant[near], "Nearby", restaurant[_neighbour(near, step)])


def _neighbour(rows: Ints, step: int) -> Ints:
    """The rows `step` further on in the same district."""
    return rows - rows % DISTRICT + (rows + step) % DISTRICT


def guide_documents(restaurants: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """The restaurants of a Guide as JSON values; `Nearby` holds values of `Id` (`--key Nearby=Id`)."""
    chance = Random(seed)
    entrees = 0
    for number in range(restaurants):
        found: dict[str, Any] = {"Id": f"r{number}", "Name": f"Restaurant {number}"}
        if chance.random() < 0.8:
            found["Category"] = chance.choice(_CATEGORIES)
        if chance.random() < 0.5:
            street, code = f"Street {chance.randrange(1000)}", chance.randrange(90000, 96000)
            zipcode = code if chance.random() < 0.6 else str(code)
            found["Address"] = {"Street": street, "City": chance.choice(_CITIES), "Zipcode": zipcode}
        else:
            found["Address"] = chance.sample(_CITIES, chance.randrange(3))
        stars = chance.randrange(1, 6)
        found["Rating"] = chance.choice([stars, stars - 0.5, f"{stars}.0"])
        found["Price"] = chance.choice([chance.randrange(5, 60), chance.choice(_PRICES)])
        found["Entree"] = []
        for _ in range(chance.randrange(5)):
            used = [f"Ingredient {int(100 * chance.random() ** 3)}" for _ in range(chance.randrange(1, 4))]
            found["Entree"].append({"Name": f"Entree {entrees}", "Ingredient": sorted(set(used))})
            entrees += 1
        first = number - number % DISTRICT
        near = {first + (number + step) % DISTRICT for step in (1, 2)} - {number}
        found["Nearby"] = [f"r{other}" for other in sorted(near) if other < restaurants]
        yield found


def write_guide(path: Path, restaurants: int, seed: int = 1) -> None:
    """A Guide as JSON Lines, one JSON document or XML, by the name of the file."""
    documents = guide_documents(restaurants, seed)
    with path.open("w", encoding="utf-8") as file:
        match path.suffix:
            case ".jsonl":
                file.writelines(json.dumps(document) + "\n" for document in documents)
            case ".json":
                file.write('{"Restaurant": [\n')
                file.writelines((",\n" if n else "") + json.dumps(d) for n, d in enumerate(documents))
                file.write("\n]}\n")
            case ".xml":
                file.write("<Guide>\n")
                file.writelines(_element("Restaurant", document) + "\n" for document in documents)
                file.write("</Guide>\n")
            case _:
                raise ValueError(f"{path}: found {path.suffix!r}, wanted .jsonl, .json or .xml")


def _element(tag: str, value: Any) -> str:
    """A JSON value as XML: arrays as so many elements, `Id` and `Nearby` as attributes (`--idref Nearby`)."""
    if isinstance(value, list):
        return "".join(_element(tag, item) for item in value)
    if not isinstance(value, dict):
        return f"<{tag}>{escape(str(value))}</{tag}>"
    attributes = f' id="{value["Id"]}"' if "Id" in value else ""
    if value.get("Nearby"):
        attributes += f' Nearby="{" ".join(value["Nearby"])}"'
    inner = "".join(_element(key, below) for key, below in value.items() if key not in ("Id", "Nearby"))
    return f"<{tag}{attributes}>{inner}</{tag}>"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a Guide of any size as a document.")
    parser.add_argument("path", type=Path, help="guide.jsonl, guide.json or guide.xml")
    parser.add_argument("--restaurants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    write_guide(asked.path, asked.restaurants, asked.seed)


if __name__ == "__main__":
    main()
