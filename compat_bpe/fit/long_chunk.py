r"""The tokens of every prefix and every suffix of one long chunk.

The property: a sequence of tokens is the result of merging its bytes if and only if each two
neighbours in it are the result of merging these two alone. The argument: as long as no merge
crosses the edge between two tokens, the merges on each side of it take place as if there were only
these two. So the first merge that crosses an edge would cross it in the two alone, too.

Two things follow:

- The tokens of a prefix are found without merging all of it. Keep the first tokens of the whole
  chunk, merge the remaining bytes, and check that merging the two tokens at the junction alone
  gives these two.
- Dropping a prefix's last token leaves a shorter prefix with one token fewer.

The same holds for suffixes, from the other side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate

#: The number of junctions tried in a part, and of parts tried, the last merged first. If no
#: junction fits, the prefix or suffix is merged by itself.
_TRIES = 3
_TRIED = 2
#: The number of merged parts kept: at each edge of a part the number of tokens is known. Several
#: are needed for a run of one letter, for instance. If it is merged from the left to tokens of
#: eight letters, two suffixes have edges in common only if they begin a multiple of eight apart.
_KEPT = 256


class LongChunk:
    """A long chunk, with the number of tokens of each prefix and suffix.

    Args:
        data: its bytes.
        merge: returns the ids of some bytes by merging.
        length_of: returns the length of a token in bytes, by its id.
        longest: the length of the longest token in bytes.

    >>> from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
    >>> lengths = {0: 1, 1: 1, 2: 2, 3: 3}
    >>> merge = BytePairEncoder({b"a": 0, b"b": 1, b"ab": 2, b"aba": 3}).merge
    >>> chunk = LongChunk(b"abababab", merge, lengths.__getitem__, 3)
    >>> [chunk.count_to(end) for end in range(9)] == [len(merge(b"abababab"[:n])) for n in range(9)]
    True
    """

    def __init__(
        self,
        data: bytes,
        merge: Callable[[bytes], list[int]],
        length_of: Callable[[int], int],
        longest: int,
    ) -> None:
        self._data = data
        self._merge = merge
        self._length_of = length_of
        self._longest = longest
        # The edges of tokens, from the start to the end, of merged prefixes and merged suffixes.
        self._whole = self._edges_of(data, 0)
        self._beginnings = [self._whole]
        self._ends = [self._whole]
        #: The number of tokens of the whole chunk.
        self.count = len(self._whole) - 1

    def count_to(self, end: int) -> int:
        """Return the number of tokens of the first ``end`` bytes."""
        data = self._data
        for edges in self._beginnings:
            kept = bisect_right(edges, end) - 1
            if edges[kept] == end:
                return kept
        for edges in self._beginnings[:_TRIED]:
            kept = bisect_right(edges, end) - 1
            for number in range(kept, max(kept - _TRIES, 0), -1):
                middle = edges[number]
                rest = self._merge(data[middle:end])
                if self._are_neighbours(
                    edges[number - 1], middle, middle + self._length_of(rest[0])
                ):
                    return number + len(rest)
        edges = self._edges_of(data[:end], 0)
        self._beginnings = [edges, *self._beginnings[: _KEPT - 1]]
        return len(edges) - 1

    def count_from(self, start: int) -> int:
        """Return the number of tokens of the bytes after the first ``start``."""
        data = self._data
        for edges in self._ends:
            kept = bisect_left(edges, start)
            if edges[kept] == start:
                return len(edges) - 1 - kept
        for edges in self._ends[:_TRIED]:
            kept = bisect_left(edges, start)
            for number in range(kept, min(kept + _TRIES, len(edges) - 1)):
                middle = edges[number]
                rest = self._merge(data[start:middle])
                if self._are_neighbours(
                    middle - self._length_of(rest[-1]), middle, edges[number + 1]
                ):
                    return len(rest) + len(edges) - 1 - number
        edges = self._edges_of(data[start:], start)
        self._ends = [edges, *self._ends[: _KEPT - 1]]
        return len(edges) - 1

    def _edges_of(self, data: bytes, start: int) -> list[int]:
        return list(accumulate(map(self._length_of, self._merge(data)), initial=start))

    def _are_neighbours(self, start: int, middle: int, end: int) -> bool:
        """Return True if merging the bytes of two tokens gives these two tokens."""
        ids = self._merge(self._data[start:end])
        return len(ids) == 2 and self._length_of(ids[0]) == middle - start

    def last_end_within(self, limit: int) -> int:
        """Return an offset after which no prefix of the chunk has at most ``limit`` tokens.

        The argument: without its last token, such a prefix is a prefix with fewer than ``limit``
        tokens. So if no offset within a token's length has fewer, no such prefix can follow.
        """
        size = len(self._data)
        if limit >= self.count:
            return size
        place = self._whole[limit]
        last = place + self._longest
        while place < min(last, size):
            place += 1
            if self.count_to(place) < limit:
                last = place + self._longest
        return min(last, size)

    def first_start_within(self, limit: int) -> int:
        """Return an offset before which no suffix with at most ``limit`` tokens begins."""
        if limit >= self.count:
            return 0
        place = self._whole[-1 - limit]
        first = place - self._longest
        while place > max(first, 0):
            place -= 1
            if self.count_from(place) < limit:
                first = place - self._longest
        return max(first, 0)
