"""The tokens of beginnings and ends of one chunk, against merging each of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.fit.long_chunk import LongChunk
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder

tokens = st.lists(st.binary(min_size=2, max_size=6).map(lambda b: bytes(c % 3 for c in b)))
chunks = st.one_of(
    st.binary(min_size=1, max_size=60),
    st.builds(lambda part, times: part * times, st.binary(min_size=1, max_size=4), st.just(15)),
).map(lambda data: bytes(byte % 3 for byte in data))


@given(tokens, st.randoms(use_true_random=False), chunks)
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
