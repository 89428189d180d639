"""Training: from texts to an encoding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple

from ..corpus.chunk_counts import ChunkCounter, Counts
from ..corpus.counted import Counted
from ..encodings import deepseek
from ..encodings.encoding import Encoding
from ..encodings.load_by_ranks import DEEPSEEK, pattern_named
from ..encodings.tokenizer import Tokenizer
from ..formats.models.bpe import RankedModel
from ..formats.tokenizer_json import TokenizerDefinition
from ..parallel.lazy import cached_property
from ..pattern.ast import PatternError
from ..pipeline.added.added_tokens import AddedToken
from ..pipeline.byte_level import BYTE_TO_UNICODE
from ..pipeline.chunks import chunk_bytes
from ..unicode.surrogates import repair
from .bpe.learner import Learner
from .convergence import Convergence, Curve, Point, points_as_json
from .counted_chunks import feed_all, whole_chunk_check
from .measure import MergedWords
from .settings import BYTES, TrainingSettings, spellings
from .words import UNIT, multipliers_of

#: The id of each byte, for ``bytes.translate``.
_TO_IDS = bytes(bytes(BYTE_TO_UNICODE).index(byte) for byte in range(256))

_Advance = Callable[[int], None]


class LearnedMerge(NamedTuple):
    """A merge.

    Args:
        left, right: the bytes of the two tokens that are joined.
        id: the id of the new token.
        frequency: the number of times that the two were neighbours when they were joined.
    """

    left: bytes
    right: bytes
    id: int
    frequency: float


class Trained(NamedTuple):
    """The result of training.

    Args:
        encoding: the encoding.
        merges: the merges, in the order in which they were learned.
        stopped: the reason why there are no more: ``"size"`` if there are as many as were asked
            for, ``"nothing left"`` if no pair is as frequent as ``min_frequency``,
            ``"convergence"`` if more would have been of little use, ``"score"`` if no pair has
            ``min_score``.
        bytes: the size of the corpus in UTF-8.
        chunks, distinct_chunks: the number of its chunks, and of different ones.
        tokens: the number of its tokens in the end.
        factors: with weights, the factor by which each group was multiplied; else empty.  Of the
            figures above, only ``tokens`` and the frequencies of merges are multiplied.
        curve: with ``convergence``, the checks on the held-out text; else empty.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    stopped: str
    bytes: int
    chunks: int
    distinct_chunks: int
    tokens: float
    factors: dict[str, float]
    curve: Sequence[Point] = ()

    def metrics(self) -> dict[str, Any]:
        """Return figures of the training for a manifest."""
        found = self._asdict()
        del found["encoding"], found["curve"]
        found["merges"] = len(self.merges)
        return {**found, "curve": points_as_json(self.curve)} if self.curve else found


def train_bpe(
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    pattern: str = "gpt2",
    special_tokens: Iterable[str] = (),
    min_frequency: int = 1,
    max_token_length: int | None = None,
    weights: Mapping[str, float] | None = None,
    convergence: Convergence | None = None,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> Encoding:
    """Train a byte-level BPE vocabulary on texts.

    The merges are those of Hugging Face tokenizers 0.23.3: of its ``BpeTrainer`` with the
    byte-level alphabet, after a pre-tokenizer that splits by the same pattern.  They do not depend
    on the order of the texts or on the number of workers.

    The ids of the 256 bytes come first, in GPT-2's order, then those of the merges, then those of
    the special tokens.

    Args:
        texts: the corpus, read once; or the texts of each group.
        vocab_size: the number of tokens, single bytes and special tokens included.  There are fewer
            if nothing is left to merge.
        num_merges: the most merges to learn.  Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        pattern: the pattern that splits text into chunks, across which nothing is merged; or its
            name: that of an encoding of OpenAI's, ``"llama3"``, or ``"deepseek"`` for the steps of
            DeepSeek V3.
        special_tokens: the names of special tokens.  In the texts they are plain text.
        min_frequency: the lowest frequency of a pair that is merged.
        max_token_length: the length in bytes of the longest token.  (In tokenizers, the option of
            this name is one more: tokens there are shorter than it.)
        weights: the weights of some groups; the others have 1.  Each group is multiplied so that
            group sizes in bytes are in these proportions, and none is made smaller.
            ``min_frequency`` is compared with the multiplied frequencies.
        convergence: when to stop because more merges are of little use for ``validation``.
        validation: held-out texts, from which nothing is learned.
        counts: chunks with their counts, beside texts or instead of them: a mapping; pairs, in any
            order, of which those of the same chunk are added up; or either for each group.  The
            merges are those of the texts that were counted.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the encoding.

    Returns:
        The encoding; a ``Tokenizer`` with ``"deepseek"``.  ``compat_bpe.save`` writes it.

    Raises:
        ValueError: there is no text; the vocabulary is too small for all bytes and special tokens;
            a special token is empty, is named twice, or is also made by merging; the pattern is not
            valid; a weight is not positive, or its group has no text; a count is negative or no
            integer; a counted text is empty, has a surrogate, or is more than one chunk.
        TypeError: a text is not a str, or ``texts`` is a single str.
        OSError: a worker process has been killed.

    >>> enc = train_bpe(["hug " * 10 + "pug " * 5 + "pun " * 12], 259, pattern=r" ?\\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    >>> counts = {"hug": 1, " hug": 9, " pug": 5, " pun": 12}
    >>> enc = train_bpe(counts=counts, vocab_size=259, pattern=r" ?\\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    """
    settings = TrainingSettings(
        vocab_size,
        num_merges=num_merges,
        pattern=pattern,
        special_tokens=special_tokens,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        weights=weights,
        convergence=convergence,
    )
    with Trainer(settings, workers=workers, name=name) as trainer:
        feed_all(trainer, texts, counts, validation)
        return trainer.train().encoding


class Trainer:
    """Training step by step, for texts in pieces, and with figures on the result.

    Args:
        settings: the settings.
        workers, name: as in ``train_bpe``.

    Raises:
        ValueError: the pattern is not valid, or ``workers`` is not positive.

    >>> with Trainer(TrainingSettings(num_merges=1)) as trainer:
    ...     trainer.feed("hug pug", is_last=False)
    ...     trainer.feed(" hug")
    ...     trained = trainer.train()
    >>> trained.merges
    [LearnedMerge(left=b'u', right=b'g', id=256, frequency=3)]
    """

    def __init__(
        self, settings: TrainingSettings, *, workers: int | None = None, name: str = "trained"
    ) -> None:
        self.settings = settings
        self._name = name
        #: An encoding without merges, which splits the text.
        self._unmerged = make_encoding(name, settings.pattern, BYTES, [])
        self._chunks = ChunkCounter(self._unmerged, workers)
        self._held_out = ChunkCounter(self._unmerged, workers)
        self._held_out_bytes = 0

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._held_out.__exit__(*exception)
        self._chunks.__exit__(*exception)

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
        self._chunks.feed(text, group, is_last=is_last)

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take chunks that come with their counts, beside texts or instead of them.

        Args:
            counts: a mapping of chunks to counts, or rows of a chunk, its count and perhaps its
                group, in any order.  They are read once; memory grows with the distinct chunks.
            group: the group of chunks that come without one.

        Raises:
            TypeError: a chunk is not a str, or a row is none.
            ValueError: a count is negative or no integer; a chunk is empty or has a surrogate; the
                pattern would split it (``NotAChunkError``).  The last is checked unless the pattern
                looks around so that a chunk may be split when it stands alone.

        >>> with Trainer(TrainingSettings(num_merges=1)) as trainer:
        ...     trainer.feed_counts([("hug", 1), (" pug", 1), (" hug", 1)])
        ...     trainer.train().merges
        [LearnedMerge(left=b'u', right=b'g', id=256, frequency=3)]
        """
        self._chunks.add(counts, group, self._check_chunk)

    @cached_property
    def _check_chunk(self) -> Callable[[str], None]:
        return whole_chunk_check(self._unmerged, self.settings.pattern)

    def hold_out(self, text: str) -> None:
        """Take a text by which learning may stop; nothing is learned from it.

        Raises:
            ValueError: the settings have no ``convergence``.
            TypeError, OSError: as ``feed``.
        """
        if self.settings.convergence is None:
            raise ValueError("held-out text is of no use: the settings have no convergence")
        self._held_out.feed(text)
        self._held_out_bytes += len(repair(text).encode())

    def train(self, advance: _Advance = lambda merges: None) -> Trained:
        """Learn from all texts.

        Args:
            advance: called with 1 for each merge.

        Raises:
            ValueError: there was no text; a group with a weight had none; a special token is also
                made by merging; there was no held-out text, but ``convergence``.
            OSError: a worker process has been killed.
        """
        settings = self.settings
        most = settings.most_merges
        counts = self._chunks.finish()
        sizes = {group: self._size(counter) for group, counter in counts.items()}
        if not any(sizes.values()):
            raise ValueError("there is no text to learn from")
        unit = UNIT if settings.weights else 1
        multipliers = multipliers_of(sizes, settings.weights) if settings.weights else {}
        chunks = sum(sum(counter.values()) for counter in counts.values())
        words = self._words(counts, multipliers)
        learner = Learner(
            words,
            BYTES,
            min_frequency=settings.min_frequency * unit,
            max_token_length=settings.max_token_length,
        )
        distinct = len(words)
        del words  # The learner has what it needs of it.
        tokens = list(BYTES)
        merges: list[LearnedMerge] = []
        taken = {token: name for name in settings.special_tokens for token in spellings(name)}
        held_out = MergedWords(self._words(self._held_out.finish(), {}))
        curve = None
        if settings.convergence is not None:
            curve = Curve(settings.convergence, self._held_out_bytes)
        stopped = "size"
        while True:
            if curve is not None and curve.is_due(len(merges)):
                size = settings.least_tokens + len(merges)
                if curve.add(size, len(merges), held_out.size):
                    stopped = "convergence"
                    break
            if len(merges) == most:
                break
            merge = learner.step()
            if merge is None:
                stopped = "nothing left"
                break
            left, right = tokens[merge.left], tokens[merge.right]
            if left + right in taken:
                raise ValueError(
                    f"the special token {taken[left + right]!r} is also the result of merge "
                    f"{len(merges) + 1}: choose a name that the pattern splits, such as <|name|>"
                )
            frequency = merge.frequency / unit if unit > 1 else merge.frequency
            merges.append(LearnedMerge(left, right, len(tokens), frequency))
            tokens.append(left + right)
            held_out.join(chr(merge.left) + chr(merge.right), chr(merge.made))
            advance(1)
        if curve is not None and not curve.is_due(len(merges)):
            curve.add(settings.least_tokens + len(merges), len(merges), held_out.size)
        return Trained(
            make_encoding(self._name, settings.pattern, tokens, settings.special_tokens),
            merges,
            stopped,
            sum(sizes.values()),
            chunks,
            distinct,
            learner.size / unit if unit > 1 else learner.size,
            {group: multiplier / unit for group, multiplier in multipliers.items()},
            curve.points if curve is not None else (),
        )

    def _size(self, counter: Counter[str]) -> int:
        """Return the size of counted chunks in bytes."""
        core = self._unmerged.core
        return sum(len(chunk_bytes(core, chunk)) * count for chunk, count in counter.items())

    def _words(self, counts: Counts, multipliers: Mapping[str, int]) -> dict[str, int]:
        """Return all chunks as strings of ids, and empty the counts, so as not to hold both."""
        core = self._unmerged.core
        words: dict[str, int] = {}
        for group in list(counts):
            multiplier = multipliers.get(group, 1)
            counter = counts.pop(group)
            while counter:
                chunk, count = counter.popitem()
                word = chunk_bytes(core, chunk).translate(_TO_IDS).decode("latin-1")
                words[word] = words.get(word, 0) + count * multiplier
        return words


def make_encoding(
    name: str, pattern: str, tokens: Iterable[bytes], special_tokens: Iterable[str]
) -> Encoding:
    """Make an encoding of tokens, in the order of their ids, followed by special tokens.

    Raises:
        ValueError: the pattern is not valid.
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    specials = {special: number for number, special in enumerate(special_tokens, len(ranks))}
    if pattern == DEEPSEEK:
        added = tuple(AddedToken(one, number, special=True) for one, number in specials.items())
        definition = TokenizerDefinition(RankedModel(ranks), added, deepseek.PARTS, name)
        return Tokenizer(name, definition)
    try:
        return Encoding(
            name,
            pat_str=pattern_named(pattern),
            mergeable_ranks=ranks,
            special_tokens=specials,
        )
    except PatternError as error:
        raise ValueError(f"the pattern cannot be used: {error}") from None
