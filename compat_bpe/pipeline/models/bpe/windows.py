r"""Merging of a very long chunk in windows, so that its memory is that of a window and of the ids.

Merging holds a linked list and a heap of all first symbols, some 100 bytes for each. A chunk of
20 MB of one letter would take gigabytes. So windows of it are merged one after another, and put
together at a *junction*: a place in both of two windows that overlap, which is an edge of symbols
in both, and where the symbol before it is as long in both, or the one after it.

The property: the symbols are those of merging the whole. The argument, for every rule that joins
the neighbours of the lowest rank first, the leftmost among equals, where a rank depends on the two
neighbours alone:

1. Let some text be merged, and take neighbours of the result. No merge has crossed their edges, so
   what happened between them is what happens when they are merged alone: two neighbours alone
   give the same two again.
2. Let a row of symbols be such that each two neighbours alone give the same two again. Were it not
   the result for the whole, some merge would be the first to cross an edge between two of
   them. Until then, what happened within these two is what happens to them alone; so that merge
   would be made there, too.
3. All neighbours in one window are such by 1. So are the two at a junction, since they are
   neighbours in one of its windows: of what is between the same edges, merging makes the same.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    S = TypeVar("S")

#: The number of first symbols that are merged at a time, and by how many windows overlap.
WINDOW = 1 << 16
_OVERLAP = 1 << 10


def merge_in_windows(
    size: int,
    merge: Callable[[int, int], tuple[Sequence[S], Sequence[int]]],
    window: int = WINDOW,
    overlap: int = _OVERLAP,
) -> tuple[list[S], array[int]]:
    """Return the symbols that a chunk is merged to, and where they begin.

    Args:
        size: the number of first symbols.
        merge: returns what the first symbols of a range are merged to, and where, counted from the
            beginning of the range, each of that begins.
        window, overlap: numbers of first symbols.

    >>> def pairs(low, high):
    ...     return ["aa"] * ((high - low) // 2) + ["a"] * (high % 2), range(0, high - low, 2)
    >>> symbols, starts = merge_in_windows(1001, pairs, 100, 10)
    >>> len(symbols), symbols[-2:], starts[-2:]
    (501, ['aa', 'a'], array('q', [998, 1000]))
    """
    while True:
        merged = _tried(size, merge, window, overlap)
        if merged is not None:
            return merged
        # Some symbols are as long as a window, or depend on what is as far away.
        window *= 4
        overlap *= 4


def _tried(
    size: int,
    merge: Callable[[int, int], tuple[Sequence[S], Sequence[int]]],
    window: int,
    overlap: int,
) -> tuple[list[S], array[int]] | None:
    """Return what ``merge_in_windows`` does; None if two windows have no junction."""
    symbols: list[S] = []
    starts = array("q")  # a list of so many integers would take more memory than the ids
    high = min(window, size)
    window_symbols, places = _merged(merge, 0, high)
    while high < size:
        # A window begins with a symbol of the one before, as merging mostly goes on from there.
        # It is not its first one, which the junction before needs.
        first = max(bisect_left(places, high - overlap), 1)
        if first >= len(places):
            return None
        next_high = min(places[first] + window, size)
        more, more_places = _merged(merge, places[first], next_high)
        junction = _junction([*places, high], first, [*more_places, next_high])
        if junction is None:
            return None
        left, right = junction
        symbols += window_symbols[:left]
        starts.extend(places[:left])
        window_symbols, places, high = more[right:], more_places[right:], next_high
    symbols += window_symbols
    starts.extend(places)
    return symbols, starts


def _merged(
    merge: Callable[[int, int], tuple[Sequence[S], Sequence[int]]], low: int, high: int
) -> tuple[Sequence[S], Sequence[int]]:
    symbols, starts = merge(low, high)
    return symbols, [low + start for start in starts]


def _junction(places: list[int], first: int, more: list[int]) -> tuple[int, int] | None:
    """Return the indices of the first junction from ``first`` on in the edges of two windows."""
    left, right = first, 0
    while left < len(places) - 1 and right < len(more) - 1:
        if places[left] < more[right]:
            left += 1
        elif places[left] > more[right]:
            right += 1
        elif places[left + 1] == more[right + 1] or (right and places[left - 1] == more[right - 1]):
            return left, right
        else:
            left += 1
            right += 1
    return None
