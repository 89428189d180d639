"""Finding names in text: the leftmost first, and of several at one place the longest.

The names are those of added tokens, and of user-defined pieces. The plain rule is a pattern of all
names, the longest first. A few names are found by it. Of many, each would be tried at every place.
So many names are found in their sorted order instead: a place takes a search in it, however many
names there are, and however many begin alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..parallel.lazy import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sorted_names import SortedNames

#: The most names that are found by a pattern: compiling one of a thousand names takes longer than
#: encoding a page.
FEW = 16
#: The most characters that these have together, since a pattern may compare all of them at a place;
#: one name may have any number, as no character is compared with it twice.
_FEW_CHARACTERS = 1 << 12

#: The greatest length of the beginnings by which places for names are found, in characters.
_BEGINNING = 3
#: The most beginnings that are looked for; if there are more, shorter ones are.
_MOST_BEGINNINGS = 64

_SPAN = re.Match.span


class NameFinder:
    """A finder of names in text; an empty name is never found.

    What it looks them up in is made when it is first needed. At each place the text is compared
    with names some dozens of times at most, each a comparison of memory.

    Args:
        names: the names.

    >>> list(NameFinder(["a", "ab", "bc"]).spans("abc a"))
    [(0, 2), (4, 5)]
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names = frozenset(filter(None, names))
        #: True if ``candidates`` matches nothing but the longest names.
        self._are_few = len(names) < 2 or (
            len(names) <= FEW and sum(map(len, names)) <= _FEW_CHARACTERS
        )

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return an iterator of the starts and ends of the names in a text.

        Where a name was found, no other is looked for within it.
        """
        if self._are_few:
            return map(_SPAN, self._pattern.finditer(text))
        candidate = self._pattern.search(text)
        return iter(()) if candidate is None else self._spans_from(text, candidate)

    def _spans_from(self, text: str, candidate: re.Match[str] | None) -> Iterator[tuple[int, int]]:
        longest_at, search = self._sorted.longest_at, self._pattern.search
        while candidate is not None:
            start = end = candidate.start()
            length = longest_at(text, start)
            if length:
                end += length
                yield start, end
            candidate = search(text, max(end, start + 1))

    def first(self, text: str) -> str | None:
        """Return the first name in a text; None if there is none.

        >>> NameFinder(["a", "ab"]).first("c abc")
        'ab'
        """
        match = self._pattern.search(text)
        if match is None or self._are_few:
            return None if match is None else match.group()
        for start, end in self._spans_from(text, match):
            return text[start:end]
        return None

    def length_at(self, text: str, place: int) -> int:
        """Return the length of the longest name at a place in a text; 0 if there is none.

        >>> NameFinder(["a", "ab"]).length_at("c abc", 2)
        2
        """
        if not self._are_few:
            return self._sorted.longest_at(text, place)
        match = self._pattern.match(text, place)
        return 0 if match is None else match.end() - place

    def candidates(self) -> str:
        """Return a pattern that matches wherever a name begins; it may match elsewhere, too."""
        if not self._are_few:
            return _beginning_of_any(self._names)
        return "|".join(map(re.escape, sorted(self._names, key=len, reverse=True))) or "(?!)"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.candidates())

    @cached_property
    def _sorted(self) -> SortedNames:
        from .sorted_names import SortedNames

        return SortedNames(self._names)


def _beginning_of_any(names: frozenset[str]) -> str:
    """Return a pattern for the beginnings of names: short ones, so that they are few."""
    for length in range(_BEGINNING, 0, -1):
        beginnings = {name[:length] for name in names}
        if len(beginnings) <= _MOST_BEGINNINGS:
            return "|".join(map(re.escape, sorted(beginnings)))
    # A set is a table up to U+FFFF; the characters above it would be compared one by one.
    low = "".join(sorted(char for char in beginnings if char <= "\uffff"))
    high = "" if len(low) == len(beginnings) else "\U00010000-\U0010ffff"
    return f"[{re.escape(low)}{high}]"
