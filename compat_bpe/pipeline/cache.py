"""What was found for texts that were met before: for chunks, and for whole passages.

Text repeats itself.  Of the chunks of a long text most have been met before, and then the way from
chunk to ids is one look-up in a dictionary.  And the same text comes again, as when an editor
counts a file after each change: then the way is one look-up for a passage of some hundred
characters, which need not even be split.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    V = TypeVar("V")
else:
    V = object


class Recent(dict[str, V]):
    """Maps a text to what ``find`` finds for it, and remembers that.

    It is bounded, and forgets what was longest not asked for, by way of two *generations*: when
    the younger, this dictionary itself, holds half of ``limit`` texts, it becomes the older one,
    and what was the older one is dropped.  What is looked up in the older moves to the younger.

    Threads may share it: each operation on a dictionary is atomic, and two threads that look up
    the same text store equal values.

    Args:
        find: the value for any text; never None.
        limit: how many texts are held at most.
        longest: longer texts, in characters, are never held.

    >>> lengths = Recent(len, limit=4, longest=10)
    >>> [lengths[text] for text in ("ab", "c", "def", "ab")]
    [2, 1, 3, 2]
    >>> list(lengths), list(lengths.older)
    (['def', 'ab'], ['c'])
    """

    __slots__ = ("_find", "_half", "_longest", "limit", "older")

    def __init__(self, find: Callable[[str], V], limit: int, longest: int) -> None:
        super().__init__()
        self._find = find
        self._longest = longest
        self.older: dict[str, V] = {}
        self.set_limit(limit)

    def __missing__(self, text: str) -> V:
        found = self.older.pop(text, None)
        if found is None:
            found = self._find(text)
        if len(text) <= self._longest and self._half:
            if len(self) >= self._half:
                # With a limit of 1 there is no room for an older generation.
                self.older = dict(self) if self.limit > 1 else {}
                super().clear()
            self[text] = found
        return found

    def set_limit(self, limit: int) -> None:
        """Set the bound, and forget everything."""
        self.clear()
        self.limit = limit
        self._half = limit // 2 or limit

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.older = {}
