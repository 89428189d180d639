"""What the models over text have in common: all but byte-level BPE."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .joints import Joints


class ChunkToken(NamedTuple):
    """A token in a chunk.

    Args:
        id: its id.
        text: the token as the reference shows it: the piece as in the vocabulary, or the text
            that it stands for where the reference shows that.
        start, end: its place in the chunk, in bytes of UTF-8.
    """

    id: int
    text: str
    start: int
    end: int


class TextModel:
    """A model over the text of a chunk, not over its bytes."""

    is_text = False

    @property
    def to_bytes(self) -> Callable[[str], bytes]:
        """The function that returns the bytes of a chunk."""
        return str.encode

    @property
    def joints(self) -> Joints | None:
        """The promise of places where tokens stay; None if there is none."""
        return None

    def merge(self, data: bytes) -> list[int]:
        """Raise ``ValueError``: bytes are not merged."""
        raise ValueError(f"{type(self).__name__} is no byte-level BPE: it has no ids for bytes")

    def encode_segment(
        self, segment: str, chunks: Callable[[str], list[str]]
    ) -> tuple[int, ...] | None:
        """Return None: there is no faster way than chunk by chunk."""
        return None

    def clear_cache(self) -> None:
        """Clear the model's cache; here there is none."""


def common_length(one: str, other: str) -> int:
    """Return the length of the longest beginning that two texts have in common.

    >>> common_length("a cat", "a car")
    4
    """
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
