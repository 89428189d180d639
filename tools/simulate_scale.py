"""What training takes on a corpus of up to 1 TB and 1,000 cores, from what a machine can measure.

Run as ``python -m tools.simulate_scale``; ``--measure`` also measures this machine's figures (some
minutes), which are else those of the page ``docs/performance.md``.

The model: a corpus of *n* bytes has *K n^b* distinct chunks (Heaps' law). *K* and *b* are fitted
to real texts. Beyond these, the corpus goes on as the law says: there is always a fresh tail. It
follows (Karlin, 1967) that of all distinct chunks, the part that occurs *m* times or more is the
product of *1 - b/j* for *j* from 1 to *m - 1*, whatever the size. And of parts of *p* bytes, each
gives *K p^b* rows to the shuffle.

``simulate`` draws from such a tail, so a test can compare the model with counts.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from compat_bpe.corpus.counts_file import CountsReader, write_rows
from compat_bpe.corpus.frequent import joined, merged, summary
from compat_bpe.pipeline.core import texts_of_chunks
from compat_bpe.train import Trainer, TrainingSettings
from compat_bpe.train.bpe.growing import BYTES, make_encoding
from tools.benchmark.corpora import SHARED

SEED = 21

#: The bytes of text that a task reads: Spark's default for files.
PART = 128 << 20

#: The sizes of the table, in bytes.
SIZES = (10**9, 10**10, 10**11, 10**12)

#: The memory of the driver, in bytes.
MEMORY = 8e9

#: The merges that a driver learns, and the patterns that are measured.
MERGES = 32_000
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


def growth(texts: Iterable[str], pattern: str, seed: int = SEED) -> list[tuple[int, int]]:
    """Return sizes in bytes, each twice the one before, and the distinct chunks of so much text.

    Args:
        texts: the texts; their lines are taken in a random order.
        pattern: the pattern that splits.
        seed: the seed of the order.
    """
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    random.Random(seed).shuffle(lines)
    core = make_encoding("", pattern, BYTES, ()).core
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


def fit(points: Sequence[tuple[int, int]], last: int = 5) -> Heaps:
    """Return the fit of the last points, by least squares of the logarithms.

    >>> law = fit([(10**n, 3 * 10 ** (n // 2)) for n in (2, 4, 6, 8)])
    >>> round(law.factor, 6), round(law.exponent, 6)
    (3.0, 0.5)
    """
    logs = [(math.log(size), math.log(distinct)) for size, distinct in points[-last:]]
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    slope = sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)
    return Heaps(math.exp(y - slope * x), slope)


class Simulated(NamedTuple):
    """What was counted of drawn chunks.

    Args:
        distinct: the distinct chunks.
        shares: of these, the parts that occur 2, 4, 8 and 16 times or more.
        rows: the rows that all parts give to the shuffle.
        error, bound: of a merged summary: its error, and the bound known beforehand.
        joined_error: the error if the chunks are shuffled before they are summed up.
    """

    distinct: int
    shares: list[float]
    rows: int
    error: int
    bound: int
    joined_error: int


def tail(exponent: float, draws: int, seed: int = SEED) -> Iterator[str]:
    """Yield chunks drawn from a law whose distinct ones grow with that exponent."""
    draw = random.Random(seed).paretovariate
    # The probability of number k is about k ** (-1 / exponent).
    return (str(int(draw(1 / exponent - 1))) for _ in range(draws))


def simulate(exponent: float, draws: int, parts: int, most: int, seed: int = SEED) -> Simulated:
    """Draw chunks, count them in parts, and sum them up exactly and in summaries.

    Args:
        exponent: the exponent of Heaps' law.
        draws: the number of chunks.
        parts: the number of parts that they are counted in.
        most: the size of the summaries.
        seed: the seed of the draws.
    """
    drawn = [*tail(exponent, draws, seed)]
    size = -(-draws // parts)
    counted = [Counter(drawn[start : start + size]) for start in range(0, draws, size)]
    total = Counter(drawn)
    whole = reduce(merged, (summary(part, most) for part in counted))
    # As after a shuffle by a hash of the chunk; that of Python differs from run to run.
    shuffled: list[Counter[str]] = [Counter() for _ in range(parts)]
    for chunk, count in total.items():
        shuffled[int(chunk) % parts][chunk] = count
    after = joined(summary(part, max(1, most // parts)) for part in shuffled)
    least = [sum(count >= times for count in total.values()) for times in (2, 4, 8, 16)]
    return Simulated(
        len(total),
        [number / len(total) for number in least],
        sum(map(len, counted)),
        whole.error,
        whole.bound,
        after.error,
    )


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


def fresh(known: Sequence[str], number: int, seed: int = SEED) -> Iterator[tuple[str, int]]:
    """Yield distinct chunks of the pattern, made of halves of known ones, and their counts."""
    drawn = random.Random(seed)
    chunks = make_encoding("", PATTERN, BYTES, ()).core.splitter.chunks
    seen: set[str] = set()
    while len(seen) < number:
        one, other = drawn.choice(known), drawn.choice(known)
        chunk = one[: (len(one) + 1) // 2] + other[len(other) // 2 :]
        if chunk not in seen and chunks(chunk) == [chunk]:
            seen.add(chunk)
            yield chunk, min(int(drawn.paretovariate(0.7)), 10**9)


def learn(path: str) -> dict[str, float]:
    """Return what a driver takes to learn from a file of counts, in this process."""
    trainer = Trainer(TrainingSettings(num_merges=MERGES, pattern=PATTERN), workers=1)
    base = _memory()
    start = time.process_time()
    trainer.feed_counts(CountsReader([path]).read())
    fed = time.process_time()
    trained = trainer.train()
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    number = trained.distinct_chunks
    return {
        "feed": (fed - start) / number,
        "learn": (end - fed) / number,
        "memory": (peak - base) / number,
    }


def _memory() -> int:
    """Return the memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _texts() -> list[str]:
    paths = [path for path in sorted(SHARED.glob("*")) if path.stem != "README"]
    return [path.read_text("utf-8") for path in paths]


def _chunks(text: str) -> Iterator[str]:
    for chunks, _ in texts_of_chunks(make_encoding("", PATTERN, BYTES, ()).core, text):
        yield from chunks


def measure() -> None:
    """Print the figures of this machine."""
    texts = _texts()
    start = time.process_time()
    counts = Counter(chunk for text in texts for chunk in _chunks(text))
    size = sum(len(text.encode()) for text in texts)
    print(f"counting: {size / (time.process_time() - start) / 1e6:.1f} MB/s a core")
    mean = sum(len(chunk.encode()) for chunk in counts) / len(counts)
    print(f"a distinct chunk: {mean:.1f} bytes")
    known = sorted(counts)
    for number in (250_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/counts.tsv"
            with open(path, "wb") as file:
                rows = ((chunk, count, "") for chunk, count in sorted(fresh(known, number)))
                write_rows(file, rows, path, with_groups=False)
            command = [sys.executable, "-m", "tools.simulate_scale", "--learn", path]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        print(
            f"{number:,} distinct chunks: {found['feed'] * 1e6:.1f} µs to take one, "
            f"{found['learn'] * 1e6:.1f} µs to learn from it, {found['memory']:.0f} bytes"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--measure", action="store_true", help="also measure this machine")
    parser.add_argument("--learn", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.learn:
        print(json.dumps(learn(arguments.learn)))
        return
    if arguments.measure:
        measure()
    laws = {path.stem: fit(growth([text], PATTERN)) for path, text in zip(_paths(), _texts())}
    laws["all"] = fit(growth(_texts(), PATTERN))
    for name, law in laws.items():
        print(f"{name}: {law.factor:.3g} * size ** {law.exponent:.3f}")
    for name, kind in KINDS.items():
        print(f"\n{name}: {1 - kind.law.share(2):.0%} of the distinct chunks come once")
        print(*table(name, kind, Figures(), MEMORY), sep="\n")
    print(f"\ndrawn: {simulate(KINDS['mixed'].law.exponent, 2_000_000, 16, 20_000)}")


def _paths() -> list[Path]:
    return [path for path in sorted(SHARED.glob("*")) if path.stem != "README"]


if __name__ == "__main__":
    main()
