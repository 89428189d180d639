"""Patterns of all kinds over a few letters, and all short words of these."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from compat_bpe.pattern.ast import (
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
