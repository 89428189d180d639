"""The step that cuts pieces of one length."""

from __future__ import annotations

from ..aligned import Aligned
from .plain import PlainStep


class FixedLength(PlainStep):
    """A step that cuts a piece into parts of a fixed length.

    Args:
        length: that many, at least 1.

    >>> FixedLength(2).pieces(["abcde"])
    ['ab', 'cd', 'e']
    """

    def __init__(self, length: int) -> None:
        self.length = length

    def __repr__(self) -> str:
        return f"FixedLength({self.length})"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces, cut."""
        length = self.length
        return [
            piece[start : start + length]
            for piece in pieces
            for start in range(0, len(piece), length)
        ]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces, cut, with places."""
        return [
            piece.part(start, min(start + self.length, len(piece.text)))
            for piece in pieces
            for start in range(0, len(piece.text), self.length)
        ]
