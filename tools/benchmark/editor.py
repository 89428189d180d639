"""What an editor asks on a keystroke, beside what it takes with tiktoken."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

import tiktoken

from compat_bpe import get_encoding
from compat_bpe.fit.document import Document
from compat_bpe.fit.truncate import KEEPS
from tools.benchmark import interleaved
from tools.benchmark.corpora import mixed

#: Characters of the documents.
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)

#: Places at which is typed.
_PLACES = 300
#: Tokens to which texts are cut.
_LIMIT = 1000


def keystrokes(name: str, texts: list[str], size: int, rounds: int) -> dict[str, float]:
    """What a keystroke takes in a document of ``size`` characters.

    Words of the text are typed at random places, character by character, and of each the end or
    all is taken back likewise. After each character the document is asked for its count.

    Returns:
        Microseconds of a keystroke: the ``median``, and that of the slowest of a hundred; seconds
        that it takes to make the document, and tiktoken to count it; and the ratio of the latter
        to a keystroke.
    """
    reference, encoding = tiktoken.get_encoding(name), get_encoding(name)
    text = mixed(texts, size, seed=5)
    words = [word + " " for word in text[:100_000].split()]
    encoding.clear_cache()
    start = time.perf_counter()
    document = Document(encoding, text)
    made = time.perf_counter() - start
    rng = random.Random(6)
    times = []

    def replace(start: int, end: int, new: str) -> None:
        before = time.perf_counter()
        document.replace(start, end, new)
        document.count  # noqa: B018
        times.append(time.perf_counter() - before)

    for _ in range(_PLACES):
        at = rng.randrange(len(document) + 1)
        word = rng.choice(words)[:20]
        for typed, char in enumerate(word):
            replace(at + typed, at + typed, char)
        for left in range(len(word), rng.randrange(len(word)), -1):
            replace(at + left - 1, at + left, "")
    edited = document.text
    counts = []
    for _ in range(rounds):
        start = time.perf_counter()
        expected = len(reference.encode_ordinary(edited))
        counts.append(time.perf_counter() - start)
    if document.count != expected:
        raise SystemExit(
            f"{name}, a document of {size:,} characters: it counts {document.count} "
            f"tokens, tiktoken {expected}"
        )
    median = statistics.median(times)
    return {
        "microseconds": median * 1e6,
        "slowest_of_100_microseconds": statistics.quantiles(times, n=100)[-1] * 1e6,
        "seconds_to_make": made,
        "tiktoken_seconds": statistics.median(counts),
        "ratio": statistics.median(counts) / median,
    }


def cuts(name: str, texts: list[str], size: int, rounds: int) -> dict[str, float]:
    """What it takes to see that a text of ``size`` characters does not fit, and to cut it.

    Returns:
        Milliseconds of ``fits``, and of ``truncate`` with the head and the tail kept, each with the
        chunk cache as a text of the kind leaves it; and of tiktoken's encoding all of the text.
    """
    reference, encoding = tiktoken.get_encoding(name), get_encoding(name)
    text = mixed(texts, size, seed=7)
    encoding.count(mixed(texts, 1_000_000, seed=8))
    calls: dict[str, Callable[[], object]] = {
        "fits": lambda: encoding.fits(text, _LIMIT),
        "head": lambda: encoding.truncate(text, _LIMIT),
        "tail": lambda: encoding.truncate(text, _LIMIT, keep="tail"),
        "tiktoken": lambda: reference.encode_ordinary(text),
    }
    for keep in KEEPS:
        left = encoding.truncate(text, _LIMIT, keep=keep)
        if len(reference.encode_ordinary(left.text)) != left.count or left.count > _LIMIT:
            raise SystemExit(f"{name}, {keep} of {size:,} characters: tiktoken has another count")
    taken = interleaved(rounds, *calls.values())
    return {f"{call}_milliseconds": seconds * 1000 for call, seconds in zip(calls, taken)}
