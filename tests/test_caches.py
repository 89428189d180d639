"""What is remembered never grows past its bound, and never changes an id.

Where threads run in parallel, no text is encoded with ``dict.get``, which is slow there.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe import Encoding, caches, get_encoding, load, load_gpt2
from compat_bpe.caches import Cache, Memo, getter, shareable
from compat_bpe.encodings import batch
from compat_bpe.pipeline.core import DEFAULT_CACHE_LIMIT
from compat_bpe.pipeline.models.sentencepiece.base import (
    NORMAL,
    UNKNOWN,
    SentencePieceBase,
    SentencePieceVocabulary,
)
from tests.drawn_models import SENTENCEPIECES
from tests.kinds import KINDS, kind_path
from tests.strategies import texts


def code_points(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))


def held(recent: Cache[tuple[int, ...]]) -> int:
    return len(recent) + len(recent.older)


def noting() -> tuple[list[str], Callable[[str], tuple[int, ...]]]:
    """Return a list, and a function that notes in it what it is called with."""
    asked: list[str] = []

    def encode(text: str) -> tuple[int, ...]:
        asked.append(text)
        return ()

    return asked, encode


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
    asked, encode = noting()
    recent = Cache(encode, limit=10, longest=5)
    for number in range(100):
        recent[str(number)]
        recent["often"]
    assert asked.count("often") == 1


@pytest.mark.parametrize("limit", [2, 3, 10])
def test_the_last_texts_are_held(limit: int) -> None:
    asked, encode = noting()
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


PACKAGE = str(Path(compat_bpe.__file__).parent)
SMALL = Path(__file__).parents[1] / "fixtures" / "gpt2_small"

FIRST = "the newest lower hugs, 12 naïve cafés in 中国人 हिन्दी! " * 20
#: Other chunks than those of the first text, so that these are merged, too.
SECOND = (
    "widest slowest hugged 34 unhugs, naïvest 中人国 दीहिन् lowerer, and that which from other time"
)

Encode = Callable[[str], object]


def slow_look_ups(encode: Encode, text: str) -> Counter[str]:
    """The places of this package at which a text is looked up with ``dict.get``."""
    found: Counter[str] = Counter()

    def see(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and isinstance(getattr(called, "__self__", None), dict):
            file = frame.f_code.co_filename
            if called.__name__ == "get" and file.startswith(PACKAGE):
                found[f"{file}:{frame.f_lineno}"] += 1

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        encode(text)
    finally:
        sys.setprofile(before)
    return found


def by_ranks() -> Encode:
    known = get_encoding("gpt2")
    ranks, special = known._mergeable_ranks, known._special_tokens
    pattern = known._pat_str
    made = Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return made.encode_ordinary


def by_merges() -> Encode:
    return load_gpt2(SMALL / "encoder.json", SMALL / "vocab.bpe", name="small").encode_ordinary


def of_kind(name: str) -> Callable[[], Encode]:
    return lambda: load(kind_path(name)).encode


def of_sentencepiece(model: Callable[[SentencePieceVocabulary], SentencePieceBase]) -> Encode:
    words = ("hug", "lower", "new", "est", "low", "中国", "unhug", "न्द")
    pieces = dict.fromkeys(
        ["<unk>", "▁", *(word[:end] for word in words for end in range(1, len(word) + 1)), *FIRST]
    )
    types = bytes([UNKNOWN] + [NORMAL] * (len(pieces) - 1))
    scores = [-float(number) for number in range(len(pieces))]
    return model(SentencePieceVocabulary(list(pieces), scores, types, byte_fallback=False)).encode


MAKERS: dict[str, Callable[[], Encode]] = {
    "by ranks": by_ranks,
    "by merges": by_merges,
    **{name: of_kind(name) for name in KINDS},
    **{model.__name__: lambda model=model: of_sentencepiece(model) for model in SENTENCEPIECES},  # type: ignore[misc]
}


@pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="only CPython has builds without a global lock"
)
@pytest.mark.parametrize("name", MAKERS)
def test_threads_look_nothing_up_slowly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = MAKERS[name]()
    ids = expected(FIRST), expected(SECOND)
    monkeypatch.setattr(caches, "has_gil", lambda: False)
    encode = MAKERS[name]()
    assert encode(FIRST) == ids[0]
    assert not slow_look_ups(encode, SECOND)
    assert encode(SECOND) == ids[1]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="PyPy tells of no such calls")
def test_that_such_a_look_up_is_seen() -> None:
    def encode(text: str) -> object:
        return known.get(text)

    known = {"a": 1}
    assert not slow_look_ups(encode, "a")  # not of this package
    code = compile("lambda known, text: known.get(text)", f"{PACKAGE}/some.py", "eval")
    look_up = eval(code)
    assert slow_look_ups(lambda text: look_up(known, text), "a") == {f"{PACKAGE}/some.py:1": 1}


@pytest.mark.parametrize("locked", [True, False])
def test_tables_are_dictionaries(locked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "has_gil", lambda: locked)
    table = shareable([("a", 1), ("b", 2)])
    for get in (table.get, getter(table), getter({"a": 1, "b": 2})):
        assert (get("a"), get("c"), get("c", 3), get("b", 3)) == (1, None, 3, 2)
    assert table == {"a": 1, "b": 2}
    assert shareable() == {}
    assert shareable(table) == table
    assert (shareable(table) is table) is locked
    table["c"] = 4
    assert getter(table)("c") == 4


def test_with_a_global_lock_all_is_as_ever() -> None:
    table = {"a": 1}
    assert shareable(table) is table
    assert type(shareable(zip("ab", "cd"))) is dict
    assert getter(table) == table.get


def test_threads_are_no_more_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "has_gil", lambda: False)
    seen: list[str] = []

    def look(text: str) -> str:
        seen.append(text)
        if len(text) == 1000:
            raise ValueError("cut in two")
        return text

    texts = ["a" * 2000, "b", "c"]
    monkeypatch.setattr(batch, "processors", lambda: 1)
    assert batch.map_in_order(look, texts, 8) == texts
    assert seen == texts  # no thread, and nothing set up beforehand
    seen.clear()
    monkeypatch.setattr(batch, "processors", lambda: 2)
    assert batch.map_in_order(look, texts, 8) == texts
    assert seen[0] == "a" * 1000
    assert sorted(seen[1:]) == sorted(texts)
