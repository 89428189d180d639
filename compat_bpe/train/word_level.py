"""Vocabularies of whole words, of single characters, and of bytes.

The words are those of ``WordLevelTrainer`` of Hugging Face tokenizers 0.23.3: the special tokens,
then the most frequent words; of equally frequent ones, the lower one as a string comes first.
The other two are for comparison: every subword vocabulary should be better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..formats.tokenizer_models import WordLevelPart
from ..formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
from ..pipeline.byte_level import UNICODE_TO_BYTE
from .convergence import Watch, learn_by_steps
from .kind import Advance, Learned
from .tokenizer_kind import GivenPart, TokenizerKind, TokenizerSettings, given_or
from .words import CountedWords, word_size


@dataclass(frozen=True)
class WordLevelSettings(TokenizerSettings):
    """The settings of training a vocabulary of words.

    The ids are those of the special tokens, then of the words, the most frequent first, and of
    equally frequent ones the lower one as a string.

    Args:
        vocab_size: the number of tokens, special tokens included; None for all words. There are
            fewer if there are no more words.
        unknown: the token of all other words, ``<unk>`` unless given; a special token.
        min_frequency: the lowest frequency of a word that is a token.
        convergence: when to stop because more words hardly improve held-out text. There, a word
            that is not a token counts as one token for each of its bytes.
        special_tokens, weights, like: as in ``WordPieceSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, words are runs
            of letters, digits and underscores, and runs of other signs.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> from compat_bpe.train import train
    >>> enc = train(["to be or not to be"], WordLevelSettings(4))
    >>> enc.encode("to be, or not"), [enc.id_to_token(number) for number in range(4)]
    ([2, 1, 0, 0, 3], ['<unk>', 'be', 'to', 'not'])
    """

    @property
    def kind(self) -> WordLevel:
        """The kind of vocabulary, with these settings."""
        return WordLevel(self)


class WordLevel(TokenizerKind):
    """Whole words."""

    settings: WordLevelSettings

    name: ClassVar[str] = "word-level"
    makes: ClassVar[type[WordLevelSettings]] = WordLevelSettings
    model_types: ClassVar[tuple[type, ...]] = (WordLevelPart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "whitespace"}
    rates = (0.06, 0.0, 0.1, 1.0, 5.0)

    @property
    def unknown_token(self) -> str:
        return str(given_or(self.settings.unknown, self.like_model, "unknown", "<unk>"))

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return None

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        special, settings = self.all_special_tokens, self.settings
        least = settings.min_frequency * words.unit
        counts = words.counts
        kept = sorted(
            (word for word, count in counts.items() if count >= least),
            key=lambda word: (-counts[word], word),
        )
        tokens = [*special, *(word for word in kept if word not in special)]
        stopped = "nothing left"
        if settings.vocab_size is not None and len(tokens) >= settings.vocab_size:
            stopped = "size"
            tokens = tokens[: max(settings.vocab_size, len(special))]
        watch = self._watched(tokens, len(special), words)
        if watch is not None and watch.has_converged:
            stopped = "convergence"
        advance(len(tokens))
        vocabulary = {token: number for number, token in enumerate(tokens)}
        return Learned(
            WordLevelPart(vocabulary, self.unknown_token),
            [],
            stopped,
            words.in_units(sum(counts.values())),
            () if watch is None else watch.points,
        )

    def _watched(self, tokens: list[str], first: int, words: CountedWords) -> Watch | None:
        """Drop the tokens after those at which learning has converged; return the checks.

        A held-out word that is not a token counts as one token for each of its bytes, as with a
        vocabulary that has the bytes, too. Otherwise bytes per token would be the same throughout.

        Args:
            tokens: the tokens; the special ones come first.
            first: the number of special tokens.
            words: the words, with the held-out ones.
        """
        held_out, size_of = words.held_out.counts, word_size(self.parts)
        size = sum(size_of(word) * count for word, count in held_out.items())
        taken = first

        def step() -> str:
            nonlocal taken, size
            if taken == len(tokens):
                return "size"
            size -= (size_of(tokens[taken]) - 1) * held_out.get(tokens[taken], 0)
            taken += 1
            return ""

        watch = self.watch(words, lambda _: (taken, 0, size))
        if watch is not None:
            learn_by_steps(step, watch)
            watch.has_converged = watch.has_converged and taken < len(tokens)
            del tokens[taken:]
        return watch


#: Each character is a word.
_CHARACTERS = split_part(r"[\s\S]")


@dataclass(frozen=True)
class CharacterSettings(WordLevelSettings):
    """The settings of a vocabulary of single characters.

    ``vocab_size`` keeps the most frequent ones. Other characters of a text are unknown.
    All settings are those of ``WordLevelSettings``.
    """

    @property
    def kind(self) -> Characters:
        """The kind of vocabulary, with these settings."""
        return Characters(self)


class Characters(WordLevel):
    """Single characters."""

    name: ClassVar[str] = "characters"
    makes = CharacterSettings
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": _CHARACTERS}

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return {"type": "Fuse"}


#: Each byte is a word, written in the byte alphabet.
_BYTES = pre_tokenizers_part(byte_level_part(use_regex=False), _CHARACTERS)


@dataclass(frozen=True)
class ByteSettings(WordLevelSettings):
    """The settings of a vocabulary of the 256 bytes, which needs no text to learn from.

    Raises:
        ValueError: also if a size, an unknown token or ``convergence`` is given: all bytes are
            tokens.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("vocab_size", "unknown", "convergence"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} is not for bytes: all 256 of them are tokens")

    @property
    def kind(self) -> Bytes:
        """The kind of vocabulary, with these settings."""
        return Bytes(self)


class Bytes(WordLevel):
    """The 256 bytes."""

    name: ClassVar[str] = "bytes"
    makes = ByteSettings
    checks: ClassVar[str] = "never"  # All vocabularies have as many bytes per token.
    model_types: ClassVar[tuple[type, ...]] = ()
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": _BYTES}

    @property
    def unknown_token(self) -> None:  # type: ignore[override]
        return None

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return byte_level_part()

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        tokens = [*self.all_special_tokens, *UNICODE_TO_BYTE]
        vocabulary = {token: number for number, token in enumerate(tokens)}
        advance(len(tokens))
        size = words.in_units(sum(words.counts.values()))
        return Learned(WordLevelPart(vocabulary), [], "size", size)
