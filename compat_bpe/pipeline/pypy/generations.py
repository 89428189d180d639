"""A cache in two generations, as ``cache.Cache``, for an interpreter that compiles loops.

It is no dictionary itself, since PyPy does not see through ``__missing__``.
"""

from __future__ import annotations


class Generations:
    """A cache from the bytes of a text to its ids. Its limit is 0 at first.

    Threads may share it: each operation on a dictionary is atomic, and two threads that store the
    ids of the same text store equal ones.

    >>> cache = Generations()
    >>> cache.set_limit(4)
    >>> for number in range(6):
    ...     cache.put(bytes([number]), [number])
    >>> [cache.get(bytes([number])) for number in (5, 4, 3, 1)]
    [[5], [4], [3], None]
    """

    __slots__ = ("_half", "_older", "_younger")

    def __init__(self) -> None:
        self._half = 0
        self._younger: dict[bytes, list[int]] = {}
        self._older: dict[bytes, list[int]] = {}

    def get(self, key: bytes) -> list[int] | None:
        """Return the ids for a text, or None. They belong to the cache."""
        value = self._younger.get(key)
        if value is None:
            value = self._older.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: bytes, ids: list[int]) -> None:
        """Store the ids of a text."""
        if self._half:
            if len(self._younger) >= self._half:
                # With a limit of 1 there is no room for an older generation.
                self._older = self._younger if self._half > 1 else {}
                self._younger = {}
            self._younger[key] = ids

    def set_limit(self, limit: int) -> None:
        """Set the largest number of texts held, and clear the cache."""
        self._half = limit // 2 or limit
        self.clear()

    def clear(self) -> None:
        """Remove all texts."""
        self._younger = {}
        self._older = {}
