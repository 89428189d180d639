"""The kinds of vocabularies that can be trained, by name.

A new kind is a ``KindSettings``, and a line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Protocol

from ..corpus.chunk_counts import Counted
from ..encodings.encoding import Encoding
from ..encodings.sentencepiece import SentencePiece
from ..formats.sentencepiece import BPE, UNIGRAM
from .bpe.byte_level import TrainingSettings
from .bpe.characters import CharacterBpeSettings
from .run.convergence import Point
from .run.results import LearnedMerge
from .sentencepiece.settings import BPE_NAME, UNIGRAM_NAME, SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer
from .settings import TokenizerSettings, check_like
from .trainer import Advance, KindSettings, Trainer
from .unigram.settings import UnigramSettings
from .word_level import ByteSettings, CharacterSettings, WordLevelSettings
from .wordpiece import WordPieceSettings

#: The settings of kinds that a ``tokenizer.json`` describes.
TOKENIZER_KINDS: dict[str, type[TokenizerSettings]] = {
    settings.kind: settings
    for settings in (
        WordPieceSettings,
        CharacterBpeSettings,
        UnigramSettings,
        WordLevelSettings,
        CharacterSettings,
        ByteSettings,
    )
}

#: The settings of each kind.
KINDS: dict[str, type[KindSettings]] = {
    TrainingSettings.kind: TrainingSettings,
    **TOKENIZER_KINDS,
    BPE_NAME: SentencePieceSettings,
    UNIGRAM_NAME: SentencePieceSettings,
}


class AnyTrainer(Protocol):
    """A trainer of any kind."""

    def __enter__(self) -> AnyTrainer: ...

    def __exit__(self, *exception: object) -> None: ...

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None: ...

    def feed_counts(self, counts: Counted, group: str = "") -> None: ...

    def hold_out(self, text: str) -> None: ...

    def train(self, advance: Advance = ...) -> AnyTrained: ...


class AnyTrained(Protocol):
    """The result of training any kind; see ``Trained``."""

    @property
    def encoding(self) -> Encoding: ...

    @property
    def merges(self) -> list[LearnedMerge]: ...

    @property
    def stopped(self) -> str: ...

    @property
    def skipped(self) -> int: ...

    @property
    def curve(self) -> Sequence[Point]: ...

    def metrics(self) -> dict[str, Any]: ...


#: The kinds that have a trainer of their own, since they are learned from lines.
_TRAINERS: dict[type[KindSettings], Callable[..., AnyTrainer]] = {
    SentencePieceSettings: SentencePieceTrainer
}

_SENTENCEPIECE = {BPE: BPE_NAME, UNIGRAM: UNIGRAM_NAME}


def trainer_of(
    settings: KindSettings, *, workers: int | None = None, name: str = "trained"
) -> AnyTrainer:
    """Return the trainer of a kind; arguments and errors as of ``Trainer``."""
    make = _TRAINERS.get(type(settings), Trainer)
    return make(settings, workers=workers, name=name)


def kind_of(encoding: Encoding) -> str:
    """Return the name of the kind of an encoding that is to be trained anew.

    Raises:
        ValueError: it is no model of SentencePiece that the kinds have, and there is no
            ``tokenizer.json`` that describes its steps.

    >>> from compat_bpe import get_encoding
    >>> kind_of(get_encoding("deepseek_v3"))
    'character-bpe'
    """
    if isinstance(encoding, SentencePiece):
        if encoding.definition.kind not in _SENTENCEPIECE:
            raise ValueError(
                f"{encoding!r}: models of words and characters are trained in Python alone; name "
                "a kind"
            )
        return _SENTENCEPIECE[encoding.definition.kind]
    model = check_like(encoding).model
    # Every model of a tokenizer.json is of one of them.
    return next(
        name for name, kind in TOKENIZER_KINDS.items() if isinstance(model, kind.model_types)
    )


def check_settings(settings: object) -> None:
    """Raise ``TypeError`` if an argument is no settings of training."""
    if not isinstance(settings, KindSettings):
        raise TypeError(
            f"the settings are a {type(settings).__name__}; they must be TrainingSettings, or "
            "those of another kind that is trained"
        )
