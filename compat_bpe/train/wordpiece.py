"""WordPiece vocabularies: pieces of words, those that do not begin a word with a mark before them.

Two rules choose the pair that is joined next:

- ``"frequency"``: the most frequent pair, as in byte-pair encoding. That is ``WordPieceTrainer``
  of Hugging Face tokenizers 0.23.3, except for the ids of characters that do not begin a word,
  which are random there (see ``merges_of_characters``).
- ``"likelihood"``: the pair of the highest frequency in proportion to those of its two tokens, as
  in textbooks (see ``likelihood``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..corpus.chunk_counts import Counted
from ..encodings.tokenizer import Tokenizer
from ..formats.models.base import WordPiecePart
from .bpe.measure import GreedyWords
from .bpe.merges_of_characters import Marks
from .bpe.settings import MergeSettings, given_or
from .run.convergence import Convergence
from .run.results import Learned
from .settings import train_with
from .tokenizer_parts import GivenPart
from .trainer import Advance
from .words import CountedWords


@dataclass(frozen=True)
class WordPieceSettings(MergeSettings):
    """The settings of training a WordPiece vocabulary; see ``train_wordpiece``."""

    kind: ClassVar[str] = "wordpiece"
    model_types: ClassVar[tuple[type, ...]] = (WordPiecePart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"normalizer": "bert", "pre_tokenizer": "bert"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suffix:
            raise ValueError("a WordPiece model has no mark for the end of a word")

    @property
    def unknown_token(self) -> str:
        return str(given_or(self.unknown, self.like_model, "unknown", "[UNK]"))

    @property
    def marks(self) -> Marks:
        return Marks(given_or(self.prefix, self.like_model, "prefix", "##"))

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        return {"type": "WordPiece", "prefix": self.marks.prefix, "cleanup": True}

    def measured(self, words: Mapping[str, int], tokens: Sequence[str]) -> GreedyWords:
        part = self.like_model or WordPiecePart({})
        return GreedyWords(words, tokens, self.marks.prefix, part.longest_word)

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        learned = self.learn_tokens(words, advance)
        part = self.like_model or WordPiecePart({})
        vocabulary = {token: number for number, token in enumerate(learned.tokens)}
        part = part._replace(
            vocabulary=vocabulary, unknown=self.unknown_token, prefix=self.marks.prefix
        )
        return Learned(part, learned.learned, learned.stopped, learned.size, learned.curve)


def train_wordpiece(
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    rule: str = "frequency",
    min_score: float = 0.0,
    unknown: str | None = None,
    prefix: str | None = None,
    special_tokens: Iterable[str] = (),
    min_frequency: int = 0,
    initial_alphabet: Iterable[str] = (),
    limit_alphabet: int | None = None,
    max_token_length: int | None = None,
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
    """Train a WordPiece vocabulary on texts.

    The ids are those of the special tokens, of single characters by code point, of characters
    that do not begin a word, with the prefix, the one in most words first, and of the merges. They
    do not depend on the order of the texts or on the number of workers.

    Args:
        texts, counts, validation, workers, name: as in ``train_tokenizer``.
        vocab_size, num_merges, initial_alphabet, limit_alphabet, max_token_length, convergence: as
            in ``MergeSettings``.
        rule: ``"frequency"``, as in tokenizers, or ``"likelihood"``, as in textbooks.
        min_score: with the latter, the lowest score of a pair that is joined.
        unknown: the token of a word that has no pieces, ``[UNK]`` unless given; a special token.
        prefix: stands before a piece that does not begin a word, ``##`` unless given.
        special_tokens, min_frequency, weights, like: as in ``TokenizerSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, BERT's for
            lower-case text, without a post-processor.

    Raises:
        ValueError, TypeError, OSError: as in ``train_tokenizer``.

    >>> enc = train_wordpiece(["hug " * 10 + "pug " * 5 + "pun " * 12], 14)
    >>> enc.encode("a pug"), [enc.id_to_token(number) for number in range(6, 14)]
    ([0, 13], ['##u', '##g', '##n', 'pu', 'pun', 'hu', 'hug', 'pug'])
    """
    return train_with(WordPieceSettings, locals())
