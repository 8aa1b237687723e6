"""Patterns of `grep`: what is accepted means the same everywhere, what could run for ever is refused."""

from __future__ import annotations

import re
from contextlib import suppress
from random import Random

import pytest

from lorel.regex import PatternError, portable


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("cheap", "a cheap one", True),
        ("^Thai", "Thai City", True),
        ("City$", "Thai City", True),
        ("T.ai", "Thai", True),
        ("T.ai", "T\nai", False),
        (r"\d{2,3}", "12", True),
        (r"^\d{2,3}$", "1234", False),
        (r"^[^a-c\-]+$", "xyz", True),
        (r"^[^a-c\-]+$", "x-z", False),
        ("(?:ab|cd)+e", "abcde", True),
        (r"\.", "a.b", True),
        (r"\.", "ab", False),
        (r"[\]&]", "a&b", True),
        ("(ab?)?c", "c", True),
        ("a{,2}b", "aab", True),
        ("x*?y", "xxy", True),
        (r"\s", "a b", True),
        ("caf\u00e9", "un caf\u00e9", True),
        ("", "", True),
    ],
)
def test_accepted_patterns(pattern: str, text: str, found: bool) -> None:
    assert (re.search(portable(pattern), text) is not None) == found


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a*)*b",
        "(a?){20}",
        "((ab)*c)*",
        "(a|a)*",
        "(a|ab)*",
        "((a|ab)c)*",
        "(.|x)+",
        r"(a)\1",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?P<n>a)",
        "(?i)a",
        r"\bword",
        r"\p{L}",
        "a**",
        "a*+",
        "*a",
        "a{2",
        "a{9999}",
        "a{3,2}",
        "(a",
        "a)",
        "[a",
        "[]",
        "[z-a]",
        "[[:alpha:]]",
        "\\",
        ".*a.*b.*c.*d.*e",
        "(" * 50 + ")" * 50,
        "a" * 2000,
    ],
)
def test_refused_patterns(pattern: str) -> None:
    with pytest.raises(PatternError):
        portable(pattern)


def test_a_portable_pattern_is_portable() -> None:
    for pattern in (r"\s\d\w\D", "a.b", "[a-c&]{2,}", "x|y", r"\(\)"):
        assert portable(portable(pattern)) == portable(pattern)


def test_what_is_accepted_compiles_and_what_is_not_is_said() -> None:
    """Whatever comes in, out comes a pattern that compiles or a PatternError, never another error."""
    rng = Random(7)
    for _ in range(5000):
        pattern = "".join(rng.choice(r"ab.*+?()[]{}|\^$-,0d&") for _ in range(rng.randint(0, 8)))
        with suppress(PatternError):
            made = portable(pattern)
            re.compile(made)
            assert portable(made) == made
