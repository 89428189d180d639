"""The check of ids that are to be decoded."""

from __future__ import annotations

from array import array
from collections.abc import Sequence


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
