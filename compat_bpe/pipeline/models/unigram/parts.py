"""The best way through a long chunk, part by part.

In Chinese a chunk is a whole clause, and without a pre-tokenizer it is the whole text: long, and
hardly ever repeated, so a cache of chunks does not help. But between most characters is a *joint*:
no piece has the two next to each other, so every way goes through there. The parts between joints
are short and come back, and their ways are cached.

The property: the way through a part is *sure* if wherever two ways meet in it, the better one is
better by more than ``gap``. A sure way is that of the part in any chunk. The argument:

1. All ways go through the part's start, so all sums in it begin with the same number, the score of
   what is before. It is 0 if the part is by itself, and something else in a chunk.
2. Sums below 2**26 are rounded by at most 2**-28. So for a way of n pieces, what the number before
   it changes is the number itself and at most 2n roundings, together n * 2**-27.
3. So the difference of two ways of at most n pieces changes by at most n * 2**-26. A greater
   difference keeps its sign, and the same ways win everywhere, from left to right.

Where a way is not sure, the part is done again with the number that it really begins with: that is
the sum of all pieces before it, added up in the same order.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, compress, count
from operator import add

from ...cache import Cache
from ..text_model import common_length
from .table import UnigramTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..base import Ids

    #: Ids and pieces of a part: no ids if a piece is unknown, no pieces if the way is not sure.
    Part = tuple["Ids | None", "Sequence[str] | None"]

#: The limit of all sums.
SUM_LIMIT = 1 << 26
#: The least difference that is sure, for each character of a part; twice what it need be.
GAP = 2.0**-25

#: The length in characters from which a chunk is compared with the one before, and the greatest
#: length of one that is kept for that.
_COMPARED, _LONGEST_KEPT = 1 << 9, 1 << 22
#: The largest number of parts in the cache, and the length in characters of the longest.
_KEPT = 1 << 15
_LONGEST_PART = 128


class PartEncoder:
    """The encoder of long chunks, with the ids of their best ways.

    Args:
        table: the pieces and their scores.
        find_way: returns the best way through a part that begins with a score, the score at its
            end, and the least difference of ways that meet.
        ids_of: returns the ids of a way; None if a piece is unknown.
        unknown_score: the score of an unknown character.
    """

    def __init__(
        self,
        table: UnigramTable,
        find_way: Callable[[str, float], tuple[list[str], float, float]],
        ids_of: Callable[[Sequence[str]], Ids | None],
        unknown_score: float,
    ) -> None:
        self._find_score = table.scores.get
        self._find_way = find_way
        self._ids_of = ids_of
        self._unknown_score = unknown_score
        #: All pairs of characters that are next to each other in a piece.
        self.pairs: set[str] = set()
        for piece in table.scores:
            self.pairs.update(map(add, piece, piece[1:]))
        #: The last long chunk, the ends of its parts, and what was found for them.
        self._last: tuple[str, list[int], list[Part]] = "", [], []
        self._parts: Cache[Part] = Cache(self._find_part, _KEPT, _LONGEST_PART)

    def encode(self, chunk: str) -> tuple[Ids | None, Sequence[str]]:
        """Return the ids of a chunk, or, if they are None, its best way."""
        ends, parts = self._parts_of(chunk)
        ids = [ids for ids, _ in parts]
        if None not in ids:
            return tuple(chain.from_iterable(filter(None, ids))), ()
        ways = [way for _, way in parts]
        if None not in ways:
            return None, list(chain.from_iterable(filter(None, ways)))
        path: list[str] = []
        total = 0.0
        for start, end, way in zip([0, *ends], ends, ways):
            if way is None:
                way, total, _ = self._find_way(chunk[start:end], total)
            else:
                for piece in way:
                    total = self._find_score(piece, self._unknown_score) + total
            path += way
        return None, path

    def _parts_of(self, chunk: str) -> tuple[list[int], list[Part]]:
        """Return the ends of the parts of a chunk, and what is found for each.

        The beginning may be that of the last chunk: of one text, often many beginnings are encoded
        one after the other, to find the one that has room.
        """
        last, ends, parts = self._last
        kept = 0
        if len(chunk) > _COMPARED:
            # Of the part before a place, both characters beside its end must be the same.
            kept = bisect_left(ends, common_length(chunk, last))
        ends, parts = ends[:kept], parts[:kept]
        start = ends[-1] if ends else 0
        pairs, rest = self.pairs, chunk[start:]
        is_joint = [pair not in pairs for pair in map(add, rest, rest[1:])]
        more = [*compress(count(start + 1), is_joint), len(chunk)]
        texts = map(chunk.__getitem__, map(slice, [start, *more], more))
        ends += more
        parts += map(self._parts.__getitem__, texts)
        if _COMPARED < len(chunk) <= _LONGEST_KEPT:
            self._last = chunk, ends, parts
        return ends, parts

    def slack(self, chunk: str) -> int:
        """Return the most tokens that a chunk may have fewer, with something else before it."""
        ends, parts = self._parts_of(chunk)
        return sum(
            4 * (end - start)
            for start, end, (_, way) in zip([0, *ends], ends, parts)
            if way is None
        )

    def _find_part(self, text: str) -> Part:
        way, _, difference = self._find_way(text, 0.0)
        if difference <= len(text) * GAP:
            return None, None
        return self._ids_of(way), way
