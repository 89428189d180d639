"""Training of any kind of vocabulary: counting of words, learning of a model, and the whole.

A kind is a ``KindSettings``, which says what the words are and how its model is learned from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from typing import Any, Callable, ClassVar, NamedTuple

from ..corpus.chunk_counts import Counted, Counts
from ..encodings.encoding import Encoding
from ..unicode.surrogates import repair
from .counted_chunks import feed_all
from .run.convergence import Convergence, HeldOut
from .run.costs import Costs
from .run.results import Learned, Trained
from .words import CountedWords, MergeLog, WordCounter

#: Called with 1 for each step of learning.
Advance = Callable[[int], None]


class LikeError(ValueError):
    """The tokenizer of ``like`` is of another kind; the message goes on from its path."""


class Options(NamedTuple):
    """What a user asks of a training.

    Args:
        values: the settings, by name, without ``special_tokens``; defaults included.
        given: the names of those that the user gave.
        special_tokens: the names of special tokens.
        roles: the special tokens that have a role in transformers, by role.
    """

    values: Mapping[str, Any]
    given: Set[str]
    special_tokens: Sequence[str]
    roles: Mapping[str, str]

    def special_with_roles(self, left_out: str | None = None) -> list[str]:
        """Return the names of special tokens, then of others that have a role, except ``left_out``.

        >>> options = Options({}, set(), ["<a>"], {"bos": "<a>", "eos": "<b>", "unk": "<c>"})
        >>> options.special_with_roles("<c>")
        ['<a>', '<b>']
        """
        named = self.special_tokens
        others = [one for one in dict.fromkeys(self.roles.values()) if one not in named]
        return [*named, *(one for one in others if one != left_out)]


class KindSettings:
    """The settings of training one kind of vocabulary, and what all programs ask of a kind.

    Attributes:
        kind: the name of the kind.
        formats: the formats that are written unless others are named.
        ends: the settings that say when learning ends, of which one must be given.
        learns_merges: True if the kind learns merges one after another.
        usual_pattern: what splits text unless another is given; None if a pre-tokenizer does.
        vocab_size: the number of tokens asked for; None for any number.
        weights: the weights of groups, if there are any.
    """

    kind: ClassVar[str] = ""
    formats: ClassVar[tuple[str, ...]] = ()
    ends: ClassVar[tuple[str, ...]] = ()
    learns_merges: ClassVar[bool] = False
    usual_pattern: ClassVar[str | None] = None

    vocab_size: int | None
    weights: Mapping[str, float] | None = None
    min_frequency: int = 0
    min_score: float = 0.0

    @classmethod
    def option_names(cls, kind: str) -> frozenset[str]:
        """Return the names of the settings that a program's options may give."""
        return frozenset(field.name for field in fields(cls))  # type: ignore[arg-type]

    @classmethod
    def checks(cls, kind: str) -> str:
        """Return when held-out text is measured: each so many ``"steps"``, or ``"rounds"``."""
        return "steps"

    @classmethod
    def from_options(cls, kind: str, options: Options) -> KindSettings:
        """Return the settings that the options of a program describe.

        Raises:
            ValueError: a setting is impossible.
            LikeError: the tokenizer to be like is of no such kind.
        """
        raise NotImplementedError

    @property
    def pattern_name(self) -> str:
        """The pattern, as a manifest names it."""
        raise NotImplementedError

    @property
    def roles(self) -> Mapping[str, str]:
        """The roles of special tokens that the settings name."""
        return {}

    def kept_roles(self, roles: Mapping[str, str]) -> Mapping[str, str]:
        """Return those of some roles that are written beside the model."""
        return roles

    @property
    def most_steps(self) -> int | None:
        """The most steps of learning, fewer if nothing is left to learn; None if unknown."""
        return None

    @property
    def steps(self) -> str:
        """The name of steps."""
        return "steps"

    @property
    def costs(self) -> Costs | None:
        """The costs of training; None if they have not been measured for the kind."""
        return None

    @property
    def stops_by(self) -> Convergence | None:
        """The settings of stopping by convergence, of kinds that can."""
        return None

    @property
    def leaves_bytes_out(self) -> bool:
        """True if unknown characters are bytes in the tokenizer to be like, and not here."""
        return False

    def described(self) -> dict[str, Any]:
        """Return the settings for a manifest, all of which are JSON."""
        raise NotImplementedError

    def splitter(self) -> Encoding:
        """Return an encoding whose chunks are the words that are learned from.

        Raises:
            ValueError: the pattern, or a part, is wrong.
        """
        raise NotImplementedError

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        """Return a counter of the words that are learned from.

        Args:
            workers: the most processes that split a large corpus; None for one each processor.
            is_held_out: True for words by which learning stops; they have no weights.

        Raises:
            ValueError: the pattern or a part is wrong, or ``workers`` is not positive.
        """
        raise NotImplementedError

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        """Learn a model from words.

        Args:
            words: the words.
            advance: called with 1 for each step.

        Raises:
            ValueError: nothing can be learned from them with these settings.
        """
        raise NotImplementedError

    def encoding(self, model: Any, name: str) -> Encoding:
        """Return the encoding that has a model which was learned.

        Raises:
            ValueError: a part of it is wrong, or needs a token that is not there.
        """
        raise NotImplementedError


class Trainer:
    """Training step by step, for texts in pieces, and with figures on the result.

    Args:
        settings: the settings of a kind.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the encoding.

    Raises:
        ValueError: the pattern or a part is wrong, or ``workers`` is not positive.

    >>> from compat_bpe.train import TrainingSettings, WordPieceSettings
    >>> with Trainer(TrainingSettings(num_merges=1)) as trainer:
    ...     trainer.feed("hug pug", is_last=False)
    ...     trainer.feed(" hug")
    ...     trained = trainer.train()
    >>> trained.merges
    [LearnedMerge(left=b'u', right=b'g', id=256, frequency=3)]
    >>> with Trainer(WordPieceSettings(9)) as trainer:
    ...     trainer.feed("hug pug hug")
    ...     trained = trainer.train()
    >>> trained.merges
    [LearnedMerge(left=b'##u', right=b'##g', id=7, frequency=3), \
LearnedMerge(left=b'h', right=b'##ug', id=8, frequency=2)]
    """

    def __init__(
        self, settings: KindSettings, *, workers: int | None = None, name: str = "trained"
    ) -> None:
        self.settings = settings
        self._name = name
        self._words = settings.word_counter(workers)
        self._held_out = settings.word_counter(workers, is_held_out=True)
        self._held_out_bytes = 0

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._held_out.__exit__(*exception)
        self._words.__exit__(*exception)

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one.

        Args:
            text: any text; surrogates are repaired as in ``Encoding.encode_ordinary``.
            group: the group that it belongs to.
            is_last: True if the text ends with this piece; False if the next piece continues it.

        Raises:
            TypeError: ``text`` is not a str.
            OSError: a worker process has been killed.
        """
        self._words.feed(text, group, is_last=is_last)

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take words that come with their counts, beside texts or instead of them.

        Words are the chunks of a pattern, or what a model gets: normalized, and split off by the
        pre-tokenizer.

        Args:
            counts: a mapping of words to counts, or rows of a chunk, its count and perhaps its
                group, in any order. They are read once; memory grows with the distinct chunks.
            group: the group of chunks that come without one.

        Raises:
            TypeError: a chunk is not a str, or a row is none.
            ValueError: a count is negative or no integer; a chunk is empty or has a surrogate; the
                pattern would split it (``NotAChunkError``). The last is checked unless the pattern
                looks around so that a chunk may be split when it stands alone.

        >>> from compat_bpe.train import TrainingSettings
        >>> with Trainer(TrainingSettings(num_merges=1)) as trainer:
        ...     trainer.feed_counts([("hug", 1), (" pug", 1), (" hug", 1)])
        ...     trainer.train().merges
        [LearnedMerge(left=b'u', right=b'g', id=256, frequency=3)]
        """
        self._words.feed_counts(counts, group)

    def hold_out(self, text: str) -> None:
        """Take a text by which learning may stop; nothing is learned from it.

        Raises:
            ValueError: the settings have no ``convergence``.
            TypeError, OSError: as ``feed``.
        """
        if self.settings.stops_by is None:
            raise ValueError("held-out text is of no use: the settings have no convergence")
        self._held_out.feed(text)
        self._held_out_bytes += len(repair(text).encode())

    def counts_so_far(self) -> Counts:
        """Return the counts so far, by group; see ``ChunkCounter.so_far``."""
        return self._words.so_far()

    def train(self, advance: Advance = lambda steps: None, log: MergeLog | None = None) -> Trained:
        """Learn from all texts.

        Args:
            advance: called with 1 for each step.
            log: what keeps the merges of byte-level BPE; see ``CheckpointedTrainer``.

        Raises:
            ValueError: there was no text; a group with a weight had none; a part is wrong or needs
                a token that is not there; nothing can be learned; a special token is also made by
                merging; there was no held-out text, but ``convergence``.
            OSError: a worker process has been killed.
        """
        words = self._words.finish()
        distinct = len(words.counts)
        if self._held_out_bytes:
            counts = self._held_out.finish(may_be_empty=True).counts
            words = words._replace(held_out=HeldOut(counts, self._held_out_bytes))
        words = words._replace(log=log)
        learned = self.settings.learn(words, advance)
        return Trained(
            self.settings.encoding(learned.model, self._name),
            learned.merges,
            learned.stopped,
            words.bytes,
            words.words,
            distinct,
            learned.tokens,
            dict(words.factors),
            learned.curve,
        )


def train_encoding(
    settings: KindSettings,
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    *,
    workers: int | None = None,
    name: str = "trained",
) -> Encoding:
    """Return an encoding trained on texts; arguments and errors as in ``train_bpe``."""
    with Trainer(settings, workers=workers, name=name) as trainer:
        feed_all(trainer, texts, counts, validation)
        return trainer.train().encoding
