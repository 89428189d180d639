"""Merging character by character gives what merging gives, on vocabularies of every kind."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.pipeline.models.bpe import unspaced
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.pipeline.models.bpe.unspaced import UnspacedEncoder
from compat_bpe.pipeline.pypy.core import PyPyCore
from tests.pipeline.models.bpe.character_ranks import BYTES, chars, vocabularies

words = st.lists(chars, min_size=1, max_size=8).map("".join)
chunks = st.lists(words, min_size=1, max_size=5)


@given(chunks, vocabularies())
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
    wide = UnspacedEncoder(encoder)
    for _ in range(2):
        assert list(wide.merge(some)) == expected


def test_what_is_remembered_is_bounded() -> None:
    encoder = UnspacedEncoder(BytePairEncoder(BYTES))
    text = "".join(map(chr, range(0x4E00, 0x9FFF)))
    text += "".join(map(chr, range(0x20000, 0x2A000)))
    assert bytes(encoder.merge([text])) == text.encode()
    for held in (encoder._after, encoder._begun, encoder._char_ids):
        assert 0 < len(held) <= unspaced._KEPT
    # Nothing joins any of them.
    assert not encoder._run_ids


def test_tokens_that_no_rank_makes_are_seen_as_wholes() -> None:
    whole = {"中国".encode(): 300}
    encoder = UnspacedEncoder(BytePairEncoder(BYTES), whole)
    assert encoder.merge(["国中", "人"]) == tuple("国中人".encode())
    assert encoder.merging_makes_tokens
    encoder.merge(["人", "中国"])
    assert not encoder.merging_makes_tokens


def encoding(ranks: dict[bytes, int]) -> Encoding:
    return Encoding("some", pat_str=r"\p{L}+|\P{L}", mergeable_ranks=ranks, special_tokens={})


@given(st.lists(words, min_size=40, max_size=50).map(lambda some: some * 4), vocabularies())
def test_long_texts_encode_as_their_chunks(some: list[str], ranks: dict[bytes, int]) -> None:
    text = " ".join(some)
    tested = encoding(ranks)
    core = tested.core
    encoder = BytePairEncoder(ranks)
    # As when enough of it was met: then all passages of it go this way.
    core.byte_level._unspaced = UnspacedEncoder(encoder)
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
    used = tested.core.byte_level._unspaced = UnspacedEncoder(BytePairEncoder(ranks))
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
