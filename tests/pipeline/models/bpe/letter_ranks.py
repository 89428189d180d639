"""Ranks of three letters and what they make, such as no training would give."""

from __future__ import annotations

from hypothesis import strategies as st

LETTERS = [b"a", b"b", b"c"]
alphabet = st.sampled_from(LETTERS)
chunks = st.lists(alphabet, max_size=40).map(b"".join)
tokens = st.lists(alphabet, min_size=1, max_size=6).map(b"".join)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """The letters and any tokens, with any ranks: also such as no training would give."""
    chosen = [*LETTERS, *draw(st.lists(tokens, unique=True, max_size=20))]
    chosen = list(dict.fromkeys(chosen))
    ranks = draw(st.permutations(range(len(chosen))))
    return dict(zip(chosen, ranks))
