"""A token that a model finds in a chunk."""

from __future__ import annotations

from typing import NamedTuple


class Found(NamedTuple):
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
