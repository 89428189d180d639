"""A prefix before a text."""

from __future__ import annotations

from ..aligned import Aligned
from .base import PlainNormalizer


class Prepend(PlainNormalizer):
    """The normalizer that puts a prefix before a text, unless the text is empty.

    >>> Prepend("▁")("a"), Prepend("▁")("")
    ('▁a', '')
    """

    is_local = True
    #: Nothing is put before a text that goes on.
    continued = None

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        #: True if it takes the first character's place away, as tokenizers does without a prefix.
        self.may_insert = not prefix

    def __call__(self, text: str) -> str:
        """Return a text with the prefix."""
        return text and self.prefix + text

    def align(self, text: Aligned) -> Aligned:
        """Return a text with the prefix, which has the place of the first character."""
        if not text.text:
            return text
        if not self.prefix:
            return text._replace(places=[(text.start, text.start), *text.places[1:]])
        first = text.places[0]
        return text._replace(
            text=self.prefix + text.text, places=[first] * len(self.prefix) + text.places
        )

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters as they are."""
        return left, right
