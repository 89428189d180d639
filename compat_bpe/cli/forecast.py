"""An estimate of a training's time and memory, said while its corpus is read."""

from __future__ import annotations

from ..corpus.prepare import CorpusCounts
from ..train.estimate import Estimate, Sample, estimate
from ..train.trainer import KindSettings
from .json_progress import current
from .options.corpus import Corpus
from .output import write_message

#: The bytes of text after which the estimate is made, and the least size of a corpus that has one.
_AFTER = 4_000_000
_LEAST = 8_000_000

#: The seconds from which on a training is long.
_LONG = 60.0


class Forecast:
    """An estimate that is made once, from parts of the first megabytes of a corpus.

    It is made of a corpus whose size is known. It is said of a long training, and to a program
    that asks for progress always.

    Args:
        settings: the settings of the training.
        corpus: the corpus that is read.
        counts: what was read of it so far.
        workers: the most processes that count.
    """

    def __init__(
        self, settings: KindSettings, corpus: Corpus, counts: CorpusCounts, workers: int | None
    ) -> None:
        self._settings = settings
        self._corpus = corpus
        self._counts = counts
        self._workers = workers
        size = corpus.size
        self._sample = Sample() if size is not None and size > 0 else None

    def see(self, text: str) -> None:
        """Take a part of the corpus; say the estimate once there is enough text."""
        if self._sample is None:
            return
        self._sample.see(text)
        read = self._counts.kept.bytes
        if read < _AFTER or not self._sample.is_full or not self._corpus.done:
            return
        texts, self._sample = self._sample.texts, None
        # Bytes on disk, which may be compressed, and JSON around the text, are in proportion.
        size = int(read * (self._corpus.size or 0) / self._corpus.done)
        if size >= _LEAST:
            made = estimate(self._settings, texts, size, self._workers)
            if made is not None:
                _say(made)


def _say(made: Estimate) -> None:
    progress = current()
    if progress is not None:
        memory = made.bytes
        progress.write(
            "estimate",
            least_seconds=round(made.seconds.least, 1),
            most_seconds=round(made.seconds.most, 1),
            least_bytes=None if memory is None else int(memory.least),
            most_bytes=None if memory is None else int(memory.most),
            size=made.size,
        )
    elif made.seconds.most >= _LONG:
        write_message(in_words(made))


def in_words(made: Estimate) -> str:
    """Return an estimate as a message.

    >>> from ..train.estimate import Range
    >>> in_words(Estimate(Range(31.0, 95.0), Range(120e6, 410e6), 50_000_000))
    'an estimate for 50 MB: 31 to 95 seconds and 120 to 410 MB of memory'
    >>> in_words(Estimate(Range(400.0, 5000.0), None, 50_000_000))
    'an estimate for 50 MB: 7 to 83 minutes'
    """
    least, most = made.seconds
    unit, of = ("seconds", 1) if most < 120 else ("minutes", 60)
    said = (
        f"an estimate for {made.size / 1e6:,.0f} MB: {least / of:,.0f} to {most / of:,.0f} {unit}"
    )
    if made.bytes is None:
        return said
    return f"{said} and {made.bytes.least / 1e6:,.0f} to {made.bytes.most / 1e6:,.0f} MB of memory"
