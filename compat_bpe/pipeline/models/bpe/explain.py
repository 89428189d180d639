"""Merging one step at a time, for display.

The rule is that of ``by_rank.merge``, or of ``by_merges`` for a list of merges; over characters it
is that of ``characters.merge``. Each step lists all pairs of neighbours that could be joined. The
one of the lowest rank is joined, the leftmost of equals. Every step takes time and memory for
every pair, so this is for single words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Callable, NamedTuple

from .by_rank import BytePairEncoder


class Token(NamedTuple):
    """One part of a chunk, its bytes or its name; ``id`` is None for a byte that is no token."""

    id: int | None
    data: bytes


class Pair(NamedTuple):
    """Two neighbours that could be joined.

    Args:
        rank: the rank of the join: the new token's id, or the merge's index in the list, from 0.
        place: the index of the left one among the parts, from 0.
        made: the token that they make.
    """

    rank: int
    place: int
    made: Token


class MergeStep(NamedTuple):
    """A state of merging.

    Args:
        parts: the parts of the chunk.
        pairs: the pairs that could be joined, in the order of the rule. The first one is joined
            in the next step. The last state has no pairs.
    """

    parts: list[Token]
    pairs: list[Pair]


def merge_steps(chunk: bytes, encoder: BytePairEncoder) -> Iterator[MergeStep]:
    """Yield the states of merging, from single bytes to the final parts.

    Args:
        chunk: any bytes.
        encoder: the encoder to follow; the ids of the last state are its ``merge(chunk)``.

    >>> ranks = {b"h": 0, b"u": 1, b"g": 2, b"s": 3, b"ug": 4, b"gs": 5, b"hug": 6}
    >>> for parts, pairs in merge_steps(b"hugs", BytePairEncoder(ranks)):
    ...     print([part.data for part in parts], [(pair.made.data, pair.rank) for pair in pairs])
    [b'h', b'u', b'g', b's'] [(b'ug', 4), (b'gs', 5)]
    [b'h', b'ug', b's'] [(b'hug', 6)]
    [b'hug', b's'] []
    """
    first = [Token(token_id, data) for token_id, data in encoder.first_tokens(chunk)]

    def join(left: Token, right: Token) -> tuple[int, Token] | None:
        merge = encoder.joined(left, right)
        return merge and (merge[0], Token(merge[1], left.data + right.data))

    return steps(first, join)


def steps(
    first: Iterable[Token], join: Callable[[Token, Token], tuple[int, Token] | None]
) -> Iterator[MergeStep]:
    """Yield the states of merging.

    Args:
        first: the parts that it begins with.
        join: returns the rank of the join of two neighbours, and the token that they make; None if
            they are not joined.
    """
    parts = list(first)
    while True:
        pairs = []
        for place, (left, right) in enumerate(zip(parts, parts[1:])):
            merge = join(left, right)
            if merge is not None:
                pairs.append(Pair(merge[0], place, merge[1]))
        pairs.sort(key=lambda pair: (pair.rank, pair.place))
        yield MergeStep(parts, pairs)
        if not pairs:
            return
        place = pairs[0].place
        parts = [*parts[:place], pairs[0].made, *parts[place + 2 :]]
