"""The statements that each kind of edit gives rise to at each kind of step, as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from oemviews.documents.edit_text import Commit, edit_of
from oemviews.engines.local import LocalEngine
from oemviews.maintain.explain import explain
from oemviews.maintain.shown import statements_for
from tests import golden
from tests.guide import GUIDE
from tests.maintain.kit import Kept
from tests.maintain.test_trace import FAVORITE


@pytest.mark.parametrize("path", golden.cases("statements"), ids=lambda path: path.stem)
def test_statements(path: Path, update_golden: bool) -> None:
    case = golden.load(path)
    view = Kept.of(case["view"], GUIDE)
    edit = edit_of(case["edit"])
    assert not isinstance(edit, Commit)
    engine = LocalEngine({("", "new"): view.local})
    found = statements_for(view.definition, edit, view.state, engine)
    golden.check(
        path, "\n".join(map(str, found)) or "nothing: the edit is not relevant", update=update_golden
    )


def test_what_is_shown_is_what_runs() -> None:
    """An edit that shows no statement runs none, and the other way round."""
    for path in golden.cases("statements"):
        case = golden.load(path)
        view = Kept.of(case["view"], GUIDE)
        edit = edit_of(case["edit"])
        assert not isinstance(edit, Commit)
        found = statements_for(view.definition, edit, view.state, LocalEngine({("", "new"): view.local}))
        delta = view.apply([edit])
        view.check()
        prim = [shown for shown in found if shown.name in ("ADDprim", "DELprim", "AFFECTED")]
        assert bool(prim) == bool(delta.report.statements), path.stem
        assert bool(found) == bool(delta.report.relevant), path.stem


def test_explain_says_how_and_why() -> None:
    view = Kept.of(FAVORITE, GUIDE)
    text = explain(view.definition, view.state)
    assert "kept by counting" in text
    assert 'a value of x, if it decides differently: x = "Baghdad Cafe"' in text
    assert "keeps 23 auxiliary rows" in text
