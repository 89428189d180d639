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
#: Ids are below this, so that a pair of them is an integer of 62 bits.
_MOST = 1 << 30


class PairMerger:
    """A merger of bytes by pairs of ids.

    Args:
        ranks: every token's rank, which is its id.  ``fits`` is true for it.

    Attributes:
        pairs: the rank of each pair of ids that is joined, by ``left * factor + right``.
        factor: an odd number above all ids: so the low bits of a key depend on both ids, and a
            dictionary finds it soon.

    >>> merger = PairMerger({**{bytes([i]): 9 + i for i in range(256)}, b"ab": 0, b"abc": 1})
    >>> merger.merge(b"xabcab")
    [129, 1, 0]
    """

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        self._byte_ids = [ranks[bytes((byte,))] for byte in range(256)]
        self.factor = max(ranks.values()) * 2 | 1
        self.pairs: dict[int, int] = {}
        for token, rank in sorted(ranks.items(), key=itemgetter(1)):
            if len(token) > 1:
                self._add(ranks, token, rank)

    def _add(self, ranks: Mapping[bytes, int], token: bytes, rank: int) -> None:
        parts = self.merge(token) if len(token) < _LONG else []
        if len(parts) == 2:
            self.pairs[parts[0] * self.factor + parts[1]] = rank
            return
        for at in range(1, len(token)):
            left, right = ranks.get(token[:at]), ranks.get(token[at:])
            if left is not None and right is not None:
                self.pairs[left * self.factor + right] = rank

    @staticmethod
    def fits(ranks: Mapping[bytes, int]) -> bool:
        """Return True if each byte is a token, no token is empty, and ids are small and unique."""
        return (
            b"" not in ranks
            and all(bytes((byte,)) in ranks for byte in range(256))
            and len(set(ranks.values())) == len(ranks)
            and min(ranks.values()) >= 0
            and max(ranks.values()) < _MOST
        )

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids that merging gives, even if the whole chunk is a token.

        It takes quadratic time in the length of the chunk.
        """
        pairs, factor, byte_ids = self.pairs, self.factor, self._byte_ids
        ids: list[int] = []
        # found[i] is the rank of the parts i and i + 1 joined, which is then the id of both.
        found: list[int] = []
        lowest, place, left = _NO_RANK, 0, -1
        for byte in chunk:
            right = byte_ids[byte]
            if left >= 0:
                rank = pairs.get(left * factor + right, _NO_RANK)
                if rank < lowest:
                    lowest = rank
                    place = len(found)
                found.append(rank)
            ids.append(right)
            left = right
        found.append(_NO_RANK)
        while lowest != _NO_RANK:
            ids[place] = lowest
            del ids[place + 1]
            del found[place]
            if place < len(ids) - 1:
                found[place] = pairs.get(lowest * factor + ids[place + 1], _NO_RANK)
            if place:
                found[place - 1] = pairs.get(ids[place - 1] * factor + lowest, _NO_RANK)
            lowest = _NO_RANK
            at = 0
            while at < len(found):
                rank = found[at]
                if rank < lowest:
                    lowest = rank
                    place = at
                at += 1
        return ids


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
