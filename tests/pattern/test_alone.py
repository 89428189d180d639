"""Chunks that stay whole when they stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.pattern.alone import stays_whole
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter

#: Patterns over few characters; the first eight must be taken for ones with the property.
WHOLE = [
    *(r"a+|b", r"a(?!b)|.", r"a++b|a|b|c", r"ab?(?!c)|[abc]|\s+$|\s", r"(?:ab)+?(?!a)|."),
    *(r"a+?$|a+b|.", r"(?:a|ab)(?!c)b?|.", r"(?>a)b|(?:aa|b)+|."),
]
SPLIT = [
    *(
        r"(?<=a)b+|.",
        r"(?<!a)b|..",
        r"\A.b|.",
        r"aa(?=b)|.",
        r"a(?!bc)b?|aab|.",
        r"(?>aaab|a)(?!c)|aa|.",
    ),
    *(r"(?:aaab|a)++(?!c)|aa|.", r"a(?!$)|.", r"\ba+|.b?", r"a(?!(?!b))|ab|."),
]


def test_known_patterns_have_the_property() -> None:
    without = [name for name, pattern in PATTERNS.items() if not stays_whole(parse(pattern))]
    # "it's " before a digit ends in a space, which is a chunk of its own at the end of a text.
    assert without == ["superbpe"]


@pytest.mark.parametrize("pattern", WHOLE)
@given(text=st.text("aaab c", max_size=8))
def test_chunks_stay_whole(pattern: str, text: str) -> None:
    assert stays_whole(parse(pattern))
    chunks = Splitter(pattern).chunks
    for chunk in chunks(text):
        assert chunks(chunk) == [chunk]


@pytest.mark.parametrize("pattern", SPLIT)
def test_all_others_are_told_apart(pattern: str) -> None:
    assert not stays_whole(parse(pattern))
