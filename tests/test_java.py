"""Java is found as Spark finds it, and a wrong one is said in one sentence."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from oemviews import java
from oemviews.errors import EnvironmentLacks


def fake_java(home: Path, banner: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{banner}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_java_home_is_asked_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = fake_java(tmp_path / "there", 'openjdk version "21.0.1"')
    other = fake_java(tmp_path / "other", 'openjdk version "17.0.1"')
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "there"))
    assert java.find() == str(there)
    assert java.require() == 21
    monkeypatch.delenv("JAVA_HOME")
    assert java.find() == str(other)
    assert java.require() == 17


def test_an_old_java_is_named_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(tmp_path, 'java version "1.8.0_402"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentLacks) as caught:
        java.require()
    assert str(caught.value) == (
        f"Spark needs Java 17 or later but {program} is version 8: "
        "install a Java runtime of version 17 or later and set JAVA_HOME to it, or put it on PATH."
    )


def test_a_java_that_says_nothing_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "who knows")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentLacks, match="does not tell its version"):
        java.require()


def test_a_missing_java_says_where_it_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentLacks, match=f"JAVA_HOME={tmp_path} has no java"):
        java.require()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentLacks, match="PATH has no java"):
        java.require()
