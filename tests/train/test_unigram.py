"""Learning a Unigram vocabulary, each step against its rule; ``differential`` has the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import exp, inf, lgamma, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.train import UnigramSettings, segmentations, train
from compat_bpe.train.segmentations import PlainModel, Segmentations, SharedLattice
from compat_bpe.train.unigram import (
    branching_substrings,
    digamma,
    find_alternatives,
    learn_unigram,
    make_seeds,
    prune,
)
from tests.train.plain import COURSE, expected_by_the_rule, score_of, ways

words_of_few_letters = st.dictionaries(
    st.one_of(st.text("ab", min_size=1, max_size=9), st.text("abcd", min_size=1, max_size=6)),
    st.integers(1, 40),
    min_size=1,
    max_size=8,
)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[str, float]:
    """Pieces with the logarithms of probabilities; all of four letters are among them."""
    longer = draw(st.sets(st.text("abcd", min_size=2, max_size=4), max_size=12))
    pieces = ["a", "b", "c", "d", *sorted(longer)]
    weights = [draw(st.floats(0.01, 1.0)) for _ in pieces]
    return {piece: log(weight / sum(weights)) for piece, weight in zip(pieces, weights)}


def ids_of(scores: Mapping[str, float]) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(scores)}


# Substrings


@given(
    st.sets(st.text("ab", min_size=1, max_size=20) | st.text("abc\0😀", min_size=1), max_size=12),
    st.integers(1, 20),
)
def test_substrings_are_those_of_the_rule(words: set[str], longest: int) -> None:
    found = list(branching_substrings(sorted(words), longest))
    assert dict(found) == naive_substrings(sorted(words), longest)
    assert len(dict(found)) == len(found)


def naive_substrings(words: Sequence[str], longest: int) -> dict[str, int]:
    """The rule for words that may have the character that ends words."""
    parts = Counter(part for word in words for part in word.split("\0"))
    counts: Counter[str] = Counter()
    following: dict[str, set[str]] = {}
    for part, times in parts.items():
        ended = part + "\0"
        for start in range(len(part)):
            for stop in range(start + 2, min(len(part), start + longest) + 1):
                counts[ended[start:stop]] += times
                following.setdefault(ended[start:stop], set()).add(ended[stop])
    return {it: n for it, n in counts.items() if n > 1 and len(following[it]) > 1}


def test_a_text_that_repeats_itself_is_no_trouble() -> None:
    found = dict(branching_substrings(["a" * 30_000], 16))
    assert found == {"a" * length: 30_001 - length for length in range(2, 17)}


# The lattice


@given(words_of_few_letters, vocabularies())
def test_expected_numbers_are_those_of_all_ways(
    counts: dict[str, int], scores: dict[str, float]
) -> None:
    rule, objective = expected_by_the_rule(counts, scores)
    found, total = Segmentations(counts, list(scores)).expect(list(scores.values()), 0.5)
    assert dict(zip(scores, found)) == pytest.approx(rule, rel=1e-9, abs=1e-12)
    assert total == pytest.approx(objective, rel=1e-9)
    model = PlainModel(ids_of(scores), list(scores.values()))
    plain = [0.0] * len(scores)
    total = sum(count * model.expect(word, count, plain) for word, count in counts.items())
    assert dict(zip(scores, plain)) == pytest.approx(rule, rel=1e-9, abs=1e-12)
    assert total == pytest.approx(objective, rel=1e-9)


@given(words_of_few_letters, vocabularies())
def test_best_counts_are_those_of_the_best_ways(
    counts: dict[str, int], scores: dict[str, float]
) -> None:
    numbers = dict.fromkeys(scores, 0.0)
    for word, count in counts.items():
        # Of equal ways, the one whose last piece is the longest, and so on.
        best = max(
            ways(word, scores), key=lambda way: (score_of(way, scores), [*map(len, way[::-1])])
        )
        for piece in best:
            numbers[piece] += count
    found = Segmentations(counts, list(scores)).best_counts(list(scores.values()))
    assert dict(zip(scores, found)) == numbers
    model = PlainModel(ids_of(scores), list(scores.values()))
    plain: Counter[int] = Counter()
    for word, count in counts.items():
        for number in model.best(word):
            plain[number] += count
    assert plain == {ids_of(scores)[piece]: n for piece, n in numbers.items() if n}


@given(vocabularies(), st.sets(st.integers(4, 15)))
def test_pieces_can_be_dropped(scores: dict[str, float], dropped: set[int]) -> None:
    counts = {"abcabc": 3, "abcd" * 3: 2, "dcba" * 9: 1, "aab": 7}
    all_words = Segmentations(counts, list(scores))
    live = [number for number in range(len(scores)) if number not in dropped]
    all_words.keep(live)
    kept = {piece: score for number, (piece, score) in enumerate(scores.items()) if number in live}
    values = [score if number in live else -inf for number, score in enumerate(scores.values())]
    found, objective = all_words.expect(values, 0.5)
    afresh, rule = Segmentations(counts, list(kept)).expect(list(kept.values()), 0.5)
    assert [found[number] for number in live] == pytest.approx(afresh, rel=1e-9, abs=1e-12)
    assert objective == pytest.approx(rule, rel=1e-9)


@given(st.text("abcd", min_size=200, max_size=1500), vocabularies())
def test_long_words_go_by_parts_or_plainly(word: str, scores: dict[str, float]) -> None:
    model = PlainModel(ids_of(scores), list(scores.values()))
    plain = [0.0] * len(scores)
    total = 2 * model.expect(word, 2, plain)
    found, objective = Segmentations({word: 2}, list(scores)).expect(list(scores.values()), 0.5)
    assert found == pytest.approx(plain, rel=1e-9, abs=1e-9)
    assert objective == pytest.approx(total, rel=1e-9)
    numbers: Counter[int] = Counter(model.best(word))
    best = Segmentations({word: 1}, list(scores)).best_counts(list(scores.values()))
    score = sum(n * value for n, value in zip(best, scores.values()))
    assert score == pytest.approx(sum(n * list(scores.values())[p] for p, n in numbers.items()))


def test_probabilities_too_small_for_floats() -> None:
    scores = [-700.0, -1.0, -701.5]
    words = Segmentations({"aaaa": 1, "b": 1}, ["a", "b", "aa"])
    expected, objective = words.expect(scores, 0.5)
    # Five ways: four a; three with one aa; one with two.
    probabilities = [(4, 0, 0.0), (2, 1, 698.5), (2, 1, 698.5), (2, 1, 698.5), (0, 2, 1397.0)]
    total = sum(exp(part - 1397.0) for _, _, part in probabilities)
    assert objective == pytest.approx(-1403.0 + log(total) - 1.0)
    assert expected[2] == pytest.approx(
        sum(number * exp(part - 1397.0) / total for _, number, part in probabilities)
    )
    assert expected[1] == 1.0


def test_numbers_near_the_limit_have_the_bits_of_the_reference() -> None:
    scores = [log(0.25), log(0.5), log(0.125)]
    words = Segmentations({"ab": 1}, ["a", "b", "ab"])
    model = PlainModel({"a": 0, "b": 1, "ab": 2}, scores)
    plain = [0.0, 0.0, 0.0]
    model.expect("ab", 1, plain)
    assert words.expect(scores, 0.5)[0] == plain
    assert abs(plain[0] - 0.5) < 1e-12


@given(vocabularies())
def test_alternatives_are_the_best_other_ways(scores: dict[str, float]) -> None:
    pieces = list(scores)
    found = find_alternatives(pieces, range(len(pieces)), list(scores.values()), 4)
    assert found.keys() == set(range(4, len(pieces)))
    for number, alternative in found.items():
        piece = pieces[number]
        others = [way for way in ways(piece, scores) if way != (piece,)]
        best = max(score_of(way, scores) for way in others)
        if best > scores[piece]:
            assert not alternative
        elif best < scores[piece]:
            assert score_of([pieces[it] for it in alternative], scores) == best
            assert tuple(pieces[it] for it in alternative) in others


# Pruning


def losses_by_the_rule(
    counts: Mapping[str, float], scores: Mapping[str, float], *, is_textbook: bool
) -> dict[str, float]:
    """The loss of each piece that has an alternative and is in a best way."""

    def best(word: str, without: str = "") -> tuple[str, ...]:
        return max(
            (way for way in ways(word, scores) if way != (without,)),
            key=lambda way: (score_of(way, scores), [*map(len, way[::-1])]),
        )

    numbers = dict.fromkeys(scores, 0.0)
    for word, count in counts.items():
        for piece in best(word):
            numbers[piece] += count
    total = sum(numbers.values())
    losses = {}
    for piece in scores:
        if len(piece) > 1 and numbers[piece] and best(piece) == (piece,):
            n = numbers[piece]
            alternative = best(piece, without=piece)
            more = len(alternative) - 1 if is_textbook else len(scores)
            after = sum(log((numbers[it] + n) / (total + n * more)) for it in alternative)
            losses[piece] = n / sum(counts.values()) * (log(n / total) - after)
    return losses


@given(words_of_few_letters, vocabularies(), st.integers(0, 16))
def test_pruning_keeps_characters_then_the_greatest_losses(
    counts: dict[str, int], scores: dict[str, float], most: int
) -> None:
    pieces = list(scores)
    found = prune(
        Segmentations(counts, pieces), pieces, range(len(pieces)), list(scores.values()), 4, most
    )
    losses = losses_by_the_rule(counts, scores, is_textbook=False)
    kept = [pieces[number] for number in found if number >= 4]
    assert found[:4] == [0, 1, 2, 3]
    if most < 4:
        assert set(kept) == set(losses)
    else:
        assert len(kept) == min(len(losses), most - 4)
    assert [losses[piece] for piece in kept] == pytest.approx(
        sorted(losses.values(), reverse=True)[: len(kept)]
    )


def test_the_loss_is_not_the_textbook_s() -> None:
    """The words tell the reference's sum, with all pieces, from the right one."""
    counts = {"ab": 50, "cd": 3, "a": 9, "b": 9, "c": 1, "d": 1, "abcd": 4}
    scores = {"a": -2.0, "b": -2.0, "c": -3.0, "d": -3.0, "ab": -1.0, "cd": -3.0, "abcd": -3.5}
    right = losses_by_the_rule(counts, scores, is_textbook=True)
    wrong = losses_by_the_rule(counts, scores, is_textbook=False)
    assert right["abcd"] < right["cd"]
    assert wrong["abcd"] != pytest.approx(right["abcd"])
    pieces = list(scores)
    found = prune(Segmentations(counts, pieces), pieces, range(7), list(scores.values()), 4, 6)
    assert sorted(wrong, key=wrong.__getitem__)[1:] == [
        pieces[number] for number in reversed(found[4:])
    ]


def test_a_character_that_is_no_piece_counts_as_unknown() -> None:
    counts = {"ab": 5, "c": 2, "d": 3}
    pieces = ["a", "b", "c", "d", "ab"]
    scores = [-2.0, -2.0, -12.0, -12.0, -1.0]
    found = prune(Segmentations(counts, pieces), pieces, [0, 1, 4], scores, 4, 3)
    assert found == [0, 1, 4]


# The course of Hugging Face


COURSE_NUMBERS = {
    "h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16,
    "un": 16, "b": 4, "bu": 4, "s": 5, "hug": 15, "gs": 5, "ugs": 5,
}  # fmt: skip


def course_loss(numbers: Mapping[str, int]) -> float:
    """The negative log probability of the words' best ways, in the course's first probabilities."""
    scores = [log(number / 210) for number in COURSE_NUMBERS.values()]
    live = [piece for piece in COURSE_NUMBERS if piece in numbers]
    words = Segmentations(COURSE, list(COURSE_NUMBERS))
    words.keep([number for number, piece in enumerate(COURSE_NUMBERS) if piece in live])
    best = words.best_counts(scores)
    return -sum(number * score for number, score in zip(best, scores) if number)


def without(piece: str) -> dict[str, int]:
    return {name: number for name, number in COURSE_NUMBERS.items() if name != piece}


def test_the_numbers_of_the_course() -> None:
    assert sum(COURSE_NUMBERS.values()) == 210
    assert course_loss(COURSE_NUMBERS) == pytest.approx(169.8, abs=0.05)
    assert course_loss(without("pu")) == pytest.approx(course_loss(COURSE_NUMBERS))
    assert course_loss(without("hug")) - course_loss(COURSE_NUMBERS) == pytest.approx(
        23.5, abs=0.05
    )
    model = PlainModel(ids_of(COURSE_NUMBERS), [log(n / 210) for n in COURSE_NUMBERS.values()])
    names = list(COURSE_NUMBERS)
    assert [names[piece] for piece in model.best("unhug")] == ["un", "hug"]


# Arithmetic


@given(st.floats(0.5, 1e6))
def test_digamma_is_the_derivative_of_the_log_of_gamma(number: float) -> None:
    step = number * 1e-4
    slope = (lgamma(number + step) - lgamma(number - step)) / (2 * step)
    assert digamma(number) == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_digamma_is_exact_enough() -> None:
    euler = 0.5772156649015329
    harmonic = 0.0
    for number in range(1, 40):
        assert digamma(float(number)) == pytest.approx(harmonic - euler, abs=1e-10)
        harmonic += 1 / number


def test_a_lattice_shares_what_words_begin_with() -> None:
    lattice = SharedLattice(["ab", "abc", "b"], {"a": 0, "b": 1, "c": 2})
    assert lattice.size == 5
    assert [len([*group]) for _, group in groupby(lattice.stops)] == [1, 1, 1, 1]


@pytest.mark.parametrize("limit", [1, 3])
def test_very_long_words_share_nothing(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"abab": 2, "ba": 3, "a": 1, "abcabcabc": 4}
    scores = {"a": -1.0, "b": -1.5, "c": -2.0, "ab": -2.0, "abc": -2.5}
    pieces, values = list(scores), list(scores.values())
    usual = Segmentations(counts, pieces)
    monkeypatch.setattr(segmentations, "_TOO_LONG", limit)
    found = Segmentations(counts, pieces)
    assert found.expect(values, 0.5)[0] == pytest.approx(usual.expect(values, 0.5)[0])
    assert found.best_counts(values) == usual.best_counts(values)


def test_what_goes_plainly_counts_as_often_as_it_occurs() -> None:
    """A long word whose probability is below that of floats."""
    scores = {"a": -2.8, "b": -1.4, "aa": -6.0}
    word = "a" * 300
    once, twice = (
        Segmentations({word: count}, list(scores)).expect(list(scores.values()), 0.5)[1]
        for count in (1, 2)
    )
    assert twice == pytest.approx(2 * once)


# The vocabulary


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


def test_where_the_reference_never_ends() -> None:
    with pytest.raises(ValueError, match=r"does not end.* raise vocab_size to 10 or more"):
        learn_unigram({"abcdef": 1}, UnigramSettings(6))
    assert len(learn_unigram({"abcdef": 1}, UnigramSettings(10)).pieces) == 6


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
