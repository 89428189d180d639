"""Merging by pairs of ids, for an interpreter that compiles loops.

``by_rank`` looks up the bytes of two neighbours joined.  Here two neighbours are looked up by their
ids: a pair of ids is one integer, which PyPy makes and finds faster than bytes.

The property: the merges are those of ``by_rank.merge``.  The argument:

1. Let two neighbours make the token T when they are joined.  No merge has crossed the edges of T,
   so what happened between them is what happens when T is merged alone, until two parts are left.
2. So for each token there is one pair of neighbours that is ever joined to it, if any: the last
   two parts when it is merged alone, by tokens of lower ranks.  Those are in the table by then,
   if tokens are added by rank.
3. If tokens of lower ranks leave other than two parts, all ways to cut the token into two tokens
   are in the table.  Then too, a pair is in it only if its bytes, joined, are the token's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

from .by_runs import WIDE_LEAD, RunMerger

#: The length in bytes from which the heap of ``BytePairEncoder`` is faster than a list.
_LONG = 200
#: The rank of two neighbours that make no token: above every rank.
_NO_RANK = 1 << 32
#: Ids have this many bits, so that two ids and a rank are one integer of 60 bits.
_BITS = 20
_RANK = (1 << _BITS) - 1
#: Factors that mix the bits of two ids.
_LEFT, _RIGHT = 0x9E37B, 0x10193


class PairMerger:
    """A merger of bytes by pairs of ids.

    The table of pairs is a list of integers, in which a pair stands at its slot or at one soon
    after it: so to look up a pair reads one place of the memory, most times.

    Args:
        ranks: every token's rank, which is its id.  ``fits`` is true for it.

    >>> merger = PairMerger({**{bytes([i]): 9 + i for i in range(256)}, b"ab": 0, b"abc": 1})
    >>> merger.merge(b"xabcab")
    [129, 1, 0]
    """

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        self._byte_ids = [ranks[bytes((byte,))] for byte in range(256)]
        #: The rank of each two single bytes joined.
        self._first = [_NO_RANK] * (1 << 16)
        self._slots = 1 << (4 * len(ranks)).bit_length() - 1
        #: In a slot, the two ids of a pair and their rank; -1 if it is empty.
        self._pairs = [-1] * (self._slots + 1)
        self._count = 0
        for token, rank in sorted(ranks.items(), key=itemgetter(1)):
            if len(token) > 1:
                self._add(ranks, token, rank)

    def _add(self, ranks: Mapping[bytes, int], token: bytes, rank: int) -> None:
        if len(token) == 2:
            self._first[token[0] << 8 | token[1]] = rank
        parts = self.merge(token, rank) if len(token) < _LONG else []
        if len(parts) == 2:
            self._put(parts[0], parts[1], rank)
            return
        for at in range(1, len(token)):
            left, right = ranks.get(token[:at]), ranks.get(token[at:])
            if left is not None and right is not None:
                self._put(left, right, rank)

    def _put(self, left: int, right: int, rank: int) -> None:
        if 2 * self._count >= self._slots:
            self._grow()
        self._count += 1
        pairs, last = self._pairs, self._slots - 1
        place = (left * _LEFT ^ right * _RIGHT) & last
        while pairs[place] >= 0:
            place = place + 1 & last
        pairs[place] = (left << _BITS | right) << _BITS | rank

    def _grow(self) -> None:
        kept = [pair for pair in self._pairs if pair >= 0]
        self._count = 0
        self._slots *= 2
        self._pairs = [-1] * (self._slots + 1)
        for pair in kept:
            self._put(pair >> 2 * _BITS, pair >> _BITS & _RANK, pair & _RANK)

    @staticmethod
    def fits(ranks: Mapping[bytes, int]) -> bool:
        """Return True if each byte is a token, no token is empty, and ids are small and unique."""
        return (
            b"" not in ranks
            and all(bytes((byte,)) in ranks for byte in range(256))
            and len(set(ranks.values())) == len(ranks)
            and min(ranks.values()) >= 0
            and max(ranks.values()) <= _RANK
        )

    def merge(self, chunk: bytes, limit: int = _NO_RANK) -> list[int]:
        """Return the ids after all merges of a rank below ``limit``.

        It takes quadratic time in the length of the chunk.
        """
        first, byte_ids = self._first, self._byte_ids
        ids: list[int] = []
        # found[i] is the rank of the parts i and i + 1 joined, which is then the id of both.
        found: list[int] = []
        lowest, place, before = limit, 0, -1
        for byte in chunk:
            ids.append(byte_ids[byte])
            if before >= 0:
                rank = first[before << 8 | byte]
                if rank < lowest:
                    lowest = rank
                    place = len(found)
                found.append(rank)
            before = byte
        found.append(_NO_RANK)
        while lowest < limit:
            ids[place] = lowest
            del ids[place + 1]
            del found[place]
            if place < len(ids) - 1:
                found[place] = self._rank(lowest, ids[place + 1])
            if place:
                found[place - 1] = self._rank(ids[place - 1], lowest)
            lowest = limit
            at = 0
            while at < len(found):
                rank = found[at]
                if rank < lowest:
                    lowest = rank
                    place = at
                at += 1
        return ids

    def _rank(self, left: int, right: int) -> int:
        """Return the rank of two neighbours joined.  It has no loop: so PyPy compiles it inline."""
        place = (left * _LEFT ^ right * _RIGHT) & self._slots - 1
        pair = left << _BITS | right
        kept = self._pairs[place]
        if kept < 0:
            return _NO_RANK
        if kept >> _BITS == pair:
            return kept & _RANK
        kept = self._pairs[place + 1]
        if kept >> _BITS == pair:
            return kept & _RANK
        return self._search(pair, place)

    def _search(self, pair: int, place: int) -> int:
        pairs, last = self._pairs, self._slots - 1
        while pairs[place] >= 0:
            if pairs[place] >> _BITS == pair:
                return pairs[place] & _RANK
            place = place + 1 & last
        return _NO_RANK


class CompiledMerger:
    """A merger of any bytes that are UTF-8: each chunk in the fastest way.

    Args:
        ranks: every token's rank.  ``PairMerger.fits`` is true for it.
        merge_long: merges a long chunk.
    """

    def __init__(
        self, ranks: Mapping[bytes, int], merge_long: Callable[[bytes], list[int]]
    ) -> None:
        self._short = PairMerger(ranks)
        self._merge_long = merge_long
        self._runs = RunMerger(ranks, self._merge_part)

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids that merging gives, even if the whole chunk is a token."""
        # Many chunks begin with a space.
        if len(chunk) > 4 and (chunk[0] >= WIDE_LEAD or chunk[1] >= WIDE_LEAD):
            return self._runs.merge(chunk)
        return self._merge_part(chunk)

    def _merge_part(self, part: bytes) -> list[int]:
        return self._short.merge(part) if len(part) < _LONG else self._merge_long(part)

    def clear_cache(self) -> None:
        """Clear the cache of runs of characters."""
        self._runs.clear_cache()
