"""A Unigram model's answers for one word, by the textbook: forward and backward, in logarithms.

The operations and their order are those of tokenizers, so for one word the numbers have the same
bits. It is several times slower than ``SharedLattice.expect``, which shares what words have in
common and multiplies probabilities. It stands in for words so long that these are too small for
floats, and where a number is so near to a limit that the last bits decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

#: A number whose logarithm is less by this does not change a sum.
_NEGLIGIBLE = 50.0


class PlainModel:
    """Pieces and the logarithms of their probabilities.

    Args:
        ids: each piece and its id.
        scores: their scores; -inf for a piece that is not used.
        unknown: the score that marks an unknown character; tokenizers takes it after the longer
            pieces that begin with it.

    >>> scores = [log(0.5), log(0.25), log(0.375)]
    >>> model = PlainModel({"a": 0, "b": 1, "ab": 2}, scores)
    >>> expected = [0.0, 0.0, 0.0]
    >>> round(exp(model.expect("ab", 4, expected)), 9), [round(number, 9) for number in expected]
    (0.5, [1.0, 1.0, 3.0])
    >>> model.best("ab")
    [2]
    """

    def __init__(
        self, ids: Mapping[str, int], scores: Sequence[float], unknown: float | None = None
    ) -> None:
        never = float("-inf")
        self._ids = {piece: number for piece, number in ids.items() if scores[number] > never}
        self._scores = scores
        self._unknown = unknown
        self._longest = max(map(len, self._ids), default=1)

    def edges(self, word: str, start: int) -> list[tuple[int, int, float]]:
        """Return the pieces that begin at a place: where they end, their ids and their scores."""
        find = self._ids.get
        edges = []
        for stop in range(start + 1, min(start + self._longest, len(word)) + 1):
            piece = find(word[start:stop])
            if piece is not None:
                edges.append((stop, piece, self._scores[piece]))
        if edges[0][2] == self._unknown:
            edges.append(edges.pop(0))
        return edges

    def expect(self, word: str, count: float, expected: list[float]) -> float:
        """Add the expected number of each piece to ``expected``.

        Args:
            word: a word all of whose characters are pieces.
            count: its count.
            expected: the numbers so far, by id.

        Returns:
            The logarithm of the word's probability.
        """
        size = len(word)
        forward: list[float | None] = [0.0] + [None] * size
        for start in range(size):
            # All that ends here has begun before.
            before = _known(forward[start])
            for stop, _, score in self.edges(word, start):
                forward[stop] = add_logs(forward[stop], score + before)
        backward: list[float | None] = [None] * size + [0.0]
        for start in range(size - 1, -1, -1):
            for stop, _, score in self.edges(word, start):
                backward[start] = add_logs(backward[start], score + _known(backward[stop]))
        total = _known(forward[size])
        for start in range(size):
            before = _known(forward[start])
            for stop, piece, score in self.edges(word, start):
                part = before + score + _known(backward[stop]) - total
                expected[piece] += count * exp(part)
        return total

    def best(self, word: str) -> list[int]:
        """Return the pieces of the best way to write a word; see ``SharedLattice.best``."""
        size = len(word)
        best = [0.0] + [float("-inf")] * size
        last = [(0, 0)] * (size + 1)
        for start in range(size):
            for stop, piece, score in self.edges(word, start):
                total = best[start] + score
                if total > best[stop]:
                    best[stop] = total
                    last[stop] = (start, piece)
        way = []
        place = size
        while place:
            place, piece = last[place]
            way.append(piece)
        return way[::-1]


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


def _known(value: float | None) -> float:
    assert value is not None  # Every character is a piece, so every place is reached.
    return value
