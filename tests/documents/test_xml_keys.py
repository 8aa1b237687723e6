"""Key references in XML: text and attributes that name the key of another element."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oemviews.documents.xml_out import write_xml
from tests.documents.loading import loaded, root_of, written

WORLD = (
    '<world><c cca3="FRA"><borders>DEU</borders><borders>XXX</borders></c>'
    '<c near="FRA"><cca3>DEU</cca3><cca3>GER</cca3><borders>FRA</borders><borders/></c></world>'
)


def test_elements_and_attributes_refer_and_come_back(tmp_path: Path) -> None:
    graph, report = loaded(written(tmp_path, "a.xml", WORLD), keys={"borders": "cca3", "near": "cca3"})
    france, germany = (child.dst for child in graph.children(root_of(graph)))
    assert next(c.dst for c in graph.children(france) if c.label == "borders") == germany
    assert [(c.label, c.shape) for c in graph.children(germany) if c.dst == france] == [
        ("near", "@&cca3"),
        ("borders", "&cca3"),
    ]
    assert (report.references.made, report.references.samples) == (3, ["borders 'XXX' (unresolved)"])
    assert "".join(write_xml(graph, root_of(graph), "Doc")).strip() == WORLD


def test_only_the_first_key_of_an_element_counts(tmp_path: Path) -> None:
    text = "<w><c><id>a</id><id>b</id></c><c><to>b</to></c></w>"
    _, report = loaded(written(tmp_path, "a.xml", text), keys={"to": "id"})
    assert report.references.unresolved == 1


def test_keys_meet_across_formats(tmp_path: Path) -> None:
    files = written(tmp_path, "a.xml", "<c><id>a</id></c>"), written(tmp_path, "b.json", '{"to": "a"}')
    _, report = loaded(*files, keys={"to": "id"})
    assert report.references.made == 1


KEYS = st.sampled_from(["a", "b", ""])
NODES = st.lists(st.lists(st.tuples(st.sampled_from(["id", "to"]), KEYS), max_size=3), min_size=1, max_size=4)


@given(NODES, st.booleans())
def test_any_key_references_come_back(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[list[tuple[str, str]]], attributes: bool
) -> None:
    def node(members: list[tuple[str, str]]) -> str:
        if attributes:
            listed = "".join(f' {label}="{key}"' for label, key in dict(members).items())
            return f'<n{listed} x=""/>'
        inside = "".join(f"<{label}>{key}</{label}>" if key else f"<{label}/>" for label, key in members)
        return f"<n>{inside}</n>" if inside else "<n/>"

    text = f"<all>{''.join(map(node, nodes))}</all>"
    graph, _ = loaded(written(tmp_path_factory.mktemp("keys"), "a.xml", text), keys={"to": "id"})
    assert "".join(write_xml(graph, root_of(graph), "Doc")).strip() == text
