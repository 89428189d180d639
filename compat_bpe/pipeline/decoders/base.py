"""The protocol of a decoder, and the check of ids."""

from __future__ import annotations

from array import array

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


def checked(tokens: Sequence[int]) -> tuple[list[int], array[int]]:
    """Return ids as a list and as an array.

    An array takes only unsigned 32-bit numbers. A list would count negative ones from its end, and
    a dictionary would take a float for an integer.

    Raises:
        OverflowError: an id is negative or 2**32 or more.
        TypeError: an id is no integer, or ``tokens`` is no sequence.
    """
    if isinstance(tokens, (str, dict)) or not hasattr(tokens, "__getitem__"):
        raise TypeError(f"a {type(tokens).__name__} is no sequence of token ids")
    listed = tokens if isinstance(tokens, list) else list(tokens)
    numbers = array("I")
    numbers.fromlist(listed)
    return listed, numbers
