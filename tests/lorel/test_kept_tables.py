"""The parser's tables are kept between processes, and parsing works without a place to keep them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lorel import parser


@pytest.fixture(autouse=True)
def _fresh_grammar() -> Iterator[None]:
    parser._grammar.cache_clear()
    yield
    parser._grammar.cache_clear()


def test_tables_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = parser.parse("select r from Guide.Restaurant r")
    kept = list((tmp_path / "oemviews").iterdir())
    assert len(kept) == 1
    parser._grammar.cache_clear()
    assert parser.parse("select r from Guide.Restaurant r") == first


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x00" * 100])
def test_damaged_tables_are_made_anew(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    parser.parse("Guide")
    (kept,) = (tmp_path / "oemviews").iterdir()
    kept.write_bytes(content)
    parser._grammar.cache_clear()
    assert parser.parse("select r from Guide.Restaurant r")


def test_no_place_to_keep_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert parser.parse("select r from Guide.Restaurant r")
