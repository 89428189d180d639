"""WordPiece vocabularies: pieces of words, those that do not begin a word with a mark before them.

Two rules choose the pair that is joined next:

- ``"frequency"``: the most frequent pair, as in byte-pair encoding. That is ``WordPieceTrainer``
  of Hugging Face tokenizers 0.23.3, except for the ids of characters that do not begin a word,
  which are random there (see ``merges_of_characters``).
- ``"likelihood"``: the pair of the highest frequency in proportion to those of its two tokens, as
  in textbooks (see ``likelihood``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..formats.models.wordpiece import WordPiecePart
from .bpe.measure import GreedyWords
from .bpe.merge_kind import MergeKind, MergeSettings
from .bpe.merges_of_characters import Marks
from .kind import Advance
from .run.results import Learned
from .tokenizer_kind import given_or
from .tokenizer_parts import GivenPart
from .words import CountedWords


@dataclass(frozen=True)
class WordPieceSettings(MergeSettings):
    """The settings of training a WordPiece vocabulary.

    The ids are those of the special tokens, of single characters by code point, of characters
    that do not begin a word, with the prefix, the one in most words first, and of the merges. They
    do not depend on the order of the texts or on the number of workers.

    Args:
        vocab_size: the number of tokens. There are more if special tokens and characters are more,
            and fewer if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        special_tokens: the names of special tokens, which have the lowest ids. Those of ``like``
            come before them.
        unknown: the token of a word that has no pieces, a special token. Unless given, that of
            ``like``, or ``[UNK]``.
        min_frequency: the lowest frequency of a pair that is joined.
        weights: the weights of some groups, as in ``TrainingSettings``.
        rule: ``"frequency"``, as in tokenizers, or ``"likelihood"``, as in textbooks.
        min_score: with the latter, the lowest score of a pair that is joined.
        prefix: stands before a piece that does not begin a word, ``##`` unless given.
        initial_alphabet: characters that are tokens even if they do not occur.
        limit_alphabet: the most characters that are tokens; the most frequent ones are.
        max_token_length: the length in characters, without marks, of the longest piece that is
            made.
        normalizer, pre_tokenizer, decoder, post_processor: each a part as in a ``tokenizer.json``,
            or its name, such as ``"bert"`` or ``"none"``. Unless given, those of ``like``, or
            BERT's for lower-case text, without a post-processor.
        like: a tokenizer that is to be trained anew.
        convergence: when to stop because more merges are of little use for held-out text.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> from compat_bpe.train import train
    >>> enc = train(["hug " * 10 + "pug " * 5 + "pun " * 12], WordPieceSettings(14))
    >>> enc.encode("a pug"), [enc.id_to_token(number) for number in range(6, 14)]
    ([0, 13], ['##u', '##g', '##n', 'pu', 'pun', 'hu', 'hug', 'pug'])
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suffix:
            raise ValueError("a WordPiece model has no mark for the end of a word")

    @property
    def kind(self) -> WordPiece:
        """The kind of vocabulary, with these settings."""
        return WordPiece(self)


class WordPiece(MergeKind):
    """WordPiece."""

    settings: WordPieceSettings

    name: ClassVar[str] = "wordpiece"
    makes = WordPieceSettings
    model_types: ClassVar[tuple[type, ...]] = (WordPiecePart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"normalizer": "bert", "pre_tokenizer": "bert"}

    @property
    def unknown_token(self) -> str:
        return str(given_or(self.settings.unknown, self.like_model, "unknown", "[UNK]"))

    @property
    def marks(self) -> Marks:
        return Marks(given_or(self.settings.prefix, self.like_model, "prefix", "##"))

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
