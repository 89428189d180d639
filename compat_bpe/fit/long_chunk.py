r"""The tokens of every beginning and every end of one long chunk.

Merging has this property: a sequence of tokens is what its bytes are merged to, if and only if
each two neighbours in it are what these two are merged to alone.  For as long as no merge crosses
the edge between two tokens, those on each side of it go as if there were only these two; so the
first merge that crosses an edge would do so among the two as well.

From that follows how the tokens of a beginning are found without merging all of it: keep the first
tokens of the whole chunk, merge what is left, and see whether the two tokens at the junction stand
beside each other.  And of a beginning of more tokens than one, what is left without its last token
is merged to the tokens before it.  So if it has n tokens, one that is shorter, by a token, has
n - 1.  The same holds for ends, from the other side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate

#: Junctions that are tried, in the parts merged last, before a part is merged by itself.
_TRIES = 3
_TRIED = 2
#: So many parts are kept: where one of them has an edge, it is known how many tokens there are.
#: Of a run of one letter, which is merged from the left to tokens of eight, say, no two ends have
#: edges in common unless they begin eight apart.
_KEPT = 256


class LongChunk:
    """A chunk that is merged, whatever part of it is taken.

    Args:
        data: its bytes.
        merge: what gives the ids of some bytes by merging.
        length_of: the length of a token in bytes, by its id.
        longest: the length of the longest token.

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
        # Where tokens begin, and the end: of beginnings that were merged, and of ends.
        self._whole = self._edges_of(data, 0)
        self._beginnings = [self._whole]
        self._ends = [self._whole]
        #: How many tokens the whole chunk has.
        self.count = len(self._whole) - 1

    def count_to(self, end: int) -> int:
        """The number of tokens of the first ``end`` bytes."""
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
        """The number of tokens of what follows the first ``start`` bytes."""
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
        """Whether two tokens are merged to themselves."""
        ids = self._merge(self._data[start:end])
        return len(ids) == 2 and self._length_of(ids[0]) == middle - start

    def last_end_within(self, limit: int) -> int:
        """A place after which no beginning of the chunk has at most ``limit`` tokens.

        Such a beginning ends with a token that starts where there are fewer; where none such place
        was within a token's length, none can follow.
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
        """A place before which no end of the chunk begins that has at most ``limit`` tokens."""
        if limit >= self.count:
            return 0
        place = self._whole[-1 - limit]
        first = place - self._longest
        while place > max(first, 0):
            place -= 1
            if self.count_from(place) < limit:
                first = place - self._longest
        return max(first, 0)
