"""Merging: the fast ways against the rule, on vocabularies of every kind."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.bpe.by_rank import _LONG, BytePairEncoder, merge, merges_by_rank
from compat_bpe.pipeline.models.bpe.by_rank import _NO_RANK as NO_LIMIT
from tests.pipeline.models.bpe.letter_ranks import alphabet, chunks, vocabularies


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
@example(b"aaaaa", {b"a": 2, b"aa": 0, b"aaa": 1})
@example(b"abcabc", {b"a": 3, b"b": 4, b"c": 5, b"bc": 1, b"ab": 0, b"abc": 2})
@example(b"aba", {b"": 0, b"a": 1, b"b": 2, b"ab": 3})
def test_all_ways_follow_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = by_the_rule(chunk, ranks)
    assert merge(chunk, ranks) == expected
    ids = [ranks[part] for part in expected]
    encoder = BytePairEncoder(ranks)
    assert encoder._merge_list(NO_LIMIT, chunk) == ids
    assert encoder._merge_heap(NO_LIMIT, chunk)[0] == ids


@given(st.lists(alphabet, min_size=_LONG - 5, max_size=_LONG + 5).map(b"".join), vocabularies())
def test_no_seam_where_the_way_changes(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = [ranks[part] for part in by_the_rule(chunk, ranks)]
    assert BytePairEncoder(ranks).merge(chunk) == expected


@pytest.mark.parametrize("chunk", [b"", b"a", b"ab", b"abc"])
def test_small_chunks(chunk: bytes) -> None:
    ranks = {b"a": 1, b"b": 2, b"c": 3, b"ab": 0}
    encoder = BytePairEncoder(ranks)
    expected = [ranks[part] for part in by_the_rule(chunk, ranks)]
    assert encoder._merge_list(NO_LIMIT, chunk) == expected
    assert encoder._merge_heap(NO_LIMIT, chunk)[0] == expected


def test_a_whole_token_needs_no_merges() -> None:
    # Merging could not build it: there is no token of two bytes.
    encoder = BytePairEncoder({b"a": 0, b"b": 1, b"c": 2, b"abc": 3})
    assert encoder.encode(b"abc") == (3,)
    assert encoder.merge(b"abc") == [0, 1, 2]


@pytest.mark.parametrize("chunk", [b"ab", b"b", b"a" * 100 + b"b"])
def test_a_missing_byte_is_named(chunk: bytes) -> None:
    with pytest.raises(ValueError, match="no token for the byte b'b'"):
        BytePairEncoder({b"a": 0}).encode(chunk)


@given(chunks, vocabularies())
@example(b"<aac", {b"a": 3, b"b": 4, b"c": 2, b"aac": 0, b"aa": 1})
def test_a_token_is_always_merged_from_the_same_two_parts(
    chunk: bytes, ranks: dict[bytes, int]
) -> None:
    parts_of = dict(merges_by_rank(ranks))
    parts = [chunk[i : i + 1] for i in range(len(chunk))]
    while len(parts) > 1:
        pairs = [
            (ranks.get(left + right, NO_LIMIT), i)
            for i, (left, right) in enumerate(zip(parts, parts[1:]))
        ]
        lowest, i = min(pairs)
        if lowest == NO_LIMIT:
            break
        made = parts[i] + parts[i + 1]
        assert parts_of[made] == (parts[i], parts[i + 1])
        parts[i : i + 2] = [made]
    encoder = BytePairEncoder(ranks)
    for token, found in parts_of.items():
        assert (found is not None) == encoder.makes(token) == (merge(token, ranks) == [token])


def test_pairs_are_the_same_looked_up_singly_and_all_at_once() -> None:
    ranks = {bytes([byte]): 1000 + byte for byte in range(256)}
    ranks.update({bytes([7, other]): 999 - other for other in range(0, 256, 3)})
    encoder = BytePairEncoder(ranks)
    for _ in range(2):
        for other in (*range(255, -1, -1), *range(256)):
            chunk = bytes([7, other])
            assert [encoder.merge(chunk)] == [[ranks[part] for part in merge(chunk, ranks)]]
    # A first byte that many have followed has a list, one that few have does not.
    assert isinstance(encoder._first_pairs[7], list)
    encoder.merge(b"\x08\x09")
    assert not isinstance(encoder._first_pairs[8], list)
