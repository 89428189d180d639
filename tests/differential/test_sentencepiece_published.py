"""Published models of SentencePiece, against sentencepiece itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import compat_bpe
from compat_bpe.encodings.sentencepiece import SentencePiece
from tests import corpora
from tests.differential.small_sentencepieces import TEXTS
from tests.examples import scaled
from tools.reference_files import reference_file

SMALL = ["botchan_bpe", "botchan_unigram", "kyoto_unigram", "llama_2", "mistral_v3"]
LARGE = ["mistral_v1", "mistral_v2", "mistral_v7", "yi", "jamba", "nerdstash", "nerdstash_v2"]
LARGE += ["gemma_model", "j2"]
MODELS = [*SMALL, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]

#: The texts of corpora are cut to this many characters.
LONGEST = 400_000


@cache
def both(name: str) -> tuple[SentencePiece, Any]:
    from sentencepiece import SentencePieceProcessor

    path = reference_file(name)
    enc = compat_bpe.load(path)
    assert isinstance(enc, SentencePiece)
    return enc, SentencePieceProcessor(model_file=str(path))


@pytest.mark.parametrize("name", MODELS)
@given(text=TEXTS)
@settings(max_examples=scaled(50), deadline=None)
def test_hard_texts(name: str, text: str) -> None:
    enc, sp = both(name)
    mapping = sp.encode(text, out_type="offset_mapping")
    found = enc.encode_as_placed_pieces(text)
    assert enc.encode(text) == mapping["ids"] == [one.id for one in found]
    assert [one.piece for one in found] == mapping["pieces"]
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]
    assert enc.decode(mapping["ids"]) == sp.decode(mapping["ids"])


@pytest.mark.sweep
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
@pytest.mark.parametrize("path", corpora.TEXTS, ids=lambda path: path.name)
def test_corpora(name: str, path: Path) -> None:
    """Line by line, and as one text."""
    enc, sp = both(name)
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    for line, ids in zip(lines, sp.encode(lines)):
        assert enc.encode(line) == ids
        assert enc.decode(ids) == sp.decode(ids)
    assert enc.encode(text[:LONGEST]) == sp.encode(text[:LONGEST])
