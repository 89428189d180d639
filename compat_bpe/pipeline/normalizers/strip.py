"""White space removed at the ends of a text."""

from __future__ import annotations

from functools import cache

from ...unicode.properties import white_space
from ..aligned import Aligned
from .base import PlainNormalizer


class Strip(PlainNormalizer):
    """The normalizer that removes white space at the beginning, the end, or both.

    >>> Strip(True, False)("  a ")
    'a '
    """

    is_local = True

    def __init__(self, left: bool, right: bool) -> None:
        self.left = left
        self.right = right

    def __call__(self, text: str) -> str:
        """Return a text without white space at its ends."""
        text = text.lstrip(_blanks()) if self.left else text
        return text.rstrip(_blanks()) if self.right else text

    def align(self, text: Aligned) -> Aligned:
        """Return a text without white space at its ends, with the places in the original."""
        kept = self(text.text)
        if len(kept) == len(text.text):
            return text
        start = len(text.text) - len(text.text.lstrip(_blanks())) if self.left else 0
        return text.changed(((char, 0) for char in kept), start)

    @property
    def continued(self) -> Strip | None:
        """The normalizer for a text that goes on: nothing is removed at its beginning."""
        if not self.left:
            return self
        return Strip(False, True) if self.right else None

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the two characters, unless the left one might be removed at an end.

        If all of the right side is white space, it is removed at the end of the whole, too.
        """
        return None if left in _blanks() else (left, right)


@cache
def _blanks() -> str:
    ranges = white_space().ranges()
    return "".join(chr(point) for first, last in ranges for point in range(first, last + 1))
