"""The best ways through stretches of a text for SentencePiece's Unigram, right at many scores.

The reference sums in numbers of 32 bits, so the score of all text before may decide between two
ways that are almost equal. This module finds the best way in 64 bits, and the scores before it at
which the reference takes the same way.

A *stretch* is a part of a text between two places that no piece reaches across. All ways go through
these places. So the ways through a stretch differ only within it, and the score before it, s,
matters only by rounding. Its best way has a *limit*: it is the reference's if |s| is below.

Proof. Let n be the characters of the stretch, at most 32; V(p) the score of the best way to a
place p in it, counted from its start; R the greatest |V(p)|; and u = 2^-24. The reference rounds a
sum x to x·(1 + δ), |δ| ≤ u. Let e(p) be the most that its score at any place up to p is off from
s + V(p). A piece of score c from q to p makes x = s + V(q) + c, but for e(q). That is s + V(p) - D
with D = V(p) - V(q) - c, which is 0 for the last piece of the best way and never negative. So its
rounded sum is at most s + V(p) + e(q) + u·(|s| + R + e(q)) - D·(1 - u), and for D = 0 at least
s + V(p) - e(q) - u·(|s| + R + e(q)). The reference takes the greatest, so e(p) is at most
e(p - 1)·(1 + u) + u·(|s| + R), and B = n·u·(1 + 2^-14)·(|s| + R) bounds e everywhere. If at each
place of the best way every other last piece has D·(1 - u) > 2·B, the reference takes the best way.
That is |s| < D·(1 - u) / (2·n·u·(1 + 2^-14)) - R for the least D. The sums here are in 64 bits,
whose error is below n·R·2^-50 and D·2^-30; D is taken less by that. Nothing is subtracted in the
stretch (see ``unigram``) if |s| + R + B < 100,000, which |s| < 99,990 - R ensures.

A way is *sure*, its limit infinite, if it is right at any s. A score beyond 100,000 at the start is
subtracted there. If R is at most 25,000, something is subtracted at most once, so no sum is beyond
100,001 + 2·R, and there are at most twice as many roundings. So a way is sure if
D·(1 - u) / (2·n·u·(1 + 2^-14)) is above 2·(100,001 + 2·R).

Stretches that follow each other are a stretch. Its way is right if the way of each is right: the
limit is the least of their limits, less the amount by which the scores before each may have moved.
Each stretch moves a score by at most R and its rounding, and all stretches by the sum of that. If
something was subtracted in stretches that move the score by less than 25,000, |s| was above 75,000,
and the score after them is below 50,000. So in any case the score after a stretch is at most |s|
and the amount that the stretch moves it by.
"""

from __future__ import annotations

from array import array
from itertools import chain

from ..scored_pieces import LONGEST_SHORT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..scored_pieces import PieceGroups

    #: The best way through a stretch:
    #:
    #: - Its limit: it is right if the score before it is below this on either side; below 0 if
    #:   that is not known of any score.
    #: - The ids of its pieces; an unknown character has that of the unknown piece.
    #: - The most that the score at any place in it, and after it, differs from the one before, if
    #:   nothing is subtracted.
    Way = tuple[float, tuple[int, ...], float]

#: The score beyond which the reference subtracts it, and a score below which it surely does not.
THRESHOLD, BELOW_THRESHOLD = 100_000.0, 99_990.0
#: Longer stretches, and stretches whose scores reach further than this, have no limit of their own.
#: Few longer ones recur, and many have two ways that are almost equal. So no stretch with a limit
#: has a piece that is not in a group.
LONGEST, _FURTHEST = LONGEST_SHORT, 25_000.0
#: The most that rounding moves a score for each character: 2^-24 of less than 2^18.
ROUNDING = 2.0**-6
_NEVER = float("-inf")

#: A way that is not known to be right at any score.
NOT_KNOWN: Way = -1.0, (), 0.0


class WayFinder:
    """A finder of the best ways.

    Args:
        pieces: the pieces and their scores.
        numbers: the ids of the pieces.
        unknown: the id of a character that is not a piece.
    """

    def __init__(self, pieces: PieceGroups, numbers: Mapping[str, int], unknown: int) -> None:
        self._pieces = pieces
        self._numbers = numbers
        self._unknown = unknown

    def find(self, stretch: str) -> Way:
        """Return the best way through a stretch, which is not empty."""
        size = len(stretch)
        if size > LONGEST:
            return NOT_KNOWN
        pieces, find_group = self._pieces, self._pieces.groups.get
        best, second = [_NEVER] * (size + 1), [_NEVER] * (size + 1)
        best[0] = 0.0
        came_from = [0] * (size + 1)
        for start in range(size):
            here = best[start]
            first = stretch[start : start + 2]
            found, beginnings = find_group(first) or pieces.make_group(first)
            if beginnings:
                for end in range(start + 3, size + 1):
                    more = beginnings.get(stretch[start:end])
                    if more is None:
                        break
                    found = more
            for length, score in found:
                end = start + length
                total = score + here
                if total > best[end]:
                    second[end] = best[end]
                    best[end] = total
                    came_from[end] = start
                elif total > second[end]:
                    second[end] = total
        get, unknown = self._numbers.get, self._unknown
        numbers = []
        least = -_NEVER
        end = size
        while end:
            if best[end] - second[end] < least:
                least = best[end] - second[end]
            start = came_from[end]
            numbers.append(get(stretch[start:end], unknown))
            end = start
        numbers.reverse()
        return _way(size, numbers, least, best)

    def find_exactly(self, stretch: str, score: float) -> tuple[list[int], float]:
        """Return the ids of the best way through a stretch, and the score after it, in 32 bits.

        Rounding keeps the order of sums. So a sum that is not greater than the best so far is not
        even rounded. If a text has many beginnings of long pieces, most have two characters more
        than the group. These are looked up first: a beginning of a beginning is also a beginning.

        Args:
            stretch: the stretch, which is not empty. No score may be beyond 2^126.
            score: the score before it.
        """
        size = len(stretch)
        pieces, find_group = self._pieces, self._pieces.groups.get
        buffer = array("f", (0.0,))
        scores = [_NEVER] * (size + 1)
        scores[0] = score
        came_from = [0] * (size + 1)
        for start in range(size):
            here = scores[start]
            if here > THRESHOLD or here < -THRESHOLD:
                for place in range(start + 1, min(start + pieces.longest, size) + 1):
                    buffer[0] = scores[place] - here
                    scores[place] = buffer[0]
                here = 0.0
            first = stretch[start : start + 2]
            found, beginnings = find_group(first) or pieces.make_group(first)
            if beginnings:
                find = beginnings.get
                end = start + 4
                more = find(stretch[start:end])
                if more is None:
                    found = find(stretch[start : start + 3], found)
                while more is not None:
                    found = more
                    if end >= size:
                        break
                    end += 1
                    more = find(stretch[start:end])
                if end - start > LONGEST_SHORT and pieces.long:
                    found = (*found, *pieces.long.matches(stretch, start))
            for length, own in found:
                end = start + length
                total = own + here
                if total > scores[end]:
                    buffer[0] = total
                    total = buffer[0]
                    if total > scores[end]:
                        scores[end] = total
                        came_from[end] = start
        get, unknown = self._numbers.get, self._unknown
        numbers = []
        end = size
        while end:
            start = came_from[end]
            numbers.append(get(stretch[start:end], unknown))
            end = start
        return numbers[::-1], scores[size]


def _way(size: int, numbers: list[int], least: float, best: list[float]) -> Way:
    """Return a way through a stretch of a size, with the least difference of two ways in it."""
    furthest = max(max(best), -min(best))
    if not furthest < _FURTHEST:
        return NOT_KNOWN
    certain = least * (1 - 2.0**-20) - furthest * size * 2.0**-50
    limit = certain / (size * 2.0**-23 * (1 + 2.0**-13))
    if limit > 2 * (THRESHOLD + 1 + 2 * furthest):
        limit = -_NEVER
    else:
        limit = min(limit, BELOW_THRESHOLD) - furthest
    return limit, tuple(numbers), furthest + size * ROUNDING


def join(ways: list[Way]) -> Way:
    """Return the way through stretches that follow each other, at least one."""
    if len(ways) == 1:
        return ways[0]
    limits, numbers, moves = zip(*ways)
    return joined(min(limits), chain.from_iterable(numbers), sum(moves))


def joined(limit: float, numbers: Iterable[int], moves: float) -> Way:
    """Return the way through stretches that follow each other.

    Args:
        limit: the least of their limits.
        numbers: the ids of all their pieces.
        moves: the sum of the amounts by which they move a score.
    """
    if limit < 0 or not moves < _FURTHEST:
        return NOT_KNOWN
    return limit - moves, tuple(numbers), moves
