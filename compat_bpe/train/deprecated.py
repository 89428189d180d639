"""Names of ``compat_bpe.train`` that are there for one more release, each with its replacement."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from ..corpus.chunk_counts import Counted
from ..encodings.sentencepiece import SentencePiece
from ..formats.sentencepiece import read_sentencepiece
from .bpe.merge_kinds import CharacterBpeSettings, MergeSettings, WordPieceSettings
from .kind import Settings
from .sentencepiece.settings import SentencePieceSettings
from .tokenizer_kind import TokenizerSettings
from .trainer import train
from .unigram.settings import UnigramSettings
from .word_level import WordLevelSettings

_ABOUT_TEXTS = ("counts", "validation", "workers", "name")


def _train_with(make: Callable[..., Settings[Any]]) -> Callable[..., Any]:
    """Return the function that trains one kind, by arguments that are its settings."""

    def train_kind(
        texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
        vocab_size: int | None = None,
        **options: Any,
    ) -> Any:
        others = {name: options.pop(name) for name in _ABOUT_TEXTS if name in options}
        return train(texts, make(vocab_size, **options), **others)

    return train_kind


def _train_sentencepiece(
    texts: Iterable[str],
    vocab_size: int,
    model_type: str = "bpe",
    *,
    counts: Counted = (),
    validation: Iterable[str] = (),
    like: str | os.PathLike[str] | None = None,
    name: str = "trained",
    **options: Any,
) -> SentencePiece:
    if like is not None:
        spec = read_sentencepiece(like).normalizer
        options = {"normalization_rule_name": spec.name, "charsmap": spec.charsmap, **options}
    settings = SentencePieceSettings(vocab_size, model_type, **options)
    return train(texts, settings, counts=counts, validation=validation, name=name)


#: Each name, what it stands for, and what is used instead.
_NAMES: dict[str, tuple[Any, str]] = {
    "train_tokenizer": (train, "train(texts, settings)"),
    "train_wordpiece": (_train_with(WordPieceSettings), "train(texts, WordPieceSettings(...))"),
    "train_character_bpe": (
        _train_with(CharacterBpeSettings),
        "train(texts, CharacterBpeSettings(...))",
    ),
    "train_unigram": (_train_with(UnigramSettings), "train(texts, UnigramSettings(...))"),
    "train_word_level": (_train_with(WordLevelSettings), "train(texts, WordLevelSettings(...))"),
    "train_sentencepiece": (_train_sentencepiece, "train(texts, SentencePieceSettings(...))"),
    "TokenizerSettings": (TokenizerSettings, "the settings of a kind, such as WordPieceSettings"),
    "MergeSettings": (MergeSettings, "the settings of a kind, such as WordPieceSettings"),
}


def deprecated(name: str) -> Any:
    """Return what a deprecated name stands for, with a warning that names its replacement.

    Raises:
        AttributeError: there is no such name.
    """
    if name not in _NAMES:
        raise AttributeError(f"module 'compat_bpe.train' has no attribute {name!r}")
    found, replacement = _NAMES[name]
    warnings.warn(
        f"compat_bpe.train.{name} is deprecated: use {replacement}",
        DeprecationWarning,
        stacklevel=3,
    )
    return found
