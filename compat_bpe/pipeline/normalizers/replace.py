"""Matches of a pattern replaced by a text."""

from __future__ import annotations

from ...pattern.splitter import Splitter
from ..aligned import Aligned


class Replace:
    """The normalizer that replaces each match of a pattern by ``new``, taken literally.

    >>> Replace(Splitter("[0-9]+"), "#")("a12b3")
    'a#b#'
    """

    is_local = False

    def __init__(self, old: Splitter, new: str) -> None:
        self._old = old
        self.new = new

    def __call__(self, text: str) -> str:
        """Return a text with all matches replaced."""
        parts = []
        at = 0
        for start, end in self._old.spans(text):
            parts += [text[at:start], self.new]
            at = end
        parts.append(text[at:])
        return "".join(parts)

    def align(self, text: Aligned) -> Aligned:
        """Return a text with all matches replaced; each has the place of a match's last char."""
        parts: list[str] = []
        places: list[tuple[int, int]] = []
        at = 0
        for start, end in self._old.spans(text.text):
            before = text.places[end - 1] if end else (text.start, text.start)
            parts += [text.text[at:start], self.new]
            places += [*text.places[at:start], *[before] * len(self.new)]
            at = end
        parts.append(text.text[at:])
        return text._replace(text="".join(parts), places=places + text.places[at:])

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return None: a match may reach over any position."""
        return None
