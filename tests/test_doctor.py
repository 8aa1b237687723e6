"""Each check says what was found and, only if that will not do, how to mend it."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from oemviews import doctor, jar, java
from oemviews.errors import EnvironmentLacks


def test_only_what_is_wrong_has_a_mending_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(jar.VARIABLE, raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    checks = {check.name: check for check in doctor.run(store=tmp_path)}
    assert list(checks) == ["Python", "Java", "Spark", "graphframes-py", "GraphFrames JAR", "Write"]
    assert all(check.ok == (check.mend == "") for check in checks.values())
    assert not checks["Java"].ok
    assert checks["Java"].found.endswith(f"JAVA_HOME={tmp_path} has no java")
    assert checks["Java"].mend == java.MEND
    assert checks["GraphFrames JAR"].mend == "oemviews doctor --fix"
    assert checks["GraphFrames JAR"].found == f"{jar.coordinate()} is missing in {jar.folder()}"
    assert checks["Write"].ok


def test_fix_fetches_and_says_what_it_could_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch() -> tuple[Path, ...]:
        raise EnvironmentLacks("could not fetch it: look for the cable.")

    monkeypatch.setattr(jar, "fetch", fetch)
    assert doctor.check_jar(fix=True) == doctor.Check(
        "GraphFrames JAR", False, "could not fetch it", "look for the cable"
    )


def test_a_damaged_jar_is_told_from_a_missing_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(jar.VARIABLE, raising=False)
    jar.folder().mkdir(parents=True)
    assert "is damaged in" in doctor.check_jar().found


def test_halves_that_do_not_belong_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jar, "found", lambda: (tmp_path / "graphframes-spark4_2.13-0.12.3.jar",))
    monkeypatch.setattr(jar, "holds_classes", lambda files: True)
    monkeypatch.setattr(jar, "python_version", lambda: "0.9.3")
    check = doctor.check_jar()
    assert not check.ok
    assert "does not belong to graphframes-py 0.9.3" in check.found


def test_a_jar_of_something_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.jar").write_bytes(b"")
    monkeypatch.setenv(jar.VARIABLE, str(tmp_path / "x.jar"))
    check = doctor.check_jar()
    assert check.found == f"no GraphFrames classes in {tmp_path / 'x.jar'}"
    assert check.mend == f"unset {jar.VARIABLE}, then oemviews doctor --fix"


@pytest.mark.parametrize(
    ("version", "ok"),
    [("0.9.3", True), ("0.12.3", True), ("0.8.4", False), ("1.0", False), ("not installed", False)],
)
def test_versions_of_the_python_half(monkeypatch: pytest.MonkeyPatch, version: str, ok: bool) -> None:
    def installed(package: str) -> str:
        if version == "not installed":
            raise metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(doctor.metadata, "version", installed)
    assert doctor.check_graphframes().ok is ok


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    check = doctor.check_write(tmp_path / "nowhere")
    assert not check.ok
    assert check.found.startswith(str(tmp_path / "nowhere"))
    assert check.mend
    assert list(tmp_path.iterdir()) == []
