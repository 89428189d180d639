"""What all models promise: joints, cuts of words and lines, and no merging of bytes over text."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models import unigram as unigram_module
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.sentencepiece import unigram as sentencepiece_unigram
from compat_bpe.pipeline.models.sentencepiece.base import (
    SentencePieceCharacters,
    SentencePieceVocabulary,
    SentencePieceWords,
)
from compat_bpe.pipeline.models.sentencepiece.bpe import SentencePieceBPE
from compat_bpe.pipeline.models.sentencepiece.unigram import SentencePieceUnigram
from compat_bpe.pipeline.models.splitters import (
    TokenSplitter,
    WordSplitter,
    splitter_by_merges,
    splitter_by_pieces,
)
from compat_bpe.pipeline.models.unigram import Unigram
from compat_bpe.pipeline.models.wordpiece import WordLevel, WordPiece
from compat_bpe.unicode.text import common_length
from tests.drawn_models import BYTE_PIECES, CHARACTERS, piece_vocabularies, piece_vocabulary

LETTERS = "aab.▁▁cé"
scores = st.sampled_from([-0.1, -0.2, -0.3, -1.1, -2.0, 0.0, 0.1, 20.0])


@st.composite
def unigrams(draw: st.DrawFn) -> Unigram:
    """Models with many ties, with bytes or without, or with some of them only."""
    texts = draw(st.sets(st.text("ab▁<é", min_size=1, max_size=4), max_size=15))
    size = draw(st.sampled_from([1.0, 0.001, 1e12]))
    pieces = ["<unk>", *sorted(texts - {"<unk>"})]
    found = [size * draw(scores) for _ in pieces]
    if draw(st.booleans()):
        some = BYTE_PIECES[: draw(st.sampled_from([256, 256, 100]))]
        pieces += some
        found += [-3.0 * size] * len(some)
    return Unigram(pieces, found, 0, byte_fallback=draw(st.booleans()))


def check(model: Any, before: str, after: str) -> None:
    """Check what is promised of the place between two texts, if it is a joint."""
    joints = model.joints
    if joints is None or not joints.are_between(before[-1], after[0]):
        return
    if joints.are_exact:
        assert model.encode(before + after) == model.encode(before) + model.encode(after)
        return
    whole = len(model.encode(before + after))
    assert len(model.encode(before)) <= whole
    last = before[-1]
    least = len(model.encode(last + after)) - len(model.encode(last)) - joints.slack(last + after)
    assert least <= whole - len(model.encode(before))


near = st.text(LETTERS, min_size=1, max_size=30)


@given(piece_vocabularies(), near, near, st.integers(0, 1000))
def test_joints_of_sentencepiece(
    pieces: SentencePieceVocabulary, before: str, after: str, seed: int
) -> None:
    model = SentencePieceUnigram(pieces)
    check(model, before, after)
    # A large sum before it decides between ways that are almost equal.
    long = "".join(random.Random(seed).choices(LETTERS, k=3000))
    check(model, long + before, after)


@given(piece_vocabularies(), near, near)
def test_exact_joints_of_sentencepiece(
    pieces: SentencePieceVocabulary, before: str, after: str
) -> None:
    assert SentencePieceUnigram(pieces).joints.are_exact is False
    for model in (SentencePieceBPE(pieces), SentencePieceCharacters(pieces)):
        check(model, before, after)


@given(unigrams(), st.text("ab▁<éunk>?", min_size=1), st.text("ab▁<éunk>?", min_size=1))
@example(
    Unigram(["<unk>", "a", *BYTE_PIECES[:100]], [0.0] * 102, 0, byte_fallback=True), "\x01", "é"
)
@example(Unigram(["<unk>", "a", *BYTE_PIECES], [0.0] * 258, 0, byte_fallback=True), "a", "<unk>é")
# The unknown piece, written out, joins the unknown run after it: the two are one token.
@example(Unigram(["<unk>", *"<unk>"], [0.0] * 6, 0), "<unk>", "?")
# After an unknown character it becomes its bytes; after a piece that ends with that it is itself.
@example(Unigram(["<unk>", "a?", *BYTE_PIECES], [0.0] * 258, 0, byte_fallback=True), "a?", "<unk>")
def test_joints_of_unigram(model: Unigram, before: str, after: str) -> None:
    check(model, before, after)
    check(model, "ab▁a" * 30 + before, after * 10)


@pytest.mark.parametrize(("both", "is_sure"), [(-0.9, True), (-0.4 - 1e-6, False), (-0.4, False)])
def test_only_what_rounding_may_decide_is_slack(both: float, is_sure: bool) -> None:
    model = SentencePieceUnigram(piece_vocabulary({"a": -0.1, "b": -0.3, "ab": both, "▁": -1.0}))
    slack = model.joints.slack
    assert slack is not None
    assert (slack("▁ab") == 1) == (slack("ab▁▁ab") == 1) == is_sure
    other = Unigram(["<unk>", "a", "b", "ab", "▁"], [0.0, -0.1, -0.3, both, -1.0], 0)
    found = other._part_encoder().slack("ab▁▁ab")
    assert found == (16 if both == -0.4 else 0)


def test_no_piece_reaches_over_a_joint() -> None:
    scores = {"a": -1.0, "b": -1.0, "aab": -1.5, "▁": -1.0}
    for model in (
        SentencePieceUnigram(piece_vocabulary(scores)),
        Unigram(["<unk>", *scores], [-9.0, *scores.values()], 0),
    ):
        assert model.joints is not None
        pairs = [left + right for left in "ab▁?" for right in "ab▁?"]
        apart = {pair for pair in pairs if model.joints.are_between(pair[0], pair[1])}
        assert apart == {*pairs} - {"aa", "ab"}
        # Two tokens become one.
        assert len(model.encode("aa")) == 2 > len(model.encode("aab"))


def test_some_bytes_alone_promise_nothing() -> None:
    pieces = ["<unk>", "a"]
    assert Unigram(pieces, [0.0, 0.0], 0, byte_fallback=True).joints is not None
    assert Unigram(pieces, [0.0, 0.0], None).joints is None
    assert Unigram(pieces, [11.0, 11.0], 0).joints is None
    pieces += BYTE_PIECES[1:]
    assert Unigram(pieces, [0.0] * 257, 0, byte_fallback=True).joints is None
    assert Unigram(pieces, [0.0] * 257, 0).joints is not None


@given(piece_vocabularies(), unigrams(), st.lists(st.text(LETTERS, max_size=40), max_size=8))
def test_texts_that_begin_alike(
    pieces: SentencePieceVocabulary, other: Unigram, texts: list[str]
) -> None:
    """What is kept of the last long chunk is only what is the same in the next one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentencepiece_unigram, "_BLOCK", 2)
        patch.setattr(unigram_module, "_COMPARED", 2)
        model = SentencePieceUnigram(pieces)
        encoder = other._part_encoder()
        joined = ""
        for text in texts:
            joined = joined[: len(joined) // 2 + len(text)] + text
            assert list(model.encode(joined)) == pieces.ids_of(model.split(joined))
            ids, way = encoder.encode(joined)
            expected = tuple(one.id for one in other.find(joined))
            assert (other._ids_with_unknown(way) if ids is None else ids) == expected


@given(st.text("ab"), st.text("ab"), st.text("ab"))
def test_common_length(start: str, one: str, other: str) -> None:
    found = common_length(start + one, start + other)
    pairs = list(zip(start + one, start + other))
    assert found == next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))


@pytest.mark.parametrize(
    "model",
    [
        CharacterBPE({"a": 0}, ([], [])),
        WordLevel({"a": 0}, "[UNK]"),
        WordPiece({"a": 0}, "[UNK]"),
        Unigram(["a"], [-1.0], None),
        SentencePieceWords(piece_vocabulary({"a": 0})),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_over_text_merge_no_bytes(model: Any) -> None:
    assert (model.is_complete, model.is_text) == (False, False)
    assert model.to_bytes("é") == "é".encode()
    assert model.encode_segment("a a", str.split) is None
    model.clear_cache()
    assert model.encode("a")
    with pytest.raises(ValueError, match="is not byte-level BPE"):
        model.merge(b"a")


TOKENS = {bytes([byte]): byte for byte in range(256)}
texts = st.text(f"{CHARACTERS}x ü", max_size=40)
stops_joined = st.sampled_from([None, "", "”a", "。]^-\\▁"])


@given(st.booleans(), st.booleans(), stops_joined, st.booleans(), texts)
def test_cut_points_of_words(
    marks: bool, lines: bool, stops: str | None, spaces: bool, text: str
) -> None:
    after = None if stops is None else frozenset(stops)
    splitter = splitter_by_merges(marks=marks, lines=lines, after_stops=after, before_spaces=spaces)
    assume(splitter is not None)
    assert splitter is not None
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    assert all(chunks)
    assert splitter.leaves_nothing_out
    assert splitter.is_plain
    for pattern in (splitter.cut_points, splitter.ascii_cut_points, splitter.fine_cut_points):
        assert pattern is not None
        for found in pattern.finditer(text):
            assert splitter.chunks(text[: found.end()]) + splitter.chunks(text[found.end() :]) == (
                chunks
            )


def test_every_word_ends_at_a_cut_point() -> None:
    splitter = splitter_by_merges(marks=True, lines=True, after_stops=frozenset("”"))
    assert splitter is not None
    assert splitter.cut_points is not None
    text = "a▁b\n\nc。d。”e。\n▁"
    ends = [found.end() for found in splitter.cut_points.finditer(text)]
    assert [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)])] == (
        splitter.chunks(text)
    )


def test_a_surrogate_is_beside_no_cut_point() -> None:
    splitter = splitter_by_merges(marks=True, lines=True, after_stops=frozenset())
    assert splitter is not None
    assert splitter.cut_points is not None
    for text in ("\ud800▁", "\ud83d\n", "\n\udc00", "。\udc00"):
        assert splitter.cut_points.search(text) is None


def test_spaces_and_lines_are_cut_unless_a_token_reaches_across() -> None:
    text = "one two  three\n\nfour\n five\n中 six"
    chunks = ["one", " two", " ", " three\n", "\n", "four\n", " five\n", "中", " six"]
    assert TokenSplitter(TOKENS).chunks(text) == chunks
    tokens = {**TOKENS, b"  ": 256, b"\n\n": 257, b"\n ": 258, "\n中".encode(): 259}
    chunks = ["one", " two", "  three\n\n", "four\n five\n中", " six"]
    assert TokenSplitter(tokens).chunks(text) == chunks
    assert TokenSplitter({"é b".encode(): 0}).chunks("a b中 b") == ["a", " b中 b"]


def test_every_byte_may_be_beside_a_space() -> None:
    tokens = {bytes([byte, 0x20]): byte for byte in range(256)}
    tokens.update({bytes([0x0A, byte]): 256 + byte for byte in range(256)})
    splitter = TokenSplitter(tokens)
    assert splitter.chunks("a b\nc] ^-\n\\ 中 d") == ["a b\nc] ^-\n\\ 中 d"]
    assert splitter.chunks("") == []
    assert isinstance(splitter.cut_points, re.Pattern)


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
