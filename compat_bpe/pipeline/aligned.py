"""A text that is being changed, and the place of each of its characters in the original.

Normalizers and pre-tokenizers have a fast way, from text to text, and a way that keeps places.
Offsets in the original text come from the second way. Its rules are those of ``NormalizedString``
in tokenizers 0.23.3, with characters in place of bytes: there, all bytes of a character have the
same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Aligned(NamedTuple):
    """A text, and for each of its characters its place in the original.

    Args:
        text: the current text.
        places: the start and end of each character in the original text, in characters.
        start, end: its part of the original text.
    """

    text: str
    places: list[tuple[int, int]]
    start: int
    end: int

    @classmethod
    def of(cls, text: str, origin: int = 0) -> Aligned:
        """Return an original text, or the rest of one from a place on.

        >>> Aligned.of("ab")
        Aligned(text='ab', places=[(0, 1), (1, 2)], start=0, end=2)
        """
        end = origin + len(text)
        return cls(text, [(index, index + 1) for index in range(origin, end)], origin, end)

    def changed(self, changes: Iterable[tuple[str, int]], removed: int = 0) -> Aligned:
        """Return the text with its characters changed one after the other.

        Args:
            changes: each new character, and its relation to the old ones. It is 0 if the character
                replaces one, 1 if it is inserted, and -n if it replaces one and the n characters
                after that are removed. An inserted character has the place of the character before.
            removed: the number of characters that are removed at the beginning.

        Quirk kept: leading characters of zero width (inserted where nothing was matched) stay, and
        the new text follows them. If there are then too few characters to replace, tokenizers
        panics; here the new text takes the place of all of the old one.

        >>> Aligned.of("abc").changed([("x", 0), ("y", 1), ("z", -1)])
        Aligned(text='xyz', places=[(0, 1), (0, 1), (1, 2)], start=0, end=3)
        """
        chars: list[str] = []
        steps: list[int] = []
        for char, change in changes:
            chars.append(char)
            steps.append(change)
        text = "".join(chars)
        lead = 0
        if self.places and self.places[0][0] == self.places[0][1]:
            lead = next((i for i, (a, b) in enumerate(self.places) if a < b), len(self.places))
        places = self._places(steps, lead + removed)
        if lead and places is not None:
            return self._replace(text=self.text[:lead] + text, places=self.places[:lead] + places)
        if places is None:
            places = self._places(steps, removed) or [(self.end, self.end)] * len(text)
        return self._replace(text=text, places=places)

    def _places(self, steps: Iterable[int], at: int) -> list[tuple[int, int]] | None:
        """Return the places after changes from ``at`` on; None if there are too few characters."""
        old, count = self.places, len(self.places)
        places: list[tuple[int, int]] = []
        for change in steps:
            if change > 0:
                places.append(old[min(at, count) - 1] if at else (self.start, self.start))
            elif at < count:
                places.append(old[at])
                at += 1 - change
            else:
                return None
        return places

    def filtered(self, keep: Callable[[str], bool]) -> Aligned:
        """Return the text with only some of its characters.

        >>> Aligned.of("a-b").filtered(str.isalpha)
        Aligned(text='ab', places=[(0, 1), (2, 3)], start=0, end=3)
        """
        changes: list[tuple[str, int]] = []
        removed = at_start = 0
        for char in reversed(self.text):
            if keep(char):
                changes.append((char, -removed))
                removed = 0
            else:
                removed += 1
        if changes:
            at_start = removed
        changes.reverse()
        return self.changed(changes, at_start)

    def part(self, start: int, end: int) -> Aligned:
        """Return a part of the text, with the part of the original that it comes from.

        Args:
            start, end: positions in the current text; ``start`` is less than ``end``.

        >>> Aligned.of("abc").part(1, 3)
        Aligned(text='bc', places=[(1, 2), (2, 3)], start=1, end=3)
        """
        places = self.places[start:end]
        return Aligned(self.text[start:end], places, places[0][0], places[-1][1])
