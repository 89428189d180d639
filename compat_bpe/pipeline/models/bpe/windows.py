"""Merging of a chunk of megabytes window by window, so that memory does not grow with the chunk.

What merging needs for each symbol (neighbours, ranks, what waits) is then held for one window only.

The rule is any that joins two neighbours at a time, the pair of the lowest rank first, the leftmost
among equals.  Two windows overlap.  If a part of the one has the same start and end as a part of
the other, the windows are joined there: the left one's parts before it, the right one's from it on.
These are the parts of the whole.  The argument, for the place c where the common part t begins, and
the part a before it in the left window:

1. As long as nothing is joined across a place, the merges on each side are those of the side alone,
   in the same order.  So the parts left of c are what the text left of c merges to.  The same holds
   right of c, and for every two neighbours: the text of a and t alone merges to a and t.
2. Take the first merge across c in the whole.  Before it, all merges in the text of a and t are
   those of this text alone, since no merge crosses the edges of a, of t or c.  So it would occur
   when this text is merged alone.  By 1 it does not, so there is none.

The right window begins where a part of the left one begins, so that runs of one letter are in step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

    #: Returns what a range merges to, and the places in the range where each part begins.
    Merge = Callable[[int, int], tuple[list[T], list[int]]]

#: The number of symbols in a window.
WINDOW = 1 << 16
#: A window overlaps the next one by this part of it.
_OVERLAP = 64
#: Windows that do not agree are tried again, this many times as long.
_LONGER = 4


def merge_in_windows(size: int, merge: Merge[T], window: int = WINDOW) -> list[T]:
    """Return the parts that ``merge(0, size)`` returns, from merging windows.

    Args:
        size: the number of symbols.
        merge: merges a range of them, by a rule as above.
        window: the number of symbols to merge at once, if that suffices.
    """
    while window < size:
        found = _joined(size, merge, window)
        if found is not None:
            return found
        window *= _LONGER
    return merge(0, size)[0]


def _joined(size: int, merge: Merge[T], window: int) -> list[T] | None:
    """Return the parts; None if two windows have no part in common where they overlap."""
    parts, starts = merge(0, window)
    kept: list[T] = []
    # The window begins at ``begin``.  Its parts before ``first`` are not used.
    begin = first = 0
    while begin + window < size:
        last = bisect_right(starts, window - window // _OVERLAP) - 1
        if last <= first:
            return None
        offset = starts[last]
        begin += offset
        next_parts, next_starts = merge(begin, min(begin + window, size))
        common = _common([start - offset for start in starts[last:]], next_starts)
        if common is None:
            return None
        kept += parts[first : last + common[0]]
        parts, starts, first = next_parts, next_starts, common[1]
    return kept + parts[first:]


def _common(lefts: list[int], rights: list[int]) -> tuple[int, int] | None:
    """Return the indices of the first part in two lists of starts; None if there is none."""
    number_of = {span: number for number, span in enumerate(zip(lefts, lefts[1:]))}
    for number, span in enumerate(zip(rights, rights[1:])):
        if span in number_of:
            return number_of[span], number
        if span[0] > lefts[-1]:
            break
    return None
