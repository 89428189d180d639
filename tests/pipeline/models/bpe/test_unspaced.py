"""Merging character by character: what merging gives, and where no token reaches over."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.pipeline.models.bpe import unspaced
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.pipeline.models.bpe.unspaced import Boundaries, UnspacedEncoder
from compat_bpe.pipeline.pypy.core import PyPyCore
from tests.pipeline.models.drawn import BYTES, CHARS, char_ranks, chars

words = st.lists(chars, min_size=1, max_size=8).map("".join)
chunks = st.lists(words, min_size=1, max_size=5)


@given(chunks, char_ranks())
@example(["中国"], {**BYTES, "中国".encode()[2:4]: 256})
@example(["a中", "中a"], {**BYTES, "a中".encode()[:2]: 256, "中a".encode()[1:]: 257})
@example(["éé中"], {**BYTES, b"\xa9\xc3": 256})
# Of two narrow characters.
@example(["aé"], {**BYTES, "aé".encode()[:2]: 256, "aé".encode(): 257})
# No byte of it begins a wide character, but it ends one.
@example(["中a"], {**BYTES, "中a".encode()[2:]: 256})
def test_merges_as_the_encoder(some: list[str], ranks: dict[bytes, int]) -> None:
    encoder = BytePairEncoder(ranks)
    expected = [found for chunk in some for found in encoder.merge(chunk.encode())]
    wide = UnspacedEncoder(ranks, encoder.merge)
    for _ in range(2):
        assert list(wide.merge(some)) == expected


def test_what_is_remembered_is_bounded() -> None:
    encoder = UnspacedEncoder(BYTES, BytePairEncoder(BYTES).merge)
    text = "".join(map(chr, range(0x4E00, 0x9FFF)))
    text += "".join(map(chr, range(0x20000, 0x2A000)))
    assert bytes(encoder.merge([text])) == text.encode()
    for held in (encoder._after, encoder._begun, encoder._char_ids):
        assert 0 < len(held) <= unspaced._KEPT
    # Nothing joins any of them.
    assert not encoder._run_ids


def test_tokens_that_no_rank_makes_are_seen_as_wholes() -> None:
    whole = {"中国".encode(): 300}
    encoder = UnspacedEncoder(BYTES, BytePairEncoder(BYTES).merge, whole)
    assert encoder.merge(["国中", "人"]) == tuple("国中人".encode())
    assert encoder.merging_makes_tokens
    encoder.merge(["人", "中国"])
    assert not encoder.merging_makes_tokens


def encoding(ranks: dict[bytes, int]) -> Encoding:
    return Encoding("some", pat_str=r"\p{L}+|\P{L}", mergeable_ranks=ranks, special_tokens={})


@given(st.lists(words, min_size=40, max_size=50).map(lambda some: some * 4), char_ranks())
def test_long_texts_encode_as_their_chunks(some: list[str], ranks: dict[bytes, int]) -> None:
    text = " ".join(some)
    tested = encoding(ranks)
    core = tested.core
    encoder = BytePairEncoder(ranks)
    # As when enough of it was met: then all passages of it go this way.
    core.byte_level._unspaced = UnspacedEncoder(ranks, encoder.merge)
    expected: list[int] = []
    for chunk in core.splitter.chunks(text):
        expected += encoder.encode(chunk.encode())
    assert tested.encode_ordinary(text) == expected
    assert tested.count(text) == len(expected)


def test_a_token_that_no_merge_makes() -> None:
    """As a chunk it is that token, and within a longer one it is not."""
    ranks = {**BYTES, "中国人".encode(): 256}
    text = ("中国人 中国人国 " * 100).strip()
    tested = encoding(ranks)
    used = tested.core.byte_level._unspaced = UnspacedEncoder(ranks, BytePairEncoder(ranks).merge)
    whole, longer = [256], list("中国人国".encode())
    assert tested.encode_ordinary(text) == ([*whole, 32, *longer, 32] * 100)[:-1]
    assert not used.merging_makes_tokens


def test_shipped_vocabularies_go_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    text = "".join(rng.choices("今天气很好我们去公园散步吧的是不了人，。", k=20_000))
    for name in ("cl100k_base", "o200k_base"):
        tested = get_encoding(name)
        tested.clear_cache()
        if isinstance(tested.core, PyPyCore):  # which has another way after some text
            monkeypatch.setattr(tested.core._loops, "encoder_for", lambda span: None)
        ids = tested.encode_ordinary(text)
        assert tested.decode(ids) == text
        used = tested.core.byte_level._unspaced
        assert used is not None
        assert used.merging_makes_tokens


def reaches_over(tokens: dict[bytes, int], left: str, right: str) -> bool:
    """The plain rule: some token has bytes of both characters next to each other.

    It begins with the last bytes of the left one or has all of it, and ends with the first bytes of
    the right one or has all of it.
    """
    if max(left, right) < "\u0800":
        return True
    before, after = left.encode(), right.encode()
    for token in tokens:
        for place in range(1, len(token)):
            some, others = token[:place], token[place:]
            if (some.endswith(before) or before.endswith(some)) and (
                others.startswith(after) or after.startswith(others)
            ):
                return True
    return False


@given(char_ranks(), st.lists(st.tuples(chars, chars), max_size=12))
@example({**BYTES, "中国".encode()[:4]: 256}, [("中", "国"), ("中", "圽"), ("国", "中")])
@example({**BYTES, "a中".encode()[:2]: 256}, [("a", "中"), ("é", "中"), ("中", "a")])
@example({**BYTES, "中a".encode()[2:]: 256}, [("中", "a"), ("国", "a"), ("丮", "a")])
@example({**BYTES, "ࠀ中".encode()[:4]: 256}, [("ࠀ", "中"), ("中", "ࠀ")])
def test_each_pair_by_the_plain_rule(ranks: dict[bytes, int], pairs: list[tuple[str, str]]) -> None:
    found = Boundaries(ranks)
    # What comes first decides in which order the vocabulary is looked through.
    for left, right in [*pairs, *((one, other) for one in CHARS for other in CHARS)]:
        assert found.joins(left, right) == reaches_over(ranks, left, right), (left, right)


@given(char_ranks())
def test_shared_bits_join_more_and_never_less(ranks: dict[bytes, int]) -> None:
    few, many = unspaced._BITS, Boundaries(ranks)
    try:
        unspaced._BITS = 3
        shared = Boundaries(ranks)
        for left in CHARS:
            for right in CHARS:
                assert shared.joins(left, right) >= many.joins(left, right)
    finally:
        unspaced._BITS = few


def test_only_what_a_text_has_is_looked_for() -> None:
    ranks = get_encoding("o200k_base")._mergeable_ranks
    found = Boundaries(ranks)
    assert not found._after_family
    assert found.joins("的", "人")
    assert not found.joins("人", "鑫")
    assert set(found._after_family) == {b"\xe7", b"\xe4"}  # of 的 and 人
    assert all(member[:1] == b"\xe7" for member in found._after_family[b"\xe7"])


def test_threads_find_the_same() -> None:
    ranks = get_encoding("cl100k_base")._mergeable_ranks
    pairs = [(one, other) for one in "的中国はいのaé가देह" for other in "人，。がの Aय"]
    alone = Boundaries(ranks)
    expected = [alone.joins(*pair) for pair in pairs]
    assert True in expected
    assert False in expected
    for _ in range(5):
        shared = Boundaries(ranks)
        with ThreadPoolExecutor(4) as executor:
            jobs = [executor.submit(lambda: [shared.joins(*p) for p in pairs]) for _ in range(4)]  # noqa: B023
        assert all(job.result() == expected for job in jobs)
