"""The protocol of a decoder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from .streams import TextStream

    class IdDecoder(Protocol):
        """A decoder of one vocabulary.

        Each method raises ``KeyError`` for an id that is not in the vocabulary, ``OverflowError``
        for one that is negative or 2**32 or more, and ``TypeError`` for anything that is no
        sequence of integers.
        """

        def decode(self, tokens: Sequence[int]) -> bytes:
            """Return the bytes of some ids."""

        def decode_text(self, tokens: Sequence[int], errors: str) -> str:
            """Return the text of some ids; ``errors`` as in ``bytes.decode``."""

        def stream(self, errors: str) -> TextStream:
            """Return a decoder of ids that arrive one after another; ``errors`` as above."""

        def decode_one(self, token: int) -> bytes:
            """Return the bytes that one token stands for, whatever is beside it."""
