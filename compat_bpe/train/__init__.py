"""Vocabularies learned from a corpus."""

import warnings as _warnings
from typing import Any as _Any

from ..formats.sentencepiece import read_sentencepiece as _read_sentencepiece
from .bpe.byte_level import TrainingSettings as TrainingSettings
from .bpe.merge_kinds import CharacterBpeSettings as CharacterBpeSettings
from .bpe.merge_kinds import MergeSettings as _MergeSettings
from .bpe.merge_kinds import WordPieceSettings as WordPieceSettings
from .convergence import Convergence as Convergence
from .convergence import Point as Point
from .kind import LearnedMerge as LearnedMerge
from .kind import Settings as Settings
from .kind import Trained as Trained
from .sentencepiece.settings import SentencePieceSettings as SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer as SentencePieceTrainer
from .sentencepiece.trainer import TrainedSentencePiece as TrainedSentencePiece
from .sentencepiece.trainer import save_trained_sentencepiece as save_trained_sentencepiece
from .tokenizer_kind import TokenizerSettings as _TokenizerSettings
from .trainer import Trainer as Trainer
from .trainer import train as train
from .trainer import train_bpe as train_bpe
from .unigram import UnigramSettings as UnigramSettings
from .word_level import ByteSettings as ByteSettings
from .word_level import CharacterSettings as CharacterSettings
from .word_level import WordLevelSettings as WordLevelSettings


def _train_with(make: _Any) -> _Any:
    """Return the function that trains one kind, by arguments that are its settings."""

    def train_kind(texts: _Any = (), vocab_size: _Any = None, *more: _Any, **options: _Any) -> _Any:
        about_texts = ("counts", "validation", "workers", "name")
        others = {name: options.pop(name) for name in about_texts if name in options}
        return train(texts, make(vocab_size, *more, **options), **others)

    return train_kind


def _sentencepiece_settings(
    vocab_size: int, model_type: str = "bpe", *, like: _Any = None, **options: _Any
) -> SentencePieceSettings:
    if like is not None:
        spec = _read_sentencepiece(like).normalizer
        options = {"normalization_rule_name": spec.name, "charsmap": spec.charsmap, **options}
    return SentencePieceSettings(vocab_size, model_type, **options)


_A_KIND = "the settings of a kind, such as WordPieceSettings"

#: Each name that is kept for one more release, its value, and its replacement.
_DEPRECATED: _Any = {
    "train_tokenizer": (train, "train(texts, settings)"),
    "TokenizerSettings": (_TokenizerSettings, _A_KIND),
    "MergeSettings": (_MergeSettings, _A_KIND),
    "train_sentencepiece": (
        _train_with(_sentencepiece_settings),
        "train(texts, SentencePieceSettings(...))",
    ),
    **{
        f"train_{kind}": (_train_with(make), f"train(texts, {make.__name__}(...))")
        for kind, make in (
            ("wordpiece", WordPieceSettings),
            ("character_bpe", CharacterBpeSettings),
            ("unigram", UnigramSettings),
            ("word_level", WordLevelSettings),
        )
    },
}


def __getattr__(name: str) -> _Any:
    if name not in _DEPRECATED:
        raise AttributeError(f"module 'compat_bpe.train' has no attribute {name!r}")
    found, replacement = _DEPRECATED[name]
    _warnings.warn(
        f"compat_bpe.train.{name} is deprecated: use {replacement}",
        DeprecationWarning,
        stacklevel=2,
    )
    return found
