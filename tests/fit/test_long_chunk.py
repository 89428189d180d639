"""The tokens of beginnings and ends of one chunk, against merging each of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.fit.long_chunk import LongChunk
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder

tokens = st.lists(st.binary(min_size=2, max_size=6).map(lambda b: bytes(c % 3 for c in b)))
chunks = st.one_of(
    st.binary(min_size=1, max_size=60),
    st.builds(lambda part, times: part * times, st.binary(min_size=1, max_size=4), st.just(15)),
).map(lambda data: bytes(byte % 3 for byte in data))


@given(tokens, st.randoms(use_true_random=False), chunks)
# The longest beginning of at most three tokens follows others of two, and many of four.
@example([b"\2\0\1", b"\1\1", b"\0\1"], random.Random(1), b"\0\1\2\0\1\1\1\0\0\2\0\1")
# The longest end of at most two tokens comes before one of one, and two of more.
@example(
    [b"\1\1\2", b"\2\1\1\2", b"\1\1\2\1", b"\1\1"],
    random.Random(1),
    b"\1\1\1\2\1\1\1\2",
)
def test_beginnings_and_ends(more: list[bytes], rng: object, data: bytes) -> None:
    vocabulary = list(dict.fromkeys([bytes([byte]) for byte in range(256)] + more))
    ids = list(range(len(vocabulary)))
    rng.shuffle(ids)  # type: ignore[attr-defined]
    ranks = dict(zip(vocabulary, ids))
    length_of = {number: len(token) for token, number in ranks.items()}
    merge = BytePairEncoder(ranks).merge
    chunk = LongChunk(data, merge, length_of.__getitem__, max(map(len, vocabulary)))
    places = range(len(data) + 1)
    to = [len(merge(data[:end])) for end in places]
    following = [len(merge(data[start:])) for start in places]
    assert [chunk.count_to(end) for end in places] == to
    assert [chunk.count_from(start) for start in places] == following
    assert chunk.count == to[-1]
    for limit in range(len(data) + 2):
        last, first = chunk.last_end_within(limit), chunk.first_start_within(limit)
        assert all(count > limit for count in to[last + 1 :])
        assert all(count > limit for count in following[:first])


def test_most_places_are_ruled_out() -> None:
    ranks = {b"a" * (1 << n): n for n in range(4)}
    merge = BytePairEncoder(ranks).merge
    chunk = LongChunk(b"a" * 1000, merge, [1, 2, 4, 8].__getitem__, 8)
    assert 80 <= chunk.last_end_within(10) <= 90
    assert 910 <= chunk.first_start_within(10) <= 920


@pytest.mark.parametrize("data", [bytes(random.Random(1).choices(b"abc", k=1500)), b"a" * 1500])
def test_few_bytes_are_merged_for_all_beginnings_and_ends(data: bytes) -> None:
    single = [bytes([byte]) for byte in range(256)]
    vocabulary = [*single, b"ab", b"ca", b"abc", b"bb", b"abca", b"aa", b"aaaa"]
    encoder = BytePairEncoder({token: number for number, token in enumerate(vocabulary)})
    merged = 0

    def merge(part: bytes) -> list[int]:
        nonlocal merged
        merged += len(part)
        return encoder.merge(part)

    chunk = LongChunk(data, merge, list(map(len, vocabulary)).__getitem__, 4)
    for place in reversed(range(1501)):
        chunk.count_to(place)
    beginnings = merged
    for place in range(1501):
        chunk.count_from(place)
    assert max(beginnings, merged - beginnings) < 15_000
