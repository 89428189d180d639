"""Learning merges, against the rule written out; against ``BpeTrainer`` in ``differential``."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.train.bpe import learner as merges_module
from compat_bpe.train.bpe.learner import Learner, Merge, learn_merges

BYTES = [bytes([byte]) for byte in range(256)]

words_of_few_letters = st.dictionaries(
    st.one_of(st.text("ab", max_size=12), st.text("abcde", max_size=8)),
    st.integers(1, 40),
    max_size=30,
)


def by_the_rule(
    words: dict[str, int], tokens: list[bytes], min_frequency: int, longest: int | None
) -> list[Merge]:
    """All pairs of all words counted anew for each merge."""
    tokens = list(tokens)
    now = {word: list(map(ord, word)) for word in words}
    found: list[Merge] = []
    while True:
        counts: Counter[tuple[int, int]] = Counter()
        for word, parts in now.items():
            for pair in zip(parts, parts[1:]):
                counts[pair] += words[word]
        fit = {
            pair: count
            for pair, count in counts.items()
            if count >= max(min_frequency, 1)
            and (token := tokens[pair[0]] + tokens[pair[1]]) not in tokens
            and (longest is None or len(token) <= longest)
        }
        if not fit:
            return found
        best = min(fit, key=lambda pair: (-fit[pair], pair))
        found.append(Merge(*best, fit[best], len(tokens)))
        for parts in now.values():
            place = 0
            while place < len(parts) - 1:
                if (parts[place], parts[place + 1]) == best:
                    parts[place : place + 2] = [len(tokens)]
                place += 1
        tokens.append(tokens[best[0]] + tokens[best[1]])


@given(words_of_few_letters, st.integers(0, 5), st.none() | st.integers(1, 6))
def test_all_merges_are_those_of_the_rule(
    words: dict[str, int], min_frequency: int, longest: int | None
) -> None:
    found = learn_merges(words, BYTES, min_frequency=min_frequency, max_token_length=longest)
    assert list(found) == by_the_rule(words, BYTES, min_frequency, longest)


@given(words_of_few_letters, st.integers(2, 9))
def test_however_soon_pairs_are_forgotten(words: dict[str, int], step: int) -> None:
    expected = by_the_rule(words, BYTES, 1, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merges_module, "_STEP", step)
        assert list(learn_merges(words, BYTES)) == expected


@given(words_of_few_letters, st.lists(st.text("ab", min_size=2, max_size=4).map(str.encode)))
def test_what_is_a_token_already_is_not_learned(words: dict[str, int], others: list[bytes]) -> None:
    tokens = BYTES + others
    assert list(learn_merges(words, tokens)) == by_the_rule(words, tokens, 1, None)


@given(words_of_few_letters, st.integers(0, 10))
def test_size_is_the_number_of_tokens_that_are_left(words: dict[str, int], number: int) -> None:
    learner = Learner(words, BYTES)
    for _ in range(number):
        learner.step()
    whole = sum(count for word, count in words.items() if len(word) == 1)
    left = zip(learner._words, learner._frequencies)
    assert learner.size == whole + sum(len(word) * count for word, count in left)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # As in the chapter on tokenizers of the Hugging Face course.
        (
            {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5},
            [("ug", 20), ("un", 16), ("hug", 15), ("pun", 12), ("pug", 5), ("hugs", 5)],
        ),
        # Of Sennrich, Haddow and Birch (2016), without their mark for the end of a word: "es" and
        # "st" come equally often, as "lo" and "ow" do, and the lower ids decide.
        (
            {"low": 5, "lower": 2, "newest": 6, "widest": 3},
            [("es", 9), ("est", 9), ("lo", 7), ("low", 7), ("ew", 6), ("new", 6)],
        ),
        ({"man": 1, "woman": 1}, [("an", 2), ("man", 2), ("oman", 1), ("woman", 1)]),
    ],
)
def test_examples_from_the_literature(
    words: dict[str, int], expected: list[tuple[str, int]]
) -> None:
    tokens = list(BYTES)
    found = []
    for left, right, count, _ in islice(learn_merges(words, BYTES), len(expected)):
        tokens.append(tokens[left] + tokens[right])
        found.append((tokens[-1].decode(), count))
    assert found == expected


def test_overlapping_pairs_are_joined_from_the_left() -> None:
    learner = Learner({"aaaaa": 1}, BYTES)
    assert learner.step() == Merge(97, 97, 4, 256)
    assert learner._words == ["\u0100\u0100a"]


def test_nothing_to_learn_from() -> None:
    assert list(learn_merges({}, BYTES)) == []
    assert list(learn_merges({"a": 3, "": 1}, BYTES)) == []


def test_ids_end_where_code_points_do() -> None:
    tokens = BYTES + [b""] * (merges_module.MOST_TOKENS - len(BYTES) - 1)
    learner = Learner({"abc": 1}, tokens)
    assert learner.step() == Merge(97, 98, 1, merges_module.MOST_TOKENS - 1)
    with pytest.raises(ValueError, match="no more than 1,114,112 tokens"):
        learner.step()
