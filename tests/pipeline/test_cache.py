"""What is remembered never grows past its bound, and never changes an id."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pipeline.cache import Cache, Memo
from compat_bpe.pipeline.core import DEFAULT_CACHE_LIMIT
from tests.strategies import texts


def code_points(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))


def held(recent: Cache[tuple[int, ...]]) -> int:
    return len(recent) + len(recent.older)


@given(st.integers(0, 7), st.lists(st.text("abé", max_size=4)))
def test_any_bound_gives_the_same_ids(limit: int, some: list[str]) -> None:
    recent = Cache(code_points, limit, longest=3)
    for text in some:
        assert recent[text] == code_points(text)
        assert held(recent) <= limit


@given(st.integers(1, 4), st.lists(st.integers(0, 9)))
def test_a_memo_is_never_over_its_bound(limit: int, numbers: list[int]) -> None:
    asked: list[int] = []

    def double(number: int) -> int:
        asked.append(number)
        return 2 * number

    memo = Memo(double, limit)
    for number in numbers:
        # What is held is not asked for again.
        expected = asked + [number] * (number not in memo)
        assert memo[number] == 2 * number
        assert asked == expected
        assert len(memo) <= limit
        assert number in memo


def test_long_texts_are_not_held() -> None:
    recent = Cache(code_points, limit=10, longest=5)
    assert recent["x" * 6] == code_points("x" * 6)
    assert held(recent) == 0


def test_what_is_asked_for_again_and_again_is_kept() -> None:
    asked = []

    def encode(text: str) -> tuple[int, ...]:
        asked.append(text)
        return ()

    recent = Cache(encode, limit=10, longest=5)
    for number in range(100):
        recent[str(number)]
        recent["often"]
    assert asked.count("often") == 1


@pytest.mark.parametrize("limit", [2, 3, 10])
def test_the_last_texts_are_held(limit: int) -> None:
    asked = []

    def encode(text: str) -> tuple[int, ...]:
        asked.append(text)
        return ()

    recent = Cache(encode, limit, longest=5)
    some = [str(number) for number in range(30)]
    last = limit // 2 + 1  # the whole older generation, and at least one text of the younger
    for end in range(last, len(some) + 1):
        for text in [*some[:end], *some[end - last : end]]:
            recent[text]
        assert asked == some[:end]
        asked.clear()
        recent.clear()


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_any_bound_encodes_alike(name: str) -> None:
    encoding = get_encoding(name)

    # Of passages, a 32nd as many.
    @given(st.lists(texts, min_size=1, max_size=5), st.sampled_from([0, 1, 2, 32, 64]))
    def run(some: list[str], limit: int) -> None:
        # Long enough for several passages, of which some are equal.
        text = "\n\n".join([*some, "of some words " * 40] * 5)
        encoding.cache_limit = DEFAULT_CACHE_LIMIT
        expected = encoding.encode_ordinary(text)
        encoding.cache_limit = limit
        for _ in range(2):
            assert encoding.encode_ordinary(text) == expected
            assert encoding.count(text) == len(expected)

    try:
        run()
    finally:
        encoding.cache_limit = DEFAULT_CACHE_LIMIT


def test_threads_share_an_encoding() -> None:
    encoding = get_encoding("r50k_base")
    some = [" ".join(f"word{i * j}" for i in range(300)) for j in range(8)]
    some += ["".join(chr(0x4E00 + i * j % 5000) for i in range(900)) for j in range(1, 9)]
    expected = [encoding.encode_ordinary(text) for text in some]
    encoding.cache_limit = 50
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    found: dict[int, list[int]] = {}
    barrier = threading.Barrier(len(some))

    def run(number: int) -> None:
        barrier.wait()
        for _ in range(5):
            found[number] = encoding.encode_ordinary(some[number])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(some))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    encoding.cache_limit = DEFAULT_CACHE_LIMIT
    assert [found[i] for i in range(len(some))] == expected
