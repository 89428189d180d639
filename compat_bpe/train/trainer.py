"""Training of any kind of vocabulary whose words are counted, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..corpus.chunk_counts import Counts
from ..corpus.counted import Counted
from ..encodings.encoding import Encoding
from ..unicode.surrogates import repair
from .kind import Advance, Settings
from .run.convergence import HeldOut, Point
from .run.results import LearnedMerge, Trained
from .words import MergeLog


class AnyTrained(Protocol):
    """The result of training any kind; see ``Trained``."""

    @property
    def encoding(self) -> Encoding: ...

    @property
    def merges(self) -> list[LearnedMerge]: ...

    @property
    def stopped(self) -> str: ...

    @property
    def skipped(self) -> int: ...

    @property
    def curve(self) -> Sequence[Point]: ...

    def metrics(self) -> dict[str, Any]: ...


class AnyTrainer(Protocol):
    """A trainer of any kind; see ``Trainer``."""

    def __enter__(self) -> AnyTrainer: ...

    def __exit__(self, *exception: object) -> None: ...

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None: ...

    def feed_counts(self, counts: Counted, group: str = "") -> None: ...

    def hold_out(self, text: str) -> None: ...

    def train(self, advance: Advance = ...) -> AnyTrained: ...


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
        self, settings: Settings[Any], *, workers: int | None = None, name: str = "trained"
    ) -> None:
        self.settings = settings
        self._name = name
        self._kind = settings.kind
        self._words = self._kind.word_counter(workers)
        self._held_out = self._kind.word_counter(workers, is_held_out=True)
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
        if self._kind.convergence is None:
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
        learned = self._kind.learn(words, advance)
        return Trained(
            self._kind.encoding(learned.model, self._name),
            learned.merges,
            learned.stopped,
            words.bytes,
            words.words,
            distinct,
            learned.tokens,
            dict(words.factors),
            learned.curve,
        )
