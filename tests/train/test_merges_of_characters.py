"""Merges of characters, against the rule written out; ``differential`` has the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import CharacterBpeSettings, train
from compat_bpe.train.bpe import learner
from compat_bpe.train.bpe.merges_of_characters import (
    CharacterLearner,
    LikelihoodLearner,
    Marks,
    alphabet_of,
    first_tokens,
    spelled,
)
from tests.kinds import kind_path
from tests.train.plain import COURSE, join


def words_of(*alphabets: str) -> st.SearchStrategy[dict[str, int]]:
    words = [st.text(chars, min_size=1, max_size=9 if len(chars) < 3 else 7) for chars in alphabets]
    return st.dictionaries(st.one_of(words), st.integers(1, 20), max_size=12)


some_words = words_of("ab", "abc#", "#", "a</w>")
all_marks = st.builds(Marks, st.sampled_from(["", "##", "#"]), st.sampled_from(["", "</w>", "a"]))


@given(
    some_words,
    all_marks,
    st.lists(st.sampled_from(["ab", "##ab", "##", "<", "[UNK]"]), unique=True),
    st.integers(0, 4),
    st.none() | st.integers(1, 5),
    st.none() | st.integers(0, 4),
    st.integers(2, 9),
)
@example({"####": 3, "###": 1}, Marks("##"), [], 0, None, None, 8)
def test_merges_are_those_of_the_rule(
    words: dict[str, int],
    marks: Marks,
    special: list[str],
    least: int,
    longest: int | None,
    limit: int | None,
    step: int,
) -> None:
    tokens = first_tokens(words, special, alphabet_of(words, limit=limit), marks)
    expected = merges_by_the_rule(words, tokens, marks, least, longest)
    learning = CharacterLearner(
        spelled(words, tokens, marks),
        tokens,
        marks.prefix,
        min_frequency=least,
        max_token_length=longest,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "_STEP", step)
        merges = list(iter(learning.step, None))
    names = learning.tokens
    assert [(names[m.left], names[m.right], m.frequency) for m in merges] == expected


@given(some_words, all_marks)
def test_the_first_tokens_spell_every_word(words: dict[str, int], marks: Marks) -> None:
    tokens = first_tokens(words, ["[UNK]"], alphabet_of(words), marks)
    assert len(tokens) == len({*tokens})
    found = spelled(words, tokens, marks)
    for word, ids in zip(words, found):
        last = len(word) - 1
        assert [tokens[ord(one)] for one in ids] == [
            marks.mark(char, place == 0, place == last) for place, char in enumerate(word)
        ]
    formed = {
        marks.mark(char, place == 0, place == len(word) - 1)
        for word in words
        for place, char in enumerate(word)
    } - {"[UNK]", *alphabet_of(words)}
    assert {*tokens[len(tokens) - len(formed) :]} == formed
    assert {*tokens} == {"[UNK]", *alphabet_of(words), *formed}
    # Two rules: those in more words come first, and those that always stand before others.
    spelled_words = [[tokens[ord(one)] for one in word] for word in found]
    counts = Counter(token for word in spelled_words for token in {*word} & formed)
    order = [token for token in tokens if token in formed]
    assert order == sorted(order, key=lambda token: -counts[token])
    for number, token in enumerate(order):
        heads = [word[: word.index(token)] for word in spelled_words if token in word]
        always = {*heads[0]}.intersection(*heads)
        assert always.isdisjoint(order[number:])


def test_the_alphabet() -> None:
    words = {"aab": 2, "bcd": 1, "é": 9}
    assert alphabet_of(words) == ["a", "b", "c", "d", "é"]
    assert alphabet_of(words, "zd") == ["a", "b", "c", "d", "z", "é"]
    # Of equally frequent characters, those of lower code points.
    assert alphabet_of(words, limit=4) == ["a", "b", "c", "é"]
    assert alphabet_of(words, "d", limit=2) == ["d", "é"]
    assert alphabet_of(words, "é", limit=2) == ["a", "é"]
    assert alphabet_of(words, "zyd", limit=2) == ["d", "y"]
    assert alphabet_of(words, limit=0) == []


def test_characters_that_are_left_out_bring_others_together() -> None:
    marks = Marks("##", "</w>")
    tokens = first_tokens(["axb", "xab"], [], ["a", "b"], marks)
    assert tokens == ["a", "b", "##b</w>", "##a"]
    assert spelled({"axb": 2, "xab": 1, "x": 5, "axxb": 1}, tokens, marks) == {
        "\x00\x02": 3,
        "\x03\x02": 1,
    }


def test_a_single_character_that_is_a_special_token_is_known() -> None:
    # As in tokenizers, a limit on the alphabet does not leave it out.
    marks = Marks("##")
    tokens = first_tokens(["ax"], ["x"], ["a"], marks)
    assert tokens == ["x", "a", "##x"]


def test_more_tokens_than_code_points() -> None:
    """A million different characters have more forms with a mark than there are code points."""
    tokens = [""] * (learner.MOST_TOKENS + 1)
    with pytest.raises(ValueError, match="there can be no more than 1,114,112 tokens"):
        spelled({"a": 1}, tokens, Marks("##"))


def test_a_model_trained_like_another_merges_by_its_own_list(tmp_path: Path) -> None:
    """Also if the file of the other spells each merge as one text, as old files do."""
    like = load(kind_path("characters_byte_fallback"))
    assert isinstance(like, Tokenizer)
    enc = train(["the dog and the dogs do dig"], CharacterBpeSettings(60, like=like))
    save_tokenizer_json(enc, tmp_path / "tokenizer.json")
    read = load(tmp_path / "tokenizer.json")
    assert read.encode("the dogs do") == enc.encode("the dogs do")


MARKS = Marks("##")

words_within_marks = words_of("ab", "abcde", "a#", "#")


def learner_of(
    words: dict[str, int], tokens: list[str] | None = None, **options: int | None
) -> LikelihoodLearner:
    tokens = first_tokens(words, [], alphabet_of(words), MARKS) if tokens is None else tokens
    return LikelihoodLearner(spelled(words, tokens, MARKS), tokens, "##", **options)


def likelihood(both: int, left: int, right: int) -> float:
    return both / (left * right)


@given(words_within_marks, st.integers(0, 4), st.none() | st.integers(1, 5))
def test_merges_by_likelihood_are_those_of_the_rule(
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


@given(words_within_marks, st.integers(0, 9))
def test_size_is_the_number_of_tokens_that_are_left(words: dict[str, int], number: int) -> None:
    learner = learner_of(words)
    for _ in range(number):
        learner.step()
    left = zip(learner._words, learner._frequencies)
    alone = sum(count for word, count in words.items() if len(word) == 1)  # they have no pairs
    assert learner.size == alone + sum(len(word) * count for word, count in left)


def test_the_example_of_the_course() -> None:
    """The chapter on WordPiece of the Hugging Face course, with the scores that it gives.

    Pairs of one score come there in the order of their first occurrence, and so do the ids here.
    """
    tokens = ["h", "##u", "##g", "p", "##n", "b", "##s", *"ugns"]
    learner = learner_of(COURSE, tokens)
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


def merges_by_the_rule(
    words: Mapping[str, int],
    tokens: Sequence[str],
    marks: Marks,
    least: int,
    longest: int | None,
    score: Callable[[int, int, int], float] = lambda both, left, right: both,
) -> list[tuple[str, str, float]]:
    """Return pairs in the order in which they are merged, each with its score.

    Args:
        words: how often each word occurs; characters that are no token are left out of it.
        tokens: the first tokens.
        marks: what tokens within a word, or at its end, have besides the characters.
        least: the fewest times that a pair occurs.
        longest: the most characters of a token.
        score: of how often a pair occurs, its left part and its right one. The pair with the
            highest is merged, and of equal ones that with the lower ids.
    """
    tokens = list(tokens)
    lengths = dict.fromkeys(tokens, 1)
    now: list[tuple[list[str], int]] = []
    for word, count in words.items():
        last = len(word) - 1
        chars = [(place, char) for place, char in enumerate(word) if char in tokens]
        now.append(([marks.mark(char, not p, p == last) for p, char in chars], count))
    found: list[tuple[str, str, float]] = []
    while True:
        pairs: Counter[tuple[str, str]] = Counter()
        single: Counter[str] = Counter()
        for parts, count in now:
            for part in parts:
                single[part] += count
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
        scores = {
            (left, right): score(count, single[left], single[right])
            for (left, right), count in pairs.items()
            if count >= max(least, 1)
            and (longest is None or lengths[left] + lengths[right] <= longest)
        }
        if not scores:
            return found
        left, right = min(scores, key=lambda pair: (-scores[pair], *map(tokens.index, pair)))
        found.append((left, right, scores[left, right]))
        made = left + right.removeprefix(marks.prefix)
        if made not in tokens:
            tokens.append(made)
            lengths[made] = lengths[left] + lengths[right]
        for parts, _ in now:
            join(parts, (left, right), made)
