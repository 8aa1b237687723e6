"""Spark is not given statements that it would not get through."""

from __future__ import annotations

import pytest

from lorel.normalise import Catalog, normalise
from lorel.parser import parse_query
from lorel.planner import Planner
from oemviews.engines.spark.engine import Guess, few_enough
from oemviews.errors import OemError


def test_a_statement_of_hundreds_of_joins_is_refused_in_words() -> None:
    catalog = Catalog(frozenset({"Guide"}))
    short, long = (
        Planner(Guess()).query(normalise(parse_query("select Guide" + ".a" * many), catalog))
        for many in (50, 200)
    )
    few_enough(short)
    with pytest.raises(OemError, match="201 joins, wanted at most 100 for Spark: use the local engine"):
        few_enough(long)
