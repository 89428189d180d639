"""Kinds of tokenizers whose pieces are learned by merging characters: BPE and WordPiece.

**BPE over characters** has a mark for pieces that end a word or do not begin one. Its merges
are those of ``BpeTrainer`` of Hugging Face tokenizers 0.23.3, except for the ids of
characters with a mark, whose order is random there (see ``merges_of_characters``).

**WordPiece** has pieces of words. A piece that does not begin a word has a mark before it. Two
rules choose the pair that is joined next:

- ``"frequency"``: the most frequent pair, as in byte-pair encoding. That is ``WordPieceTrainer``
  of Hugging Face tokenizers 0.23.3, except for the ids of characters that do not begin a word,
  which are random there (see ``merges_of_characters``).
- ``"likelihood"``: the pair of the highest frequency in proportion to those of its two tokens, as
  in textbooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...formats.tokenizer_bpe import ListedModel, RankedModel
from ...formats.tokenizer_models import WordPiecePart
from ...formats.tokenizer_writing import byte_level_part
from ...pipeline.byte_level import UNICODE_TO_BYTE
from ..convergence import check_has_end, learn_by_steps
from ..kind import Advance, Learned, LearnedMerge
from ..options import (
    BYTE_FALLBACK,
    INITIAL_ALPHABET,
    MAX_TOKEN_LENGTH,
    MERGES,
    NUM_MERGES,
    STOP,
    setting,
)
from ..tokenizer_kind import GivenPart, TokenizerKind, TokenizerSettings, given_or
from ..words import CountedWords, types_in
from .held_out import CharacterWords, Encode, GreedyWords
from .learner import MOST_TOKENS
from .merges_of_characters import (
    CharacterLearner,
    LikelihoodLearner,
    Marks,
    alphabet_of,
    first_tokens,
    spelled,
)

#: The rules by which the next pair is chosen, by name.
RULES: dict[str, type[CharacterLearner]] = {
    "frequency": CharacterLearner,
    "likelihood": LikelihoodLearner,
}


@dataclass(frozen=True)
class MergeSettings(TokenizerSettings):
    """The settings of kinds that merge characters.

    Args:
        vocab_size: the number of tokens. There are more if special tokens and characters are more,
            and fewer if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        prefix: the mark before a piece that does not begin a word; empty for none. Unless given,
            that of ``like`` or the usual one of the kind.
        suffix: the mark after a piece that ends a word; in the same way.
        initial_alphabet: characters that are tokens even if they do not occur.
        limit_alphabet: the most characters that are tokens; the most frequent ones are.
        max_token_length: the length in characters, without marks, of the longest piece that is
            made.
        rule: the rule by which a pair is chosen, one of ``RULES``.
        min_score: with the rule ``"likelihood"``, the lowest score of a pair that is joined.
        others: as in ``TokenizerSettings``.

    Raises:
        ValueError, TypeError: as ``TokenizerSettings``.
    """

    num_merges: int | None = setting(None, NUM_MERGES)
    min_score: float = setting(
        0.0,
        "With --rule likelihood, join only pairs with at least this score.",
        STOP,
        metavar="SCORE",
        type=float,
        least=0,
    )
    rule: str = setting(
        "frequency",
        "Rule that chooses the pair to join: frequency, or likelihood as in textbooks on "
        "WordPiece.",
        MERGES,
        metavar="RULE",
        choices=tuple(RULES),
    )
    prefix: str | None = setting(
        None,
        "Mark before a piece that does not begin a word. Default: that of --like, or ## for "
        "wordpiece.",
        MERGES,
        flags=("--continuing-subword-prefix",),
        metavar="MARK",
    )
    suffix: str | None = setting(
        None,
        "Mark after a piece that ends a word. Default: that of --like, or </w> for "
        "character-bpe without a prefix.",
        MERGES,
        flags=("--end-of-word-suffix",),
        metavar="MARK",
    )
    initial_alphabet: Iterable[str] = setting("", INITIAL_ALPHABET)
    limit_alphabet: int | None = setting(
        None,
        "Make only the N most frequent characters tokens.",
        MERGES,
        metavar="N",
        type=int,
        least=0,
    )
    max_token_length: int | None = setting(None, MAX_TOKEN_LENGTH)

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial_alphabet", "".join(self.initial_alphabet))
        super().__post_init__()
        check_has_end(self.vocab_size, self.num_merges, self.convergence)
        if self.rule not in RULES:
            raise ValueError(f"there is no rule {self.rule!r}; the rules are {', '.join(RULES)}")
        if self.min_score and self.rule != "likelihood":
            raise ValueError("min_score is for the rule likelihood; min_frequency is for the other")


class MergeKind(TokenizerKind):
    """A kind that merges characters."""

    settings: MergeSettings

    ends: ClassVar[tuple[str, ...]] = ("vocab_size", "num_merges", "convergence")
    learns_merges: ClassVar[bool] = True
    rates = (0.12, 0.0, 2.5, 1.0, 45.0)

    @property
    def most_steps(self) -> int | None:
        settings = self.settings
        return settings.vocab_size if settings.vocab_size is not None else settings.num_merges

    @property
    def marks(self) -> Marks:
        """The marks of characters within a word."""
        raise NotImplementedError

    @property
    def extra_tokens(self) -> Sequence[str]:
        """Tokens after the special ones that text need not have."""
        return ()

    def measured(
        self, words: Mapping[str, int], tokens: Sequence[str]
    ) -> CharacterWords | GreedyWords:
        """Return held-out words, to be measured while tokens are added to those given."""
        raise NotImplementedError

    def first_tokens(self, words: Mapping[str, int]) -> list[str]:
        """Return the tokens that learning begins with, in the order of their ids."""
        initial = "".join(self.settings.initial_alphabet)
        parts = self.parts
        if "ByteLevel" in {*types_in(parts["pre_tokenizer"]), *types_in(parts["normalizer"])}:
            initial += "".join(UNICODE_TO_BYTE)
        alphabet = alphabet_of(words, initial, self.settings.limit_alphabet)
        special = [*self.all_special_tokens, *self.extra_tokens]
        return first_tokens(words, special, alphabet, self.marks)

    def part(self, tokens: Iterable[str], merges: Iterable[tuple[str, str]]) -> Any:
        """Return the model with some tokens and merges, as in a file."""
        raise NotImplementedError

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        settings = self.settings
        tokens = self.first_tokens(words.counts)
        learner = RULES[settings.rule](
            spelled(words.counts, tokens, self.marks),
            tokens,
            self.marks.prefix,
            min_frequency=settings.min_frequency * words.unit,
            max_token_length=settings.max_token_length,
        )
        made = learner.tokens
        most = MOST_TOKENS if settings.vocab_size is None else settings.vocab_size
        steps = float("inf") if settings.num_merges is None else settings.num_merges
        #: A pair that was joined twice is listed only where it was joined last, as in tokenizers.
        merges: dict[tuple[str, str], None] = {}
        learned: list[LearnedMerge] = []
        watch = self.watch(words, lambda _: (len(made), len(learned), held_out.size(made, merges)))
        held_out = self.measured(words.held_out.counts, tokens)

        def step() -> str:
            if len(made) >= most or len(learned) >= steps:
                return "size"
            if self._is_low(learner, words.unit):
                return "score"
            before = len(made)
            merge = learner.step()
            if merge is None:
                return "nothing left"
            left, right = pair = made[merge.left], made[merge.right]
            merges.pop(pair, None)
            merges[pair] = None
            frequency = words.in_units(merge.frequency)
            learned.append(LearnedMerge(left.encode(), right.encode(), merge.made, frequency))
            if watch is not None:
                held_out.learn(merge, made[merge.made], is_new=len(made) > before)
            advance(len(made) - before if settings.vocab_size is not None else 1)
            return ""

        advance(len(made) if settings.vocab_size is not None else 0)
        stopped = learn_by_steps(step, watch)
        size = words.in_units(learner.size)
        points = watch.points if watch is not None else ()
        return Learned(self.part(made, merges), learned, stopped, size, points)

    def _is_low(self, learner: CharacterLearner, unit: int) -> bool:
        """Return True if the score of the next pair is below the lowest."""
        least = self.settings.min_score
        if not least:
            return False
        assert isinstance(learner, LikelihoodLearner)  # The others have no scores.
        best = learner.best()
        return best is not None and best[2] * unit < least


_NO_TOKENS: tuple[list[str], list[str]] = ([], [])


@dataclass(frozen=True)
class CharacterBpeSettings(MergeSettings):
    """The settings of training BPE over characters.

    The ids are those of the special tokens, of single characters by code point, of characters with
    a mark, the one in most words first, and of the merges. They do not depend on the order of the
    texts or on the number of workers.

    Args:
        vocab_size: the number of tokens. There are more if special tokens and characters are more,
            and fewer if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        special_tokens, min_frequency, weights, like, convergence: as in ``WordPieceSettings``.
        unknown: the token of a character that has none, ``<unk>`` unless given; a special token.
        prefix: the mark before a piece that does not begin a word; none unless given.
        suffix: the mark after a piece that ends a word; ``</w>`` unless this or a prefix is given.
            Empty for none.
        initial_alphabet, limit_alphabet, max_token_length, rule, min_score: as there.
        byte_fallback: make the 256 tokens ``<0x00>`` to ``<0xFF>``, after the special ones, with
            which characters without a token are written. Without it, the new tokenizer has none
            even if ``like`` has them, as with ``train_new_from_iterator`` of transformers.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, text is split
            as BERT does, and not normalized.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> from compat_bpe.train import train
    >>> enc = train(["low lower lowest new newer newest"] * 3, CharacterBpeSettings(20))
    >>> [enc.id_to_token(number) for number in enc.encode("lowest low")]
    ['lo', 'west</w>', 'low</w>']
    >>> enc.decode(enc.encode("lowest low"))
    'lowest low'
    """

    byte_fallback: bool = setting(False, BYTE_FALLBACK)

    @property
    def kind(self) -> CharacterBpe:
        """The kind of vocabulary, with these settings."""
        return CharacterBpe(self)


class CharacterBpe(MergeKind):
    """BPE over characters."""

    settings: CharacterBpeSettings

    name: ClassVar[str] = "character-bpe"
    makes = CharacterBpeSettings
    model_types: ClassVar[tuple[type, ...]] = (ListedModel, RankedModel)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "bert"}

    @property
    def like_model(self) -> ListedModel | None:
        model = super().like_model
        # By ranks, all chunks that are tokens are taken as they are.
        by_ranks = ListedModel({}, _NO_TOKENS, ignore_merges=True)
        return by_ranks if isinstance(model, RankedModel) else model

    @property
    def unknown_token(self) -> str | None:
        if self.settings.unknown is None and self.like_model is not None:
            return self.like_model.unknown.token
        return "<unk>" if self.settings.unknown is None else self.settings.unknown

    @property
    def marks(self) -> Marks:
        model = self.like_model
        usual = "</w>" if not self.settings.prefix else ""
        return Marks(
            given_or(self.settings.prefix, model, "prefix", "") or "",
            given_or(self.settings.suffix, model, "suffix", usual) or "",
        )

    @property
    def extra_tokens(self) -> Sequence[str]:
        return [f"<0x{byte:02X}>" for byte in range(256)] if self.settings.byte_fallback else ()

    @property
    def leaves_bytes_out(self) -> bool:
        """True if ``like`` writes unknown characters as bytes, and this does not."""
        model = self.like_model
        return model is not None and model.unknown.byte_fallback and not self.settings.byte_fallback

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        decoder = self._decoder(parts)
        if not self.settings.byte_fallback:
            return decoder
        return {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, decoder]}

    def _decoder(self, parts: Mapping[str, Any]) -> Any:
        prefix, suffix = self.marks
        if suffix:
            return {"type": "BPEDecoder", "suffix": suffix}
        if prefix:
            return {"type": "WordPiece", "prefix": prefix, "cleanup": False}
        pre_tokenizer = parts["pre_tokenizer"]
        if "ByteLevel" in types_in(pre_tokenizer):
            return byte_level_part()
        is_metaspace = isinstance(pre_tokenizer, Mapping) and pre_tokenizer["type"] == "Metaspace"
        return pre_tokenizer if is_metaspace else {"type": "Fuse"}

    def measured(self, words: Mapping[str, int], tokens: Sequence[str]) -> CharacterWords:
        def model(tokens: Sequence[str], merges: Iterable[tuple[str, str]]) -> Encode:
            encode: Encode = self.part(tokens, merges).define((), "the model so far").model.encode
            return encode

        looks_up = self.like_model is not None and self.like_model.ignore_merges
        return CharacterWords(words, tokens, self.marks, model, looks_up=looks_up)

    def part(self, tokens: Iterable[str], merges: Iterable[tuple[str, str]]) -> ListedModel:
        part = self.like_model or ListedModel({}, _NO_TOKENS)
        pairs = [*merges]
        return part._replace(
            vocabulary={token: number for number, token in enumerate(tokens)},
            merges=([left for left, _ in pairs], [right for _, right in pairs]),
            spelled=(),  # those of the file that it is like are others
            unknown=part.unknown._replace(
                token=self.unknown_token,
                byte_fallback=part.unknown.byte_fallback or self.settings.byte_fallback,
            ),
            # None and no text mean the same: it is written as it was.
            prefix=self.marks.prefix or (None if part.prefix else part.prefix),
            suffix=self.marks.suffix or (None if part.suffix else part.suffix),
        )


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
        prefix: the mark before a piece that does not begin a word, ``##`` unless given.
        initial_alphabet: characters that are tokens even if they do not occur.
        limit_alphabet: the most characters that are tokens; the most frequent ones are.
        max_token_length: the length in characters, without marks, of the longest piece that is
            made.
        normalizer, pre_tokenizer, decoder, post_processor: each a part as in a ``tokenizer.json``,
            or its name, such as ``"bert"`` or ``"none"``. Unless given, those of ``like``, or
            BERT's for lower-case text, without a post-processor.
        like: a tokenizer that is to be trained anew.
        convergence: when to stop because more merges hardly improve held-out text.

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

    def part(self, tokens: Iterable[str], merges: Iterable[tuple[str, str]]) -> WordPiecePart:
        part: WordPiecePart = self.like_model or WordPiecePart({})
        vocabulary = {token: number for number, token in enumerate(tokens)}
        return part._replace(
            vocabulary=vocabulary, unknown=self.unknown_token, prefix=self.marks.prefix
        )
