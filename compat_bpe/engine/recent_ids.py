"""The ids of text that was met before: of chunks, and of whole passages.

Text repeats itself.  Of the chunks of a long text most have been met before, and then the way from
chunk to ids is one look-up in a dictionary.  And the same text comes again, as when an editor
counts a file after each change: then the way is one look-up for a passage of some hundred
characters, which need not even be split.
"""

from __future__ import annotations

from collections.abc import Callable

Ids = tuple[int, ...]


class RecentIds(dict[str, Ids]):
    """Maps a text to its ids; one that is not held is given to ``encode`` at its look-up.

    It is bounded, and forgets what was longest not asked for, by way of two *generations*: when
    the younger, this dictionary itself, holds half of ``limit`` texts, it becomes the older one,
    and what was the older one is dropped.  What is found in the older moves to the younger.

    Threads may share it: each operation on a dictionary is atomic, and two threads that encode
    the same text store equal ids.

    Args:
        encode: the ids of any text.
        limit: how many texts are held at most.
        longest: longer texts, in characters, are never held.

    >>> recent = RecentIds(lambda text: tuple(text.encode()), limit=4, longest=10)
    >>> recent["ab"], recent["c"], recent["d"], recent["ab"]
    ((97, 98), (99,), (100,), (97, 98))
    >>> list(recent), list(recent.older)
    (['d', 'ab'], ['c'])
    """

    __slots__ = ("_encode", "_half", "_longest", "limit", "older")

    def __init__(self, encode: Callable[[str], Ids], limit: int, longest: int) -> None:
        super().__init__()
        self._encode = encode
        self._longest = longest
        self.older: dict[str, Ids] = {}
        self.set_limit(limit)

    def __missing__(self, text: str) -> Ids:
        ids: Ids | None = self.older.pop(text, None)
        if ids is None:
            ids = self._encode(text)
        if len(text) <= self._longest and self._half:
            if len(self) >= self._half:
                # With a limit of 1 there is no room for an older generation.
                self.older = dict(self) if self.limit > 1 else {}
                super().clear()
            self[text] = ids
        return ids

    def set_limit(self, limit: int) -> None:
        """Set the bound, and forget everything."""
        self.clear()
        self.limit = limit
        self._half = limit // 2 or limit

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.older = {}
