"""A pattern made faster finds what it found before."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.writer import join_runs, to_re

JOINED = [
    "[A-Z]*[a-z]+|[A-Z]+[a-z]*",
    "[ .]?[A-Z]*[a-z]+(?:'s|'ll)?|[ .]?[A-Z]+[a-z]*(?:'s|'ll)?|[0-9]{1,3}| ?[^ A-Za-z0-9]+| +",
    "[0-9]|[ .]?[A-Z]*[a-z]+[!?]*|[ .]?[A-Z]+[a-z]*[!?]*|.",
]
LEFT_ALONE = [
    # A character of two classes: how many of them each run takes is not settled.
    "[A-Za]*[a-z]+|[A-Za]+[a-z]*",
    "[ A]?[A-Z]*[a-z]+|[ A]?[A-Z]+[a-z]*",
    # What follows may fail.
    "[A-Z]*[a-z]+!|[A-Z]+[a-z]*!|.",
    # Not the same before or behind.
    " ?[A-Z]*[a-z]+|[A-Z]+[a-z]*|.",
    "[A-Z]*[a-z]+!?|[A-Z]+[a-z]*|.",
    "[A-Z]*[a-z]+|[0-9]|[A-Z]+[a-z]*",
    "[A-Z]*?[a-z]+|[A-Z]+[a-z]*",
    "[A-Z]+[a-z]*|[A-Z]*[a-z]+",
    "[A-Z]+",
    "",
]


@pytest.mark.parametrize("pattern", JOINED)
def test_joined_runs_match_as_before(pattern: str) -> None:
    tree = parse(pattern)
    joined = join_runs(tree)
    assert joined != tree
    before, after = re.compile(to_re(tree)), re.compile(to_re(joined))

    @given(st.text("abAB .'sl!?1", max_size=20))
    def run(text: str) -> None:
        assert after.findall(text) == before.findall(text)

    run()


@pytest.mark.parametrize("pattern", LEFT_ALONE)
def test_what_cannot_be_joined_is_left_alone(pattern: str) -> None:
    tree = parse(pattern)
    assert join_runs(tree) == tree
