"""Word level: a chunk is a token, or unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.text_model import ChunkToken
from compat_bpe.pipeline.models.word_level import WordLevel

WORDS = {"hug": 3, "é": 1, "<unk>": 2, "": 0}


@given(st.one_of(st.sampled_from(sorted(WORDS)), st.text("hugé<>", max_size=5)))
def test_a_chunk_is_one_token(chunk: str) -> None:
    model = WordLevel(WORDS, "<unk>")
    text = chunk if chunk in WORDS else "<unk>"
    assert model.encode(chunk) == (WORDS[text],)
    assert model.find(chunk) == [ChunkToken(WORDS[text], text, 0, len(chunk.encode()))]


def test_a_long_chunk() -> None:
    assert WordLevel(WORDS, "<unk>").encode("hug" * 1_000_000) == (2,)


def test_without_a_token_for_what_is_unknown() -> None:
    model = WordLevel({"hug": 0}, "<unk>")
    assert model.encode("hug") == (0,)
    for way in (model.encode, model.find):
        with pytest.raises(ValueError, match="'pug' is not in the vocabulary, and neither is '<un"):
            way("pug")
    with pytest.raises(ValueError, match=r"^'x{40}…' is not"):
        model.encode("x" * 1_000_000)


def test_nothing_is_merged() -> None:
    model = WordLevel(WORDS, "<unk>")
    assert (model.is_complete, model.is_text) == (False, False)
    assert model.to_bytes("é") == "é".encode()
    assert model.encode_segment("hug", str.split) is None
    model.clear_cache()
    with pytest.raises(ValueError, match="no byte-level BPE"):
        model.merge(b"hug")
