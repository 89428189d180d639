"""How far a pattern looks."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.ast import Node
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.reach import Reach
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.writer import to_re
from tests.examples import scaled
from tests.pattern.hard_patterns import PATTERNS, hard_texts
from tests.pipeline.random_trees import trees, words


@given(st.sampled_from(PATTERNS).map(Splitter), hard_texts)
def test_a_match_is_the_same_wherever_all_that_it_looks_at_is(
    splitter: Splitter, text: str
) -> None:
    text = text.encode("utf-8", "replace").decode()
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    starts = accumulate(map(len, chunks[:-1]), initial=0)
    #: For each number of chunks, all that they look at.
    looked_at = [*accumulate((splitter.reach.end(text, s) for s in starts if text), max)]
    for end in range(len(text)):
        # The most chunks that look at no more than there is: then fewer do not, either.
        number = bisect_right(looked_at, end)
        assert splitter.chunks(text[:end])[:number] == chunks[:number]


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?:ab)+"))
@example(parse("a(?:ba)*(?!b)"))
@example(parse("(?:a{3}){2}"))
@example(parse("a(?:$|b)"))
@example(parse("a(?=b(?=a))"))
def test_any_match_is_the_same_wherever_all_that_it_looks_at_is(tree: Node) -> None:
    match = re.compile(to_re(tree)).match
    reach = Reach(tree)
    for word in words("ab"):
        end = reach.end(word, 0)
        if end < len(word):
            # Whatever may follow, and be it nothing.
            for other in (word[:end], word[:end] + "a", word[:end] + "bb"):
                found, expected = match(other), match(word)
                assert (found and found.span()) == (expected and expected.span()), (word, other)


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        ("a{1,3}", "aaaaa", 3),
        ("a+", "aaab", 4),
        ("a+", "aaa", 4),
        ("a(?=bb)", "abb", 3),
        ("a{16}", "a" * 20, 16),
        # Not written out: any number of rounds, for all that is known.
        ("a{17}", "a" * 20, 21),
        ("a{2}|a{1}b{0}", "aaa", 2),
        ("a$", "ab", 2),
        ("a$", "a", 2),
        ("b", "a", 1),
        ("a(?=b{2})", "abbbb", 3),
        ("(?>a{2})", "aaaa", 2),
    ],
)
def test_it_looks_no_further_than_need_be(pattern: str, text: str, end: int) -> None:
    assert Splitter(pattern).reach.end(text, 0) == end
