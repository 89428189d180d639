"""Vocabularies of whole words, of single characters, and of bytes.

The words are those of ``WordLevelTrainer`` of Hugging Face tokenizers 0.23.3: the special tokens,
then the most frequent words; of equally frequent ones, the lower one as a string comes first.
The other two are vocabularies for comparison: every subword vocabulary should be better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..corpus.chunk_counts import Counted
from ..encodings.tokenizer import Tokenizer
from ..formats.models.base import WordLevelPart
from ..formats.parts.written import byte_level_part, pre_tokenizers_part, split_part
from ..pipeline.byte_level import UNICODE_TO_BYTE
from .bpe.settings import given_or
from .run.convergence import Convergence, Curve
from .run.costs import Costs, distinct_bytes
from .run.results import Learned
from .settings import TokenizerSettings, train_with
from .tokenizer_parts import GivenPart
from .trainer import Advance
from .words import CountedWords, word_size


@dataclass(frozen=True)
class WordLevelSettings(TokenizerSettings):
    """The settings of training a vocabulary of words; see ``train_word_level``."""

    convergence: Convergence | None = None

    kind: ClassVar[str] = "word-level"
    model_types: ClassVar[tuple[type, ...]] = (WordLevelPart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "whitespace"}

    @property
    def unknown_token(self) -> str:
        return str(given_or(self.unknown, self.like_model, "unknown", "<unk>"))

    @property
    def costs(self) -> Costs:
        return Costs(distinct_bytes(self.splitter()), 0.06, 0.0, 0.1, 1.0, 5.0)

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
        curve = None
        if self.convergence is not None:
            held_out, held_out_bytes = words.held_out if words.held_out is not None else ({}, 0)
            curve = Curve(self.convergence, held_out_bytes)
            enough = self._enough(tokens, len(special), held_out, curve)
            if enough is not None:
                stopped = "convergence"
                del tokens[enough:]
        advance(len(tokens))
        vocabulary = {token: number for number, token in enumerate(tokens)}
        size = sum(counts.values())
        return Learned(
            WordLevelPart(vocabulary, self.unknown_token),
            [],
            stopped,
            size / words.unit if words.unit > 1 else size,
            () if curve is None else curve.points,
        )

    def _enough(
        self, tokens: Sequence[str], first: int, held_out: Mapping[str, int], curve: Curve
    ) -> int | None:
        """Return the number of tokens at which learning has converged; None if it has not.

        A held-out word that is no token counts as one token for each of its bytes, as with a
        vocabulary that has the bytes, too. Otherwise bytes per token would be the same throughout.

        Args:
            tokens: the tokens; the special ones come first.
            first: the number of special tokens.
            held_out: the held-out words and their counts.
            curve: takes the checks.
        """
        size_of = word_size(self.surroundings.parts)
        size = sum(size_of(word) * count for word, count in held_out.items())
        for number in range(first, len(tokens) + 1):
            steps = number - first
            if (curve.is_due(steps) or number == len(tokens)) and curve.add(number, 0, size):
                return number if number < len(tokens) else None
            if number < len(tokens):
                count = held_out.get(tokens[number], 0)
                size -= (size_of(tokens[number]) - 1) * count
        return None


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
        ValueError: also if a size, an unknown token or when to stop is given: all bytes are tokens.
    """

    kind: ClassVar[str] = "bytes"
    model_types: ClassVar[tuple[type, ...]] = ()
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": _BYTES}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("vocab_size", "unknown", "convergence"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} is not for bytes: all 256 of them are tokens")

    @classmethod
    def checks(cls, kind: str) -> str:
        return "never"  # All vocabularies have as many bytes per token.

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
    convergence: Convergence | None = None,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> Tokenizer:
    """Make a vocabulary of the words of texts.

    The ids are those of the special tokens, then of the words, the most frequent first, and of
    equally frequent ones the lower one as a string.

    Args:
        texts, counts, validation, workers, name: as in ``train_tokenizer``.
        vocab_size: the number of tokens, special tokens included; None for all words. There are
            fewer if there are no more words.
        unknown: the token of all other words, ``<unk>`` unless given; a special token.
        min_frequency: the lowest frequency of a word that is a token.
        convergence: when to stop because more words are of little use for held-out text. There, a
            word that is no token counts as one token for each of its bytes.
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
