"""The machinery itself: a page that shows something else than what happens is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Page, in_process, in_shell, same


def faults(tmp_path: Path, text: str) -> list[str]:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return Page(page, tmp_path).run()


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("batch 3 in 4.1 ms", "batch 3 in 12.0 ms"),
        ("V   1   counting   local   4.4", "V   1   counting   local   12.75"),
        ("a\n...\nd", "a\nb\nc\nd"),
        ("a\n...", "a\nb\nc"),
        ("2026-01-01 10:00:00  load", "2027-03-04 11:12:13  load"),
    ],
)
def test_what_may_differ(shown: str, found: str) -> None:
    assert same(shown, found)


@pytest.mark.parametrize(
    ("shown", "found"),
    [("batch 3", "batch 4"), ("a\n...\nd", "a\nb\nc"), ("", "error"), ("3 rows", "30 rows")],
)
def test_what_may_not(shown: str, found: str) -> None:
    assert not same(shown, found)


def test_a_page_that_is_right(tmp_path: Path) -> None:
    file = "```json a.json\n[1]\n```\n"
    console = "```console\n$ cat \\\n> a.json\n[1]\n$ oemviews init a.store\nmade a.store\n```\n"
    assert (
        faults(tmp_path, file + console + "```python\n>>> x = 1\n```\n```python\n>>> x + 1\n2\n```\n") == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ oemviews init a.store\nmade b.store\n```\n",
        "```console\n$ echo a\nb\n```\n",
        "```python\n>>> 1\n2\n```\n",
        "```python\nassert False\n```\n",
    ],
)
def test_a_page_that_is_wrong(tmp_path: Path, text: str) -> None:
    assert len(faults(tmp_path, text)) == 1


def test_both_ways_of_running_print_the_same(tmp_path: Path) -> None:
    assert in_shell("oemviews show none.store V", tmp_path) == in_process(
        "oemviews show none.store V", tmp_path
    )
