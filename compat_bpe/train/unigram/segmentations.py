"""The words of a corpus, and all ways to write them with the pieces of a Unigram model.

A long word, such as a line of Chinese or a text without pre-tokenizer, hardly ever comes back. But
between many of its characters is a *joint*: no piece has the two next to each other, so every way
to write the word goes through there. Then the word's probability is the product of those of its
parts, and its expected numbers and its best way are those of its parts together. So the parts are
taken for words. They are short and come back, and as pieces are dropped, there are more joints.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log
from operator import add

from .lattice import SharedLattice
from .plain import PlainModel

#: The length in characters above which words are split at joints.
_LONG = 16
#: The length above which a part does not share a lattice with others.
_TOO_LONG = 1000
#: A new lattice is made if the words are shortened to less than this part.
_WORTH = 0.8
#: A number that is as near as this to a limit is computed again as in the reference.
_NEAR = 1e-9


class Segmentations:
    """Counted words, and all ways to write them with pieces.

    Args:
        counts: the words and their counts.
        pieces: all pieces; the index is the id. All characters of the words are among them.

    >>> words = Segmentations({"ab": 4}, ["a", "b", "ab"])
    >>> scores = [log(0.5), log(0.25), log(0.375)]
    >>> [round(number, 9) for number in words.expect(scores, 0.5)[0]]
    [1.0, 1.0, 3.0]
    >>> words.best_counts(scores)
    [0.0, 0.0, 4.0]
    """

    def __init__(self, counts: Mapping[str, float], pieces: Sequence[str]) -> None:
        #: The sum of all counts.
        self.total = float(sum(counts.values()))
        self._pieces = pieces
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self._live = set(range(len(pieces)))
        self._prepare(_split(counts, pieces))

    def _prepare(self, counts: Mapping[str, float]) -> None:
        """Take words, or parts of them."""
        #: The number of characters.
        self._size = sum(map(len, counts))
        #: True if it may be worth while to split anew when pieces are dropped.
        self._is_long = sum(len(word) for word in counts if len(word) > _LONG) * 4 > self._size
        short = sorted(word for word in counts if len(word) <= _TOO_LONG)
        self._counts = array("d", map(counts.__getitem__, short))
        self._long = {word: counts[word] for word in sorted(counts) if len(word) > _TOO_LONG}
        live = map(self._pieces.__getitem__, sorted(self._live))
        self._lattice = SharedLattice(short, {piece: self._ids[piece] for piece in live})

    def keep(self, live: Iterable[int]) -> None:
        """Drop all pieces but those of the given ids; all characters must be among them."""
        left = set(live)
        if len(left) == len(self._live):
            return
        self._live = left
        if self._is_long:
            parts = _split(dict(self._all()), map(self._pieces.__getitem__, self._live))
            if sum(map(len, parts)) < self._size * _WORTH:
                self._prepare(parts)
                return
        self._lattice.keep([number in self._live for number in range(len(self._pieces))])

    def expect(
        self, scores: Sequence[float], limit: float, unknown: float | None = None
    ) -> tuple[list[float], float]:
        """Return the expected number of each piece, by id, and the words' log probability.

        Args:
            scores: the logarithms of the pieces' probabilities, by id.
            limit: numbers near to it are computed again, with the reference's operations.
            unknown: the score that marks unknown characters.
        """
        expected = [0.0] * len(scores)
        totals, left_out = self._lattice.expect(self._counts, list(map(exp, scores)), expected)
        rest = [(self._lattice.words[index], self._counts[index]) for index in left_out]
        for index in left_out:
            totals[index] = 1.0
        objective = 0.0
        for total, count in zip(totals, self._counts):
            objective += log(total) * count
        rest += self._long.items()
        if rest:
            model = PlainModel(self._ids, scores, unknown)
            for word, count in rest:
                objective += count * model.expect(word, count, expected)
        near = [piece for piece in self._live if abs(expected[piece] - limit) < _NEAR]
        if near:
            again = self._expect_again(near, PlainModel(self._ids, scores, unknown))
            for piece in near:
                expected[piece] = again[piece]
        return expected, objective

    def _expect_again(self, pieces: Sequence[int], model: PlainModel) -> list[float]:
        """Return the expected numbers of some pieces, with the reference's operations."""
        expected = [0.0] * len(self._pieces)
        texts = [self._pieces[piece] for piece in pieces]
        for word, count in self._all():
            if any(text in word for text in texts):
                model.expect(word, count, expected)
        return expected

    def best_counts(self, scores: Sequence[float]) -> list[float]:
        """Return the number of each piece, by id, if each word is written in its best way."""
        numbers = self._lattice.best_counts(self._counts, scores)
        if self._long:
            model = PlainModel(self._ids, scores)
            for word, count in self._long.items():
                for piece in model.best(word):
                    numbers[piece] += count
        return numbers

    def _all(self) -> Iterator[tuple[str, float]]:
        yield from zip(self._lattice.words, self._counts)
        yield from self._long.items()


def _split(counts: Mapping[str, float], pieces: Iterable[str]) -> dict[str, float]:
    """Return words, long ones as their parts between joints."""
    parts = {word: count for word, count in counts.items() if len(word) <= _LONG}
    if len(parts) == len(counts):
        return parts
    pairs: set[str] = set()
    for piece in pieces:
        pairs.update(map(add, piece, piece[1:]))
    for word, count in counts.items():
        if len(word) <= _LONG:
            continue
        start = 0
        for end, pair in enumerate(map(add, word, word[1:]), 1):
            if pair not in pairs:
                part = word[start:end]
                parts[part] = parts.get(part, 0) + count
                start = end
        part = word[start:]
        parts[part] = parts.get(part, 0) + count
    return parts
