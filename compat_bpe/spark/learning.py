"""Kinds of vocabularies as Spark learns them: counted units, and the trainer that gets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Callable, Protocol, Union

from ..encodings.encoding import Encoding
from ..formats.manifest import AS_TOKENIZER_JSON
from ..train.sentencepiece.settings import SentencePieceSettings
from ..train.settings import TrainingSettings
from ..train.tokenizer_trainer import TokenizerSettings, TokenizerTrainer
from ..train.trainer import LearnedMerge, Trainer
from ..train.words import word_splitter
from ..train.write import FORMATS, SENTENCEPIECE
from .counts import Chunks, Units
from .rows import splitter_of
from .sentences import Words, WordsTrainer, check_learned_from_words

#: The settings of training.
Settings = Union[TrainingSettings, TokenizerSettings, SentencePieceSettings]

#: The formats of kinds that only ``tokenizer.json`` can hold.
_JSON_FORMATS: tuple[str, ...] = ("tokenizer-json", "token-map")


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
        units: the units that are counted.
        pattern, formats: as of ``write_vocabulary``; the formats unless others are named.
        roles: the roles of special tokens that the settings name.
        weights: the weights of groups, if there are any.
    """

    @property
    def units(self) -> Units: ...

    @property
    def pattern(self) -> str: ...

    @property
    def formats(self) -> tuple[str, ...]: ...

    @property
    def roles(self) -> Mapping[str, str]: ...

    @property
    def weights(self) -> Mapping[str, float] | None: ...

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        """Return the trainer.

        Args:
            name: the name of the vocabulary.
            figures: the figures of the corpus, which are complete when all counts have come.
        """

    def described(self) -> dict[str, Any]:
        """Return the settings for a manifest; pattern and special tokens stand beside them."""


class _BytePairs:
    """Byte-level BPE."""

    formats = tuple(FORMATS)
    roles: Mapping[str, str] = {}

    def __init__(self, settings: TrainingSettings) -> None:
        self._settings = settings
        self.units = Chunks(splitter_of(settings.pattern))
        self.pattern = settings.pattern
        self.weights = settings.weights

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        return Trainer(self._settings, workers=1, name=name)

    def described(self) -> dict[str, Any]:
        found = asdict(self._settings)
        del found["pattern"], found["special_tokens"]
        return found


class _Tokenizers:
    """The kinds of tokenizers, which learn from words."""

    pattern = AS_TOKENIZER_JSON
    formats = _JSON_FORMATS

    def __init__(self, settings: TokenizerSettings) -> None:
        self._settings = settings
        self.units = Chunks(word_splitter(settings.surroundings.parts))
        unknown = settings.unknown_token
        self.roles = {} if unknown is None else {"unk": unknown}
        self.weights = settings.weights

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        return TokenizerTrainer(self._settings, workers=1, name=name)

    def described(self) -> dict[str, Any]:
        return self._settings.described()


class _SentencePiece:
    """Models of SentencePiece, but for Unigram."""

    pattern = "that of the model"
    formats = (SENTENCEPIECE,)
    roles: Mapping[str, str] = {}
    weights = None

    def __init__(self, settings: SentencePieceSettings) -> None:
        check_learned_from_words(settings)
        self._settings = settings
        self.units = Words(settings)

    def trainer(self, name: str, figures: Counter[str]) -> LearnsFromCounts:
        return WordsTrainer(self._settings, name, figures)

    def described(self) -> dict[str, Any]:
        found = asdict(self._settings)
        del found["charsmap"]
        return {"model": f"sentencepiece-{self._settings.model_type}", **found, "like": None}


_LEARNING: Mapping[type, Callable[[Any], Learning]] = {
    TrainingSettings: _BytePairs,
    TokenizerSettings: _Tokenizers,
    SentencePieceSettings: _SentencePiece,
}


def learning_of(settings: Settings) -> Learning:
    """Return the learning that settings describe.

    Raises:
        TypeError: they are no settings of training.
        ValueError: the kind cannot be learned from counts; the pattern is not valid.
    """
    for base in type(settings).__mro__:
        if base in _LEARNING:
            return _LEARNING[base](settings)
    raise TypeError(
        f"the settings are a {type(settings).__name__}; they must be TrainingSettings, or those of "
        "another kind that is trained"
    )
