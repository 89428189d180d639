from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files.wildmatch import InvalidPatternError, as_bytes, matcher

# What git says of each is in test_ignore.py: there are the repositories.


def calls_of(function: Callable[[str], bool], text: str) -> int:
    """The number of calls, of C's functions too, that a match takes."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        function(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a" * 40 + "b", "a" * 120),
        ("*?a" * 20 + "b", "a" * 120),
        ("[ab]*" * 40 + "c", "ab" * 60),
        ("**/" * 40 + "x", "a/" * 60 + "a"),
        ("**/a/" * 20 + "x", "a/" * 60 + "a"),
        ("a**/" + "*/**/" * 20 + "x", "a/" * 60 + "a"),
        ("*" * 5_000 + "b/*", "a" * 120),
    ],
)
def test_a_match_takes_no_more_than_length_times_length(pattern: str, text: str) -> None:
    matches = matcher(pattern, is_name="/" not in pattern)
    assert not matches(text)
    assert calls_of(matches, text) < 8 * len(pattern) * len(text) + 100


@given(st.text("ab*?[]!/\\", max_size=8), st.text("ab/", max_size=8))
def test_a_pattern_takes_no_more_by_stars(pattern: str, text: str) -> None:
    try:
        matches = matcher(pattern, is_name="/" not in pattern)
    except InvalidPatternError:
        return
    assert calls_of(matches, text) < 20 * (len(pattern) + 1) * (len(text) + 1)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("[b-dx]", "bcdx", "aewy"),
        ("[!b-dx]", "aewy", "bcdx"),
        ("[b-d0-2]", "bd02", "ae3"),
        ("[d-b]", "d", "bc"),  # as in git, the first is taken by itself
        ("[b-b]", "b", "ac"),
        ("[\\!-\\#]", '!"#', " $"),
    ],
)
def test_ranges(pattern: str, inside: str, outside: str) -> None:
    matches = matcher(pattern, is_name=True)
    assert [char for char in inside + outside if matches(char)] == [*inside]


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:no:]]", "[[:alpha:]", "[!", "[a-"])
def test_what_matches_nothing_is_said(pattern: str) -> None:
    with pytest.raises(InvalidPatternError):
        matcher(pattern, is_name=True)


def test_bytes_or_characters() -> None:
    assert matcher("?", is_name=True)("漢")
    assert not matcher("?", is_name=True)(as_bytes("漢"))
    assert matcher(as_bytes("漢*"), is_name=True)(as_bytes("漢字"))
    assert matcher("[!a]", is_name=True)("漢")
