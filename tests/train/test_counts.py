"""Counted words, and training from counts: it gives what training on the counted texts gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.corpus.chunk_counts import ChunkCounter
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.train import (
    CharacterBpeSettings,
    SentencePieceSettings,
    SentencePieceTrainer,
    Settings,
    Trained,
    Trainer,
    TrainingSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
    train_bpe,
)
from compat_bpe.train.bpe.growing import make_encoding
from compat_bpe.train.words import CountedWords, WordCounter, multipliers_of
from compat_bpe.unicode.surrogates import repair
from tests.examples import scaled
from tests.strategies import texts
from tests.train.plain import trained

#: Patterns that split in every way; for the last two, a chunk alone may be split once more.
SPLITS = ["gpt2", "o200k_base", "deepseek", r"\w+|\s", r"\w+(?=!)|.", r"(?<=a)b+|."]


def counted(some: list[str], pattern: str) -> list[tuple[str, int]]:
    with ChunkCounter(make_encoding("", pattern), 1) as counter:
        for text in some:
            counter.feed(text)
        return [*counter.finish().get("", {}).items()]


@st.composite
def shuffled(draw: st.DrawFn, pairs: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The pairs in another order, some of them in two parts, and some of nothing."""
    found = []
    for chunk, count in pairs:
        first = draw(st.integers(0, count))
        found += [(chunk, first), (chunk, count - first)] if first else [(chunk, count)]
    return draw(st.permutations(found))


def figures(found: Trained) -> dict[str, Any]:
    return {**found._asdict(), "encoding": found.encoding.n_vocab}


@pytest.mark.parametrize("pattern", SPLITS)
@given(some=st.lists(texts, min_size=1), data=st.data())
@settings(max_examples=scaled(20))
def test_bpe(pattern: str, some: list[str], data: st.DataObject) -> None:
    some = [*some, "a be"]
    own = TrainingSettings(num_merges=12, pattern=pattern)
    pairs = data.draw(shuffled(counted(some, pattern)))
    cut = data.draw(st.integers(0, len(some)))
    expected = figures(trained(own, some))
    assert figures(trained(own, counts=pairs)) == expected
    # Counts of some texts, beside the others.
    others = dict(counted(some[cut:], pattern))
    assert figures(trained(own, some[:cut], counts=others)) == expected


def test_chunks_that_are_split_when_they_stand_alone() -> None:
    pattern = r"\w+(?=!)|."
    counts = {"ab": 2, "!": 1}
    assert dict(counted(["ab!", "ab"], pattern)) == {"ab": 1, "!": 1, "a": 1, "b": 1}
    assert train_bpe(counts=counts, num_merges=1, pattern=pattern).decode([256]) == "ab"


#: A name for each different pattern.
NAMES = [*{pattern: name for name, pattern in PATTERNS.items()}.values(), "deepseek"]


@pytest.mark.parametrize("name", NAMES)
@given(some=texts)
@settings(max_examples=scaled(50))
def test_a_chunk_of_a_known_pattern_is_one_chunk_alone(name: str, some: str) -> None:
    trainer = Trainer(TrainingSettings(num_merges=0, pattern=name))
    trainer.feed_counts(counted([some], name))


KINDS = [
    WordPieceSettings(80),
    CharacterBpeSettings(80, pre_tokenizer="byte-level", suffix=""),
    WordLevelSettings(80, pre_tokenizer="metaspace", normalizer="nfkc"),
    WordLevelSettings(80, pre_tokenizer="whitespace-split", min_frequency=2),
    UnigramSettings(80, pre_tokenizer="metaspace"),
]


@pytest.mark.parametrize("own", KINDS)
@given(some=st.lists(texts, min_size=1, max_size=4), data=st.data())
@settings(max_examples=scaled(15))
def test_other_kinds(own: Settings[Tokenizer], some: list[str], data: st.DataObject) -> None:
    some = [*some, "a be bee"]
    expected = train(some, own)
    parts = expected.definition.parts
    with WordCounter.of_parts(parts, workers=1) as counter:
        for text in some:
            counter.feed(text)
        pairs = data.draw(shuffled([*counter.finish().counts.items()]))
    assert train([], own, counts=pairs).definition == expected.definition


@pytest.mark.parametrize("options", [{}, {"split_by_whitespace": False}, {"model_type": "word"}])
@given(some=st.lists(texts | st.just("\n"), min_size=1, max_size=4), data=st.data())
@settings(max_examples=scaled(15))
def test_sentencepiece(options: Mapping[str, Any], some: list[str], data: st.DataObject) -> None:
    own = SentencePieceSettings(400, hard_vocab_limit=False, **options)
    some = [repair(text) for text in [*some, "a be bee", *["cde fde"] * 4, *["bee\nbee"] * 3]]
    pairs = data.draw(shuffled([*Counter(filter(None, some)).items()]))
    expected = train(some, own).definition
    assert train([], own, counts=pairs).definition == expected
    assert train(some[:1], own, counts=Counter(filter(None, some[1:]))).definition == expected


def test_a_unigram_model_of_sentencepiece_needs_running_text() -> None:
    own = SentencePieceSettings(9, "unigram")
    message = "cannot be learned from counts"
    with SentencePieceTrainer(own) as trainer, pytest.raises(ValueError, match=message):
        trainer.feed_counts({"a": 1})
    assert train(["a b c"] * 9, SentencePieceSettings(7, "unigram"), counts=()).n_vocab == 7


def test_groups_have_weights_as_texts_do() -> None:
    some = {"large": ["aa aa"] * 100, "small": ["bb "] * 10}
    counts: Any = {group: dict(counted(own, "gpt2")) for group, own in some.items()}
    learn = partial(train_bpe, num_merges=2, weights={"small": 2})
    expected = learn(some)
    assert learn(counts=counts)._mergeable_ranks == expected._mergeable_ranks
    rows = [(chunk, n, group) for group, own in counts.items() for chunk, n in own.items()]
    assert learn(counts=rows)._mergeable_ranks == expected._mergeable_ranks
    assert learn({"small": some["small"]}, counts={"large": counts["large"]})._mergeable_ranks == (
        expected._mergeable_ranks
    )
    assert train_bpe(counts=counts, num_merges=2)._mergeable_ranks != expected._mergeable_ranks


class Number:
    """An integer that is no ``int``, as those of numpy."""

    def __index__(self) -> int:
        return 2


def test_counts_of_other_types_of_integers() -> None:
    found = trained(TrainingSettings(num_merges=1), counts=[("ab", Number())])
    assert found.merges == [(b"a", b"b", 256, 2)]


WORDS: dict[str, Any] = {"pre_tokenizer": {"type": "WhitespaceSplit"}}
LOWER: dict[str, Any] = {**WORDS, "normalizer": {"type": "Lowercase"}}


def counted_words(
    groups: dict[str, list[str]], parts: dict[str, Any], **options: Any
) -> CountedWords:
    with WordCounter.of_parts(parts, **options) as counter:
        for group, some in groups.items():
            for text in some:
                counter.feed(text, group)
        return counter.finish()


def test_words_are_normalized_and_counted_over_all_groups() -> None:
    found = counted_words({"a": ["The dog the"], "b": ["DOG  é"]}, LOWER)
    assert found == CountedWords({"the": 2, "dog": 2, "é": 1}, 1, 14, 5, {})


def test_without_a_pre_tokenizer_a_text_is_a_word() -> None:
    assert counted_words({"": ["a b", "a b", ""]}, {}).counts == {"a b": 2}


@pytest.mark.parametrize("parts", [WORDS, LOWER, {"pre_tokenizer": {"type": "BertPreTokenizer"}}])
@given(text=texts, cut=st.integers(0, 50))
def test_pieces_give_what_the_whole_gives(parts: dict[str, Any], text: str, cut: int) -> None:
    with WordCounter.of_parts(parts) as counter:
        # The second piece goes on where the first ends, and "x" is never nothing.
        counter.feed(text[:cut], is_last=False)
        counter.feed(text[cut:] + " x")
        found = counter.finish()
    assert found == counted_words({"": [text + " x"]}, parts)
    assert found.words == sum(found.counts.values())
    assert found.bytes == sum(len(word.encode()) * n for word, n in found.counts.items())


def test_words_by_processes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_bpe.corpus.chunk_counts._WORTH_WORKERS", 10)
    monkeypatch.setattr("compat_bpe.corpus.chunk_counts._SHARE", 20)
    some = {"a": ["The dog the cat"] * 9, "b": ["a B a"] * 9}
    alone = counted_words(some, LOWER, workers=1)
    assert counted_words(some, LOWER, workers=2) == alone
    assert Counter(alone.counts) == Counter({"the": 18, "dog": 9, "cat": 9, "a": 18, "b": 9})


def test_bytes_that_are_written_as_characters_are_bytes() -> None:
    parts = {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    }
    found = counted_words({"": ["é é"]}, parts)
    assert (found.counts, found.bytes) == ({"Ã©": 1, "ĠÃ©": 1}, 5)


def test_weights_make_groups_count_in_proportion() -> None:
    some = {"a": ["xx"] * 10, "b": ["yyyy"] * 10, "": ["zz"]}
    found = counted_words(some, WORDS, weights={"a": 2})
    # Of 20, 40 and 2 bytes are made 2, 1 and 1 parts; the largest group stays as it is.
    assert found.factors == {"a": 4.0, "b": 1.0, "": 20.0}
    assert found.counts == {"xx": 40_000, "yyyy": 10_000, "zz": 20_000}
    assert (found.unit, found.words, found.bytes) == (1000, 21, 62)
    assert multipliers_of({"a": 1, "b": 3}, {"b": 1.5}) == {"a": 2000, "b": 1000}


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="no text to learn from"):
        counted_words({"": ["", "  "]}, WORDS)
    with pytest.raises(ValueError, match="a weight for 'c', but no such text; the groups are 'a'"):
        counted_words({"a": ["x"]}, WORDS, weights={"c": 1})
    with pytest.raises(ValueError, match="the tokenizer: pre_tokenizer: there is no 'type'"):
        WordCounter.of_parts({"pre_tokenizer": {}})
    with pytest.raises(TypeError, match="must be a str"):
        counted_words({"": [b"x"]}, WORDS)  # type: ignore[list-item]
