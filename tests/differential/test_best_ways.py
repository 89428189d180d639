"""The best ways to cut a text with a Unigram model, and their scores, against sentencepiece."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.formats.sentencepiece import parse_sentencepiece
from compat_bpe.pipeline.models.sentencepiece.unigram import (
    PieceLattice,
    SentencePieceUnigram,
    rounded,
)
from tests.differential.small_sentencepieces import SENTENCES, WORDS, model, parsed, processor

NAMES = [
    *("unigram", "unigram_bytes", "unigram_symbols", "unigram_over_words", "unigram_suffix"),
    *("unigram_identity", "unigram_unused"),
]


def drawn_model(draw: Random) -> bytes:
    """Return a model, often with other scores, of which many are the same, or large, or small."""
    message = parsed(model(draw.choice(NAMES)))
    if draw.random() < 0.5:
        scale = draw.choice([1.0, 100.0, 30_000.0, 1e-3])
        for piece in message.pieces:
            if piece.type == 1:
                piece.score = -scale * draw.choice([0.1, 0.2, 0.3, 1.1, draw.random()])
    found: bytes = message.SerializeToString()
    return found


def drawn_text(draw: Random) -> str:
    if draw.random() < 0.3:
        sentence = draw.choice(SENTENCES)
        start = draw.randrange(len(sentence))
        return sentence[start : start + draw.randint(1, 30)]
    return "".join(draw.choices(WORDS, k=draw.choice([0, 1, 2, 3, 5, 8])))


def score(lattice: PieceLattice, way: list[tuple[str, int]]) -> float:
    """Return the score of a way as the search adds it up: from the end, in 32 bits."""
    place, total = len(lattice.ending) - 1, 0.0
    for piece in reversed(way):
        (node,) = (one for one in lattice.ending[place] if (one.text, one.id) == piece)
        total, place = rounded(node.score + total), node.start
    return total


def check(seed: int) -> None:
    draw = Random(seed)
    data = drawn_model(draw)
    ours, theirs = SentencePiece("x", parse_sentencepiece(data, "x")), processor(data)
    rule = ours.core.definition.model
    assert isinstance(rule, SentencePieceUnigram)
    text, size = drawn_text(draw), draw.choice([2, 3, 5, 20, 100, 512])
    expected: list[Any] = list(theirs.nbest_encode(text, nbest_size=size, out_type="proto").nbests)
    found = ours.nbest_encode(text, size)
    assert len(found) == len(expected)
    normalized = ours.normalize(text)
    if not normalized:
        return
    lattice = PieceLattice(rule, normalized)
    scores = [score(lattice, way) for way in lattice.best(size)]
    assert scores == [way.score for way in expected]
    assert found == [[piece.id for piece in way.pieces] for way in expected]


@pytest.mark.parametrize("seed", range(30))
def test_the_best_ways_have_the_references_scores(seed: int) -> None:
    check(seed)


@pytest.mark.sweep
def test_the_best_ways_of_many_texts() -> None:
    for seed in range(30, 1500):
        check(seed)
