"""`oemviews shell`, fed from standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.commands import FAVORITE, Cli, Ran


@pytest.fixture
def typed(cli: Cli, store: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def run(text: str) -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return cli("shell", store)

    return run


def test_statements_of_all_kinds(typed) -> None:  # type: ignore[no-untyped-def]
    ran = typed(
        f"{FAVORITE};\n"
        "select e\n  from FavoriteEntrees.Entrees e;\n"
        "update &10.Ingredient += &15;\n"
        ".format csv\n"
        "select FavoriteEntrees.Entrees;\n"
        ".views\n.names\n.log\n.show FavoriteEntrees\n.guide Guide\n.explain select Guide.Restaurant\n.help\n"
        "drop view FavoriteEntrees;\n"
        "select Guide.Restaurant.Name"
    )
    assert ran.code == 0, ran.err
    assert "Entrees\n&9\n&10\n" in ran.out
    assert "batch 3: 1 edit, net 1" in ran.out
    assert "engine: local" in ran.out
    assert "Guide.Restaurant.Entree" in ran.out
    assert "Hunan Palace" in ran.out
    assert ".guide [NAME]" in ran.err
    assert "dropped" in ran.err


def test_an_error_does_not_end_it_but_is_told_at_the_end(typed) -> None:  # type: ignore[no-untyped-def]
    ran = typed("select Guid;\n.format json\nselect count(Guide.Restaurant);\n.quit\nselect Never;\n")
    assert ran.code == 2
    assert "did you mean 'Guide'?" in ran.err
    assert '"value":3' in ran.out
    assert "Never" not in ran.err


def test_several_statements_on_one_line(typed) -> None:  # type: ignore[no-untyped-def]
    ran = typed('.format csv\nupdate &5 := "a;b"; select Guide.Restaurant.Name; select 1 + 1;\n')
    assert ran.code == 0, ran.err
    assert "a;b" in ran.out
    assert ran.out.rstrip().endswith("2")
