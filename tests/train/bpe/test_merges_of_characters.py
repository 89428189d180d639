"""Merges of characters, against the rule written out; ``differential`` has the reference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import (
    CharacterBpeSettings,
    train,
)
from compat_bpe.train.bpe import learner
from compat_bpe.train.bpe.merges_of_characters import (
    CharacterLearner,
    Marks,
    alphabet_of,
    first_tokens,
    spelled,
)
from tests.kinds import kind_path
from tests.train.bpe.plain_merges import merges_by_the_rule

some_words = st.dictionaries(
    st.one_of(
        st.text("ab", min_size=1, max_size=9),
        st.text("abc#", min_size=1, max_size=7),
        st.text("#", min_size=1, max_size=9),
        st.text("a</w>", min_size=1, max_size=7),
    ),
    st.integers(1, 20),
    max_size=12,
)
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
