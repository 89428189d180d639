"""The plain rule of merging: two neighbours at a time, the pair that comes first in the list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import add
from typing import NamedTuple


class Symbol(NamedTuple):
    """A part of a chunk: the name of its token, and its length in bytes."""

    name: str
    length: int


def merge(
    symbols: Iterable[Symbol],
    rank: Callable[[str, str], int | None],
    join: Callable[[str, str], str] = add,
) -> list[Symbol]:
    """Return the symbols after all merges.

    Args:
        symbols: the first symbols.
        rank: returns the rank of the merge of two names; None if there is none.
        join: returns the name that a merge makes.

    >>> ranks = {("l", "o"): 1, ("o", "w"): 0}
    >>> merge([Symbol(char, 1) for char in "slow"], lambda *pair: ranks.get(pair))
    [Symbol(name='s', length=1), Symbol(name='l', length=1), Symbol(name='ow', length=2)]
    """
    merged = list(symbols)
    while True:
        ranks = [rank(left.name, right.name) for left, right in zip(merged, merged[1:])]
        lowest = min((one for one in ranks if one is not None), default=None)
        if lowest is None:
            return merged
        i = ranks.index(lowest)
        left, right = merged[i : i + 2]
        made = Symbol(join(left.name, right.name), left.length + right.length)
        merged[i : i + 2] = [made]


def absent_from(text: str) -> str:
    """Return a character that is not in a text: a space if possible, else the first one."""
    if " " not in text:
        return " "
    points = [*sorted(set(map(ord, text))), -1]
    return chr(next(code_point for code_point, point in enumerate(points) if code_point != point))
