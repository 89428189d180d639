"""Merging one step at a time, to be looked at.

This is the rule as ``byte_pair.merge`` has it, or ``listed_merges`` for a list of merges: at each
step all pairs of neighbours that could be joined are known, and the one of the lowest rank is, the
leftmost of equals.  It takes time and room for every pair at every step, so it is for words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .by_rank import BytePairEncoder


class Token(NamedTuple):
    """One part of a chunk; ``id`` is None for a byte that is no token."""

    id: int | None
    data: bytes


class Pair(NamedTuple):
    """Two neighbours that could be joined.

    Args:
        rank: the rank of what they make: its id, or the place of the merge in the list, from 0.
        place: which of the parts is the left one, from 0.
        made: what they make.
    """

    rank: int
    place: int
    made: Token


class Step(NamedTuple):
    """A state of merging.

    Args:
        parts: what the chunk consists of.
        pairs: the pairs that could be joined, in the order of the rule: the first is the one that
            is joined in the next step.  There are none in the last.
    """

    parts: list[Token]
    pairs: list[Pair]


def merge_steps(chunk: bytes, encoder: BytePairEncoder) -> Iterator[Step]:
    """The states of merging, from single bytes to the parts that are left.

    Args:
        chunk: any bytes.
        encoder: what would merge them; the ids of the last state are its ``merge(chunk)``.

    >>> ranks = {b"h": 0, b"u": 1, b"g": 2, b"s": 3, b"ug": 4, b"gs": 5, b"hug": 6}
    >>> for parts, pairs in merge_steps(b"hugs", BytePairEncoder(ranks)):
    ...     print([part.data for part in parts], [(pair.made.data, pair.rank) for pair in pairs])
    [b'h', b'u', b'g', b's'] [(b'ug', 4), (b'gs', 5)]
    [b'h', b'ug', b's'] [(b'hug', 6)]
    [b'hug', b's'] []
    """
    parts = [Token(number, data) for number, data in encoder.first_tokens(chunk)]
    while True:
        pairs = []
        for place, (left, right) in enumerate(zip(parts, parts[1:])):
            found = encoder.joined(left, right)
            if found is not None:
                rank, number = found
                pairs.append(Pair(rank, place, Token(number, left.data + right.data)))
        pairs.sort(key=lambda pair: (pair.rank, pair.place))
        yield Step(parts, pairs)
        if not pairs:
            return
        place = pairs[0].place
        parts = [*parts[:place], pairs[0].made, *parts[place + 2 :]]
