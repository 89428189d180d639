"""The ways through a text for SentencePiece's Unigram: the best ways at many scores, and all ways.

``PieceLattice`` has all ways, to find more than the best way. ``WayFinder`` finds the best ways.

The reference sums in numbers of 32 bits, so the score of all text before may decide between two
ways that are almost equal. ``WayFinder`` finds the best way in 64 bits, and the scores before it at
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
from heapq import heappop, heappush
from itertools import chain
from math import exp, inf, log1p
from typing import NamedTuple

from ..scored_pieces import LONGEST_SHORT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random
    from typing import Optional

    from ..scored_pieces import PieceGroups

    #: The best way through a stretch:
    #:
    #: - Its limit: it is right if the score before it is below this on either side; below 0 if
    #:   that is not known of any score.
    #: - The ids of its pieces; an unknown character has that of the unknown piece.
    #: - The most that the score at any place in it, and after it, differs from the one before, if
    #:   nothing is subtracted.
    Way = tuple[float, tuple[int, ...], float]

    #: A piece of a lattice and all after it.
    Rest = Optional[tuple["Edge", "Rest"]]

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


def rounded(number: float) -> float:
    """Return a number rounded to 32 bits."""
    return array("f", (number,))[0]


#: The number of begun ways from which on the search for the best ways keeps only the best of them;
#: the most that it keeps then; the most times that it does so.
_MOST_BEGUN, _KEPT, _MOST_CUTS = 10_000, 512, 10
#: The number of begun ways at which the search stops, and returns only the best way.
_MOST_IN_ALL = 500_000


class Edge(NamedTuple):
    """A piece at a place of a text, or an unknown character.

    Args:
        id: its id; that of the unknown token for an unknown character.
        text: the piece.
        start, end: its place, in characters.
        score: its score.
    """

    id: int
    text: str
    start: int
    end: int
    score: float


class _Begun(float):
    """A way that is begun at its end; as a number, the negative of the best total that it may have.

    Begun ways are compared only by that number. ``heapq`` moves equal items as the reference's
    ``std::priority_queue`` does, so the same one of several equal ways comes first.
    """

    __slots__ = ("place", "rest", "score")

    def __new__(cls, total: float, score: float, place: int, rest: Rest) -> _Begun:
        begun = super().__new__(cls, -total)
        #: The score of its edges so far, the place where they begin, and the edges.
        begun.score, begun.place, begun.rest = score, place, rest
        return begun

    score: float
    place: int
    rest: Rest


class PieceLattice:
    """All pieces at all places of a text.

    Args:
        ending: the pieces that end at each place.
    """

    def __init__(self, ending: list[list[Edge]]) -> None:
        self.ending = ending

    def best(self, number: int) -> list[list[tuple[str, int]]]:
        """Return the best ways, the best first; A* search from the end.

        Args:
            number: the number of ways, 1 or more. There may be fewer.
        """
        heuristic = self._best_scores()
        end = len(self.ending) - 1
        queue = [_Begun(heuristic[end], 0.0, end, None)]
        ways: list[list[tuple[str, int]]] = []
        in_all, cuts = 1, 0
        while queue and len(ways) < number:
            begun = heappop(queue)
            if begun.place < 0:
                ways.append(_pieces(begun.rest))
                continue
            if not begun.place:
                # The reference has a node for the beginning, so a whole way waits once more.
                heappush(queue, _Begun(begun.score, begun.score, -1, begun.rest))
                in_all += 1
            for edge in self.ending[begun.place]:
                own = rounded(edge.score + begun.score)
                # As in the reference: the best score up to the end of the piece, and after it.
                total = rounded(rounded(heuristic[edge.start] + edge.score) + begun.score)
                heappush(queue, _Begun(total, own, edge.start, (edge, begun.rest)))
            in_all += len(self.ending[begun.place])
            if in_all >= _MOST_IN_ALL or (len(queue) >= _MOST_BEGUN and cuts == _MOST_CUTS):
                return self.best(1) if number > 1 else ways
            if len(queue) >= _MOST_BEGUN:
                cuts += 1
                queue = [heappop(queue) for _ in range(min(_KEPT, 10 * number))]
        return ways

    def _best_scores(self) -> list[float]:
        """Return the score of the best way to each place."""
        scores = [0.0]
        for edges in self.ending[1:]:
            scores.append(max(rounded(scores[edge.start] + edge.score) for edge in edges))
        return scores

    def sample(self, alpha: float, random: Random) -> list[tuple[str, int]]:
        """Return a random way; its probability is proportional to exp(``alpha`` times its score).

        The sums over all ways to each place are computed forward, and pieces are drawn backward.
        """
        sums = [0.0]
        for edges in self.ending[1:]:
            total = -inf
            for edge in edges:
                total = _log_sum(total, sums[edge.start] + alpha * edge.score)
            sums.append(total)
        place = len(self.ending) - 1
        rest: Rest = None
        while place:
            edges = self.ending[place]
            weights = [exp(sums[edge.start] + alpha * edge.score - sums[place]) for edge in edges]
            edge = random.choices(edges, weights)[0]
            rest = edge, rest
            place = edge.start
        return _pieces(rest)

    def score(self, pieces: list[tuple[str, int]]) -> float:
        """Return the score of a way."""
        total = 0.0
        place = 0
        for text, token_id in pieces:
            place += len(text)
            total += next(
                edge.score
                for edge in self.ending[place]
                if edge.id == token_id and edge.text == text
            )
        return total


def _pieces(rest: Rest) -> list[tuple[str, int]]:
    pieces = []
    while rest is not None:
        edge, rest = rest
        pieces.append((edge.text, edge.id))
    return pieces


def _log_sum(one: float, other: float) -> float:
    """Return log(exp(one) + exp(other))."""
    high, low = max(one, other), min(one, other)
    return high + log1p(exp(low - high)) if low > -inf else high
