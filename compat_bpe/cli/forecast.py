"""Estimates of a training's time and memory, said while its corpus is read."""

from __future__ import annotations

from collections.abc import Sequence

from ..corpus.prepare import CorpusCounts
from ..train.estimate import Costs, Estimate, Sample, estimate, share_for
from .options.corpus import Corpus
from .output import write_message
from .progress import current

#: The bytes of text after which the estimate is made, and the least size of a corpus that has one.
_AFTER = 4_000_000
_LEAST = 8_000_000

#: The share of the beginning that is looked at.
_SHARE = 0.25

#: The seconds from which on a training is long.
_LONG = 60.0


class Forecast:
    """Estimates of a training: one after the first megabytes, and one before learning begins.

    The first knows only the beginning of the corpus, the second all of it. They are made of a
    corpus whose size is known, and said if the training is long, or a program asks for progress.

    Args:
        costs: the costs of the kind of vocabulary; None if they are not known.
        corpus: the corpus that is read.
        counts: what was read of it so far.
        workers: the most processes that count.
    """

    def __init__(
        self, costs: Costs | None, corpus: Corpus, counts: CorpusCounts, workers: int | None
    ) -> None:
        self._costs = costs
        self._corpus = corpus
        self._counts = counts
        self._workers = workers
        self._beginning: Sample | None = None
        self._whole: Sample | None = None
        if corpus.size:
            self._beginning = Sample(_SHARE)
            self._whole = Sample(share_for(corpus.size))

    def see(self, text: str) -> None:
        """Take a part of the corpus; say the first estimate once there is enough text."""
        if self._whole is not None:
            self._whole.see(text)
        if self._beginning is None:
            return
        self._beginning.see(text)
        read = self._counts.kept.bytes
        if read < _AFTER or not self._beginning.is_full or not self._corpus.done:
            return
        texts, self._beginning = self._beginning.texts, None
        # Bytes on disk, which may be compressed, and JSON around the text, are in proportion.
        self._estimate(texts, int(read * (self._corpus.size or 0) / self._corpus.done))

    def all_read(self) -> None:
        """Say the second estimate; the whole corpus has been read."""
        if self._whole is not None:
            self._estimate(self._whole.texts, self._counts.kept.bytes, is_read=True)

    def _estimate(self, texts: Sequence[str], size: int, *, is_read: bool = False) -> None:
        if size >= _LEAST:
            made = estimate(self._costs, texts, size, self._workers, is_read=is_read)
            if made is not None:
                _say(made)


def _say(made: Estimate) -> None:
    progress = current()
    if progress is not None:
        progress.write(
            "estimate",
            least_seconds=round(made.seconds.least, 1),
            most_seconds=round(made.seconds.most, 1),
            least_bytes=int(made.bytes.least),
            most_bytes=int(made.bytes.most),
            size=made.size,
        )
    elif made.seconds.most >= _LONG:
        write_message(in_words(made))


def in_words(made: Estimate) -> str:
    """Return an estimate as a message.

    >>> from compat_bpe.train.estimate import Range
    >>> in_words(Estimate(Range(31.0, 95.0), Range(120e6, 410e6), 50_000_000))
    'an estimate for 50 MB of text: 31 to 95 seconds more, and 120 to 410 MB of memory'
    >>> in_words(Estimate(Range(400.0, 5000.0), Range(1e9, 2e9), 50_000_000))
    'an estimate for 50 MB of text: 7 to 83 minutes more, and 1,000 to 2,000 MB of memory'
    """
    unit, of = ("seconds", 1) if made.seconds.most < 120 else ("minutes", 60)
    time = " to ".join(f"{one / of:,.0f}" for one in made.seconds)
    memory = " to ".join(f"{one / 1e6:,.0f}" for one in made.bytes)
    size = f"{made.size / 1e6:,.0f} MB of text"
    return f"an estimate for {size}: {time} {unit} more, and {memory} MB of memory"
