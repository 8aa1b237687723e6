"""The data that comes along loads, and is what its README says."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import datasets
from oemviews.documents.export import export
from oemviews.documents.exportable import GraphOfTables
from oemviews.documents.load import load_documents
from oemviews.documents.references import Tally
from oemviews.model import COMPLEX, ROOT, Oid, same_value
from tests.guide import GUIDE

_FOLDER = Path(datasets.__file__).parent


def _loaded(path: Path, name: str, **keys: str) -> tuple[GraphOfTables, Tally]:
    loading = load_documents([path], name=name, keys=keys, first_oid=1, first_pos=1)
    return GraphOfTables.of_changes(loading), loading.report.references


def _under(graph: GraphOfTables, oid: Oid, label: str) -> list[Oid]:
    return [dst for name, dst, _, _ in graph.children(oid) if name == label]


def _guide() -> GraphOfTables:
    with resources.as_file(resources.files("oemviews") / "data" / "guide.oem") as path:
        return _loaded(path, "Guide")[0]


def test_the_guide_keeps_its_oids() -> None:
    graph = _guide()
    assert all(same_value(graph.value(oid), value) for oid, value in GUIDE.values.items() if oid != ROOT)
    edges = {(src, label, dst) for src in GUIDE.values for label, dst, _, _ in graph.children(src)}
    assert edges == set(GUIDE.edges)


def test_the_guide_in_json_is_the_same_graph() -> None:
    """Walked side by side, the two reach the same values, and each object of one meets one of the other."""
    graph, tally = _loaded(_FOLDER / "guide.json", "Guide")
    twin: dict[Oid, Oid] = {}
    todo = [(1, graph.children(ROOT)[0][1])]
    while todo:
        old, new = todo.pop()
        if old in twin:
            assert twin[old] == new
            continue
        twin[old] = new
        assert same_value(GUIDE.values[old], graph.value(new))
        there = sorted((label, _key(graph, dst), dst) for label, dst, _, _ in graph.children(new))
        edges = sorted((label, _key(_guide(), dst), dst) for src, label, dst in GUIDE.edges if src == old)
        assert [edge[:2] for edge in edges] == [edge[:2] for edge in there]
        todo += [(a, b) for (_, _, a), (_, _, b) in zip(edges, there, strict=True)]
    assert len(twin) == len(set(twin.values())) == 29
    assert (tally.made, tally.unresolved) == (4, 0)


def _key(graph: GraphOfTables, oid: Oid) -> str:
    """The value of an object, or its name if it is complex: enough to tell the Guide's objects apart."""
    value = graph.value(oid)
    return repr([graph.value(name) for name in _under(graph, oid, "Name")] if value is COMPLEX else value)


def test_countries_and_their_borders() -> None:
    graph, tally = _loaded(_FOLDER / "countries.json", "World", borders="cca3")
    countries = _under(graph, 1, "country")
    assert len(countries) == 53
    code = {oid: graph.value(_under(graph, oid, "cca3")[0]) for oid in countries}
    borders = {
        (code[oid], code[other])
        for oid in countries
        for other in _under(graph, oid, "borders")
        if other in code
    }
    assert ("FRA", "ESP") in borders
    assert {(b, a) for a, b in borders} == borders
    assert tally.made == len(borders)
    assert tally.unresolved > 0
    assert tally.ambiguous == tally.repeated == 0


def test_macbeth_comes_back_as_it_was() -> None:
    path = _FOLDER / "macbeth.xml"
    graph, tally = _loaded(path, "Macbeth")
    assert (tally.made, tally.unresolved) == (20, 0)
    written = path.read_text(encoding="utf-8")
    lines = [line.strip() for line in written[written.index("<!DOCTYPE") :].splitlines()]
    assert "".join(export(graph, 1, "xml", name="Macbeth")) == "".join(lines) + "\n"


def test_each_file_has_its_origin_and_licence() -> None:
    told = (_FOLDER / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in _FOLDER.iterdir() if path.suffix in (".json", ".xml", ".oem")]
    assert files
    assert all(f"`{name}`" in told for name in [*files, "guide.oem"])
