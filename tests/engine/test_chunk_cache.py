"""The chunk cache never grows past its bound, and its bound never changes an id."""

from __future__ import annotations

import sys
import threading

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.engine.byte_pair import encode_chunk
from compat_bpe.engine.chunk_cache import LONGEST_KEPT, ChunkCache

RANKS = {**{bytes([i]): i for i in range(256)}, b"ab": 256, b"aba": 257}


@given(st.integers(0, 5), st.lists(st.text("abé", max_size=4)))
def test_any_bound_gives_the_same_ids(limit: int, chunks: list[str]) -> None:
    cache = ChunkCache(RANKS, limit)
    for chunk in chunks:
        assert cache[chunk] == encode_chunk(chunk.encode(), RANKS)
        assert len(cache) <= limit


def test_long_chunks_are_not_kept() -> None:
    cache = ChunkCache(RANKS)
    assert cache["x" * (LONGEST_KEPT + 1)] == (ord("x"),) * (LONGEST_KEPT + 1)
    assert len(cache) == 0


def test_threads_share_an_encoding() -> None:
    encoding = get_encoding("r50k_base")
    texts = [" ".join(f"word{i * j}" for i in range(300)) for j in range(8)]
    expected = [encoding.encode_ordinary(text) for text in texts]
    encoding.cache_limit = 50
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    found: dict[int, list[int]] = {}
    barrier = threading.Barrier(len(texts))

    def run(number: int) -> None:
        barrier.wait()
        for _ in range(5):
            found[number] = encoding.encode_ordinary(texts[number])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    encoding.cache_limit = 1 << 17
    assert [found[i] for i in range(len(texts))] == expected
