"""The step that writes the bytes of a piece as characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..aligned import Aligned
from ..byte_level import decode_bytes, encode_bytes
from .base import PreTokenizerStep
from .plain import Across, PlainStep


class ByteAlphabet(PlainStep):
    """A step that writes the bytes of a piece as characters (see ``byte_level``).

    >>> ByteAlphabet().pieces([" é"])
    ['ĠÃ©']
    """

    def __repr__(self) -> str:
        return "ByteAlphabet()"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces in the byte alphabet."""
        return [encode_bytes(piece.encode()) for piece in pieces]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces in the byte alphabet; each byte has the place of its character."""
        return [
            piece.changed(
                (byte, int(index > 0))
                for char in piece.text
                for index, byte in enumerate(encode_bytes(char.encode()))
            )
            for piece in pieces
        ]

    def across(self, left: str, right: str) -> Across:
        """Return the bytes beside the cut: each character is written by itself."""
        return encode_bytes(left.encode())[-1], encode_bytes(right.encode())[0]


def to_bytes(steps: Sequence[PreTokenizerStep]) -> Callable[[str], bytes]:
    """Return the function that gives the bytes of a chunk of ``make_splitter(steps)``."""
    written = any(isinstance(step, ByteAlphabet) for step in steps[:-1])
    return decode_bytes if written and not isinstance(steps[-1], ByteAlphabet) else str.encode
