"""Names that are there for one more release: each works as before, and says what to use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import compat_bpe.train
from compat_bpe.train import (
    CharacterBpeSettings,
    SentencePieceSettings,
    Settings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
)

TEXTS = ["hug " * 10 + "pug " * 5 + "pun " * 12]
KINDS: dict[str, type[Settings[Any]]] = {
    "train_wordpiece": WordPieceSettings,
    "train_character_bpe": CharacterBpeSettings,
    "train_unigram": UnigramSettings,
    "train_word_level": WordLevelSettings,
    "train_sentencepiece": SentencePieceSettings,
}


def deprecated(name: str) -> Any:
    with pytest.warns(DeprecationWarning, match=rf"train\.{name} is deprecated: use ") as caught:
        found = getattr(compat_bpe.train, name)
    assert caught[0].filename == __file__
    return found


@pytest.mark.parametrize(("name", "make"), KINDS.items())
def test_a_function_of_one_kind(name: str, make: Any) -> None:
    function = deprecated(name)
    enc = function(TEXTS, 14, name="own")
    assert (enc.name, enc.definition) == ("own", train(TEXTS, make(14), name="own").definition)
    with pytest.raises(TypeError):
        function(TEXTS, 14, unheard_of=1)


def test_arguments_about_texts() -> None:
    counts = {"hug": 2, "pug": 1}
    enc = deprecated("train_wordpiece")(counts=counts, num_merges=2, workers=1)
    assert enc.n_vocab == train([], WordPieceSettings(num_merges=2), counts=counts).n_vocab == 9


def test_settings_and_train_tokenizer() -> None:
    settings = WordPieceSettings(14)
    assert isinstance(settings, (deprecated("TokenizerSettings"), deprecated("MergeSettings")))
    enc = deprecated("train_tokenizer")(TEXTS, settings, workers=1)
    assert enc.definition == train(TEXTS, settings).definition


def test_the_character_map_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    like = SimpleNamespace(normalizer=SimpleNamespace(name="nmt_nfkc", charsmap=b"the map"))
    monkeypatch.setattr("compat_bpe.train._read_sentencepiece", lambda path: like)
    monkeypatch.setattr("compat_bpe.train.train", lambda texts, made, **_: given.append(made))
    deprecated("train_sentencepiece")(TEXTS, 14, "unigram", like="old.model", bos_piece="<b>")
    options: Any = {"normalization_rule_name": "nmt_nfkc", "charsmap": b"the map"}
    assert given == [SentencePieceSettings(14, "unigram", bos_piece="<b>", **options)]


def test_what_there_never_was() -> None:
    with pytest.raises(AttributeError, match=r"'compat_bpe\.train' has no attribute 'train_all'"):
        compat_bpe.train.train_all  # noqa: B018
