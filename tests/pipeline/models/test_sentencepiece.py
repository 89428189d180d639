"""The models of SentencePiece: the fast way gives what the plain rule gives, whatever the scores.

The reference itself is compared with in ``tests/differential``.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.sentencepiece.base import SentencePieceBase
from compat_bpe.pipeline.models.sentencepiece.bpe import SentencePieceBPE
from compat_bpe.pipeline.models.sentencepiece.splitter import WordSplitter, splitter_by_pieces
from compat_bpe.pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from compat_bpe.pipeline.models.sentencepiece.vocabulary import (
    UNUSED,
    USER_DEFINED,
    SentencePieceVocabulary,
)
from compat_bpe.pipeline.models.sentencepiece.words import (
    SentencePieceCharacters,
    SentencePieceWords,
)
from tests.examples import scaled
from tests.pipeline.models.small_sentencepieces import MODELS, vocabularies, vocabulary


@pytest.mark.parametrize("make", MODELS)
@settings(max_examples=scaled(150))
@given(pieces=vocabularies(), text=st.text("aab.▁▁cé", max_size=60))
def test_the_fast_way_is_the_plain_rule(
    make: Callable[[SentencePieceVocabulary], SentencePieceBase],
    pieces: SentencePieceVocabulary,
    text: str,
) -> None:
    model = make(pieces)
    expected = model.split(text)
    assert "".join(piece for piece, _ in expected) == text
    assert model.quick_split(text) == expected
    ids = pieces.ids_of(expected)
    assert list(model.encode(text)) == [found.id for found in model.find(text)] == ids
    # By its own splitter's chunks, too.
    chunks = model.splitter.chunks(text)
    assert "".join(chunks) == text
    assert [one for chunk in chunks for one in model.encode(chunk)] == ids


@settings(max_examples=scaled(25), deadline=None)
@given(pieces=vocabularies(), seed=st.integers(0, 1000))
def test_long_texts_of_unigram(pieces: SentencePieceVocabulary, seed: int) -> None:
    """The score before a word decides between ways that are almost equal."""
    text = "".join(random.Random(seed).choices("aab.▁", k=6000))
    model = SentencePieceUnigram(pieces)
    assert list(model.encode(text)) == pieces.ids_of(model.split(text))


@pytest.mark.parametrize("before", [-1.7, -1.7e4])
@pytest.mark.parametrize("both", [-0.4, -0.400001, -0.399999, -0.39])
def test_rounding_decides_by_what_was_before(before: float, both: float) -> None:
    scores = {"a": -0.1, "b": -0.3, "ab": both, "▁": before, "c": before}
    model = SentencePieceUnigram(vocabulary(scores))
    ways = set()
    for count in range(60):
        text = "c▁" * count + "ab"
        expected = model.split(text)
        assert list(model.encode(text)) == model.pieces.ids_of(expected)
        ways.add(tuple(expected[2 * count :]))
    assert len(ways) == 2 or (before, both) != (-1.7, -0.4)


def test_scores_are_subtracted() -> None:
    scores = {"a": -60_000.0, "aa": -119_999.99, "▁": -1.0}
    model = SentencePieceUnigram(vocabulary(scores))
    for length in range(12):
        for text in ("a" * length, "▁a" * length, "aa▁aaa" * length):
            assert list(model.encode(text)) == model.pieces.ids_of(model.split(text))


def test_the_highest_score_is_merged_first_and_then_the_leftmost() -> None:
    model = SentencePieceBPE(vocabulary({"a": 0, "b": 0, "aa": -2, "ab": -1, "aab": -3}))
    assert [piece for piece, _ in model.split("aab")] == ["aab"]
    assert [piece for piece, _ in model.split("aaaab")] == ["aa", "aab"]
    zeros = SentencePieceBPE(vocabulary({"a": -5, "b": -5, "ab": 0.0, "ba": -0.0}))
    assert [piece for piece, _ in zeros.split("bab")] == ["b", "ab"]


def test_unused_pieces_are_taken_apart() -> None:
    scores = {"a": 0, "b": 0, "c": 0, "ab": -1, "bc": -2, "abc": -3}
    pieces = vocabulary(scores, {"abc": UNUSED})
    model = SentencePieceBPE(pieces)
    assert [piece for piece, _ in model.split("abc")] == ["ab", "c"]
    assert model.splitter.chunks("a▁b") == ["a▁b"]
    none = SentencePieceBPE(vocabulary(scores, dict.fromkeys(["a", "abc", "ab"], UNUSED)))
    assert none.split("abc") == [("a", 0), ("b", 2), ("c", 3)]


def test_user_defined_symbols_are_not_merged() -> None:
    scores = {"a": 0, "b": 0, "ab": 0, "aab": -1, "abb": -1}
    model = SentencePieceBPE(vocabulary(scores, {"ab": USER_DEFINED}))
    assert [piece for piece, _ in model.split("aabb")] == ["a", "ab", "b"]
    # The longest symbol at a place, but of 65 that begin there only the 64 shortest.
    many = {"x" * length: 0.0 for length in range(1, 67)}
    characters = SentencePieceCharacters(vocabulary(many, dict.fromkeys(many, USER_DEFINED)))
    assert [len(piece) for piece, _ in characters.split("x" * 66)] == [64, 2]


@pytest.mark.parametrize("size", [30_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
def test_long_runs(size: int) -> None:
    pieces = vocabulary({"a": -1, "aa": -2, "aaaa": -3, "a" * 8: -4, "b": -5})
    text = "a" * size
    for make in MODELS:
        assert make(pieces).encode(text)


def test_models_over_characters_do_not_merge_bytes() -> None:
    model = SentencePieceWords(vocabulary({"a": 0}))
    with pytest.raises(ValueError, match="no byte-level BPE"):
        model.merge(b"a")
    assert model.encode_segment("a", str.split) is None


@given(text=st.text("ab▁▁\n\0é", max_size=30), before=st.sets(st.sampled_from("▁ab")))
def test_words_begin_where_no_piece_reaches(text: str, before: set[str]) -> None:
    splitter = WordSplitter(before)
    expected = [at for at in range(1, len(text)) if text[at] == "▁" and text[at - 1] not in before]
    words = splitter.chunks(text)
    assert "".join(words) == text
    ends = [sum(map(len, words[:count])) for count in range(1, len(words))]
    assert ends == expected


def test_segments_of_words() -> None:
    text = "▁word\n" * 2000
    splitter = splitter_by_pieces({"▁"}, {"w"})
    segments = list(splitter.segments(text))
    assert "".join(segments) == text
    assert len(segments) > 5
    found = [chunk for segment in segments for chunk in splitter.chunks(segment)]
    assert found == splitter.chunks(text)
    assert list(splitter.segments("a" * 9999)) == ["a" * 9999]
