"""What every test may ask for: one Spark session a run, hypothesis profiles, golden files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A busy machine makes a single example slow, which says nothing about the code: no deadline.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _PATIENT, max_examples=50)
settings.register_profile("ci", _PATIENT, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite what golden files expect")


_LONG = (
    "tests/cli/",
    "tests/contract/",
    "tests/store/",
    "tests/documents/test_json.py::test_nesting_of_any_depth",
    "tests/documents/test_oem_text.py::test_any_depth",
    "tests/engines/test_local.py",
    "tests/maintain/test_arrays.py",
    "tests/maintain/test_chains.py",
    "tests/maintain/test_property.py",
    "tests/maintain/test_rows.py",
    "tests/test_database_property.py",
    "tests/test_evaluate_agrees.py",
    "tests/test_imports.py",
    "tests/test_rows.py",
)
"""All of these start processes, wait for the disk or try thousands of cases: too long for the fast loop."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that needs the JAR needs Spark: deselecting `spark` deselects it too."""
    for item in items:
        if item.nodeid.startswith(_LONG):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("jar") and not item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.spark)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in two processes (`make test`), those on Spark all run in one: one session, one JVM."""
    from xdist.scheduler import LoadScopeScheduling

    class OneSession(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if _on_spark(nodeid.split("::")[0]) else nodeid

    return OneSession(config, log)


@cache
def _on_spark(file: str) -> bool:
    text = Path(__file__).parents[1].joinpath(file).read_text(encoding="utf-8")
    return "pytest.mark.spark" in text or "pytest.mark.jar" in text


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of the whole run, started by the first test that asks for it.

    Two partitions, not one: one is faster but hides faults that need two.
    """
    from pyspark.sql import SparkSession

    from oemviews import java
    from oemviews.session import configure

    java.require()
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    builder = (
        SparkSession.builder.appName("tests").master("local[2]").config("spark.sql.warehouse.dir", warehouse)
    )
    live = configure(builder).getOrCreate()
    live.sparkContext.setLogLevel("ERROR")
    yield live
    live.stop()


@pytest.fixture(autouse=True)
def _clean_spark(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave nothing in the session that the next test could see."""
    yield
    if "spark" in request.fixturenames:
        live: SparkSession = request.getfixturevalue("spark")
        live.catalog.clearCache()
        for table in live.catalog.listTables():
            if table.isTemporary:
                live.catalog.dropTempView(table.name)


@pytest.fixture(autouse=True)
def _need_jar(request: pytest.FixtureRequest) -> None:
    """Skip a `jar` test if the classes are not there; with OEMVIEWS_REQUIRE_JAR=1 fail it instead."""
    if request.node.get_closest_marker("jar") is None:
        return
    from oemviews import jar

    if jar.loadable(request.getfixturevalue("spark")):
        return
    reason = f"no GraphFrames classes in the session: {jar.coordinate()} is missing; run `{jar.MEND}`"
    if os.environ.get("OEMVIEWS_REQUIRE_JAR") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
