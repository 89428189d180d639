"""Guards: the pairs of characters between which a text is not cut, because of tokens with names.

A name that is cut in two is found in neither side. And some tokens depend on what is beside their
names. The guard forbids every place where that could matter, by the two characters beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache


class Guard:
    """The pairs of characters between which a text must not be cut.

    Args:
        names: names that must not be cut in two.
        lefts: characters that must not be on the left of a cut.
        rights: characters that must not be on the right of one.

    >>> guard = Guard(["<b>"], lefts=">")
    >>> [pair for pair in ("<b", "b>", ">c", "c<", "cb") if guard.forbids(pair)]
    ['<b', 'b>', '>c']
    """

    __slots__ = ("_inside", "_lefts", "_rights", "is_needed")

    def __init__(
        self, names: Iterable[str], lefts: Iterable[str] = (), rights: Iterable[str] = ()
    ) -> None:
        self._inside = frozenset(
            left + right for name in names for left, right in zip(name, name[1:])
        )
        self._lefts = frozenset(lefts)
        self._rights = frozenset(rights)
        #: True if it forbids anything.
        self.is_needed = bool(self._inside or self._lefts or self._rights)

    def forbids(self, beside: str) -> bool:
        """Return True if a text must not be cut between two characters."""
        return beside in self._inside or beside[0] in self._lefts or beside[1] in self._rights


@lru_cache(maxsize=128)
def _guard_of(names: frozenset[str]) -> Guard:
    return Guard(names)


def guard_of(names: Set[str]) -> Guard:
    """Return the guard for names that must not be cut in two; remembered, as there may be many."""
    return _guard_of(frozenset(names))
