"""The steps of SentencePiece models that are shown lead to the reference's pieces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.explain import explain
from tests.differential.small_sentencepieces import processor, trained
from tests.differential.test_sentencepiece import ours

OPTIONS: list[dict[str, Any]] = [
    {"model_type": "bpe"},
    {"model_type": "bpe", "user_defined_symbols": ("th", "ab")},
    {"model_type": "unigram"},
    {"model_type": "unigram", "user_defined_symbols": ("the", "ab")},
    {"model_type": "char"},
]


@given(text=st.text(st.sampled_from("thecatsonmab 猫é"), max_size=12))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_steps_end_with_the_pieces(options: dict[str, Any], text: str) -> None:
    data = trained(**options)
    encoding = ours(data)
    normalized = encoding.normalize(text)
    found = explain(encoding.core.definition.model, normalized)
    assert list(found.ids) == processor(data).encode(text)
    members = found.members(bytes.decode)
    pieces = processor(data).encode(text, out_type=str)
    if options["model_type"] == "bpe":
        parts = members["steps"][-1]["parts"]
    elif options["model_type"] == "unigram":
        parts = members["ways"][0]["pieces"]
        scores = [way["score"] for way in members["ways"]]
        assert len(scores) < 2 or scores[0] >= scores[1] - 1e-4
    else:
        parts = [token["token"] for token in members["tokens"]]
    # Unknown pieces that follow each other are one for the reference.
    assert "".join(parts) == "".join(pieces)
    if processor(data).unk_id() not in found.ids:
        assert parts == pieces
