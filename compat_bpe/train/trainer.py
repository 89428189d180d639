"""Training of any kind of vocabulary: step by step, and in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar, Union

from ..corpus.chunk_counts import Counted, Counts, rows_of
from ..encodings.encoding import Encoding
from ..unicode.surrogates import repair
from .bpe.byte_level import TrainingSettings
from .convergence import HeldOut
from .kind import Advance, Settings, Trained
from .kinds import check_settings
from .sentencepiece.settings import SentencePieceSettings
from .sentencepiece.trainer import SentencePieceTrainer, TrainedSentencePiece
from .words import MergeLog

#: The result of training any kind.
AnyTrained = Union[Trained, TrainedSentencePiece]


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

        Words are the chunks of a pattern, or words as a model gets them: normalized, and split off
        by the pre-tokenizer.

        Args:
            counts: a mapping of words to counts, or rows of a chunk, its count and perhaps its
                group, in any order. They are read once; memory grows with the distinct chunks.
            group: the group of chunks that come without one.

        Raises:
            TypeError: a chunk is not a str, or a row is not a row.
            ValueError: a count is negative or not an integer; a chunk is empty or has a surrogate;
                the pattern would split it (``NotAChunkError``). The last is not checked if the
                pattern looks around and may split a chunk only when it is alone.

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
            raise ValueError("held-out text needs the setting convergence, which is missing")
        self._held_out.feed(text)
        self._held_out_bytes += len(repair(text).encode())

    def counts_so_far(self) -> Counts:
        """Return the counts so far, by group; see ``ChunkCounter.so_far``."""
        return self._words.so_far()

    def train(self, advance: Advance = lambda steps: None, log: MergeLog | None = None) -> Trained:
        """Learn from all texts.

        Args:
            advance: called with 1 for each step.
            log: keeps the merges of byte-level BPE; see ``CheckpointedTrainer``.

        Raises:
            ValueError: there was no text; a group with a weight had none; a part is wrong or needs
                a token that is missing; nothing can be learned; a special token is also made by
                merging; ``convergence`` is set, but there was no held-out text.
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


_Encoding = TypeVar("_Encoding", bound=Encoding)


def trainer_of(
    settings: Settings[Any], *, workers: int | None = None, name: str = "trained"
) -> AnyTrainer:
    """Return the trainer of a kind; arguments and errors as of ``Trainer``."""
    if isinstance(settings, SentencePieceSettings):  # it is learned from lines
        return SentencePieceTrainer(settings, workers=workers, name=name)
    return Trainer(settings, workers=workers, name=name)


def train(
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    settings: Settings[_Encoding],
    *,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> _Encoding:
    """Train a vocabulary on texts; their order and the number of workers make no difference.

    Args:
        texts: the corpus, read once; or the texts of each group.
        settings: the settings of one of the kinds: ``TrainingSettings`` for byte-level BPE,
            ``WordPieceSettings``, ``CharacterBpeSettings``, ``UnigramSettings``,
            ``WordLevelSettings``, ``CharacterSettings``, ``ByteSettings`` or
            ``SentencePieceSettings``.
        counts: text that was counted before, beside texts or instead of them: chunks of the
            pattern; words as the model gets them, normalized, and split off by the pre-tokenizer;
            or whole texts for SentencePiece. Pass a mapping; pairs in any order, where the counts
            of the same chunk are added up; or either for each group. The result is that of the
            texts that were counted. Not for a Unigram model of SentencePiece.
        validation: held-out texts for ``convergence``, from which nothing is learned.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the encoding.

    Returns:
        The encoding: a ``Tokenizer`` or a ``SentencePiece`` where the kind is one.
        ``compat_bpe.save`` writes it.

    Raises:
        ValueError: there is no text; a group with a weight has no text; the pattern or a part is
            wrong, or needs a token that is missing; a special token is also made by merging; a
            count is negative or not an integer; a counted text is empty, has a surrogate, or is
            more than one chunk; nothing can be learned with these settings.
        TypeError: a text is not a str, ``texts`` is a single str, or ``settings`` is not the
            settings of a kind.
        OSError: a worker process has been killed, or the disk is full.

    >>> from compat_bpe.train import WordPieceSettings
    >>> enc = train(["hug " * 10 + "pug " * 5 + "pun " * 12], WordPieceSettings(14))
    >>> enc.encode("a pug"), enc.decode([13])
    ([0, 13], 'pug')
    """
    check_settings(settings)
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    as_given = settings.kind.as_given
    with trainer_of(settings, workers=workers, name=name) as trainer:
        for group, some in (texts if isinstance(texts, Mapping) else {"": texts}).items():
            for text in some:
                trainer.feed(as_given(text), group)
        for text in validation:
            trainer.hold_out(text)
        for group, own in _by_group(counts):
            given = ((as_given(text), count, at) for text, count, at in rows_of(own, group))
            rows = (row for row in given if row[0])  # a text of one line end is empty now
            trainer.feed_counts(own if settings.kind.counts_words else rows, group)
        encoding: Any = trainer.train().encoding
    result: _Encoding = encoding
    return result


def _by_group(counts: Counted | Mapping[str, Counted]) -> Iterable[tuple[str, Counted]]:
    """Return counts by group; counts that are not by group are of the group ""."""
    if isinstance(counts, Mapping):
        first = next(iter(counts.values()), None)
        # The counts of a group are a mapping or rows; a count is a number.
        if isinstance(first, Iterable) and not isinstance(first, (str, bytes)):
            return counts.items()  # type: ignore[return-value]
    return [("", counts)]  # type: ignore[list-item]


def train_bpe(
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    vocab_size: int | None = None,
    *,
    pattern: str | None = None,
    special_tokens: Iterable[str] = (),
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
    **settings: Any,
) -> Encoding:
    r"""Train a byte-level BPE vocabulary on texts: ``train`` with ``TrainingSettings``.

    The merges are those of Hugging Face tokenizers 0.23.3: of its ``BpeTrainer`` with the
    byte-level alphabet, after a pre-tokenizer that splits by the same pattern. The ids of the 256
    bytes come first, in GPT-2's order, then those of the merges, then those of the special tokens.

    Args:
        texts, counts, validation, workers, name: as in ``train``.
        vocab_size, pattern, special_tokens: as in ``TrainingSettings``.
        settings: its other settings, by name, such as ``num_merges`` or ``min_frequency``.

    Returns:
        The encoding; a ``Tokenizer`` with the pattern ``"deepseek"``.

    Raises:
        ValueError, TypeError, OSError: as in ``train``; TypeError if there is no such setting.

    >>> enc = train_bpe(["hug " * 10 + "pug " * 5 + "pun " * 12], 259, pattern=r" ?\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    >>> counts = {"hug": 1, " hug": 9, " pug": 5, " pun": 12}
    >>> enc = train_bpe(counts=counts, num_merges=3, pattern=r" ?\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    """
    own = TrainingSettings(vocab_size, pattern=pattern, special_tokens=special_tokens, **settings)
    return train(texts, own, counts=counts, validation=validation, workers=workers, name=name)
