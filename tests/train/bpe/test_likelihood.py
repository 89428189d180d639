"""The textbook's rule for WordPiece: the published example, and the rule written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.train.bpe.merges_of_characters import (
    LikelihoodLearner,
    Marks,
    alphabet_of,
    first_tokens,
    spelled,
)
from tests.train.bpe.plain_merges import merges_by_the_rule

MARKS = Marks("##")

some_words = st.dictionaries(
    st.one_of(
        st.text("ab", min_size=1, max_size=9),
        st.text("abcde", min_size=1, max_size=7),
        st.text("a#", min_size=1, max_size=7),
        st.text("#", min_size=1, max_size=9),
    ),
    st.integers(1, 20),
    max_size=12,
)


def learner_of(
    words: dict[str, int], tokens: list[str] | None = None, **options: int | None
) -> LikelihoodLearner:
    tokens = first_tokens(words, [], alphabet_of(words), MARKS) if tokens is None else tokens
    return LikelihoodLearner(spelled(words, tokens, MARKS), tokens, "##", **options)  # type: ignore[arg-type]


def likelihood(both: int, left: int, right: int) -> float:
    return both / (left * right)


@given(some_words, st.integers(0, 4), st.none() | st.integers(1, 5))
def test_merges_are_those_of_the_rule(
    words: dict[str, int], least: int, longest: int | None
) -> None:
    tokens = first_tokens(words, ["##ab"], alphabet_of(words), MARKS)
    learner = learner_of(words, tokens, min_frequency=least, max_token_length=longest)
    found = []
    for _ in range(1000):
        best, merge = learner.best(), learner.step()
        if best is None:
            assert merge is None
            break
        assert merge is not None
        assert best[:2] == (learner.tokens[merge.left], learner.tokens[merge.right])
        assert merge.made == learner.tokens.index(best[0] + best[1].removeprefix("##"))
        found.append(best)
    assert found == merges_by_the_rule(words, tokens, MARKS, least, longest, likelihood)


@given(some_words, st.integers(0, 9))
def test_size_is_the_number_of_tokens_that_are_left(words: dict[str, int], number: int) -> None:
    learner = learner_of(words)
    for _ in range(number):
        learner.step()
    left = zip(learner._words, learner._counts_of_words)
    assert learner.size == sum(len(word) * count for word, count in left)


def test_the_example_of_the_course() -> None:
    """The chapter on WordPiece of the Hugging Face course, with the scores that it gives.

    Pairs of one score come there in the order of their first occurrence, and so do the ids here.
    """
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    tokens = ["h", "##u", "##g", "p", "##n", "b", "##s", *"ugns"]
    learner = learner_of(words, tokens)
    assert learner.best() == ("##g", "##s", 1 / 20)
    learner.step()
    # "All the possible pairs" with ##u have the same score; the first one is merged.
    assert learner.best() == ("h", "##u", 1 / 36)
    learner.step()
    assert learner.tokens[-2:] == ["##gs", "hu"]
    # The score of 1/15 is that of hu ##gs. The course gives hu ##g the same, but it has
    # 10 / (15 · 15), so that "hugs" is next, and not "hug".
    assert learner.best() == ("hu", "##gs", 1 / 15)
    learner.step()
    scores = {one: learner._score(one) for one in learner._counts}
    assert scores[chr(tokens.index("p")) + chr(tokens.index("##u"))] == 1 / 21


def test_scores_fall_where_a_token_is_made_again() -> None:
    words = {"ab": 1, "###": 4, "#x##": 9, "####": 2, "y###": 3}
    tokens = first_tokens(words, [], alphabet_of(words), MARKS)
    learner = learner_of(words, tokens)
    found = [best for _ in range(50) if (best := learner.best()) and learner.step()]
    assert found == merges_by_the_rule(words, tokens, MARKS, 0, None, likelihood)


def test_equal_scores_go_by_ids() -> None:
    learner = learner_of({"ab": 3, "cd": 3})
    assert learner.best() == ("a", "##b", 1 / 3)
    # 7 / (49 · 1) and 1 / 7 are one number.
    found = learner_of({"cd": 7, "xy": 7})
    assert found.best() == ("c", "##d", 1 / 7)


def test_ids_end_where_code_points_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.train.bpe.learner.MOST_TOKENS", 6)
    learner = learner_of({"abc": 1}, [*"abc", "##b", "##c"])
    learner.step()
    with pytest.raises(ValueError, match="no more than 6 tokens"):
        learner.step()
