"""Compute what training takes on a corpus of up to 1 TB, from what a machine can measure.

    python -m tools.simulate_scale    # the fits and the tables of docs/performance.md

The model: a corpus of *n* bytes has *K n^b* distinct chunks (Heaps' law). *K* and *b* are fitted
to real texts. Beyond these, the corpus goes on as the law says: there is always a fresh tail. It
follows (Karlin, 1967) that of all distinct chunks, the part that occurs *m* times or more is the
product of *1 - b/j* for *j* from 1 to *m - 1*, whatever the size. And of parts of *p* bytes, each
gives *K p^b* rows to the shuffle.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compat_bpe.pipeline.core import texts_of_chunks
from compat_bpe.train.bpe.growing import make_encoding
from tools.benchmark.common import SHARED

#: The seed of the order of lines.
SEED = 21

#: The last points that a fit is made of.
LAST = 5

#: The bytes of text that a task reads: Spark's default for files.
PART = 128 << 20

#: The sizes of the table, in bytes.
SIZES = (10**9, 10**10, 10**11, 10**12)

#: The memory of the driver, in bytes.
MEMORY = 8e9

#: The pattern that splits.
PATTERN = "gpt2"


class Heaps(NamedTuple):
    """A fit of Heaps' law: ``factor * size ** exponent`` distinct chunks in ``size`` bytes."""

    factor: float
    exponent: float

    def distinct(self, size: float) -> float:
        """Return the number of distinct chunks."""
        return float(self.factor * size**self.exponent)

    def share(self, least: int) -> float:
        """Return the part of the distinct chunks that occur so often.

        >>> round(Heaps(1, 0.5).share(2), 3), round(Heaps(1, 0.5).share(3), 3)
        (0.5, 0.375)
        """
        steps = least - 1
        # The product, by the gamma function: there may be millions of steps.
        return math.exp(
            math.lgamma(least - self.exponent) - math.lgamma(least) - math.lgamma(1 - self.exponent)
            if steps
            else 0.0
        )

    def rare(self, least: int) -> float:
        """Return the occurrences of rarer chunks, for each distinct chunk.

        It is the sum of the shares for 1 to ``least - 1``, each without that for ``least``.

        >>> law = Heaps(1, 0.5)
        >>> round(law.rare(3), 3) == round(sum(law.share(n) - law.share(3) for n in (1, 2)), 3)
        True
        """
        return (least - 1) * self.share(least) * self.exponent / (1 - self.exponent)

    def least_count(self, size: float, most: float) -> int:
        """Return the lowest ``min_count`` that leaves no more distinct chunks than ``most``."""
        low, high = 1, 1
        while self.distinct(size) * self.share(high) > most:
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            if self.distinct(size) * self.share(middle) > most:
                low = middle + 1
            else:
                high = middle
        return high


class Figures(NamedTuple):
    """Figures of a machine.

    Args:
        rate: the bytes of text that a core counts in a second.
        memory: the bytes of memory that a driver needs for a distinct chunk.
        feed, learn: the seconds of a driver for a distinct chunk: to take it, and to learn from it.
    """

    rate: float = 13e6
    memory: float = 360.0
    feed: float = 4e-6
    learn: float = 54e-6


class Kind(NamedTuple):
    """A kind of text.

    Args:
        law: the growth of its distinct chunks.
        chunk: the mean length in bytes of a chunk.
        row: the bytes of a row in a shuffle: a distinct chunk, and 8 for its count.
    """

    law: Heaps
    chunk: float
    row: float


#: The kinds that the page has; ``main`` makes the fits anew.
KINDS = {
    "English": Kind(Heaps(10.7, 0.524), 4.4, 16),
    "mixed": Kind(Heaps(1.64, 0.716), 4.8, 22),
    "Chinese": Kind(Heaps(0.066, 0.960), 10.6, 28),
}


def growth(texts: Iterable[str], pattern: str) -> list[tuple[int, int]]:
    """Return sizes in bytes, each twice the one before, and the distinct chunks of so much text.

    Args:
        texts: the texts; their lines are taken in a random order.
        pattern: the pattern that splits.
    """
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    random.Random(SEED).shuffle(lines)
    core = make_encoding("", pattern).core
    seen: set[str] = set()
    found, size, next_size = [], 0, 1 << 14
    for line in lines:
        for chunks, _ in texts_of_chunks(core, line):
            seen.update(chunks)
        size += len(line.encode())
        if size >= next_size:
            found.append((size, len(seen)))
            next_size *= 2
    found.append((size, len(seen)))
    return found


def fit(points: Sequence[tuple[int, int]]) -> Heaps:
    """Return the fit of the last points, by least squares of the logarithms.

    >>> law = fit([(10**n, 3 * 10 ** (n // 2)) for n in (2, 4, 6, 8)])
    >>> round(law.factor, 6), round(law.exponent, 6)
    (3.0, 0.5)
    """
    logs = [(math.log(size), math.log(distinct)) for size, distinct in points[-LAST:]]
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    slope = sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)
    return Heaps(math.exp(y - slope * x), slope)


def table(name: str, kind: Kind, figures: Figures, memory: float) -> list[str]:
    """Return the lines of a table, for the page.

    Args:
        name: the name of the kind of text.
        kind: the kind.
        figures: the figures of a machine.
        memory: the bytes of memory that the driver has for counts.
    """
    found = [
        f"| {name} | distinct chunks | shuffled rows | driver, exact | `min_count` for "
        f"{_number(memory, 'B')} | chunks left | occurrences left out | driver |",
        "|---|---|---|---|---|---|---|---|",
    ]
    law = kind.law
    most = memory / figures.memory
    seconds = figures.feed + figures.learn
    for size in SIZES:
        distinct = law.distinct(size)
        rows = size / PART * law.distinct(PART)
        least = law.least_count(size, most)
        kept = distinct * law.share(least)
        rare = distinct * law.rare(least) / (size / kind.chunk)
        cells = [
            _number(size, "B"),
            _number(distinct),
            f"{_number(rows)}: {_number(rows * kind.row, 'B')}",
            f"{_number(distinct * figures.memory, 'B')}, {_time(distinct * seconds)}",
            f"{least:,}",
            _number(kept),
            f"{rare:.1%}",
            _time(kept * seconds),
        ]
        found.append(f"| {' | '.join(cells)} |")
    return found


def _number(value: float, unit: str = "") -> str:
    """Return a number with two digits that count.

    >>> _number(1_234_567), _number(23_456, "B"), _number(9.96e8)
    ('1.2 M', '23 kB', '1.0 G')
    """
    value = float(f"{value:.1e}")
    power = min(4, int(math.log10(value)) // 3) if value >= 1 else 0
    value /= 1000**power
    text = f"{value:.1f}" if value < 10 and power else f"{value:.0f}"
    return f"{text} {['', 'k', 'M', 'G', 'T'][power]}{unit}".rstrip()


def _time(seconds: float) -> str:
    """Return a time in its largest unit.

    >>> _time(9.4), _time(601), _time(36_000)
    ('9 s', '10 min', '10 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def main() -> None:
    """Print the fits of the corpora, and the tables of the page."""
    paths = [path for path in sorted(SHARED.glob("*")) if path.stem != "README"]
    texts = {path.stem: path.read_text("utf-8") for path in paths}
    for name, some in [*((name, [text]) for name, text in texts.items()), ("all", texts.values())]:
        law = fit(growth(some, PATTERN))
        print(f"{name}: {law.factor:.3g} * size ** {law.exponent:.3f}")
    for name, kind in KINDS.items():
        print(f"\n{name}: {1 - kind.law.share(2):.0%} of the distinct chunks come once")
        print(*table(name, kind, Figures(), MEMORY), sep="\n")


if __name__ == "__main__":
    main()
