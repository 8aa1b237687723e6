"""The GraphFrames JAR: what is cached is checked, what is named replaces it, what cannot be had is said."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JJavaError

from oemviews import jar
from oemviews.errors import EnvironmentLacks

WANTED = "org/graphframes/GraphFramePythonAPI.class"


def a_jar(path: Path, *entries: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for entry in entries:
            archive.writestr(entry, entry)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no JAR named, and a Java that is never asked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(jar.VARIABLE, raising=False)
    monkeypatch.setattr(jar.java, "require", lambda: 17)
    return tmp_path


def offers(monkeypatch: pytest.MonkeyPatch, **found: Path) -> list[str]:
    """Let only these coordinates, by a word of theirs, be resolved; the list of what was asked for."""
    asked: list[str] = []

    def resolve(package: str, ivy: Path) -> tuple[Path, ...]:
        asked.append(package)
        return tuple(path for word, path in found.items() if word in package)

    monkeypatch.setattr(jar, "resolve", resolve)
    return asked


def test_the_official_jar_is_the_first_choice(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = offers(monkeypatch, graphframes=a_jar(cache / "graphframes-spark4_2.13-0.9.3.jar", WANTED))
    assert jar.found() == ()
    files = jar.fetch()
    assert asked == [jar.coordinate()]
    assert [file.name for file in files] == ["graphframes-spark4_2.13-0.9.3.jar"]
    assert jar.found() == files


def test_a_cached_jar_is_not_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = jar.store([a_jar(cache / "graphframes-spark4_2.13-0.9.3.jar", WANTED)])
    asked = offers(monkeypatch)
    assert jar.fetch() == files
    assert asked == []


def test_else_the_classes_are_cut_from_sedona(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = "org/apache/spark/sql/graphframes/GraphFramesConf.class"
    big = a_jar(cache / "sedona.jar", WANTED, inner, "org/apache/sedona/Core.class", "org/graphframes/")
    asked = offers(monkeypatch, sedona=big)
    monkeypatch.setattr(jar, "python_version", lambda: "0.9.3")
    (file,) = jar.fetch()
    assert asked == [jar.coordinate(), jar.SEDONA]
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == sorted([WANTED, inner])
        assert archive.read(WANTED) == WANTED.encode()


def test_cutting_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    big = a_jar(tmp_path / "big.jar", "b", "org/graphframes/B", "org/graphframes/A")
    jar.cut(big, tmp_path / "one.jar")
    jar.cut(big, tmp_path / "two.jar")
    assert jar.digest(tmp_path / "one.jar") == jar.digest(tmp_path / "two.jar")


def test_another_python_half_gets_no_sedona_classes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "python_version", lambda: "0.12.3")
    asked = offers(monkeypatch, sedona=a_jar(cache / "sedona.jar", WANTED))
    with pytest.raises(EnvironmentLacks) as caught:
        jar.fetch()
    assert asked == ["io.graphframes:graphframes-spark4_2.13:0.12.3"]
    assert str(caught.value) == (
        "could not fetch io.graphframes:graphframes-spark4_2.13:0.12.3: check that Maven Central can be "
        "reached and run `oemviews doctor --fix` again, or set OEMVIEWS_JARS to a copy of that JAR."
    )


def test_a_damaged_cache_counts_as_none_and_is_fetched_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = a_jar(cache / "graphframes-spark4_2.13-0.9.3.jar", WANTED)
    (file,) = jar.store([good])
    file.write_bytes(file.read_bytes()[:-1])
    assert jar.cached() == ()
    offers(monkeypatch, graphframes=good)
    (again,) = jar.fetch()
    assert jar.digest(again) == jar.digest(good)


def test_a_jar_without_the_classes_is_refused(cache: Path) -> None:
    with pytest.raises(EnvironmentLacks, match=r"lacks org\.graphframes\.GraphFramePythonAPI"):
        jar.store([a_jar(cache / "other.jar", "org/other/Thing.class")])
    assert not jar.folder().exists()


def test_the_variable_replaces_what_is_cached(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar.store([a_jar(cache / "graphframes-spark4_2.13-0.9.3.jar", WANTED)])
    mine, second = a_jar(cache / "mine.jar", WANTED), a_jar(cache / "second.jar")
    monkeypatch.setenv(jar.VARIABLE, f"{mine}, {second}")
    assert jar.found() == (mine, second)
    monkeypatch.setenv(jar.VARIABLE, str(cache / "gone.jar"))
    with pytest.raises(
        EnvironmentLacks, match=r"gone\.jar, which is not a file: mend or unset OEMVIEWS_JARS"
    ):
        jar.found()


def test_classes_are_looked_for_in_every_file(tmp_path: Path) -> None:
    torn = tmp_path / "torn.jar"
    torn.write_bytes(b"PK")
    assert jar.holds_classes([torn, a_jar(tmp_path / "good.jar", WANTED)])
    assert not jar.holds_classes([torn, tmp_path / "missing.jar", a_jar(tmp_path / "other.jar", "x")])


def test_a_session_without_the_classes_says_which_coordinate_and_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "loadable", lambda spark: False)
    with pytest.raises(EnvironmentLacks) as caught:
        jar.require_graphframes(SimpleNamespace())  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"this Spark session has no GraphFrames classes: {jar.coordinate()} is missing; "
        "run `oemviews doctor --fix` and start a new session."
    )


def test_loadable_asks_the_class_loader() -> None:
    def session(load: object) -> object:
        loader = SimpleNamespace(loadClass=load)
        thread = SimpleNamespace(getContextClassLoader=lambda: loader)
        return SimpleNamespace(_jvm=SimpleNamespace(Thread=SimpleNamespace(currentThread=lambda: thread)))

    def absent(name: str) -> None:
        error = Py4JJavaError.__new__(Py4JJavaError)
        raise error

    assert jar.loadable(session(lambda name: object()))  # type: ignore[arg-type]
    assert not jar.loadable(session(absent))  # type: ignore[arg-type]
    assert jar.loadable(SimpleNamespace())  # type: ignore[arg-type]  # Connect has no JVM to ask
