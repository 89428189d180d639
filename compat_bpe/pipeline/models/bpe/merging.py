"""Merging of neighbours by any rule: plainly, with a heap, and in windows.

``merge`` is the plain rule: each step searches all pairs of neighbours for the pair that comes
first in the list, which takes quadratic time. ``merge_by_heap`` does the same merges in time
n·log n. ``merge_in_windows`` merges a very long chunk in the memory of a window; ``by_rank``
imports it only then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from operator import add
from typing import NamedTuple

from ....caches import shareable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    S = TypeVar("S")

#: The number of first symbols that are merged at a time, and the number in which windows overlap.
WINDOW = 1 << 16
_OVERLAP = 1 << 10


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
        merged[i : i + 2] = [Symbol(join(left.name, right.name), left.length + right.length)]


def absent_from(text: str) -> str:
    """Return a character that is not in a text: a space if possible, else the lowest character."""
    if " " not in text:
        return " "
    points = [*sorted(set(map(ord, text))), -1]
    return chr(next(code_point for code_point, point in enumerate(points) if code_point != point))


def ranks_of_merges(lefts: Sequence[str], rights: Sequence[str]) -> tuple[str, dict[str, int]]:
    """Return a separator, and the rank of each merge by its two parts joined by the separator.

    The separator is in no part, so keys are unique. If a pair has two merges, the later one
    counts, as in tokenizers.

    >>> ranks_of_merges(["a", "b c"], ["b", "d"])
    ('\\x00', {'a\\x00b': 0, 'b c\\x00d': 1})
    """
    separator = absent_from("".join(lefts) + "".join(rights))
    return separator, shareable(zip(map(separator.join, zip(lefts, rights)), range(len(lefts))))


def merge_by_heap(
    symbols: Iterable[S],
    merge_of: Callable[[S, S], tuple[float, S] | None],
    is_left_out: Callable[[], bool] | None = None,
) -> tuple[list[S], list[int]]:
    """Return the symbols after all merges, and the places where they begin, in time n·log n.

    A heap has the rank and the place of each pair that has a merge, and a linked list the symbols.
    A symbol is identified by the place where it begins.

    The property: the merges are those of the plain rule, in its order. The heap gives the lowest
    rank first, and the leftmost pair for equal ranks. An entry of the heap is out of date if one of
    its two symbols has been joined to another symbol since. Then the two symbols now in that place
    make another symbol, or none, and the entry is skipped. Their merge has an entry of its own. As
    in tokenizers, the symbol that they make decides, not the two symbols themselves.

    ``BytePairEncoder`` has a heap of its own, which merges all pairs of one rank in a pass. By
    rank, that is 1.3 to 1.8 times faster.

    Args:
        symbols: the first symbols, which are not None.
        merge_of: returns the rank of the merge of two symbols, and the symbol that it makes; None
            if they are not merged. It is called once for each two that become neighbours.
        is_left_out: returns True if a merge that is due is not made (BPE-dropout), if given.

    >>> ranks = {"ab": 0, "cd": 1, "abcd": 2}
    >>> def merge_of(left, right):
    ...     rank = ranks.get(left + right)
    ...     return None if rank is None else (rank, left + right)
    >>> merge_by_heap("xabcd", merge_of)
    (['x', 'abcd'], [0, 1])
    """
    # A part that was joined to its left neighbour is None.
    parts: list[Any] = [*symbols]
    size = len(parts)
    after = list(range(1, size + 1))
    before = list(range(-1, size - 1))
    #: The merge of each part with its right neighbour, if they have one by now.
    merges = [*map(merge_of, parts, parts[1:]), None]
    heap = [(merge[0], place, merge[1]) for place, merge in enumerate(merges) if merge is not None]
    heapify(heap)
    while heap:
        _, place, made = heappop(heap)
        merge = merges[place]
        if merge is None or merge[1] != made or (is_left_out is not None and is_left_out()):
            continue
        joined = after[place]
        following = after[place] = after[joined]
        parts[place], parts[joined] = made, None
        merges[place] = merges[joined] = None
        previous = before[place]
        if previous >= 0:
            merge = merges[previous] = merge_of(parts[previous], made)
            if merge is not None:
                heappush(heap, (merge[0], previous, merge[1]))
        if following < size:
            before[following] = place
            merge = merges[place] = merge_of(made, parts[following])
            if merge is not None:
                heappush(heap, (merge[0], place, merge[1]))
    places = [place for place, part in enumerate(parts) if part is not None]
    return [part for part in parts if part is not None], places


def merge_in_windows(
    size: int,
    merge: Callable[[int, int], tuple[Sequence[S], Sequence[int]]],
    window: int = WINDOW,
    overlap: int = _OVERLAP,
) -> tuple[list[S], array[int]]:
    """Return the symbols that a very long chunk is merged to, and where they begin.

    The memory is that of a window and of the ids.

    Merging holds a linked list and a heap of all first symbols, some 100 bytes for each. A chunk of
    20 MB of one letter would take gigabytes. So overlapping windows of it are merged one after
    another, and put together at a *junction*: an edge of symbols in both windows, where the symbol
    before it has the same length in both, or the symbol after it has.

    The property: the symbols are those of merging the whole. The argument, for every rule that
    joins the neighbours of the lowest rank first, the leftmost among equals, where a rank depends
    on the two neighbours alone:

    1. Let some text be merged, and take two neighbours of the result. No merge has crossed their
       edges, so within them the same happens when they are merged alone: two neighbours alone give
       the same two again.
    2. Let each two neighbours of a row of symbols, merged alone, give the same two again. If the
       row were not the result for the whole, some merge would be the first to cross an edge between
       two of them. Until then, the same merges happen within these two as when they are merged
       alone. So the two alone would also make that merge, which contradicts the assumption.
    3. By 1, that holds for all neighbours in one window. It also holds for the two at a junction,
       since they are neighbours in one of its windows: between the same edges, merging makes the
       same symbols.

    Args:
        size: the number of first symbols.
        merge: returns the symbols that the first symbols of a range are merged to, and the place
            where each begins, counted from the beginning of the range.
        window, overlap: numbers of first symbols.

    >>> def pairs(low, high):
    ...     return ["aa"] * ((high - low) // 2) + ["a"] * (high % 2), range(0, high - low, 2)
    >>> symbols, starts = merge_in_windows(1001, pairs, 100, 10)
    >>> len(symbols), symbols[-2:], starts[-2:]
    (501, ['aa', 'a'], array('q', [998, 1000]))
    """
    while True:
        merged = _joined_windows(size, merge, window, overlap)
        if merged is not None:
            return merged
        # Some symbols are as long as a window, or depend on symbols as far away.
        window *= 4
        overlap *= 4


def _joined_windows(
    size: int,
    merge: Callable[[int, int], tuple[Sequence[S], Sequence[int]]],
    window: int,
    overlap: int,
) -> tuple[list[S], array[int]] | None:
    """Return the result of ``merge_in_windows``; None if two windows have no junction."""
    symbols: list[S] = []
    starts = array("q")  # a list of so many integers would take more memory than the ids do
    high = min(window, size)
    window_symbols, places = _merged(merge, 0, high)
    while high < size:
        # A window begins with a symbol of the window before, since merging usually continues from
        # there. It is not that window's first symbol, which the junction before needs.
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
