"""Training of SentencePiece's Unigram, without the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.train.sentencepiece.bpe import PieceRules
from compat_bpe.train.sentencepiece.corpus import seed_pieces, word_splitter
from compat_bpe.train.sentencepiece.settings import SentencePieceSettings
from compat_bpe.train.sentencepiece.unigram import UnigramTrainer, learn_unigram

SENTENCES = st.lists(
    st.text("ab▁éè1猫", min_size=1, max_size=12).map(
        lambda text: text if len(text) % 2 else "▁a" + text
    ),
    min_size=1,
    max_size=8,
)


def plain_seeds(sentences: list[str], rules: PieceRules, longest: int) -> list[tuple[str, float]]:
    """The rule written out: all texts in the bytes of all sentences that branch."""
    data = "".join(sentence + "\0" for sentence in sentences).encode()
    found: Counter[bytes] = Counter()
    followers: dict[bytes, set[bytes]] = {}
    for start in range(len(data)):
        for end in range(start + 1, min(len(data), start + 4 * longest + 1) + 1):
            text = data[start:end]
            found[text] += 1
            followers.setdefault(text, set()).add(data[end : end + 1])
    counts: Counter[str] = Counter()
    for text, count in found.items():
        if len(followers[text]) > 1:
            try:
                piece = text.decode().rstrip("\0")
            except UnicodeDecodeError:
                continue
            if len(piece) > 1 and rules.is_valid(piece):
                counts[piece] += count
    scored = [(piece, float(count * len(piece))) for piece, count in counts.items()]
    return sorted(scored, key=lambda one: (-one[1], -len(one[0].encode()), one[0]))


@given(SENTENCES, st.integers(1, 5), st.booleans())
def test_seeds_are_the_branching_texts(sentences: list[str], longest: int, is_suffix: bool) -> None:
    shape = SentencePieceSettings(
        50, "unigram", max_sentencepiece_length=longest, treat_whitespace_as_suffix=is_suffix
    )
    rules = PieceRules(shape)
    found = seed_pieces(sentences, word_splitter(shape), rules, {"a": 3, "z": 0}, longest, 1000)
    assert found == [("a", 3.0), *plain_seeds(sentences, rules, longest)]
    fewer = seed_pieces(sentences, word_splitter(shape), rules, {"a": 3}, longest, 2)
    assert fewer == found[:3]


def ways(word: str, pieces: dict[str, float]) -> Iterator[list[str]]:
    """All ways to make a word pieces."""
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        if word[:end] in pieces:
            for rest in ways(word[end:], pieces):
                yield [word[:end], *rest]


SEEDS = st.dictionaries(
    st.text("abc", min_size=2, max_size=4), st.integers(1, 50).map(float), max_size=12
).map(lambda found: [("a", 9.0), ("b", 5.0), ("c", 2.0), *found.items()])
WORDS = st.dictionaries(
    st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=6
).map(lambda found: list(found.items()))


@given(WORDS, SEEDS)
def test_expected_counts_are_those_of_all_ways(
    words: list[tuple[str, int]], seeds: list[tuple[str, float]]
) -> None:
    trainer = UnigramTrainer(words, seeds)
    scores = dict(zip(trainer.pieces, trainer.scores))
    assert sum(map(exp, scores.values())) == pytest.approx(
        1 + exp(trainer.scores[-1]) * 0, rel=1e-5
    )
    expected: Counter[str] = Counter()
    for word, count in words:
        found = [(way, exp(sum(scores[piece] for piece in way))) for way in ways(word, scores)]
        total = sum(weight for _, weight in found)
        for way, weight in found:
            for piece in way:
                expected[piece] += count * weight / total  # type: ignore[assignment]
    counts = dict(zip(trainer.pieces, trainer.expect()))
    assert counts == pytest.approx({piece: expected[piece] for piece in counts}, rel=1e-4, abs=1e-5)


@given(WORDS, SEEDS, st.integers(4, 8))
def test_pieces_that_are_learned(
    words: list[tuple[str, int]], seeds: list[tuple[str, float]], most: int
) -> None:
    alphabet = {"a": 3, "b": 2, "z": 0}
    found = learn_unigram(words, seeds, alphabet, most, most + 1)
    pieces = [piece for piece, _ in found]
    assert {"a", "b", "z"} <= set(pieces) <= {"z", *dict(seeds)}
    assert len(pieces) == len(set(pieces)) <= most
    assert found == sorted(found, key=lambda one: (-one[1], one[0]))


def test_unknown_characters_count_as_the_first_piece() -> None:
    trainer = UnigramTrainer([("axa", 2)], [("b", 1.0), ("a", 1.0)])
    assert trainer.expect().tolist() == [2.0, 4.0]


def test_the_first_piece_is_the_first_that_is_left() -> None:
    trainer = UnigramTrainer([("axa", 2)], [("b", 1.0), ("a", 1.0)])
    trainer.maximize([0.0, 4.0])
    assert trainer.expect().tolist() == [0.0, 6.0]
    trainer.prune(1)
    assert trainer.order == [1]


def test_a_piece_as_good_as_its_parts_is_kept() -> None:
    trainer = UnigramTrainer([("ab", 2), ("a", 1), ("b", 1)], [("a", 1.0), ("b", 1.0), ("ab", 1.0)])
    trainer.scores[0] = trainer.scores[1] = -1.0
    trainer.scores[2] = -2.0
    trainer.drop_unreachable()
    trainer.prune(3)
    assert trainer.order == [0, 1, 2]
    trainer.scores[2] = -2.01
    trainer.drop_unreachable()
    assert trainer.order == [0, 1]


def test_the_cheapest_loss_is_taken_out() -> None:
    words = [("ab", 9), ("ac", 4), ("a", 1), ("b", 1), ("c", 1)]
    seeds = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("ac", 4.0), ("ab", 9.0)]
    trainer = UnigramTrainer(words, seeds)
    trainer.prune(4)
    assert [trainer.pieces[number] for number in trainer.order] == ["a", "b", "c", "ab"]


def test_missing_characters_get_penalties() -> None:
    trainer = UnigramTrainer([("ab", 2)], [("a", 1.0), ("b", 3.0)])
    found = dict(trainer.best({"x": 1, "y": 1}, 3))
    assert list(found) == ["b", "y", "x"]
    assert found["y"] - found["x"] == pytest.approx(0.0001, rel=1e-2)
    assert found["x"] == trainer.lowest


def test_too_little_text() -> None:
    with pytest.raises(ValueError, match="too little text"):
        UnigramTrainer([("x", 1)], [])
    trainer = UnigramTrainer([("ab", 2)], [("a", 1.0), ("b", 3.0)])
    with pytest.raises(ValueError, match="too little text"):
        trainer.maximize([0.4, 0.4])
