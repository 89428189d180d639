"""A text that is being changed, and the place of each of its characters in the original.

Normalizers and pre-tokenizers have a fast way, from text to text, and a way that keeps account of
places.  Offsets in the original text come from the second way.  Its rules are those of
``NormalizedString`` in tokenizers 0.23.3, with characters in place of bytes: all bytes of a
character have the same place there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Aligned(NamedTuple):
    """A text, and for each of its characters its place in the original.

    Args:
        text: the text as it is now.
        places: the start and end of each character in the original text, in characters.
        start, end: the part of the original text that this one is made of.
    """

    text: str
    places: list[tuple[int, int]]
    start: int
    end: int

    @classmethod
    def of(cls, text: str) -> Aligned:
        """Return an original text.

        >>> Aligned.of("ab")
        Aligned(text='ab', places=[(0, 1), (1, 2)], start=0, end=2)
        """
        places = [(index, index + 1) for index in range(len(text))]
        return cls(text, places, 0, len(text))

    def changed(self, changes: Iterable[tuple[str, int]], removed: int = 0) -> Aligned:
        """Return the text with its characters changed one after the other.

        Args:
            changes: each new character, and its relation to the old ones.  It is 0 if the character
                replaces one, 1 if it is inserted, and -n if it replaces one and the n characters
                after that are removed.  An inserted character has the place of the one before it.
            removed: the number of characters that are removed at the beginning.

        >>> Aligned.of("abc").changed([("x", 0), ("y", 1), ("z", -1)])
        Aligned(text='xyz', places=[(0, 1), (0, 1), (1, 2)], start=0, end=3)
        """
        chars: list[str] = []
        places: list[tuple[int, int]] = []
        at = removed
        for char, change in changes:
            chars.append(char)
            if change > 0:
                places.append(self.places[at - 1] if at else (self.start, self.start))
            else:
                places.append(self.places[at])
                at += 1 - change
        return self._replace(text="".join(chars), places=places)

    def part(self, start: int, end: int) -> Aligned:
        """Return a part of the text, with the part of the original that it is made of.

        Args:
            start, end: positions in the text as it is now; ``start`` is less than ``end``.

        >>> Aligned.of("abc").part(1, 3)
        Aligned(text='bc', places=[(1, 2), (2, 3)], start=1, end=3)
        """
        places = self.places[start:end]
        return Aligned(self.text[start:end], places, places[0][0], places[-1][1])
