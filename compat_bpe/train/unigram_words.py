"""The words of a corpus, and what a Unigram model says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from .unigram_lattice import Lattice
from .unigram_plain import edges_of, expect_plainly

#: The length in characters of the longest word that shares a lattice with others.
_LONGEST = 64


class Words:
    """Counted words, with the lattices of all pieces that are left.

    Args:
        counts: the words and their counts.
        ids: each piece and its id.  All characters of the words are pieces.

    >>> words = Words({"ab": 4}, {"a": 0, "b": 1, "ab": 2})
    >>> scores = [log(0.5), log(0.25), log(0.375)]
    >>> [round(number, 9) for number in words.expect(scores)[0]]
    [1.0, 1.0, 3.0]
    >>> words.best_counts(scores)
    [0.0, 0.0, 4.0]
    """

    def __init__(self, counts: Mapping[str, float], ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._longest = max(map(len, ids), default=1)
        #: The sum of all counts.
        self.total = sum(counts.values())
        words = sorted(counts)
        self._counts = [float(counts[word]) for word in words]
        self._lattice = Lattice(words, ids)

    def keep(self, live: Sequence[bool]) -> None:
        """Drop all pieces but those that are True at their ids."""
        self._lattice.keep(live)

    def expect(self, scores: Sequence[float], unknown: float | None = None) -> tuple[list[float], float]:
        expected = [0.0] * len(scores)
        probabilities = list(map(exp, scores))
        totals, left_out = self._lattice.expect(self._counts, probabilities, expected)
        for index in left_out:
            totals[index] = 1.0
        objective = -sum(map(float.__mul__, map(log, totals), self._counts))
        for index in left_out:
            word = self._lattice.words[index]
            edges = edges_of(word, self._ids, scores, self._longest, unknown)
            objective -= self._counts[index] * expect_plainly(word, self._counts[index], edges, expected)
        return expected, objective / self.total

    def best_counts(self, scores: Sequence[float]) -> list[float]:
        return self._lattice.best_counts(self._counts, scores)
