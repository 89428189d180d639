"""The steps of SentencePiece models that are shown lead to the reference's pieces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.explain import explain
from tests.differential.small_sentencepieces import NAMES, ours, theirs
from tests.examples import scaled


@settings(max_examples=scaled(30))
@given(text=st.text(st.sampled_from("thecatsonmab 猫であるé<x>"), max_size=12))
@pytest.mark.parametrize("name", NAMES)
def test_the_steps_end_with_the_pieces(name: str, text: str) -> None:
    encoding = ours(name)
    found = explain(encoding.core.definition.model, encoding.normalize(text))
    assert list(found.ids) == theirs(name).encode(text)
    members = found.members(bytes.decode)
    if "steps" in members:
        steps = members["steps"]
        parts = steps[-1]["parts"]
        assert [pair["rank"] for step in steps for pair in step["pairs"][:1]] == [
            min(pair["rank"] for pair in step["pairs"]) for step in steps[:-1]
        ]
    elif "ways" in members:
        parts = members["ways"][0]["pieces"]
        scores = [way["score"] for way in members["ways"]]
        assert len(scores) < 2 or scores[0] >= scores[1] - 1e-3 or "symbols" in name
    else:
        parts = [token["token"] for token in members["tokens"]]
    pieces = theirs(name).encode(text, out_type=str)
    if not encoding.pieces.byte_fallback:
        # Unknown pieces that follow each other are one for the reference.
        assert "".join(parts) == "".join(pieces)
        is_known = theirs(name).unk_id() not in found.ids
        # An unused piece is taken apart after merging.
        if is_known and name != "bpe_unused":
            assert parts == pieces
