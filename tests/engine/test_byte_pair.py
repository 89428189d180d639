"""Merging: the two ways against the rule written out, on vocabularies of every kind."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.engine.byte_pair import _merge_heap, _merge_list, encode_chunk, merge

alphabet = st.sampled_from([b"a", b"b", b"c"])
chunks = st.lists(alphabet, max_size=40).map(b"".join)
tokens = st.lists(alphabet, min_size=1, max_size=6).map(b"".join)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """Any tokens with any ranks: also such as no training would give."""
    chosen = draw(st.lists(tokens, unique=True, max_size=20))
    ranks = draw(st.permutations(range(len(chosen))))
    return dict(zip(chosen, ranks))


def by_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """The rule of merging, with no thought for speed."""
    parts = [chunk[i : i + 1] for i in range(len(chunk))]
    while True:
        pairs = map(b"".join, zip(parts, parts[1:]))
        joined = [(ranks[pair], i) for i, pair in enumerate(pairs) if pair in ranks]
        if not joined:
            return parts
        _, i = min(joined)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


@given(chunks, vocabularies())
@example(b"aaaaa", {b"aa": 0, b"aaa": 1})
@example(b"abcabc", {b"bc": 1, b"ab": 0, b"abc": 2})
def test_both_ways_follow_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = by_the_rule(chunk, ranks)
    assert _merge_list(chunk, ranks) == expected
    assert _merge_heap(chunk, ranks) == expected


@given(st.lists(alphabet, min_size=10, max_size=30).map(b"".join), vocabularies())
def test_no_seam_where_the_way_changes(chunk: bytes, ranks: dict[bytes, int]) -> None:
    assert merge(chunk, ranks) == _merge_list(chunk, ranks)


@pytest.mark.parametrize("way", [_merge_list, _merge_heap])
@pytest.mark.parametrize("chunk", [b"", b"a", b"ab", b"abc"])
def test_small_chunks(way: object, chunk: bytes) -> None:
    assert callable(way)
    assert b"".join(way(chunk, {b"ab": 0})) == chunk


def test_a_whole_token_needs_no_merges() -> None:
    # Merging could not build it: there is no token of two bytes.
    assert encode_chunk(b"abc", {b"a": 0, b"b": 1, b"c": 2, b"abc": 3}) == (3,)


def test_a_missing_byte_is_named() -> None:
    with pytest.raises(ValueError, match="no token for the byte b'b'"):
        encode_chunk(b"ab", {b"a": 0})
