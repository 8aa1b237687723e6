"""Key references and JSON pointers: edges in the graph, references again in the export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oemviews.documents import columns, json_in, source
from oemviews.documents.exportable import Child, GraphOfTables
from oemviews.documents.json_out import write_json
from oemviews.documents.references import Tally
from oemviews.model import Oid
from tests.documents.loading import exported, loaded, pairs, root_of, written

WORLD = [
    {"cca3": "FRA", "borders": ["DEU", "ESP"], "name": "France"},
    {"cca3": "DEU", "borders": ["FRA"], "name": "Germany"},
    {"cca3": "ESP", "borders": ["FRA", "XXX"]},
    {"cca3": "ISL", "borders": []},
]


def world(folder: Path, name: str = "world.json") -> Path:
    text = json.dumps(WORLD) if name.endswith(".json") else "\n".join(map(json.dumps, WORLD))
    return written(folder, name, text)


def value_at(graph: GraphOfTables, oid: Oid, *labels: str) -> Any:
    for label in labels:
        oid = next(child.dst for child in graph.children(oid) if child.label == label)
    return graph.value(oid)


@pytest.mark.parametrize("name", ["world.json", "world.jsonl"])
def test_key_references_are_edges_and_come_back(tmp_path: Path, name: str) -> None:
    graph, report = loaded(world(tmp_path, name), keys={"borders": "cca3"})
    tally = report.references
    assert (tally.made, tally.unresolved, tally.samples) == (4, 1, ["borders 'XXX' (unresolved)"])
    france = graph.children(root_of(graph))[0].dst
    assert value_at(graph, france, "borders", "name") == "Germany"
    text = exported(graph)
    documents = json.loads(text) if name == "world.json" else [json.loads(line) for line in text.splitlines()]
    assert documents == WORLD


def test_a_reference_exports_with_the_current_key(tmp_path: Path) -> None:
    graph, _ = loaded(world(tmp_path), keys={"borders": "cca3"})
    for oid, value in graph._values.items():
        if value == "DEU":
            graph._values[oid] = "GER"
    assert json.loads(exported(graph))[0]["borders"] == ["GER", "ESP"]


def test_a_reference_whose_target_lost_its_key_is_written_out(tmp_path: Path) -> None:
    text = '[{"id": 1, "x": 5}, {"next": 1}]'
    graph, _ = loaded(written(tmp_path, "a.json", text), keys={"next": "id"})
    first = graph.children(root_of(graph))[0].dst
    graph._children[first] = [child for child in graph.children(first) if child.label != "id"]
    assert json.loads(exported(graph)) == [{"x": 5}, {"next": {"x": 5}}]


def test_keys_and_references_of_several_files_meet(tmp_path: Path) -> None:
    files = [written(tmp_path, f"{n}.json", json.dumps(country)) for n, country in enumerate(WORLD)]
    graph, report = loaded(*files, keys={"borders": "cca3"})
    assert report.references.made == 4
    assert json.loads(exported(graph)) == WORLD


def test_numbers_can_be_keys_and_are_not_strings(tmp_path: Path) -> None:
    text = '[{"id": 7, "next": "7"}, {"id": "7", "next": 7}]'
    graph, report = loaded(written(tmp_path, "a.json", text), keys={"next": "id"})
    assert report.references.made == 2
    assert pairs(exported(graph)) == pairs(text)


def test_an_ambiguous_key_is_no_target(tmp_path: Path) -> None:
    text = '[{"id": 1}, {"id": 1}, {"next": 1}]'
    graph, report = loaded(written(tmp_path, "a.json", text), keys={"next": "id"})
    assert (report.references.ambiguous, report.references.samples) == (1, ["next 1 (ambiguous)"])
    assert pairs(exported(graph)) == pairs(text)


def test_samples_differ(tmp_path: Path) -> None:
    nexts = ["x"] * 9 + ["y", "x", "z"]
    files = [written(tmp_path, f"{n:02}.json", json.dumps({"next": key})) for n, key in enumerate(nexts)]
    tally = loaded(*files, keys={"next": "id"})[1].references
    assert (tally.unresolved, tally.samples) == (12, [f"next '{key}' (unresolved)" for key in "xyz"])
    both = Tally()
    both.add(tally)
    both.add(tally)
    assert (both.unresolved, both.samples) == (24, tally.samples)


def test_a_repeated_reference_stays_a_value_and_is_counted(tmp_path: Path) -> None:
    text = '{"all": [{"id": "a", "next": ["b", "b", "c"]}, {"id": "b"}]}'
    graph, report = loaded(written(tmp_path, "a.json", text), keys={"next": "id"})
    tally = report.references
    assert (tally.made, tally.repeated, tally.unresolved) == (1, 1, 1)
    assert pairs(exported(graph)) == pairs(text)


def test_pointers_are_edges_and_come_back(tmp_path: Path) -> None:
    text = """{"defs": {"a/b": {"x": [10, {"y": 1}]}, "self": {"$ref": "#/defs"}},
              "one": {"$ref": "#/defs/a~1b"}, "list": [{"$ref": "#/defs/a~1b/x/1"}, {"$ref": "#/one"}, 3],
              "top": {"$ref": "#"}, "lost": {"$ref": "#/defs/none"},
              "more": {"$ref": "#/defs", "beside": 1}}"""
    graph, report = loaded(written(tmp_path, "a.json", text))
    assert (report.references.made, report.references.unresolved) == (5, 1)
    assert value_at(graph, root_of(graph), "one", "x") == 10
    assert value_at(graph, root_of(graph), "list", "y") == 1
    assert pairs(exported(graph)) == pairs(text)


def test_pointers_of_lines_stay_on_their_line(tmp_path: Path) -> None:
    text = '{"a": 1, "b": {"$ref": "#/a"}}\n{"a": 2, "b": {"$ref": "#/a"}, "c": {"$ref": "#"}}\n'
    graph, report = loaded(written(tmp_path, "a.jsonl", text))
    assert report.references.made == 3
    assert exported(graph) == text


def test_a_pointer_that_leads_elsewhere_now_is_written_out(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.json", '{"a": [1, 2], "b": {"$ref": "#/a/1"}}'))
    root = root_of(graph)
    graph._children[root] = list(graph.children(root)[1:])
    assert json.loads(exported(graph)) == {"a": [2], "b": 2}


def test_pointers_in_a_circle_stay_what_they_were(tmp_path: Path) -> None:
    text = '{"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}'
    graph, report = loaded(written(tmp_path, "a.json", text))
    assert report.references.unresolved == 2
    assert pairs(exported(graph)) == pairs(text)


IDS = st.sampled_from(["a", "b", 1, "1", None, True])
NODES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.one_of(IDS, st.lists(IDS, max_size=2)),
            "to": st.one_of(IDS, st.lists(IDS, max_size=3)),
            "in": IDS,
        },
    ),
    max_size=5,
)


@given(NODES)
def test_any_key_references_come_back(tmp_path_factory: pytest.TempPathFactory, nodes: list[Any]) -> None:
    text = json.dumps({"nodes": nodes})
    path = written(tmp_path_factory.mktemp("refs"), "a.json", text)
    graph, report = loaded(path, keys={"to": "id", "in": "id"})
    assert pairs(exported(graph)) == pairs(text)
    with pytest.MonkeyPatch.context() as patch:
        for module in (source, json_in):
            patch.setattr(module, "BLOCK", 3)
        patch.setattr(columns, "CHUNK", 2)
        opened, again = loaded(path, keys={"to": "id", "in": "id"})
    assert pairs(exported(opened)) == pairs(text)
    assert again.references == report.references


POINTERS = st.sampled_from(["#", "#/a", "#/a/0", "#/a/1", "#/b", "#/b/a", "#/c~0d", "x", "#/a/00"])
REFERRING = st.recursive(
    st.one_of(st.integers(0, 2), st.builds(lambda p: {"$ref": p}, POINTERS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c~d"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(REFERRING)
@example({"a": [{"$ref": "#"}, {"$ref": "#"}], "b": {"$ref": "#/a/1"}})
def test_any_pointers_come_back(tmp_path_factory: pytest.TempPathFactory, document: Any) -> None:
    text = json.dumps(document)
    path = written(tmp_path_factory.mktemp("refs"), "a.json", text)
    graph, _ = loaded(path)
    assert pairs(exported(graph)) == pairs(text)
    positions = [child.pos for edges in graph._children.values() for child in edges]
    assert len(set(positions)) == len(positions)


# ---- graphs that no document made ----


def graph_with(graph: GraphOfTables, *edges: tuple[Oid, str, Oid]) -> GraphOfTables:
    """`graph` with edges added later."""
    for number, (src, label, dst) in enumerate(edges):
        graph._children.setdefault(src, []).append(Child(label, dst, 1000 + number, None))
    return graph


def test_edges_added_later_come_last_and_make_arrays(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.json", '{"a": 1, "b": [], "c": [2]}'))
    root = root_of(graph)
    two = graph.children(root)[1].dst
    graph_with(graph, (root, "a", two), (root, "b", two), (root, "z", two))
    assert pairs(exported(graph)) == pairs('{"a": [1, 2], "c": [2], "b": [2], "z": 2}')


def test_another_label_turns_an_array_into_an_object(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.json", "[1, 2]"))
    root = root_of(graph)
    graph_with(graph, (root, "z", graph.children(root)[0].dst))
    assert pairs(exported(graph)) == pairs('{"item": [1, 2], "z": 1}')


def test_shared_objects_are_written_where_met_and_cycles_are_oids(tmp_path: Path) -> None:
    graph, _ = loaded(written(tmp_path, "a.json", '{"a": {"x": 1}, "b": {"y": 2}}'))
    root = root_of(graph)
    a, b = (child.dst for child in graph.children(root))
    graph_with(graph, (b, "shared", a), (a, "up", root), (a, "self", a))
    inside = {"x": 1, "up": {"$oid": root}, "self": {"$oid": a}}
    assert json.loads(exported(graph)) == {"a": inside, "b": {"y": 2, "shared": inside}}
    assert "".join(write_json(graph, b)).startswith('{"y": 2, "shared": {"x": 1, "up": {"a": {"$oid": ')
