"""Merging by pairs of ids, for an interpreter that compiles loops.

A pair of ids is one integer, which PyPy computes and looks up faster than bytes. A list of merges
is a list of such pairs, so its rule is followed literally, as in ``ListedMergesEncoder``.

If there are only ranks, ``by_rank`` looks up the joined bytes of two neighbours. Here their ids are
looked up. The property: the merges are those of ``by_rank.merge``. The argument:

1. Let two neighbours make the token T when they are joined. No merge has crossed the edges of T, so
   the same happens between them as when T is merged alone, until there are two parts.
2. So for each token at most one pair of neighbours is ever joined to it: the last two parts when it
   is merged alone, by tokens of lower ranks. These tokens are already in the table, since tokens
   are added by rank.
3. If tokens of lower ranks do not merge the token to two parts, all ways to cut it into two tokens
   are in the table. In this case, too, a pair is in the table only if its joined bytes are the
   token's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter

from .encoder import Generations, code_point, length_of_char

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..models.bpe.by_rank import BytePairEncoder, ListedPairs

#: The length in bytes from which the heap of ``BytePairEncoder`` is faster than a list.
_LONG = 200
#: The rank of two neighbours that make no token: above every rank.
_NO_RANK = 1 << 32
#: Ids have this many bits, so that two ids and a rank are one integer of 60 bits.
_BITS = 20
_RANK = (1 << _BITS) - 1
#: Factors that mix the bits of two ids.
_LEFT, _RIGHT = 0x9E37B, 0x10193

#: The number of slots for characters, and for pairs of characters; powers of 2.
_CHARS = 1 << 15
_PAIRS = 1 << 15
#: Characters are narrow below this code point, and below this first byte in UTF-8.
_WIDE, WIDE_LEAD = 0x800, 0xE0
#: Bytes that tokens have right of a boundary share this many bits; one more bit is for narrow
#: characters.
_SHARED_BITS = 60
_NARROW_BIT = 1 << _SHARED_BITS
#: The most runs of characters in the cache, and the length in bytes from which a run is not cached.
_KEPT = 1 << 15
_LONG_RUN = 128


class PairMerger:
    """A merger of bytes by pairs of ids.

    The table of pairs is a list of integers. A pair is in its slot or in one soon after it, so most
    look-ups read one place of the memory.

    Args:
        byte_ids: the id of each byte.
        made: for each rank, the id of the token that a merge of this rank makes.
        pairs: the approximate number of pairs.

    >>> singles = {bytes([i]): 9 + i for i in range(256)}
    >>> merger = PairMerger.by_rank({**singles, b"ab": 0, b"abc": 1})
    >>> merger.merge(b"xabcab")
    [129, 1, 0]
    """

    def __init__(self, byte_ids: Sequence[int], made: Sequence[int], pairs: int) -> None:
        self._byte_ids = list(byte_ids)
        self._byte_of = {token_id: byte for byte, token_id in enumerate(byte_ids)}
        self._made = list(made)
        #: The rank of each two single bytes joined.
        self._first = [_NO_RANK] * (1 << 16)
        self._slots = 1 << (4 * pairs + 4).bit_length() - 1
        #: In a slot, the two ids of a pair and their rank; -1 if it is empty.
        self._pairs = [-1] * (self._slots + 1)
        self._count = 0

    @classmethod
    def by_rank(cls, ranks: Mapping[bytes, int]) -> PairMerger:
        """Return a merger by ranks, for which ``fits`` is true; a token's rank is its id."""
        byte_ids = [ranks[bytes((byte,))] for byte in range(256)]
        merger = cls(byte_ids, range(max(ranks.values()) + 1), len(ranks))
        for token, rank in sorted(ranks.items(), key=itemgetter(1)):
            if len(token) > 1:
                merger._add(ranks, token, rank)
        return merger

    @classmethod
    def by_list(cls, listed: ListedPairs) -> PairMerger:
        """Return a merger by a list of merges, for which ``fits_list`` is true."""
        byte_ids, ranks, made = listed
        merger = cls(byte_ids, made, len(ranks))
        for (left, right), rank in ranks.items():
            merger._put(left, right, rank)
        return merger

    def _add(self, ranks: Mapping[bytes, int], token: bytes, rank: int) -> None:
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
        if left in self._byte_of and right in self._byte_of:
            self._first[self._byte_of[left] << 8 | self._byte_of[right]] = rank
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

    @staticmethod
    def fits_list(listed: ListedPairs) -> bool:
        """Return True if ids and ranks are small."""
        byte_ids, _, made = listed
        ids = [*byte_ids, *made]
        return min(ids) >= 0 and max(*ids, len(made)) <= _RANK

    def merge(self, chunk: bytes, limit: int = _NO_RANK) -> list[int]:
        """Return the ids after all merges of a rank below ``limit``.

        It takes quadratic time in the length of the chunk.
        """
        first, byte_ids, made = self._first, self._byte_ids, self._made
        ids: list[int] = []
        # ranks[i] is the rank of the parts i and i + 1 joined.
        ranks: list[int] = []
        lowest, place, before = limit, 0, -1
        for byte in chunk:
            ids.append(byte_ids[byte])
            if before >= 0:
                rank = first[before << 8 | byte]
                if rank < lowest:
                    lowest = rank
                    place = len(ranks)
                ranks.append(rank)
            before = byte
        ranks.append(_NO_RANK)
        while lowest < limit:
            joined = made[lowest]
            ids[place] = joined
            del ids[place + 1]
            del ranks[place]
            if place < len(ids) - 1:
                ranks[place] = self._rank(joined, ids[place + 1])
            if place:
                ranks[place - 1] = self._rank(ids[place - 1], joined)
            lowest = limit
            at = 0
            while at < len(ranks):
                rank = ranks[at]
                if rank < lowest:
                    lowest = rank
                    place = at
                at += 1
        return ids

    def _rank(self, left: int, right: int) -> int:
        """Return the rank of two neighbours joined; without a loop, so that PyPy inlines it."""
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
    """A merger of chunks of UTF-8, each in the fastest way.

    Args:
        pairs: the merger of short chunks.
        merges: the same merges, for long chunks.
    """

    def __init__(self, pairs: PairMerger, merges: BytePairEncoder) -> None:
        self._short = pairs
        self._merge_long = merges.merge
        self._runs = RunMerger(merges.ranks, self._merge_part)

    @classmethod
    def of(cls, merges: BytePairEncoder) -> CompiledMerger | None:
        """Return a merger for some merges; None if they do not fit into a table of pairs."""
        if not merges.follows_list:
            ranks = merges.ranks
            return cls(PairMerger.by_rank(ranks), merges) if PairMerger.fits(ranks) else None
        listed = merges.listed_pairs()
        if listed is None or not PairMerger.fits_list(listed):
            return None
        return cls(PairMerger.by_list(listed), merges)

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


class RunMerger:
    """A merger of chunks whose characters are mainly from U+0800 on.

    As in ``UnspacedEncoder``, a chunk is cut at each boundary between two characters that are never
    in one token; the property and its argument are there. Here a few comparisons of integers give
    the answer for two characters.

    Args:
        tokens: all tokens that merging can make.
        merge: returns the ids of a part of a chunk, merged by itself.

    >>> merger = RunMerger([b"a", "中国".encode()[2:4]], lambda part: [len(part)])
    >>> merger.merge("中国人a".encode())
    [6, 3, 1]
    """

    def __init__(self, tokens: Iterable[bytes], merge: Callable[[bytes], list[int]]) -> None:
        self._merge = merge
        #: For the bytes that tokens have left of a boundary, the bytes that they have right of it.
        self._right_of: dict[bytes, dict[bytes, int]] = {}
        self._bit_of: dict[bytes, int] = {}
        for token in tokens:
            if not token.isascii():
                self._collect(token)
        self._chars = [_Char(-1, [], [], 0, 0, [])] * _CHARS
        #: In a slot, two code points as a number, times 2, plus 1 if a merge may join them.
        self._joined = [-1] * _PAIRS
        self._runs = Generations()
        self._runs.set_limit(_KEPT)

    def _collect(self, token: bytes) -> None:
        """Record the bytes around each boundary between two characters of a token."""
        starts = [at for at in range(len(token)) if at == 0 or token[at] & 0xC0 != 0x80]
        ends = [*starts[1:], len(token)]
        for i in range(len(starts) - 1):
            left, right = token[starts[i] : ends[i]], token[ends[i] : ends[i + 1]]
            if left[0] & 0xC0 == 0x80 or left[0] >= WIDE_LEAD or right[0] >= WIDE_LEAD:
                bit = self._bit_of.setdefault(right, 1 << len(self._bit_of) % _SHARED_BITS)
                self._right_of.setdefault(left, {})[right] = bit

    def clear_cache(self) -> None:
        """Clear the cache of runs."""
        self._runs.clear()

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids of a chunk, which must be UTF-8."""
        chars = self._chars
        ids: list[int] = []
        size = len(chunk)
        at = start = alone = 0
        before = None
        while at < size:
            point = code_point(chunk, at)
            char = chars[point & _CHARS - 1]
            if char.point != point:
                char = self._find(point)
            if before is not None and not (before.after & char.begun and self._join(before, char)):
                # A boundary: the run before it is one character, or several.
                if start != alone:
                    ids += self._run(chunk[start:at])
                elif before.only >= 0:
                    ids.append(before.only)
                else:
                    ids += before.ids
                start = at
            before = char
            alone = at
            at += length_of_char(chunk[at])
        if before is not None:
            ids += before.ids if start == alone else self._run(chunk[start:at])
        return ids

    def _run(self, run: bytes) -> list[int]:
        ids = self._runs.get(run)
        if ids is None:
            ids = self._merge(run)
            if len(run) < _LONG_RUN:
                self._runs.put(run, ids)
        return ids

    def _find(self, point: int) -> _Char:
        data = chr(point).encode()
        rights = [self._right_of.get(data[at:], {}) for at in range(len(data))]
        after = begun = _NARROW_BIT if point < _WIDE else 0
        for right in rights:
            for bit in right.values():
                after |= bit
        heads = [data[:end] for end in range(1, len(data) + 1)]
        for head in heads:
            begun |= self._bit_of.get(head, 0)
        ids = self._merge(data)
        char = _Char(point, [right for right in rights if right], heads, after, begun, ids)
        self._chars[point & _CHARS - 1] = char
        return char

    def _join(self, left: _Char, right: _Char) -> bool:
        """Return True if a merge may cross the boundary between two characters."""
        pair = left.point << 21 | right.point
        slot = (right.point ^ left.point << 7 ^ left.point >> 8) & _PAIRS - 1
        kept = self._joined[slot]
        if kept >> 1 != pair:
            kept = self._joined[slot] = pair << 1 | _may_join(left, right)
        return kept & 1 == 1


class _Char:
    """A character.

    Args:
        point: its code point.
        rights: for its last bytes (one, two, …), the bytes that tokens have right of a boundary
            after them.
        heads: its first bytes (one, two, …).
        after, begun: the bits of the rights and of the heads.
        ids: its ids when it is merged alone.

    Attributes:
        only: its id if it is only one, else -1.
    """

    __slots__ = ("after", "begun", "heads", "ids", "only", "point", "rights")

    def __init__(
        self,
        point: int,
        rights: list[dict[bytes, int]],
        heads: list[bytes],
        after: int,
        begun: int,
        ids: list[int],
    ) -> None:
        self.point = point
        self.rights = rights
        self.heads = heads
        self.after = after
        self.begun = begun
        self.ids = ids
        self.only = ids[0] if len(ids) == 1 else -1


def _may_join(left: _Char, right: _Char) -> bool:
    if left.point < _WIDE and right.point < _WIDE:
        return True
    for rights in left.rights:
        for head in right.heads:
            if head in rights:
                return True
    return False
