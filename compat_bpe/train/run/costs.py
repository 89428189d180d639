"""The costs of training a kind of vocabulary, as they were measured; ``estimate`` uses them.

All are for the machine of docs/performance.md, and of 2026-11-25.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...corpus.chunk_counts import ChunkCounter
from ...encodings.encoding import Encoding


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
