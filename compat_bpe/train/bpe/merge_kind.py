"""The common part of kinds of tokenizers whose pieces are learned by merging characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

from ...pipeline.byte_level import UNICODE_TO_BYTE
from ..kind import Advance
from ..options import INITIAL_ALPHABET, MAX_TOKEN_LENGTH, MERGES, NUM_MERGES, STOP, Option
from ..run.convergence import Convergence, Curve, Point, check_has_end
from ..run.costs import Costs, distinct_bytes
from ..run.results import LearnedMerge
from ..tokenizer_kind import TokenizerKind, TokenizerSettings
from ..tokenizer_parts import types_in
from ..words import CountedWords
from .learner import MOST_TOKENS, Merge
from .likelihood import LikelihoodLearner
from .measure import CharacterWords, GreedyWords
from .merges_of_characters import CharacterLearner, Marks, alphabet_of, first_tokens, spelled


class _MergeLearner(Protocol):
    @property
    def tokens(self) -> Sequence[str]: ...

    @property
    def size(self) -> int: ...

    def step(self) -> Merge | None: ...


#: The rules by which the next pair is chosen, by name.
RULES: dict[str, Callable[..., _MergeLearner]] = {
    "frequency": CharacterLearner,
    "likelihood": LikelihoodLearner,
}


class LearnedTokens(NamedTuple):
    """The tokens that merging characters makes.

    Args:
        tokens: the tokens, in the order of their ids.
        merges: each merge's two tokens, in order; a pair that was joined twice stands only where it
            was joined last, as in tokenizers.
        learned, stopped, size, curve: as in ``Learned``, whose ``tokens`` is the size.
    """

    tokens: list[str]
    merges: list[tuple[str, str]]
    learned: list[LearnedMerge]
    stopped: str
    size: float
    curve: Sequence[Point]


@dataclass(frozen=True)
class MergeSettings(TokenizerSettings):
    """The settings of kinds that merge characters.

    Args:
        vocab_size: the number of tokens. There are more if special tokens and characters are more,
            and fewer if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        prefix: stands before a piece that does not begin a word; empty for none. Unless given,
            that of ``like`` or the usual one of the kind.
        suffix: stands after a piece that ends a word; in the same way.
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

    num_merges: int | None = field(default=None, metadata=NUM_MERGES.as_metadata)
    min_score: float = field(
        default=0.0,
        metadata=Option(
            "With --rule likelihood, join only pairs of this score or a higher one.",
            STOP,
            metavar="SCORE",
            type=float,
            least=0,
        ).as_metadata,
    )
    rule: str = field(
        default="frequency",
        metadata=Option(
            "Rule that chooses the pair to join: frequency, or likelihood as in textbooks on "
            "WordPiece.",
            MERGES,
            metavar="RULE",
            choices=tuple(RULES),
        ).as_metadata,
    )
    prefix: str | None = field(
        default=None,
        metadata=Option(
            "Mark before a piece that does not begin a word. Default: that of --like; ## for "
            "wordpiece.",
            MERGES,
            flags=("--continuing-subword-prefix",),
            metavar="MARK",
        ).as_metadata,
    )
    suffix: str | None = field(
        default=None,
        metadata=Option(
            "Mark after a piece that ends a word. Default: that of --like; </w> for "
            "character-bpe without a prefix.",
            MERGES,
            flags=("--end-of-word-suffix",),
            metavar="MARK",
        ).as_metadata,
    )
    initial_alphabet: Iterable[str] = field(default="", metadata=INITIAL_ALPHABET.as_metadata)
    limit_alphabet: int | None = field(
        default=None,
        metadata=Option(
            "Make at most N characters tokens, the most frequent ones.",
            MERGES,
            metavar="N",
            type=int,
            least=0,
        ).as_metadata,
    )
    max_token_length: int | None = field(default=None, metadata=MAX_TOKEN_LENGTH.as_metadata)

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

    @property
    def costs(self) -> Costs:
        return Costs(distinct_bytes(self.splitter()), 0.12, 0.0, 2.5, 1.0, 45.0)

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
        parts = self.surroundings.parts
        if "ByteLevel" in {*types_in(parts["pre_tokenizer"]), *types_in(parts["normalizer"])}:
            initial += "".join(UNICODE_TO_BYTE)
        alphabet = alphabet_of(words, initial, self.settings.limit_alphabet)
        special = [*self.all_special_tokens, *self.extra_tokens]
        return first_tokens(words, special, alphabet, self.marks)

    def learn_tokens(
        self,
        words: CountedWords,
        advance: Advance = lambda steps: None,
        tokens: Sequence[str] | None = None,
    ) -> LearnedTokens:
        """Learn tokens from words.

        Args:
            words: the words.
            advance: called with 1 for each merge.
            tokens: the tokens to begin with; by default those of ``first_tokens``.
        """
        settings = self.settings
        tokens = self.first_tokens(words.counts) if tokens is None else tokens
        learner = RULES[settings.rule](
            spelled(words.counts, tokens, self.marks),
            tokens,
            self.marks.prefix,
            min_frequency=settings.min_frequency * words.unit,
            max_token_length=settings.max_token_length,
        )
        watch = None
        if settings.convergence is not None:
            watch = _Watch(self, settings.convergence, words, tokens)
        made = learner.tokens
        most = MOST_TOKENS if settings.vocab_size is None else settings.vocab_size
        steps = float("inf") if settings.num_merges is None else settings.num_merges
        merges: dict[tuple[str, str], None] = {}
        learned: list[LearnedMerge] = []
        stopped = "size"
        advance(len(made) if settings.vocab_size is not None else 0)
        while True:
            if watch is not None and watch.has_converged(made, merges, len(learned)):
                stopped = "convergence"
                break
            if len(made) >= most or len(learned) >= steps:
                break
            if self._is_low(learner, words.unit):
                stopped = "score"
                break
            before = len(made)
            merge = learner.step()
            if merge is None:
                stopped = "nothing left"
                break
            pair = made[merge.left], made[merge.right]
            merges.pop(pair, None)
            merges[pair] = None
            frequency = merge.frequency / words.unit if words.unit > 1 else merge.frequency
            left, right = pair
            learned.append(LearnedMerge(left.encode(), right.encode(), merge.made, frequency))
            if watch is not None:
                token = made[merge.made]
                is_new = len(made) > before
                watch.words.learn(merge.left, merge.right, merge.made, token, is_new=is_new)
            advance(len(made) - before if settings.vocab_size is not None else 1)
        size = learner.size / words.unit if words.unit > 1 else learner.size
        points = watch.end(made, merges, len(learned)) if watch is not None else []
        return LearnedTokens(list(made), list(merges), learned, stopped, size, points)

    def _is_low(self, learner: _MergeLearner, unit: int) -> bool:
        """Return True if the score of the next pair is below the lowest."""
        least = self.settings.min_score
        if not least:
            return False
        assert isinstance(learner, LikelihoodLearner)  # The others have no scores.
        best = learner.best()
        return best is not None and best[2] * unit < least


class _Watch:
    """The checks on held-out words while tokens are learned.

    Args:
        kind, convergence: the kind and the settings of stopping.
        words: the words to learn from, with the held-out ones.
        tokens: the tokens that learning begins with.

    Raises:
        ValueError: there is no held-out text.
    """

    def __init__(
        self,
        kind: MergeKind,
        convergence: Convergence,
        words: CountedWords,
        tokens: Sequence[str],
    ) -> None:
        counts, size = words.held_out if words.held_out is not None else ({}, 0)
        self._curve = Curve(convergence, size)
        self.words = kind.measured(counts, tokens)

    def has_converged(
        self, tokens: Sequence[str], merges: Iterable[tuple[str, str]], steps: int
    ) -> bool:
        """Return True if learning has converged, by a check if one is due after these steps."""
        if not self._curve.is_due(steps):
            return False
        return self._curve.add(len(tokens), steps, self.words.size(tokens, merges))

    def end(
        self, tokens: Sequence[str], merges: Iterable[tuple[str, str]], steps: int
    ) -> list[Point]:
        """Return all checks, with one of the end."""
        if not self._curve.is_due(steps):
            self._curve.add(len(tokens), steps, self.words.size(tokens, merges))
        return self._curve.points
