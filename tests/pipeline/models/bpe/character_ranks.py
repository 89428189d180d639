"""Ranks of stretches of text that begin and end within characters."""

from __future__ import annotations

from hypothesis import strategies as st

#: Of one to four bytes; some differ in one byte only, or begin or end alike.
CHARS = "a éĩࠀ中丮国圽한😀😁🤀"
BYTES = {bytes([i]): i for i in range(256)}
chars = st.sampled_from(CHARS)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """Bytes, and some stretches of text that begin and end anywhere, in any order.

    With half of them comes all that they are merged from, byte by byte, so that merging makes them.
    """
    chosen: dict[bytes, None] = {}
    for text in draw(st.lists(st.lists(chars, max_size=4).map("".join), max_size=30)):
        data = text.encode()
        start, end = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
        token = data[start : len(data) - end]
        first = draw(st.sampled_from([2, len(token)]))
        chosen.update(dict.fromkeys(token[:size] for size in range(first, len(token) + 1)))
    tokens = [token for token in chosen if len(token) > 1]
    extra = draw(st.one_of(st.just(tokens), st.permutations(tokens)))
    # Before the bytes or after them: the ranks of single bytes matter to no merge.
    return {**BYTES, **{token: 256 + number for number, token in enumerate(extra)}}
