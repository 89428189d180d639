"""Vocabularies of whole words, of single characters, and of bytes.

The words are those of ``WordLevelTrainer`` of Hugging Face tokenizers 0.23.3: the special tokens,
then the most frequent words; of equally frequent ones, the lower one as a string comes first.
The other two are vocabularies for comparison: every subword vocabulary should be better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..corpus.counted import Counted
from ..encodings.tokenizer import Tokenizer
from ..formats.models.word_level import WordLevelPart
from ..formats.parts.pre_tokenizers import byte_level_part, pre_tokenizers_part, split_part
from ..pipeline.byte_level import UNICODE_TO_BYTE
from .bpe.settings import given_or
from .settings import TokenizerSettings, train_with
from .tokenizer_parts import GivenPart
from .trainer import Advance, Learned
from .words import CountedWords


@dataclass(frozen=True)
class WordLevelSettings(TokenizerSettings):
    """The settings of training a vocabulary of words; see ``train_word_level``."""

    kind: ClassVar[str] = "word-level"
    model_types: ClassVar[tuple[type, ...]] = (WordLevelPart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "whitespace"}

    @classmethod
    def no_convergence(cls, kind: str) -> str:
        return "fixed"

    @property
    def unknown_token(self) -> str:
        return str(given_or(self.unknown, self.like_model, "unknown", "<unk>"))

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return None

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        special = self.all_special_tokens
        least = self.min_frequency * words.unit
        counts = words.counts
        kept = sorted(
            (word for word, count in counts.items() if count >= least),
            key=lambda word: (-counts[word], word),
        )
        tokens = [*special, *(word for word in kept if word not in special)]
        stopped = "nothing left" if self.vocab_size is None else "size"
        if self.vocab_size is not None:
            stopped = "size" if len(tokens) >= self.vocab_size else "nothing left"
            tokens = tokens[: max(self.vocab_size, len(special))]
        advance(len(tokens))
        vocabulary = {token: number for number, token in enumerate(tokens)}
        size = sum(counts.values())
        return Learned(
            WordLevelPart(vocabulary, self.unknown_token),
            [],
            stopped,
            size / words.unit if words.unit > 1 else size,
        )


#: Each character is a word.
_CHARACTERS = split_part(r"[\s\S]")


@dataclass(frozen=True)
class CharacterSettings(WordLevelSettings):
    """The settings of a vocabulary of single characters.

    ``vocab_size`` keeps the most frequent ones. Those of a text that are no tokens are unknown.
    """

    kind: ClassVar[str] = "characters"
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": _CHARACTERS}

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return {"type": "Fuse"}


#: Each byte is a word, written in the byte alphabet.
_BYTES = pre_tokenizers_part(byte_level_part(use_regex=False), _CHARACTERS)


@dataclass(frozen=True)
class ByteSettings(WordLevelSettings):
    """The settings of a vocabulary of the 256 bytes, which needs no text to learn from.

    Raises:
        ValueError: also if a size or an unknown token is given: all bytes are tokens.
    """

    kind: ClassVar[str] = "bytes"
    model_types: ClassVar[tuple[type, ...]] = ()
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": _BYTES}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("vocab_size", "unknown"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} is not for bytes: all 256 of them are tokens")

    @property
    def unknown_token(self) -> None:  # type: ignore[override]
        return None

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return byte_level_part()

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        tokens = [*self.all_special_tokens, *UNICODE_TO_BYTE]
        vocabulary = {token: number for number, token in enumerate(tokens)}
        advance(len(tokens))
        size = sum(words.counts.values())
        return Learned(
            WordLevelPart(vocabulary),
            [],
            "size",
            size / words.unit if words.unit > 1 else size,
        )


def train_word_level(
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    vocab_size: int | None = None,
    *,
    unknown: str | None = None,
    special_tokens: Iterable[str] = (),
    min_frequency: int = 0,
    normalizer: GivenPart = None,
    pre_tokenizer: GivenPart = None,
    decoder: GivenPart = None,
    post_processor: GivenPart = None,
    like: Tokenizer | None = None,
    weights: Mapping[str, float] | None = None,
    counts: Counted | Mapping[str, Counted] = (),
    workers: int | None = None,
    name: str = "trained",
) -> Tokenizer:
    """Make a vocabulary of the words of texts.

    The ids are those of the special tokens, then of the words, the most frequent first, and of
    equally frequent ones the lower one as a string.

    Args:
        texts, counts, workers, name: as in ``train_tokenizer``.
        vocab_size: the number of tokens, special tokens included; None for all words. There are
            fewer if there are no more words.
        unknown: the token of all other words, ``<unk>`` unless given; a special token.
        min_frequency: the lowest frequency of a word that is a token.
        special_tokens, weights, like: as in ``TokenizerSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, words are runs
            of letters, digits and underscores, and runs of other signs.

    Raises:
        ValueError, TypeError, OSError: as in ``train_tokenizer``.

    >>> enc = train_word_level(["to be or not to be"], 4)
    >>> enc.encode("to be, or not"), [enc.id_to_token(number) for number in range(4)]
    ([2, 1, 0, 0, 3], ['<unk>', 'be', 'to', 'not'])
    """
    return train_with(WordLevelSettings, locals())
