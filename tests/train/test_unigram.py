"""Learning a Unigram vocabulary; against ``UnigramTrainer`` in ``differential``."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.train import UnigramSettings, train
from compat_bpe.train.unigram import digamma, learn_unigram, make_seeds

COURSE = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def test_the_seeds_of_the_course() -> None:
    """Substrings count by distinct words, and ``un`` does not branch: it is always at the end."""
    pieces, scores, chars = make_seeds(COURSE, UnigramSettings(10))
    numbers = {"u": 36, "g": 20, "p": 17, "n": 16, "h": 15, "s": 5, "b": 4}
    numbers.update({"ug": 6, "hug": 6, "pu": 4})
    assert chars == 7
    assert set(pieces) == set(numbers)
    total = sum(numbers.values())
    assert dict(zip(pieces, scores)) == pytest.approx(
        {piece: log(number / total) for piece, number in numbers.items()}
    )


def test_seeds_are_ordered_by_number_then_by_string() -> None:
    words = {"xax": 1, "xay": 1, "bcb": 1, "bcz": 1}
    pieces, _, chars = make_seeds(words, UnigramSettings(100))
    assert pieces[:chars] == ["x", "b", "c", "a", "z", "y"]
    assert pieces[chars:] == ["xa", "bc"]
    assert make_seeds(words, UnigramSettings(100, seed_size=7)).pieces == pieces[:7]
    # One stays, even if the characters are as many.
    assert make_seeds(words, UnigramSettings(100, seed_size=3)).pieces == pieces[:7]
    assert make_seeds(words, UnigramSettings(100, max_piece_length=1)).pieces == pieces[:6]


def test_one_step_of_em() -> None:
    """By hand: ``aa`` is written ``a a`` with p(a)**2, or ``aa`` with p(aa)."""
    words = {"aa": 6, "aab": 1, "baa": 1}
    pieces, scores, _ = make_seeds(words, UnigramSettings(100))
    assert (pieces, [round(score, 9) for score in scores]) == (
        ["a", "b", "aa"],
        [round(log(part / 24), 9) for part in (16, 2, 6)],
    )
    probability = 0.25 / (0.25 + (16 / 24) ** 2)
    number = 8 * probability
    expected = {"a": 2 * (8 - number), "b": 2.0, "aa": number}
    total = digamma(sum(expected.values()))
    part = learn_unigram(words, UnigramSettings(100, n_sub_iterations=1))
    assert dict(zip(part.pieces, part.scores)) == pytest.approx(
        {piece: digamma(n) - total for piece, n in expected.items()}
    )


def test_progress_tells_sizes_and_objectives() -> None:
    seen: list[tuple[int, float]] = []
    learn_unigram(COURSE, UnigramSettings(10), progress=lambda *step: seen.append(step))
    assert [pieces for pieces, _ in seen] == [10, 9]
    assert seen[1][1] < seen[0][1]


def test_order_plays_no_part() -> None:
    part = learn_unigram(COURSE, UnigramSettings(9), ["<unk>"], 0)
    backward = dict(reversed(COURSE.items()))
    assert learn_unigram(backward, UnigramSettings(9), ["<unk>"], 0) == part


@given(
    st.dictionaries(st.text("abc\0é", max_size=40), st.integers(0, 5), max_size=8),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.3, 0.75, 0.99]),
    st.integers(1, 4),
)
def test_every_corpus_gives_pieces_or_a_clear_error(
    counts: dict[str, int], vocab_size: int, shrinking_factor: float, n_sub_iterations: int
) -> None:
    options = UnigramSettings(
        vocab_size, shrinking_factor=shrinking_factor, n_sub_iterations=n_sub_iterations
    )
    try:
        pieces, scores, _, _ = learn_unigram(counts, options)
    except ValueError as error:
        assert "vocab" in str(error) or "text" in str(error)  # noqa: PT017
        return
    chars = {char for word, count in counts.items() if count for char in word}
    assert chars <= set(pieces)
    assert len(set(pieces)) == len(pieces)
    assert list(scores) == sorted(scores, reverse=True)
    assert all(float("-inf") < score < 0.1 for score in scores)


# Errors


def test_where_the_reference_never_ends() -> None:
    with pytest.raises(ValueError, match=r"does not end.* raise vocab_size to 10 or more"):
        learn_unigram({"abcdef": 1}, UnigramSettings(6))
    assert len(learn_unigram({"abcdef": 1}, UnigramSettings(10)).pieces) == 6


# The end


def test_special_tokens_and_the_unknown_one_come_first() -> None:
    words = {"The": 12, "are": 11}
    first = ["[UNK]", "[SEP]", "[CLS]"]
    pieces, scores, unknown, _ = learn_unigram(words, UnigramSettings(12), first, 0)
    assert list(pieces[:3]) == first
    assert (list(scores[:3]), unknown) == ([0.0, 0.0, 0.0], 0)
    for names, expected in ((["[SEP]", "[CLS]"], first), (["[SEP]", "[UNK]"], ["[SEP]", "[UNK]"])):
        settings = UnigramSettings(12, unknown="[UNK]", special_tokens=names)
        assert settings.kind.all_special_tokens == expected
        model: Any = train(["The are"], settings).definition.model
        assert model.pieces[: len(expected)] == expected
        assert model.unknown == expected.index("[UNK]")
    pieces, _, unknown, _ = learn_unigram(words, UnigramSettings(12))
    assert (pieces[0], unknown) == ("e", None)


def test_dropped_characters_get_the_least_scores() -> None:
    options = UnigramSettings(100, initial_alphabet="zyx")
    part = learn_unigram(COURSE, options)
    scores = dict(zip(part.pieces, part.scores))
    least = min(learn_unigram(COURSE, UnigramSettings(100)).scores)
    # h has been dropped, too.
    steps = [round((scores[char] - least) * 10_000, 6) for char in "hxyz"]
    assert steps == [0, 1, 2, 3]


def test_the_size_is_exceeded_if_the_characters_are_as_many() -> None:
    """The reference stops when the size is met exactly, after a piece that is no character."""
    words = {"ababab": 5, "abab": 4, "baba": 9, "cd": 3, "xab": 2, "efghijklmnopqrstu": 2}
    chars = set("".join(words))
    part = learn_unigram(words, UnigramSettings(len(chars)))
    assert len(part.pieces) > len(chars)
    assert len(learn_unigram(words, UnigramSettings(len(chars) + 1)).pieces) == len(chars) + 1


def test_the_placeholder_is_no_piece() -> None:
    words = {f"{end}<UNK>{end}": 9 for end in "abcdef"}
    part = learn_unigram(words, UnigramSettings(60))
    assert "<UNK>" not in part.pieces
    assert "<UNK" not in part.pieces  # It does not branch.
    assert {"a", "<", ">"} < set(part.pieces)


# The whole


def test_long_text_is_learned_from_in_time() -> None:
    part = learn_unigram({"a" * 4_000: 1, "ab" * 400: 1}, UnigramSettings(20))
    assert "a" * 16 in part.pieces
    part = learn_unigram({"the same line again " * 300: 1}, UnigramSettings(30))
    assert "same line again " in part.pieces


def test_train_unigram_gives_a_tokenizer() -> None:
    texts = ["hug " * 10 + "pug " * 5 + "pun " * 12]
    enc = train(texts, UnigramSettings(14, special_tokens=["<s>"]), workers=1)
    assert [enc.id_to_token(token) for token in range(3)] == ["<unk>", "<s>", "▁pu"]
    assert enc.decode(enc.encode("hug pun")) == "hug pun"
    assert enc.encode("hug<s>", allowed_special="all")[-1] == 1
    assert enc.encode("x")[-1] == 0


def test_rare_words_and_weights() -> None:
    rare = {"a": ["hug hug hugs"], "b": ["pun"]}
    enc = train(rare, UnigramSettings(30, min_frequency=2))
    assert enc.token_to_id("n") is None
    light = train(rare, UnigramSettings(30))
    heavy = train(rare, UnigramSettings(30, weights={"b": 100.0}))

    def score(enc: Any, piece: str) -> float:
        model = enc.definition.model
        return float(model.scores[enc.token_to_id(piece)])

    assert score(heavy, "n") > score(light, "n")
    # Weights are not rounded to units: the expected numbers are in those of the corpus.
    same = train(rare, UnigramSettings(30, weights={"a": 19.0, "b": 6.0}))
    assert score(same, "n") == pytest.approx(score(light, "n"))


def test_a_tokenizer_to_be_trained_anew() -> None:
    old = train(["hug pug pun"] * 3, UnigramSettings(20, unknown="?", pre_tokenizer="whitespace"))
    new = train(["abc abcd bcd"] * 3, UnigramSettings(20, like=old))
    assert new.id_to_token(0) == "?"
    assert new.definition.parts["pre_tokenizer"] == {"type": "Whitespace"}
    assert new.encode("hug") == [0]
