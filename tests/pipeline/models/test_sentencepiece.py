"""The models of SentencePiece: the fast way gives what the plain rule gives, whatever the scores.

The reference itself is compared with in ``tests/differential``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.scored_pieces import PieceGroups
from compat_bpe.pipeline.models.sentencepiece import bpe as sentencepiece_bpe
from compat_bpe.pipeline.models.sentencepiece import unigram as sentencepiece_unigram
from compat_bpe.pipeline.models.sentencepiece.base import (
    BYTE,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    SentencePieceBase,
    SentencePieceVocabulary,
)
from compat_bpe.pipeline.models.sentencepiece.bpe import SentencePieceBPE
from compat_bpe.pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from compat_bpe.pipeline.models.sentencepiece.ways import BELOW_THRESHOLD, WayFinder, join, rounded
from tests.drawn_models import SENTENCEPIECES, piece_vocabularies, piece_vocabulary
from tests.examples import scaled


@pytest.mark.parametrize("make", SENTENCEPIECES)
@settings(max_examples=scaled(150))
@given(pieces=piece_vocabularies(), text=st.text("aab.▁▁cé", max_size=60))
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


@settings(max_examples=scaled(300))
@given(pieces=piece_vocabularies(), text=st.text("aab.▁▁cé,文字😀", max_size=60))
def test_parts_have_the_ids_of_the_whole(pieces: SentencePieceVocabulary, text: str) -> None:
    with patch.object(sentencepiece_bpe, "_FEW", 0):
        model = SentencePieceBPE(pieces)
    expected = pieces.ids_of(model.split(text))
    assert list(model.encode(text)) == expected
    ids = model.encode_segment(text, model.splitter.chunks)
    assert ids is None or list(ids) == expected
    if pieces.find_parts is not None:
        parts = list(filter(None, pieces.find_parts(text)))
        assert "".join(parts) == text
        beside = {left[-1] + right[0] for left, right in zip(parts, parts[1:])}
        assert pieces.pairs.isdisjoint(beside)


@settings(max_examples=scaled(25), deadline=None)
@given(pieces=piece_vocabularies(), seed=st.integers(0, 1000))
def test_long_texts_of_unigram(pieces: SentencePieceVocabulary, seed: int) -> None:
    """The score before a word decides between ways that are almost equal."""
    text = "".join(random.Random(seed).choices("aab.▁", k=6000))
    model = SentencePieceUnigram(pieces)
    assert list(model.encode(text)) == pieces.ids_of(model.split(text))


@pytest.mark.parametrize("before", [-1.7, -1.7e4])
@pytest.mark.parametrize("both", [-0.4, -0.400001, -0.399999, -0.39])
def test_rounding_decides_by_what_was_before(before: float, both: float) -> None:
    scores = {"a": -0.1, "b": -0.3, "ab": both, "▁": before, "c": before}
    model = SentencePieceUnigram(piece_vocabulary(scores))
    ways = set()
    for count in range(60):
        text = "c▁" * count + "ab"
        expected = model.split(text)
        assert list(model.encode(text)) == model.pieces.ids_of(expected)
        ways.add(tuple(expected[2 * count :]))
    assert len(ways) == 2 or (before, both) != (-1.7, -0.4)


def test_scores_are_subtracted() -> None:
    scores = {"a": -60_000.0, "aa": -119_999.99, "▁": -1.0}
    model = SentencePieceUnigram(piece_vocabulary(scores))
    for length in range(12):
        for text in ("a" * length, "▁a" * length, "aa▁aaa" * length):
            assert list(model.encode(text)) == model.pieces.ids_of(model.split(text))


def test_the_highest_score_is_merged_first_and_then_the_leftmost() -> None:
    model = SentencePieceBPE(piece_vocabulary({"a": 0, "b": 0, "aa": -2, "ab": -1, "aab": -3}))
    assert [piece for piece, _ in model.split("aab")] == ["aab"]
    assert [piece for piece, _ in model.split("aaaab")] == ["aa", "aab"]
    zeros = SentencePieceBPE(piece_vocabulary({"a": -5, "b": -5, "ab": 0.0, "ba": -0.0}))
    assert [piece for piece, _ in zeros.split("bab")] == ["b", "ab"]
    infinite = SentencePieceBPE(piece_vocabulary({"a": 0, "b": 0, "aa": -inf, "ab": inf, "ba": 0}))
    for split in (infinite.split, infinite.quick_split):
        assert [piece for piece, _ in split("aaab")] == ["aa", "ab"]


@pytest.mark.parametrize("size", [30_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
def test_long_runs(size: int) -> None:
    pieces = piece_vocabulary({"a": -1, "aa": -2, "aaaa": -3, "a" * 8: -4, "b": -5})
    text = "a" * size
    for make in SENTENCEPIECES:
        assert make(pieces).encode(text)


#: Differences of two ways: from none to some that no rounding decides.
DIFFERENCES = [0.0, 2.0**-23, 2.0**-20, 1e-5, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.3]


def near_model(draw: random.Random, scale: float) -> SentencePieceUnigram:
    """Return a model in which many pieces have nearly the score of two others."""
    scores = {char: -scale * draw.choice([1.0, 1.5, draw.random() + 0.5]) for char in "ab▁"}
    for _ in range(12):
        left, right = draw.choice(list(scores)), draw.choice(list(scores))
        if "▁" in right or len(left + right) > 6:
            continue
        difference = scale * draw.choice(DIFFERENCES) * draw.choice([-1, 1])
        scores.setdefault(left + right, scores[left] + scores[right] + difference)
    return SentencePieceUnigram(piece_vocabulary(scores))


@settings(max_examples=scaled(100), deadline=None)
@given(seed=st.integers(0, 10**9), scale=st.sampled_from([1.0, 8.0, 30.0, 4000.0]))
def test_a_way_is_right_below_its_limit(seed: int, scale: float) -> None:
    draw = random.Random(seed)
    model = near_model(draw, scale)
    for _ in range(20):
        words = ["".join(draw.choices("aabb▁c", k=draw.randint(1, 9))) for _ in range(3)]
        ways = [model._way_of_word(word) for word in words]
        for word, way in [*zip(words, ways), *joined_if_apart(model, words)]:
            limit, numbers, moves = way
            most = 100_100.0 if limit == inf else limit
            for _ in range(10 if limit > 0 else 0):
                before = rounded(draw.choice([draw.uniform(-most, most), most * 0.999, -most]))
                if abs(before) >= limit:
                    continue
                exact, after = model._exactly(word, before)
                assert list(numbers) == exact
                assert abs(after) <= abs(before) + moves
                if abs(before) + moves < BELOW_THRESHOLD:
                    assert model._sum(before, numbers) == after


def joined_if_apart(model: SentencePieceUnigram, words: list[str]) -> list[tuple[str, Any]]:
    """Return the words as one, if no piece reaches over their ends."""
    ends = [left[-1] + right[0] for left, right in zip(words, words[1:])]
    if not model.pieces.pairs.isdisjoint(ends):
        return []
    return [("".join(words), join([model._way_of_word(word) for word in words]))]


@settings(max_examples=scaled(40), deadline=None)
@given(seed=st.integers(0, 10**9), scale=st.sampled_from([1.0, 8.0, 300.0, 30_000.0]))
def test_long_texts_with_near_ties(seed: int, scale: float) -> None:
    draw = random.Random(seed)
    model = near_model(draw, scale)
    text = "".join(draw.choices("aabb▁c", k=3000))
    expected = model.pieces.ids_of(model.split(text))
    for block in (2, 40, 256):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sentencepiece_unigram, "_BLOCK", block)
            model.clear_cache()
            assert list(model.encode(text)) == expected
            assert list(model.encode(text)) == expected  # remembered
            half = text[: draw.randrange(len(text))]
            assert list(model.encode(half)) == model.pieces.ids_of(model.split(half))
    assert model.quick_split(text) == model.split(text)


def test_some_ways_are_certain_and_some_are_not() -> None:
    """What the two tests above draw has all that they are for."""
    draw = random.Random(1)
    limits = []
    for _ in range(30):
        model = near_model(draw, 8.0)
        limits += [model._way_of_word("".join(draw.choices("aab▁", k=6)))[0] for _ in range(20)]
    assert sum(limit == inf for limit in limits) > 50
    assert sum(0 < limit < inf for limit in limits) > 50
    assert sum(limit < 0 for limit in limits) > 20


def test_rounding_decides_beside_the_limit() -> None:
    """The limit is not much too low: at some two hundred times of it another way wins."""
    decided = 0
    for step in range(20):
        scores = {"a": -1.7 - step / 31, "b": -2.3 - step / 73, "▁": -1.0}
        both = {"ab": scores["a"] + scores["b"] + 1e-4}
        model = SentencePieceUnigram(piece_vocabulary({**scores, **both}))
        limit, numbers, _ = model._way_of_word("ab")
        assert 0 < limit < inf
        befores = [rounded(-limit * (1 + times / 2)) for times in range(400)]
        decided += any(model._exactly("ab", before)[0] != list(numbers) for before in befores)
    assert decided > 3


@given(st.text("aab.▁▁cé", max_size=20))
def test_pieces_at_a_place(text: str) -> None:
    scores = {
        "".join(part): -float(len(part)) for part in ("a", "ab", "aab", ".a", "▁▁", "ab" * 40)
    }
    groups = PieceGroups(scores, -9.0)
    for start in range(len(text)):
        found = [(len(one), score) for one, score in scores.items() if text.startswith(one, start)]
        unknown = [] if text[start] in scores else [(1, -9.0)]
        assert list(groups.matches(text, start)) == unknown + sorted(found)
    long = "ab" * 45
    assert groups.matches(long, 0) == ((1, -1.0), (2, -2.0), (80, -80.0))


@settings(max_examples=scaled(60), deadline=None)
@given(seed=st.integers(0, 10**9), scale=st.sampled_from([1.0, 8.0, 4000.0, 60_000.0, 3e37]))
def test_long_stretches_are_summed_as_the_reference_does(seed: int, scale: float) -> None:
    """Pieces span words, some more characters than a group has; the scores may overflow."""
    draw = random.Random(seed)
    text = "".join(draw.choices("aab▁", k=300))
    scores = {char: -scale * (draw.random() + 0.5) for char in "ab▁"}
    for length in (2, 3, 3, 4, 5, 6, 9, 31, 32, 33, 34, 40):
        at = draw.randrange(200)
        piece = text[at : at + length]
        total = sum(map(scores.__getitem__, piece))
        scores.setdefault(piece, total * draw.choice([-1, 0.5, 0.9, 1, 1 + 1e-7]))
    model = SentencePieceUnigram(piece_vocabulary(scores))
    for end in (1, 2, 3, 4, 5, 33, 34, 300):
        before = rounded(draw.uniform(-100_000, 100_000))
        split, after = model._split_after(text[:end], before)
        exact, score = model._exactly(text[:end], before)
        assert exact == [number for _, number in split]
        assert repr(score) == repr(after)  # not a number, where infinite ones are subtracted
    assert list(model.encode(text)) == model.pieces.ids_of(model.split(text))


def test_a_long_stretch_is_searched_once() -> None:
    """Pieces that span words join words to stretches that seldom come again."""
    pairs = {left + right: -3.5 for left in "ab▁" for right in "ab▁"}
    model = SentencePieceUnigram(piece_vocabulary({"a": -1.0, "b": -2.0, "▁": -1.0, **pairs}))
    text = "".join(random.Random(1).choices("ab▁", k=1000))
    searched: list[str] = []

    def noted(find: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, stretch, *args: (
            searched.append(stretch) or find(self, stretch, *args)  # type: ignore[func-returns-value]
        )

    with pytest.MonkeyPatch.context() as patch:
        for name in ("find", "find_exactly"):
            patch.setattr(WayFinder, name, noted(getattr(WayFinder, name)))
        assert list(model.encode(text)) == model.pieces.ids_of(model.split(text))
    assert searched == [text]


def bpe_model(listed: list[str], symbols: list[str], byte_fallback: bool) -> SentencePieceBPE:
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
    tested = bpe_model(listed, symbols, byte_fallback)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentencepiece_bpe, "_BLOCK", 2)
        for chunk in [*chunks, *chunks]:
            assert list(tested.encode(chunk)) == tested.pieces.ids_of(tested.split(chunk))
            assert "".join(tested.pieces.blocks(chunk, 2)) == chunk


def test_long_text_without_spaces_is_cut_to_blocks() -> None:
    tested = bpe_model(["中", "国", "人", "中国", "国中"], [], byte_fallback=False)
    assert len(list(tested.pieces.blocks("中国" * 1000, 256))) == 1
    assert len(list(tested.pieces.blocks("国中国人" * 1000, 256))) > 10
    assert len(list(tested.pieces.blocks("?" * 4000, 256))) == 1  # unknown: one id
    tested.encode("国中国人" * 1000)
    assert tested._block_ids
    tested.clear_cache()
    assert not tested._block_ids
