"""Names in their sorted order; imported late, since hardly any text needs it.

The longest name at a place is found in it in a few steps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class SortedNames:
    """Names in their sorted order, and for each the names that it begins with.

    All names that a text begins with also begin the last name that is not after the text in the
    order. For such a name is not after the text, and all that is between the two begins with it,
    too. So they are among those that this last name begins with, and they are the shortest ones.
    Jumps over several of these keep the number of steps a logarithm (E. W. Myers, "An applicative
    random-access stack", 1983).

    Args:
        names: different names, none of them empty.

    >>> SortedNames(["a", "ab", "abcd"]).longest_at("abce", 0)
    2
    """

    def __init__(self, names: Iterable[str]) -> None:
        #: The empty name is the first, and each name begins with it.
        self._names = ["", *sorted(names)]
        #: For each name, the place of the longest other name that it begins with.
        self._shorter = [0]
        #: For each, the place of one of those that it begins with, perhaps a much shorter one.
        self._jumps = [0]
        #: For each, the number of others that it begins with, the empty one included.
        self._depths = [0]
        around = [0]
        for place, name in enumerate(self._names[1:], 1):
            while not name.startswith(self._names[around[-1]]):
                around.pop()
            self._add(around[-1])
            around.append(place)
        self._longest = max(map(len, self._names))

    def _add(self, shorter: int) -> None:
        """Append what is known about a name that begins with that at ``shorter``."""
        jumps, depths = self._jumps, self._depths
        middle = jumps[shorter]
        # A jump is as long as two of the same length and one step; these lengths halve on the way.
        is_equal = depths[shorter] - depths[middle] == depths[middle] - depths[jumps[middle]]
        jumps.append(jumps[middle] if is_equal else shorter)
        depths.append(depths[shorter] + 1)
        self._shorter.append(shorter)

    def longest_at(self, text: str, place: int) -> int:
        """Return the length of the longest name at a place in a text; 0 if there is none."""
        names = self._names
        window = text[place : place + self._longest]
        index = bisect_right(names, window) - 1
        while not window.startswith(names[index]):
            jump = self._jumps[index]
            index = self._shorter[index] if window.startswith(names[jump]) else jump
        return len(names[index])

    def begun_by_few(self, most: int) -> list[str]:
        """Return the names that begin with fewer than ``most`` others, in their order.

        >>> SortedNames(["a", "ab", "abc"]).begun_by_few(2)
        ['a', 'ab']
        """
        return [name for name, depth in zip(self._names, self._depths) if 0 < depth <= most]
