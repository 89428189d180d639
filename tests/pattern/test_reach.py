"""How far a pattern looks."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pattern.splitter import Splitter
from tests.strategies import texts

#: None of them leaves a character out, or looks back.
PATTERNS = [
    r"a{2,5}|[ab]+(?=c)|(?:aa)+b?|\p{L}+?(?!a)|(?s:.)",
    r"\p{L}{3}|\p{L}+|[^\p{L}]+(?!1)|[^\p{L}]",
    r"(?:a{7})+|a+|[^a]",
    r"(?:a{3}){2,4}b*|a*b|a+?|(?s:.)",
    r"a+(?=a{4}$)|a+?(?=b)|a{1,3}|[^a]+",
    *(get_encoding(name)._pat_str for name in ("gpt2", "cl100k_base", "o200k_base")),
]
hard_texts = st.one_of(texts, st.text("ab1 \nc", max_size=40))


@given(st.sampled_from(PATTERNS).map(Splitter), hard_texts)
def test_a_match_is_the_same_wherever_all_that_it_looks_at_is(
    splitter: Splitter, text: str
) -> None:
    text = text.encode("utf-8", "replace").decode()
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    furthest = 0
    for number, start in enumerate(accumulate(map(len, chunks[:-1]), initial=0), 1):
        if chunks:
            furthest = max(furthest, splitter.reach.end(text, start))
            for end in range(furthest, len(text)):
                assert splitter.chunks(text[:end])[:number] == chunks[:number]


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [("a{1,3}", "aaaaa", 3), ("a+", "aaab", 4), ("a+", "aaa", 4), ("a(?=bb)", "abb", 3)],
)
def test_it_looks_no_further_than_need_be(pattern: str, text: str, end: int) -> None:
    assert Splitter(pattern).reach.end(text, 0) == end
