"""Patterns of all kinds over a few letters, all short words of these, and hard patterns."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pattern.tree import (
    Alternatives,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
)
from compat_bpe.unicode.properties import CodePoints
from tests.strategies import texts


def words(letters: str, longest: int = 5) -> list[str]:
    """Return all words of some letters, the shortest first."""
    sizes = range(longest + 1)
    return ["".join(word) for size in sizes for word in itertools.product(letters, repeat=size)]


@st.composite
def _repeats(draw: st.DrawFn, inner: st.SearchStrategy[Node]) -> Node:
    item = draw(inner)
    low = draw(st.integers(0, 2))
    high = draw(st.none() | st.integers(max(low, 1), 3))
    if can_be_empty(item):  # of such repeats only one is taken
        low, high = min(low, 1), 1
    return Repeat(item, low, high, draw(st.sampled_from(["", "?", "+"])))


def _larger(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(Sequence),
        several.map(Alternatives),
        _repeats(inner),
        inner.map(Atomic),
        st.builds(Look, inner, st.just(True), st.booleans()),
    )


def trees(letters: str) -> st.SearchStrategy[Node]:
    """Draw patterns that do not look back."""
    members = st.sets(st.sampled_from(letters), min_size=1)
    chars = members.map(lambda some: Chars(CodePoints.of(*some)))
    return st.recursive(st.one_of(chars, _repeats(chars), st.just(Anchor("end"))), _larger)


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
