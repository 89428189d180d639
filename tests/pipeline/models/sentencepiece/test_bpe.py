"""SentencePiece's BPE: what is remembered of long texts changes no ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.sentencepiece import bpe as sentencepiece_bpe
from compat_bpe.pipeline.models.sentencepiece.bpe import SentencePieceBPE
from compat_bpe.pipeline.models.sentencepiece.vocabulary import (
    BYTE,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    SentencePieceVocabulary,
)


def model(listed: list[str], symbols: list[str], byte_fallback: bool) -> SentencePieceBPE:
    texts = ["<unk>", *listed, *symbols]
    types = [UNKNOWN] + [NORMAL] * len(listed) + [USER_DEFINED] * len(symbols)
    if byte_fallback:
        texts += [f"<0x{byte:02X}>" for byte in range(256)]
        types += [BYTE] * 256
    scores = [-float(number) for number in range(len(texts))]
    return SentencePieceBPE(SentencePieceVocabulary(texts, scores, bytes(types), byte_fallback))


@given(
    st.lists(st.text("ab中国", min_size=1, max_size=4), unique=True, max_size=12),
    st.sampled_from([[], ["xy"], ["b中x"]]),
    st.booleans(),
    st.lists(st.text("ab中国xy?", max_size=30), min_size=1, max_size=4),
)
def test_blocks_have_the_ids_of_the_plain_rule(
    listed: list[str], symbols: list[str], byte_fallback: bool, chunks: list[str]
) -> None:
    tested = model(listed, symbols, byte_fallback)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentencepiece_bpe, "_BLOCK", 2)
        for chunk in [*chunks, *chunks]:
            assert list(tested.encode(chunk)) == tested.pieces.ids_of(tested.split(chunk))
            assert "".join(tested.pieces.blocks(chunk, 2)) == chunk


def test_long_text_without_spaces_is_cut_to_blocks() -> None:
    tested = model(["中", "国", "人", "中国", "国中"], [], byte_fallback=False)
    assert len(list(tested.pieces.blocks("中国" * 1000, 256))) == 1
    assert len(list(tested.pieces.blocks("国中国人" * 1000, 256))) > 10
    assert len(list(tested.pieces.blocks("?" * 4000, 256))) == 1  # unknown: one id
    tested.encode("国中国人" * 1000)
    assert tested._block_ids
    tested.clear_cache()
    assert not tested._block_ids
