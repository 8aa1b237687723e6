"""Pages of docs/ run as they stand, and say all there is to say about what they list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lorel import analysis
from oemviews.cli.app import COMMANDS
from oemviews.maintain import relevance
from oemviews.views.definition import POLICIES
from tests.docs.pages import ROOT, Page, blocks

DOCS = ROOT / "docs"
DATA = (
    ROOT / "oemviews" / "data" / "guide.oem",
    *(ROOT / "datasets" / name for name in ("countries.json", "macbeth.xml")),
)


@pytest.mark.parametrize("name", ["cli.md", "views.md"])
def test_every_block_gives_what_it_shows(name: str, tmp_path: Path) -> None:
    for file in DATA:
        (tmp_path / file.name).symlink_to(file)
    page = Page(DOCS / name, tmp_path)
    assert blocks(page.path), f"no blocks in {name}"
    faults = page.run()
    assert not faults, "\n\n".join(faults)


def test_every_command_has_an_example() -> None:
    """Every command of `oemviews --help` stands in a heading of the page, and is shown with arguments."""
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    headed = {word for line in re.findall(r"^## (.*)$", text, re.MULTILINE) for word in line.split(", ")}
    assert headed == set(COMMANDS)
    assert not [command for command in COMMANDS if f"oemviews {command}" not in text]


def test_every_exit_code_is_said() -> None:
    from oemviews import cli

    table = re.findall(r"^\| (\d) \|", (DOCS / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code in table] == [
        cli.DONE,
        cli.DIFFERENT,
        cli.BAD_INPUT,
        cli.STORE,
        cli.ENVIRONMENT,
    ]


def test_every_policy_and_reason_is_said() -> None:
    text = (DOCS / "views.md").read_text(encoding="utf-8")
    reasons = [getattr(relevance, name) for name in dir(relevance) if name.startswith("NO_")]
    assert len(reasons) >= 4
    assert not [word for word in (*reasons, *POLICIES) if f"| `{word}` |" not in text]


def test_everything_refused_is_said() -> None:
    text = (DOCS / "views.md").read_text(encoding="utf-8")
    table = text[text.index("| refused in a view") : text.index("Also refused")]
    refused = [each for each in vars(analysis).values() if isinstance(each, analysis.Refusal)]
    assert len(refused) >= 6
    for refusal in refused:
        word = re.search(
            r"aggregate|oem|computed value|order by|distinct|path variable|unquote", refusal.name
        )
        assert word is not None, refusal.name
        assert word[0] in table


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))], ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]
