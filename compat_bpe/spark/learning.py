"""Kinds of vocabularies as Spark learns them: counted units, and the trainer that gets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Callable, Protocol

from ..encodings.encoding import Encoding
from ..train.kinds import check_settings
from ..train.run.results import LearnedMerge
from ..train.sentencepiece.settings import SentencePieceSettings
from ..train.trainer import KindSettings, Trainer
from .counts import Chunks, Units
from .sentences import SentenceWords, WordsTrainer, check_learned_from_words


class Result(Protocol):
    """The result of a trainer."""

    @property
    def encoding(self) -> Encoding: ...

    @property
    def merges(self) -> list[LearnedMerge]: ...

    def metrics(self) -> dict[str, Any]: ...


class LearnsFromCounts(Protocol):
    """A trainer that takes counted units."""

    def __enter__(self) -> LearnsFromCounts: ...

    def __exit__(self, *exception: object) -> None: ...

    def feed_counts(self, counts: Iterator[tuple[str, int, str]], /) -> None: ...

    def train(self) -> Result: ...


class Learning(Protocol):
    """The learning of a kind of vocabulary.

    Attributes:
        settings: the settings of the kind.
        units: the units that are counted.
    """

    @property
    def settings(self) -> KindSettings: ...

    @property
    def units(self) -> Units: ...

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        """Return the trainer.

        Args:
            name: the name of the vocabulary.
            figures: the figures of the corpus, which are complete when all counts have come.
        """


class _Counted:
    """Kinds that learn from counted chunks or words."""

    def __init__(self, settings: KindSettings) -> None:
        self.settings = settings
        self.units = Chunks(settings.splitter())

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        return Trainer(self.settings, workers=1, name=name)


class _SentencePiece:
    """Models of SentencePiece, but for Unigram: they learn from the words of sentences."""

    def __init__(self, settings: SentencePieceSettings) -> None:
        check_learned_from_words(settings)
        self.settings: KindSettings = settings
        self.units = SentenceWords(settings)
        self._sentencepiece = settings

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        return WordsTrainer(self._sentencepiece, name, figures)


#: The kinds whose units are not chunks.
_LEARNING: Mapping[type, Callable[[Any], Learning]] = {SentencePieceSettings: _SentencePiece}


def learning_of(settings: KindSettings) -> Learning:
    """Return the learning that settings describe.

    Raises:
        TypeError: they are no settings of training.
        ValueError: the kind cannot be learned from counts; the pattern is not valid.
    """
    check_settings(settings)
    return _LEARNING.get(type(settings), _Counted)(settings)
