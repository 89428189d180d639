"""The expected numbers of pieces in one word, by the textbook: forward and backward, in logarithms.

The operations and their order are those of tokenizers, so for one word the numbers have the same
bits.  It is several times slower than ``Lattice.expect``, which shares what words have in common
and multiplies probabilities.  It stands in where those are too small for floats, and where a number
is so near to a limit that the last bits decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import NamedTuple

#: Logarithms that are less by this much do not change a sum.
_NEGLIGIBLE = 50.0


class Edge(NamedTuple):
    """A piece that stands in a word.

    Args:
        start, stop: its place, in characters.
        piece: its id.
        score: the logarithm of its probability.
    """

    start: int
    stop: int
    piece: int
    score: float


def edges_of(
    word: str,
    ids: Mapping[str, int],
    scores: Sequence[float],
    longest: int,
    unknown: float | None = None,
) -> list[Edge]:
    """Return the pieces that stand in a word, by their starts, then by their lengths.

    A character whose score is ``unknown`` comes after the longer pieces that begin with it.

    Args:
        word: any text whose characters are pieces.
        ids: each piece and its id.
        scores: their scores; -inf for a piece that is not used.
        longest: the length of the longest piece.
        unknown: the score of unknown characters, if there are any.
    """
    edges = []
    for start in range(len(word)):
        first = len(edges)
        for stop in range(start + 1, min(start + longest, len(word)) + 1):
            piece = ids.get(word[start:stop])
            if piece is not None and scores[piece] > -_INFINITY:
                edges.append(Edge(start, stop, piece, scores[piece]))
        if edges[first].score == unknown:
            edges.append(edges.pop(first))
    return edges


def expect_plainly(
    word: str, count: float, edges: Sequence[Edge], expected: list[float]
) -> float:
    """Add the expected number of each piece to ``expected``.

    Args:
        word: the word.
        count: its count.
        edges: the pieces that stand in it, as ``edges_of`` returns them.
        expected: the numbers so far, by id.

    Returns:
        The logarithm of the word's probability.

    >>> expected = [0.0, 0.0, 0.0]
    >>> scores = [log(0.5), log(0.25), log(0.375)]
    >>> edges = edges_of("ab", {"a": 0, "b": 1, "ab": 2}, scores, 2)
    >>> round(exp(expect_plainly("ab", 4, edges, expected)), 9)
    0.5
    >>> [round(number, 9) for number in expected]
    [1.0, 1.0, 3.0]
    """
    forward: list[float | None] = [None] * (len(word) + 1)
    backward: list[float | None] = [None] * (len(word) + 1)
    forward[0] = backward[-1] = 0.0
    # All that end where another begins are before it.
    for start, stop, _, score in edges:
        before = forward[start]
        assert before is not None
        forward[stop] = add_logs(forward[stop], score + before)
    # What begins at a place is added up in the order of ``edges``.
    at = len(edges)
    for place in range(len(word) - 1, -1, -1):
        end = at
        while at and edges[at - 1].start == place:
            at -= 1
        for _, stop, _, score in edges[at:end]:
            after = backward[stop]
            assert after is not None
            backward[place] = add_logs(backward[place], score + after)
    total = forward[-1]
    assert total is not None
    for start, stop, piece, score in edges:
        expected[piece] += count * exp(forward[start] + score + backward[stop] - total)  # type: ignore[operator]
    return total


def add_logs(left: float | None, right: float) -> float:
    """Return the logarithm of the sum of two numbers, given theirs; None is that of 0.

    >>> round(exp(add_logs(log(2.0), log(3.0))), 9)
    5.0
    """
    if left is None:
        return right
    low, high = (right, left) if left > right else (left, right)
    if high > low + _NEGLIGIBLE:
        return high
    return high + log(exp(low - high) + 1.0)


_INFINITY = float("inf")
