"""Counted words; that they are those of tokenizers is tested in ``differential``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.train.words import CountedWords, WordCounter, multipliers_of
from tests.strategies import texts

WORDS: dict[str, Any] = {"pre_tokenizer": {"type": "WhitespaceSplit"}}
LOWER: dict[str, Any] = {**WORDS, "normalizer": {"type": "Lowercase"}}


def counted(groups: dict[str, list[str]], parts: dict[str, Any], **options: Any) -> CountedWords:
    with WordCounter.of_parts(parts, **options) as counter:
        for group, some in groups.items():
            for text in some:
                counter.feed(text, group)
        return counter.finish()


def test_words_are_normalized_and_counted_over_all_groups() -> None:
    found = counted({"a": ["The dog the"], "b": ["DOG  é"]}, LOWER)
    assert found == CountedWords({"the": 2, "dog": 2, "é": 1}, 1, 14, 5, {})


def test_without_a_pre_tokenizer_a_text_is_a_word() -> None:
    assert counted({"": ["a b", "a b", ""]}, {}).counts == {"a b": 2}


@pytest.mark.parametrize("parts", [WORDS, LOWER, {"pre_tokenizer": {"type": "BertPreTokenizer"}}])
@given(text=texts, cut=st.integers(0, 50))
def test_pieces_give_what_the_whole_gives(parts: dict[str, Any], text: str, cut: int) -> None:
    with WordCounter.of_parts(parts) as counter:
        # The second piece goes on where the first ends, and "x" is never nothing.
        counter.feed(text[:cut], is_last=False)
        counter.feed(text[cut:] + " x")
        found = counter.finish()
    assert found == counted({"": [text + " x"]}, parts)
    assert found.words == sum(found.counts.values())
    assert found.bytes == sum(len(word.encode()) * n for word, n in found.counts.items())


def test_words_by_processes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.corpus.chunk_counts._WORTH_WORKERS", 10)
    monkeypatch.setattr("compat_bpe.corpus.chunk_counts._SHARE", 20)
    some = {"a": ["The dog the cat"] * 9, "b": ["a B a"] * 9}
    alone = counted(some, LOWER, workers=1)
    assert counted(some, LOWER, workers=2) == alone
    assert Counter(alone.counts) == Counter({"the": 18, "dog": 9, "cat": 9, "a": 18, "b": 9})


def test_bytes_that_are_written_as_characters_are_bytes() -> None:
    parts = {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    }
    found = counted({"": ["é é"]}, parts)
    assert (found.counts, found.bytes) == ({"Ã©": 1, "ĠÃ©": 1}, 5)


def test_weights_make_groups_count_in_proportion() -> None:
    some = {"a": ["xx"] * 10, "b": ["yyyy"] * 10, "": ["zz"]}
    found = counted(some, WORDS, weights={"a": 2})
    # Of 20, 40 and 2 bytes are made 2, 1 and 1 parts; the largest group stays as it is.
    assert found.factors == {"a": 4.0, "b": 1.0, "": 20.0}
    assert found.counts == {"xx": 40_000, "yyyy": 10_000, "zz": 20_000}
    assert (found.unit, found.words, found.bytes) == (1000, 21, 62)
    assert multipliers_of({"a": 1, "b": 3}, {"b": 1.5}) == {"a": 2000, "b": 1000}


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="no text to learn from"):
        counted({"": ["", "  "]}, WORDS)
    with pytest.raises(ValueError, match="a weight for 'c', but no such text; the groups are 'a'"):
        counted({"a": ["x"]}, WORDS, weights={"c": 1})
    with pytest.raises(ValueError, match="the tokenizer: pre_tokenizer: there is no 'type'"):
        WordCounter.of_parts({"pre_tokenizer": {}})
    with pytest.raises(TypeError, match="must be a str"):
        counted({"": [b"x"]}, WORDS)  # type: ignore[list-item]
