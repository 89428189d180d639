"""The costs of a training, and an estimate of its time and memory from a sample of its text.

All costs are for the machine of docs/performance.md, and of 2026-11-25.

The time and memory of learning are about proportional to the size of all distinct words together.
That size is estimated from the sample: the number of distinct words of a text grows by a power of
its length (Heaps' law), which the sample and its half show. The estimate is a range, since texts
differ. Machines differ, too: some work of a known size shows how fast this one is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..corpus.chunk_counts import ChunkCounter
from ..encodings.encoding import Encoding
from ..parallel.processes import processors


class Costs(NamedTuple):
    """The costs of training.

    Args:
        words: returns the size in bytes of the distinct words of a text.
        counting: seconds for each million bytes of text, divided by the number of processes.
        reading: seconds for each million bytes of text that one process takes.
        learning: seconds for the first million bytes of distinct words.
        power: the power of their size by which that grows.
        word_bytes: bytes of memory for each byte of the distinct words.
        text_bytes: bytes of memory for each byte of text.
    """

    words: Callable[[str], int]
    counting: float
    reading: float
    learning: float
    power: float
    word_bytes: float
    text_bytes: float = 0.0


def distinct_bytes(splitter: Encoding) -> Callable[[str], int]:
    """Return the function that gives the size of the distinct chunks of a text.

    >>> from compat_bpe import get_encoding
    >>> distinct_bytes(get_encoding("gpt2"))("one two one two")
    11
    """

    def size(text: str) -> int:
        with ChunkCounter(splitter, 1) as counter:
            counter.feed(text)
            words = counter.finish()
        return sum(len(word.encode()) for own in words.values() for word in own)

    return size


#: The characters of a full sample.
_SIZE = 1 << 20

#: The number of parts above which some of them represent the whole sample.
_FEW = 8

#: The bounds of the power by which distinct words grow, and how much lower or higher it may be over
#: the whole of a text than in the sample. Measured: see docs/performance.md.
_LEAST_POWER, _MOST_POWER = 0.4, 1.0
_LOWER, _HIGHER = 0.1, 0.1

#: The factors between an estimate and the least and the most that it may be.
_TIME = (0.4, 2.0)
_MEMORY = (0.5, 1.6)

#: The bytes that Python and this package take.
_BASE = 40_000_000

#: Seconds that it takes to find what white space separates in a million characters, where the
#: costs of the kinds were measured.
_USUAL_SPEED = 0.019


class Range(NamedTuple):
    """A least and a most."""

    least: float
    most: float


class Estimate(NamedTuple):
    """An estimate.

    Args:
        seconds: the time that counting and learning still take if nothing else runs on the machine.
        bytes: the memory of the process that learns.
        size: the bytes of text that the estimate is for.
    """

    seconds: Range
    bytes: Range
    size: int


class Sample:
    """A sample of a corpus that is being read: parts from everywhere in the text so far.

    Args:
        share: the share of the text that is taken, until there is enough.

    >>> sample = Sample(0.25)
    >>> for number in range(200):
    ...     sample.see("a text " * 10_000)
    >>> sample.is_full, sum(map(len, sample.texts))
    (True, 1050000)
    """

    def __init__(self, share: float) -> None:
        self.texts: list[str] = []
        self._share = share
        self._taken = self._seen = 0

    @property
    def is_full(self) -> bool:
        """True if there is enough for an estimate."""
        return self._taken >= _SIZE

    def see(self, text: str) -> None:
        """Take a part of the corpus, or pass it over."""
        self._seen += len(text)
        if not self.is_full and self._taken <= self._share * self._seen:
            self.texts.append(text)
            self._taken += len(text)


def share_for(size: int) -> float:
    """Return the share of a text of a size in bytes that makes a full sample of it."""
    return _SIZE / max(size, _SIZE)


def estimate(
    costs: Costs | None,
    texts: Sequence[str],
    size: int,
    workers: int | None = None,
    *,
    is_read: bool = False,
) -> Estimate | None:
    """Return an estimate for a training; None if the costs of its kind are not known.

    Args:
        costs: the costs of the kind of vocabulary; None if they are not known.
        texts: a sample of its texts; see ``Sample``.
        size: the bytes of all its texts.
        workers: as of ``Trainer``.
        is_read: True if all texts have been counted, so that only learning is left.
    """
    text = "".join(texts)
    if costs is None or not text:
        return None
    # Every other part: the first half of a corpus may be in another language than the second.
    part = "".join(texts[::2]) if len(texts) > _FEW else text[: len(text) // 2]
    few, many = costs.words(part), costs.words(text)
    speed = _slowness(text)
    grows = size / len(text.encode())
    power = math.log(max(many, 1) / max(few, 1)) / math.log(max(len(text) / len(part), 1.1))
    power = min(max(power, _LEAST_POWER), _MOST_POWER)
    least = many * grows ** (power - _LOWER)
    most = many * grows ** min(power + _HIGHER, _MOST_POWER)
    counting = 0.0 if is_read else costs.counting / (workers or processors())
    reading = (counting + costs.reading) * size / 1e6
    return Estimate(
        Range(
            speed * _TIME[0] * (reading + costs.learning * (least / 1e6) ** costs.power),
            speed * _TIME[1] * (reading + costs.learning * (most / 1e6) ** costs.power),
        ),
        Range(
            _BASE + _MEMORY[0] * (costs.word_bytes * least + costs.text_bytes * size),
            _BASE + _MEMORY[1] * (costs.word_bytes * most + costs.text_bytes * size),
        ),
        size,
    )


def _slowness(text: str) -> float:
    """Return the time that this machine takes, relative to the one where costs were measured."""
    times = []
    for _ in range(3):
        start = time.process_time()
        set(text.split())
        times.append(time.process_time() - start)
    seconds = max(min(times), 1e-6)  # a clock may be coarse
    return seconds / len(text) * 1e6 / _USUAL_SPEED
