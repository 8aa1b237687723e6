"""The session helper: settings are merged, a live session is used as it is, a failed start is explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from oemviews import jar, session
from oemviews.errors import EnvironmentLacks


class Builder:
    """Stands in for Spark's builder: the settings it was given, and how `getOrCreate` ends."""

    def __init__(self, error: Exception | None = None, **options: str) -> None:
        self._options, self._error = options, error

    def config(self, key: str, value: str) -> Builder:
        self._options[key] = value
        return self

    def getOrCreate(self) -> Any:
        assert self._error
        raise self._error


@pytest.fixture
def _no_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


@pytest.mark.usefixtures("_no_defaults")
def test_jars_and_packages_that_are_there_stay_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "found", lambda: (Path("/cache/graphframes.jar"),))
    builder = Builder(**{"spark.jars": "/mine.jar", "spark.jars.packages": "a:b:1"})
    session.configure(builder, extra_packages=["c:d:2", "a:b:1"])  # type: ignore[arg-type]
    assert builder._options["spark.jars"] == "/mine.jar,/cache/graphframes.jar"
    assert builder._options["spark.jars.packages"] == "a:b:1,c:d:2"


@pytest.mark.usefixtures("_no_defaults")
def test_no_jar_and_no_package_leave_the_lists_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "found", lambda: ())
    builder = Builder()
    session.configure(builder)  # type: ignore[arg-type]
    assert not {"spark.jars", "spark.jars.packages"} & set(builder._options)


@pytest.mark.usefixtures("_no_defaults")
def test_files_given_replace_those_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "found", lambda: (Path("/cache/graphframes.jar"),))
    builder = Builder()
    session.configure(builder, jars=["/other.jar"])  # type: ignore[arg-type]
    assert builder._options["spark.jars"] == "/other.jar"


def test_the_profile_yields_to_builder_and_defaults_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.sql.session.timeZone  CET\nspark.jars=/site.jar\n\nspark.ui.enabled: true\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setattr(jar, "found", lambda: (Path("/cache/graphframes.jar"),))
    builder = Builder(**{"spark.sql.adaptive.enabled": "true"})
    session.configure(builder)  # type: ignore[arg-type]
    assert "spark.sql.session.timeZone" not in builder._options
    assert "spark.ui.enabled" not in builder._options
    assert builder._options["spark.sql.adaptive.enabled"] == "true"
    assert builder._options["spark.jars"] == "/site.jar,/cache/graphframes.jar"
    assert builder._options["spark.driver.bindAddress"] == "127.0.0.1"


def test_partitions_follow_the_threads() -> None:
    for master, partitions in (("local[3]", "3"), ("local", "1"), ("local[*]", "8")):
        wanted = session.wanted({"spark.master": master}, {}, cores=8)
        assert wanted["spark.sql.shuffle.partitions"] == partitions
    assert "spark.sql.shuffle.partitions" not in session.wanted({"spark.master": "spark://host:7077"}, {}, 8)


def test_a_live_session_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    live = object()
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: live))
    monkeypatch.setattr(session, "configure", None)  # would fail if it were called
    assert session.session(app="other", jars=["/x.jar"]) is live


def test_a_start_that_fails_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.java, "require", lambda: 17)
    error = PySparkRuntimeError("JAVA_GATEWAY_EXITED")
    with pytest.raises(EnvironmentLacks, match=r"Spark did not start: .*run `oemviews doctor`"):
        session._started(Builder(error))  # type: ignore[arg-type]


class Conf:
    def __init__(self) -> None:
        self.values = {"a": "1"}

    def get(self, key: str, default: str | None) -> str | None:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.values[key] = value

    def unset(self, key: str) -> None:
        del self.values[key]


def test_settings_are_put_back_also_after_an_error() -> None:
    class Spark:
        conf = Conf()

    def inside() -> None:
        with session.settings(Spark, {"a": "2", "b": "3"}):  # type: ignore[arg-type]
            assert Spark.conf.values == {"a": "2", "b": "3"}
            raise KeyError

    with pytest.raises(KeyError):
        inside()
    assert Spark.conf.values == {"a": "1"}
