r"""Byte-pair encoding of one chunk.

A vocabulary gives each token, a byte string, a *rank*: a small number for a token that was
learned early.  To encode a chunk, begin with its single bytes and go on joining the two
neighbours whose concatenation has the lowest rank, leftmost first among equals, until no two
neighbours make a token.  With the ranks ``ab=0, cd=1, abcd=2``, the chunk ``xabcd`` becomes

    x a b c d  →  x ab c d  →  x ab cd  →  x abcd

A token's rank is also its id, so the parts that are left are looked up once more and that is
the result.  A chunk that is a token as a whole is that token, without merging.  (For nearly
every token merging gives the same; where it does not, tiktoken has it so.)
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush

#: From about this many bytes on the heap is faster: equal at 16, a quarter faster at 32, twice as
#: fast at 100 (cl100k_base, English and Chinese, Python 3.11).
_LONG = 20

#: No two neighbours make a token.  Above every rank, which is less than 2**32.
_NO_RANK = 1 << 32


def encode_chunk(chunk: bytes, ranks: Mapping[bytes, int]) -> tuple[int, ...]:
    """The ids of one chunk.

    Args:
        chunk: the UTF-8 bytes of a chunk, or any bytes.
        ranks: every token's rank, which is its id.

    Raises:
        ValueError: a part that is left, necessarily a single byte, is no token.

    >>> encode_chunk(b"xabcd", {b"x": 10, b"ab": 0, b"cd": 1, b"abcd": 2})
    (10, 2)
    """
    whole = ranks.get(chunk)
    if whole is not None:
        return (whole,)
    parts = merge(chunk, ranks)
    try:
        return tuple(map(ranks.__getitem__, parts))
    except KeyError as error:
        raise ValueError(f"the vocabulary has no token for the byte {error}") from None


def merge(chunk: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """The parts of a chunk that merging leaves, whose concatenation is the chunk.

    >>> merge(b"xabcd", {b"ab": 0, b"cd": 1, b"abcd": 2})
    [b'x', b'abcd']
    """
    return (_merge_list if len(chunk) < _LONG else _merge_heap)(chunk, ranks)


def _merge_list(chunk: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Merging by the book: all neighbours in a list, its minimum found anew at each step.

    Quadratic, but each step is a call into C over a short list.
    """
    rank = ranks.get
    parts = [chunk[i : i + 1] for i in range(len(chunk))]
    # pairs[i] is the rank of parts[i] + parts[i + 1].
    pairs = [rank(chunk[i : i + 2], _NO_RANK) for i in range(len(chunk) - 1)]
    while pairs:
        lowest = min(pairs)
        if lowest == _NO_RANK:
            break
        i = pairs.index(lowest)
        merged = parts[i] + parts[i + 1]
        parts[i : i + 2] = (merged,)
        del pairs[i]
        if i < len(pairs):
            pairs[i] = rank(merged + parts[i + 1], _NO_RANK)
        if i:
            pairs[i - 1] = rank(parts[i - 1] + merged, _NO_RANK)
    return parts


def _merge_heap(chunk: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """The same merges in time n·log n: all neighbours in a heap, the parts in a linked list.

    A part is known by where it starts.  The heap orders by rank, then place, which is the rule
    of merging; an entry that no longer holds is recognised by ``pair``, the rank that the part
    at a place and its right neighbour have now.
    """
    size = len(chunk)
    rank = ranks.get
    pair = [rank(chunk[i : i + 2], _NO_RANK) for i in range(size - 1)]
    pair += (_NO_RANK, _NO_RANK)
    after = list(range(1, size + 2))
    before = list(range(-1, size))
    # A rank and a place in one integer: compared as fast as any, and small.
    heap = [pair[i] * size + i for i in range(size - 1) if pair[i] != _NO_RANK]
    heapify(heap)
    while heap:
        entry = heappop(heap)
        lowest, left = divmod(entry, size)
        if pair[left] != lowest:
            continue
        right = after[left]
        end = after[right]
        after[left] = end
        before[end] = left
        pair[right] = _NO_RANK
        found = _NO_RANK if end >= size else rank(chunk[left : after[end]], _NO_RANK)
        pair[left] = found
        if found != _NO_RANK:
            heappush(heap, found * size + left)
        if left:
            previous = before[left]
            found = rank(chunk[previous:end], _NO_RANK)
            pair[previous] = found
            if found != _NO_RANK:
                heappush(heap, found * size + previous)
    parts = []
    start = 0
    while start < size:
        parts.append(chunk[start : after[start]])
        start = after[start]
    return parts
