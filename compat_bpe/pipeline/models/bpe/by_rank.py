r"""Byte-level BPE: the bytes of a chunk are merged by rank.

A vocabulary gives each token, a byte string, a *rank*: a small number for a token that was
learned early. To encode a chunk, begin with its single bytes. Then join the two neighbours
whose concatenation has the lowest rank, the leftmost first among equals. Go on until no two
neighbours make a token. With the ranks ``ab=0, cd=1, abcd=2``, the chunk ``xabcd`` becomes

    x a b c d  →  x ab c d  →  x ab cd  →  x abcd

A token's rank is also its id. A chunk that is a token as a whole is that token, without merging,
as in tiktoken. (For nearly every token, merging gives the same.)

``merge`` is this rule, literally. ``BytePairEncoder`` is faster. ``ByteLevelBPE`` is the model: it
has such an encoder, or an encoder for a list of merges (``by_merges``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from operator import getitem, itemgetter

from ....caches import cached_property, getter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base import ChunkToken, Ids
    from .unspaced import UnspacedEncoder

    #: A list of merges by pairs of ids: the id of each byte; for each pair of ids the index of its
    #: merge; for each index the id that the merge makes.
    ListedPairs = tuple[list[int], dict[tuple[int, int], int], list[int]]

#: The length in bytes from which the heap is faster than the list.
_LONG = 70

#: The length in bytes up to which a chunk is merged at once.
_AT_ONCE = 1 << 16

#: After this many distinct second bytes of a first byte, all 256 are looked up.
_MANY_SECOND_BYTES = 16

#: Each single byte.
_SINGLES = [bytes((byte,)) for byte in range(256)]

#: The rank of two neighbours that make no token: above every rank, which is less than 2**32.
_NO_RANK = 1 << 32

#: Build the ``UnspacedEncoder`` after this many bytes of Chinese and similar text; merging them
#: takes about as long as building it, including its look-ups for new characters.
_WORTH_UNSPACED = 1 << 15


def merge(chunk: bytes, ranks: Mapping[bytes, int], least: int = 1) -> list[bytes]:
    """Return the parts of a chunk after all merges.

    Args:
        chunk: any bytes.
        ranks: every token's rank.
        least: the number of parts at which merging stops.

    >>> merge(b"xabcd", {b"ab": 0, b"cd": 1, b"abcd": 2})
    [b'x', b'abcd']
    """
    parts = [chunk[i : i + 1] for i in range(len(chunk))]
    while len(parts) > least:
        pairs = [ranks.get(left + right, _NO_RANK) for left, right in zip(parts, parts[1:])]
        lowest = min(pairs)
        if lowest == _NO_RANK:
            break
        i = pairs.index(lowest)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


class BytePairEncoder:
    """An encoder of chunks by one vocabulary.

    Args:
        ranks: every token's rank, which is its id. The mapping is kept, not copied.

    >>> encoder = BytePairEncoder({b"a": 3, b"b": 4, b"x": 10, b"ab": 0})
    >>> encoder.encode(b"xab")
    (10, 0)
    """

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        self.ranks = ranks
        # Some vocabularies have an empty token; it must not join anything.
        self._rank = getter(ranks if b"" not in ranks else {**ranks, b"": _NO_RANK})
        #: The id of each single byte; negative for a byte that is not a token.
        self._byte_ids = [
            ranks.get(byte, -1 - byte_value) for byte_value, byte in enumerate(_SINGLES)
        ]
        #: True if each single byte is a token.
        self.is_complete = min(self._byte_ids) >= 0
        self._first_pairs = _FirstPairs(ranks)

    #: True if only the two parts in a list are joined, not any two that make a token.
    follows_list = False
    #: True if bytes that are not tokens are dropped, so that the bytes around them become
    #: neighbours.
    drops_bytes = False
    #: Names, or beginnings of names, of the tokens that stand for bytes that are not tokens.
    unknown_names: tuple[str, ...] = ()
    #: The id of the token that stands for bytes that are not tokens, if there is one.
    unknown_id: int | None = None

    def listed_pairs(self) -> ListedPairs | None:
        """Return the list of merges by pairs of ids; None if there is no such list."""
        return None

    def first_tokens(self, chunk: bytes) -> list[tuple[int | None, bytes]]:
        """Return the id and the bytes of each part that merging begins with; None for no token."""
        singles = [chunk[i : i + 1] for i in range(len(chunk))]
        return [(self.ranks.get(byte), byte) for byte in singles]

    def joined(
        self, left: tuple[int | None, bytes], right: tuple[int | None, bytes]
    ) -> tuple[int, int] | None:
        """Return the rank and the id of two neighbours joined; None if they are not joined."""
        rank = self.ranks.get(left[1] + right[1])
        return None if rank is None else (rank, rank)

    def find(self, chunk: bytes) -> list[tuple[int, str, int]]:
        """Return the ids that merging gives, with the tokens' names and their lengths.

        A token's name is written in the byte alphabet. Its length is that of the name in UTF-8.
        """
        return [
            (token_id, self.names[token_id], len(self.names[token_id].encode()))
            for token_id in self.merge(chunk)
        ]

    @cached_property
    def names(self) -> Mapping[int, str]:
        """Each id and its token, written in the byte alphabet."""
        from ...byte_level import encode_bytes

        return {rank: encode_bytes(token) for token, rank in self.ranks.items()}

    def encode(self, chunk: bytes) -> Ids:
        """Return the ids of a chunk of any bytes.

        Raises:
            ValueError: a remaining part, necessarily a single byte, is not a token.
        """
        whole = self.ranks.get(chunk)
        return (whole,) if whole is not None else tuple(self.merge(chunk))

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids that merging gives, even if the whole chunk is a token.

        Raises:
            ValueError: as in ``encode``.
        """
        ids = self._merge_below(_NO_RANK, chunk)
        if not self.is_complete and min(ids, default=0) < 0:
            byte = bytes([-1 - min(ids)])
            raise ValueError(f"the vocabulary has no token for the byte {byte!r}")
        return ids

    def makes(self, token: bytes) -> bool:
        """Return True if merging makes a token."""
        return len(self._merge_below(_NO_RANK, token)) == 1

    def _merge_below(self, limit: int, chunk: bytes) -> list[int]:
        """Return the ids after all merges of a rank below ``limit``."""
        if len(chunk) < _LONG:
            return self._merge_list(limit, chunk)
        if len(chunk) <= _AT_ONCE:
            return self._merge_heap(limit, chunk)[0]
        from .merging import merge_in_windows  # few texts need it

        ids, _ = merge_in_windows(
            len(chunk), lambda low, high: self._merge_heap(limit, chunk[low:high]), _AT_ONCE
        )
        return ids

    def _merge_list(self, limit: int, chunk: bytes) -> list[int]:
        """Return the ids by the literal rule: each step searches a list for the lowest rank.

        It takes quadratic time, but each step is a call into C over a short list.
        """
        ids = list(map(self._byte_ids.__getitem__, chunk))
        # pairs[i] is the rank of the parts i and i + 1 joined, which is then the id of both.
        pairs = list(map(getitem, map(self._first_pairs.__getitem__, chunk), chunk[1:]))
        pairs.append(_NO_RANK)
        lowest = min(pairs)
        if lowest >= limit:
            return ids
        rank = self._rank
        # Part i is chunk[starts[i] : starts[i + 1]]. The last part has no right neighbour, and
        # chunk[starts[i] : 0] is empty.
        starts = [*range(len(chunk) + 1), 0]
        while lowest < limit:
            i = pairs.index(lowest)
            after = i + 1
            ids[i] = lowest
            del ids[after], pairs[i], starts[after]
            pairs[i] = rank(chunk[starts[i] : starts[i + 2]], _NO_RANK)
            if i:
                pairs[i - 1] = rank(chunk[starts[i - 1] : starts[after]], _NO_RANK)
            lowest = min(pairs)
        return ids

    def _merge_heap(self, limit: int, chunk: bytes) -> tuple[list[int], list[int]]:
        """Return the ids and the places where they begin, by the same merges in time n·log n.

        A heap has the ranks, and a linked list the parts. A part is identified by its start.
        ``places`` has, for each rank, the starts of parts that join their right neighbour at that
        rank. ``pairs`` has the current rank of each part with its right neighbour; it shows which
        starts are out of date.

        All starts of the lowest rank are merged in one pass, from left to right. The argument:

        1. No merge of the pass adds a start of the same rank: a join with the token just made gives
           a longer token, so one of another rank.
        2. If a merge makes a join of a lower rank possible, the pass stops, and that rank is next.
        """
        from heapq import heappop, heappush  # most chunks are short

        size = len(chunk)
        rank = self._rank
        ids = list(map(self._byte_ids.__getitem__, chunk))
        pairs = list(map(getitem, map(self._first_pairs.__getitem__, chunk), chunk[1:]))
        places = _Places(heappush)
        for place, pair in enumerate(pairs):
            if pair != _NO_RANK:
                places[pair].append(place)
        pairs += (_NO_RANK, _NO_RANK)
        after = list(range(1, size + 2))
        before = list(range(-1, size))
        while places and places.ranks[0] < limit:
            lowest = heappop(places.ranks)
            waiting = places.pop(lowest)
            waiting.sort()
            for done, left in enumerate(waiting, 1):
                if pairs[left] != lowest:
                    continue
                ids[left] = lowest
                right = after[left]
                end = after[right]
                after[left] = end
                before[end] = left
                pairs[right] = _NO_RANK
                new = pair = _NO_RANK if end >= size else rank(chunk[left : after[end]], _NO_RANK)
                pairs[left] = pair
                if pair != _NO_RANK:
                    places[pair].append(left)
                if left:
                    previous = before[left]
                    pair = rank(chunk[previous:end], _NO_RANK)
                    pairs[previous] = pair
                    if pair != _NO_RANK:
                        places[pair].append(previous)
                        new = min(new, pair)
                if new < lowest:
                    places[lowest] += waiting[done:]
                    break
        remaining, starts = [], []
        start = 0
        while start < size:
            remaining.append(ids[start])
            starts.append(start)
            start = after[start]
        return remaining, starts


def merges_by_rank(
    ranks: Mapping[bytes, int],
) -> Iterator[tuple[bytes, tuple[bytes, bytes] | None]]:
    """Yield each token of several bytes, by rank, with the two parts that it is merged from.

    The parts are those before the last merge, when the token is merged alone; None if merging does
    not make the token. They are the same in every chunk, since no merge crosses the edges of a
    token before it is complete.

    >>> list(merges_by_rank({b"a": 0, b"b": 1, b"ab": 2, b"aab": 3, b"bab?": 4}))
    [(b'ab', (b'a', b'b')), (b'aab', (b'a', b'ab')), (b'bab?', None)]
    """
    encoder = BytePairEncoder(ranks)
    token_of = {rank: token for token, rank in ranks.items()}
    for token, rank in sorted(ranks.items(), key=itemgetter(1)):
        if len(token) == 1:
            continue
        ids = encoder._merge_below(rank, token)
        parts = [token_of.get(token_id, b"") for token_id in ids]
        if len(ids) > 2:
            # The token ranks below one of its parts, or cannot be made.
            parts = merge(token, ranks, 2)
        if len(parts) == 2 and all(part and part in ranks for part in parts):
            yield token, (parts[0], parts[1])
        else:
            yield token, None


class _Places(dict[int, list[int]]):
    """The starts of pairs to join, by rank; ``ranks`` is a heap of the keys."""

    def __init__(self, push: Callable[[list[int], int], None]) -> None:
        super().__init__()
        self.ranks: list[int] = []
        self._push = push

    def __missing__(self, rank: int) -> list[int]:
        self._push(self.ranks, rank)
        starts = self[rank] = []
        return starts


class _FirstPairs(dict[int, "list[int] | _Row"]):
    """The ranks of two single bytes joined: for each first byte, those with every second byte.

    Merging begins with such pairs.
    """

    __slots__ = ("_rank_of",)

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        super().__init__()
        self._rank_of = getter(ranks)

    def __missing__(self, byte: int) -> _Row:
        row = self[byte] = _Row(self, byte)
        return row

    def fill(self, byte: int) -> None:
        """Look up the ranks of a first byte with every second one, by calls into C."""
        pairs = map(bytes((byte,)).__add__, _SINGLES)
        self[byte] = list(map(self._rank_of, pairs, repeat(_NO_RANK)))

    def rank(self, byte: int, other: int) -> int:
        """Look up the rank of two bytes joined."""
        rank: int = self._rank_of(bytes((byte, other)), _NO_RANK)
        return rank


class _Row(dict[int, int]):
    """The ranks of one first byte with the second bytes that were looked up.

    When there are many, a list of all ranks replaces it.
    """

    __slots__ = ("_byte", "_pairs")

    def __init__(self, pairs: _FirstPairs, byte: int) -> None:
        super().__init__()
        self._pairs = pairs
        self._byte = byte

    def __missing__(self, other: int) -> int:
        if len(self) >= _MANY_SECOND_BYTES:  # several threads may exceed it together
            self._pairs.fill(self._byte)
        self[other] = new = self._pairs.rank(self._byte, other)
        return new


class ByteLevelBPE:
    """The model that encodes a chunk by merging its bytes.

    Args:
        merges: the merges, by rank or by a list.
        whole: the chunks that are tokens without merging.
        to_bytes: returns the bytes of a chunk.

    >>> ByteLevelBPE(BytePairEncoder({b"h": 0, b"i": 1, b"hi": 2}), {}).encode("hi")
    (2,)
    """

    #: ``fit.long_chunk`` cuts chunks, since joints are between characters, not bytes.
    joints = None

    def __init__(
        self,
        merges: BytePairEncoder,
        whole: Mapping[bytes, int],
        to_bytes: Callable[[str], bytes] = str.encode,
    ) -> None:
        self.merges = merges
        self.whole = whole
        self._whole_id = getter(whole)
        self.to_bytes = to_bytes
        # ``UnspacedEncoder`` merges parts of UTF-8 text, each by itself.
        self._may_be_unspaced = to_bytes is str.encode and merges.is_complete
        self._unspaced: UnspacedEncoder | None = None
        self._unspaced_bytes = 0

    @property
    def is_complete(self) -> bool:
        """True if every byte is a token."""
        return self.merges.is_complete

    @property
    def is_text(self) -> bool:
        """True if the bytes that are merged are the UTF-8 of a chunk, all of it."""
        return self.to_bytes is str.encode and not self.merges.drops_bytes

    @property
    def unknown_id(self) -> int | None:
        """The id of the token for unknown bytes; None if there is none."""
        return self.merges.unknown_id

    def ids_of(self, chunk: bytes) -> list[int]:
        """Return the ids of a chunk, given its bytes.

        Raises:
            ValueError: a byte of it is not a token.
        """
        whole = self._whole_id(chunk)
        return self.merges.merge(chunk) if whole is None else [whole]

    def merge(self, data: bytes) -> list[int]:
        """Return the ids that merging gives for some bytes, even if they are a token as a whole."""
        return self.merges.merge(data)

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk.

        Raises:
            ValueError: a byte of it is not a token.
        """
        data = self.to_bytes(chunk)
        whole = self._whole_id(data)
        if whole is not None:
            return (whole,)
        if self._may_be_unspaced and _is_wide(chunk):
            if self._unspaced is None:
                self._unspaced_bytes += len(data)
                if self._unspaced_bytes > _WORTH_UNSPACED:
                    from .unspaced import UnspacedEncoder

                    merges = self.merges
                    self._unspaced = UnspacedEncoder(merges.ranks, merges.merge, self.whole)
            # Read once, since another thread may clear it.
            unspaced = self._unspaced
            if unspaced is not None:
                return unspaced.merge([chunk])
        return tuple(self.merges.merge(data))

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of a chunk with their places; each has its name in the byte alphabet.

        Raises:
            ValueError: a byte of it is not a token.

        >>> model = ByteLevelBPE(BytePairEncoder({b"h": 0, b" ": 1, b" h": 2}), {})
        >>> model.find(" hh")
        [ChunkToken(id=2, text='Ġh', start=0, end=2), ChunkToken(id=0, text='h', start=2, end=3)]
        """
        from ...byte_level import encode_bytes
        from ..base import ChunkToken

        data = self.to_bytes(chunk)
        written = encode_bytes(data)
        whole = self.whole.get(data)
        if whole is not None:
            return [ChunkToken(whole, written, 0, len(chunk.encode()))]
        # Lengths are those of the written bytes, in UTF-8, even if the chunk is plain text.
        place_of = list(range(len(written.encode())))
        if self.to_bytes is str.encode:
            place_of = [place for place, char in enumerate(written) for _ in char.encode()]
        tokens = []
        at = 0
        for token_id, name, length in self.merges.find(data):
            tokens.append(ChunkToken(token_id, name, place_of[at], place_of[at + length - 1] + 1))
            at += length
        return tokens

    def encode_segment(self, segment: str, chunks: Callable[[str], list[str]]) -> Ids | None:
        """Return the ids of a segment of Chinese or similar text, merged by character."""
        unspaced = self._unspaced
        if unspaced is None or not unspaced.merging_makes_tokens or not _is_wide(segment):
            return None
        ids = unspaced.merge(chunks(segment))
        # Otherwise a chunk that is a token may differ from the result of merging.
        return ids if unspaced.merging_makes_tokens else None

    def clear_cache(self) -> None:
        """Drop the ``UnspacedEncoder``, which has a cache of its own."""
        self._unspaced = None
        self._unspaced_bytes = 0


def _is_wide(text: str) -> bool:
    """Return True if a text is mostly of characters from U+0800 on, as Chinese is."""
    return not text.isascii() and len(text.encode()) > 2 * len(text)
