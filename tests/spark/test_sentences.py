"""Words of sentences, counted in parts: the model is that of the running text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.corpus.documents import parts_of
from compat_bpe.spark import counts
from compat_bpe.spark.job import _parser, _settings
from compat_bpe.spark.training import WordsTrainer, check_learned_from_words, sentence_words
from compat_bpe.train.sentencepiece.settings import SentencePieceSettings
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from tests.spark.corpora import texts

#: Settings that change what the sentences and their words are.
KINDS: list[dict[str, Any]] = [
    {},
    {"model_type": "word"},
    {"model_type": "char"},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    {"treat_whitespace_as_suffix": True, "allow_whitespace_only_pieces": True},
    {"split_by_whitespace": False, "user_defined_symbols": ["dog", "@"]},
    {"max_sentence_length": 12, "pretokenization_delimiter": "s"},
    {"character_coverage": 0.98, "byte_fallback": True},
]


def learned_in_parts(some: list[Any], own: SentencePieceSettings, parts: int) -> Any:
    """The pieces, the scores and the figures, when each task has some of the texts."""
    figures: Counter[str] = Counter()
    with WordsTrainer(own, "own", figures) as trainer:
        for first in range(parts):
            documents = (part for text in some[first::parts] for part in parts_of([text], "", ""))
            for counts in sentence_words(own, documents, False, figures):
                trainer.feed_counts(counts[""])
        return shown(trainer)


def learned_at_once(some: list[Any], own: SentencePieceSettings) -> Any:
    with SentencePieceTrainer(own, name="own") as trainer:
        for text in some:
            trainer.feed(text)
        return shown(trainer)


def shown(trainer: Any) -> Any:
    try:
        trained = trainer.train()
    except ValueError as error:
        return str(error)
    model = trained.encoding.definition
    return list(model.texts), list(model.scores), trained.metrics()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=15)
@given(texts, st.integers(1, 3))
def test_models_are_those_of_the_running_text(
    kind: dict[str, Any], some: list[Any], parts: int
) -> None:
    own = SentencePieceSettings(320, hard_vocab_limit=False, **kind)
    some = [text for text in some if text]
    assert learned_in_parts(some, own, parts) == learned_at_once(some, own)


def test_words_go_on_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "HELD", 3)
    own = SentencePieceSettings(60, hard_vocab_limit=False)
    some = ["a dog and a cat\n" * 5_000, "a dog\ntwo dogs\r\n", "x" * 70_000]
    figures: Counter[str] = Counter()
    documents = (part for text in some for part in parts_of([text], "", ""))
    portions = list(sentence_words(own, documents, False, figures))
    assert [len(portion[""]) for portion in portions] == [4, 4, 0, 0]
    # "skipped" is what is not UTF-8.
    assert set(figures) == {f"sentences.{name}" for name in ("bytes", "lines", "skipped")}
    found = learned_in_parts(some, own, 2)
    assert found == learned_at_once(some, own)
    assert found[2]["skipped_lines"] == 1


def test_what_is_not_learned_from_words() -> None:
    with pytest.raises(ValueError, match="substrings of the running text"):
        check_learned_from_words(SentencePieceSettings(300, "unigram"))
    with pytest.raises(ValueError, match=r"DataFrame\.sample"):
        check_learned_from_words(SentencePieceSettings(300, input_sentence_size=1000))


def test_settings_of_the_job() -> None:
    def of(*options: str) -> Any:
        arguments = ["train", "corpus", "-o", "own", "--model", "sentencepiece-bpe", *options]
        return _settings(_parser().parse_args(arguments))

    assert of("-n", "300", "--special", "<a>") == SentencePieceSettings(
        300, control_symbols=["<a>"], hard_vocab_limit=False
    )
    for options, message in (
        (["-n", "300", "--weight", "en=2"], "--weight is not for --model sentencepiece-bpe"),
        (["-n", "300", "--merges", "2"], "--merges is not for --model sentencepiece-bpe"),
        ([], r"Give --vocab-size\."),
    ):
        with pytest.raises(ValueError, match=message):
            of(*options)
