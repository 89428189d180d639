"""An estimate of the time and the memory of a training, from trainings on two small samples.

One sample is four times the other. What learning takes grows by some power of the text, which the
two show; the power is below 1 where most words have been seen before, and goes on to fall. So it is
a range: that power, and a lower one. Counting takes time in proportion to the text; it is faster
once words have been seen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..parallel.processes import processors
from .kinds import trainer_of
from .trainer import KindSettings

#: The sizes of the samples in characters.
_SMALL = 1 << 17
_LARGE = 1 << 19

#: The bounds of the power by which time and memory of learning grow with the text, and how much
#: lower or higher it may be over the whole of it. Measured: see docs/performance.md.
_LEAST_POWER, _MOST_POWER = 0.4, 1.1
_LOWER, _HIGHER = 0.2, 0.1

#: The share of the time of the first words that later ones take to count, at least and at most.
_COUNTING = (0.3, 1.3)

#: Bytes that a process takes before it learns, and what it takes beside its objects.
_BASE = 40_000_000
_OVERHEAD = (0.8, 1.5)


class Range(NamedTuple):
    """A least and a most."""

    least: float
    most: float


class Estimate(NamedTuple):
    """An estimate.

    Args:
        seconds: the time of counting and learning, if nothing else runs on the machine.
        bytes: the memory of the process that learns; None where it cannot be measured.
        size: the bytes of text that the estimate is for.
    """

    seconds: Range
    bytes: Range | None
    size: int


class Sample:
    """A sample of a corpus that is read: parts from everywhere in what came so far.

    >>> sample = Sample()
    >>> for number in range(100):
    ...     sample.see("a text " * 10_000)
    >>> sample.is_full, sum(map(len, sample.texts))
    (True, 700000)
    """

    #: The share of the text that is taken.
    _SHARE = 0.16

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._taken = self._seen = 0

    @property
    def is_full(self) -> bool:
        """True if there is enough for an estimate."""
        return self._taken >= _SMALL + _LARGE

    def see(self, text: str) -> None:
        """Take a part of the corpus, or pass it over."""
        self._seen += len(text)
        if not self.is_full and self._taken <= self._SHARE * self._seen:
            self.texts.append(text)
            self._taken += len(text)


def estimate(
    settings: KindSettings, texts: Sequence[str], size: int, workers: int | None = None
) -> Estimate | None:
    """Return an estimate for a training; None if the samples cannot be learned from.

    Args:
        settings: the settings of the training.
        texts: a sample of its texts; see ``Sample``.
        size: the bytes of all its texts.
        workers: as of ``Trainer``.
    """
    weights: dict[str, Any] = {} if settings.weights is None else {"weights": {}}
    stop: dict[str, Any] = {} if settings.stops_by is None else {"convergence": None}
    small, rest = _cut("".join(texts), _SMALL)
    large, _ = _cut(rest, _LARGE)
    try:
        plain = replace(settings, **weights, **stop)  # type: ignore[type-var]
        runs = [_Run(plain, text) for text in (small, large)]
        traced = [_peak(plain, text) for text in (small, large)]
    except (MemoryError, ValueError):
        return None
    counting = runs[1].counting / runs[1].size * size / (workers or processors())
    learning = _extended([(run.size, run.learning) for run in runs], size)
    seconds = Range(
        counting * _COUNTING[0] + learning.least, counting * _COUNTING[1] + learning.most
    )
    memory = None
    if all(traced):
        grown = _extended([(run.size, peak) for run, peak in zip(runs, traced)], size)
        memory = Range(_BASE + grown.least * _OVERHEAD[0], _BASE + grown.most * _OVERHEAD[1])
    return Estimate(seconds, memory, size)


class _Run:
    """A training on a sample: its bytes, and the seconds of counting and of learning."""

    def __init__(self, settings: Any, text: str) -> None:
        self.size = len(text.encode())
        with trainer_of(settings, workers=1) as trainer:
            start = time.process_time()
            trainer.feed(text)
            counted = time.process_time()
            trainer.train()
            self.counting = counted - start
            self.learning = time.process_time() - counted


def _peak(settings: Any, text: str) -> int:
    """Return the most bytes of objects while a sample is learned from; 0 if that is not known."""
    try:
        import tracemalloc
    except ImportError:  # PyPy has none
        return 0
    if tracemalloc.is_tracing():
        return 0
    with trainer_of(settings, workers=1) as trainer:
        tracemalloc.start()
        try:
            trainer.feed(text)
            trainer.train()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def _cut(text: str, size: int) -> tuple[str, str]:
    """Return the beginning of a text, to the end of a line if there is one, and the rest."""
    end = text.rfind("\n", 0, size) + 1 or size
    return text[:end], text[end:]


def _extended(points: Sequence[tuple[int, float]], size: int) -> Range:
    """Return the range of what grows from two points, by a power of the size.

    >>> [round(one, 1) for one in _extended([(100, 1.0), (400, 2.0)], 40_000)]
    [8.0, 31.7]
    """
    (first, least), (second, most) = points
    power = math.log(max(most, 1e-9) / max(least, 1e-9)) / math.log(second / first)
    power = min(max(power, _LEAST_POWER), _MOST_POWER)
    grows = size / second
    return Range(most * grows ** (power - _LOWER), most * grows ** min(power + _HIGHER, _MOST_POWER))
