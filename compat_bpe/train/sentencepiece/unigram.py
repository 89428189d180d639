"""SentencePiece's Unigram: learning pieces and their scores from the seeds.

**Learning** is EM. Each *expectation* step splits all words in all ways, weighted by the
probabilities of their pieces, and counts how often each piece is used on average. Each
*maximization* step makes these numbers scores. After a few of both, the pieces whose loss would
cost least are dropped, until 1.1 times the vocabulary is left. Then the best of these are chosen.

The numbers are those of the reference, bit by bit: with one thread, it sums in 32 bits and takes
logarithms in 64. A number is rounded to 32 bits where it is put into an ``array("f")``. With more
threads, the reference sums in another order, and some pieces of its vocabulary are different.

- In one word, all ways to a place are summed in the order of the starts of their last pieces; all
  ways from a place in the order of lengths.
- A character that is not a piece counts as the first of all pieces, with the lowest score less 10.
- The score of a piece is digamma(count) - digamma(sum), which is lower than the logarithm for rare
  pieces. Pieces of a count below 0.5 are dropped.
- A dropped piece is replaced by its second best way. The loss is estimated from the numbers of the
  best ways only.

**The edges** of a place in a word are the pieces that begin there, by their length. All edges of
all words are in two arrays, one after the other, and a third array has their number at each place.
That takes a tenth of the memory of lists.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, compress, islice
from math import exp, inf, log, log1p
from operator import add, sub
from typing import NamedTuple

from ..unigram import digamma
from .corpus import single


class WordEdges(NamedTuple):
    """The edges of a word.

    Args:
        degrees: the number of edges at each place.
        ends: the place where each edge ends.
        numbers: the number of each edge's piece.
    """

    degrees: Sequence[int]
    ends: Sequence[int]
    numbers: Sequence[int]


class PieceMatcher:
    """Finds the pieces at each place of a word.

    Args:
        numbers: each piece and its number.
        unknown: the number of a character that is not a piece.

    >>> PieceMatcher({"a": 0, "ab": 1}, 9).edges("ab")
    WordEdges(degrees=[2, 1], ends=[1, 2, 2], numbers=[0, 1, 9])
    """

    def __init__(self, numbers: Mapping[str, int], unknown: int) -> None:
        self.numbers = numbers
        self.unknown = unknown
        #: The length of the longest piece, by its first two characters.
        self._longest: dict[str, int] = {}
        for piece in numbers:
            if self._longest.get(piece[:2], 1) < len(piece):
                self._longest[piece[:2]] = len(piece)

    def edges(self, word: str) -> WordEdges:
        """Return the edges of a word; that of an unknown character is the last of its place."""
        find, longest, size = self.numbers.get, self._longest.get, len(word)
        degrees: list[int] = []
        ends: list[int] = []
        numbers: list[int] = []
        add_end, add_number = ends.append, numbers.append
        for start in range(size):
            before = len(ends)
            number = find(word[start])
            if number is not None:
                add_end(start + 1)
                add_number(number)
            last = min(start + longest(word[start : start + 2], 1), size)
            for end in range(start + 2, last + 1):
                longer = find(word[start:end])
                if longer is not None:
                    add_end(end)
                    add_number(longer)
            if number is None:
                add_end(start + 1)
                add_number(self.unknown)
            degrees.append(len(ends) - before)
        return WordEdges(degrees, ends, numbers)


class PackedEdges:
    """The edges of many words, in arrays.

    Args:
        words: the words.
        pieces: the pieces.

    >>> words = PackedEdges(["ab", "b"], PieceMatcher({"a": 0, "ab": 1, "b": 2}, 3))
    >>> words.keep([True, True, False, True], {"b": 2})
    >>> [word.numbers.tolist() for word in words]
    [[0, 1, 3], [3]]
    """

    def __init__(self, words: Sequence[str], pieces: PieceMatcher) -> None:
        self._words = words
        self._unknown = pieces.unknown
        # A line may be long.
        place = "H" if max(map(len, words), default=0) < 1 << 16 else "i"
        self._degrees, self._ends = array(place), array(place)
        self._numbers = array("i")
        for word in words:
            edges = pieces.edges(word)
            self._degrees.extend(edges.degrees)
            self._ends.extend(edges.ends)
            self._numbers.extend(edges.numbers)

    def __iter__(self) -> Iterator[WordEdges]:
        """Yield the edges of each word."""
        degrees, ends, numbers = self._degrees, self._ends, self._numbers
        place = edge = 0
        for word in self._words:
            of_word = degrees[place : place + len(word)]
            stop = edge + sum(of_word)
            yield WordEdges(of_word, ends[edge:stop], numbers[edge:stop])
            place += len(word)
            edge = stop

    def keep(self, is_kept: Sequence[bool], characters: Mapping[str, int]) -> None:
        """Drop the edges of dropped pieces.

        Args:
            is_kept: True at the numbers of the pieces that are left, and of the unknown one.
            characters: the characters that are no longer pieces, and their numbers.
        """
        stays = bytearray(is_kept)
        if characters:
            becomes = array("i", range(len(is_kept)))
            for number in characters.values():
                stays[number] = True
                becomes[number] = self._unknown
            flags = bytes(map(stays.__getitem__, self._numbers))
            self._numbers = array("i", map(becomes.__getitem__, self._numbers))
        else:
            flags = bytes(map(stays.__getitem__, self._numbers))
        # The number of edges that stay before each edge, of which the degrees are differences.
        before = array("q", accumulate(flags, initial=0))
        firsts = array("q", map(before.__getitem__, accumulate(self._degrees, initial=0)))
        self._degrees = array(self._degrees.typecode, map(sub, firsts[1:], firsts))
        self._ends = array(self._ends.typecode, compress(self._ends, flags))
        self._numbers = array("i", compress(self._numbers, flags))
        if characters:
            self._move_unknown(set(characters), firsts)

    def _move_unknown(self, characters: set[str], firsts: Sequence[int]) -> None:
        """Make the edges of some characters the last of their places."""
        ends, numbers, unknown = self._ends, self._numbers, self._unknown
        place = 0
        for word in self._words:
            if not characters.isdisjoint(word):
                for start in range(place, place + len(word)):
                    first, stop = firsts[start], firsts[start + 1]
                    if stop > first + 1 and numbers[first] == unknown:
                        numbers[first:stop] = numbers[first + 1 : stop] + numbers[first : first + 1]
                        ends[first:stop] = ends[first + 1 : stop] + ends[first : first + 1]
            place += len(word)


#: The distance of an unknown character's score from the lowest score.
_UNKNOWN_PENALTY = 10.0
#: Pieces of a lower count are dropped.
_LEAST_COUNT = 0.5
_TOO_LITTLE = "there is too little text to learn from"
#: The difference in score of two missing characters.
_STEP = single(0.0001)


def learn_unigram(
    words: Sequence[tuple[str, int]],
    seeds: Sequence[tuple[str, float]],
    alphabet: Mapping[str, int],
    most: int,
    goal: int,
    *,
    shrinking_factor: float = 0.75,
    steps: int = 2,
    reserved: int = 0,
    has_converged: Callable[[list[tuple[str, float]]], bool] | None = None,
) -> list[tuple[str, float]]:
    """Return the pieces and their scores, the best first.

    Args:
        words: the words and their frequencies, in order.
        seeds: the pieces to begin with, and their weights.
        alphabet: the characters that must be pieces, in order.
        most: the number of pieces.
        goal: the number of pieces at which no more are taken out.
        shrinking_factor: the part of the pieces that is kept each time.
        steps: the steps of expectation and maximization each time.
        reserved: the number of other pieces that the vocabulary has.
        has_converged: called after each round of pruning with what learning would end with here,
            for the least vocabulary for which it does, and in the end with the result. Learning
            ends if it returns True.

    Raises:
        ValueError: the texts are too short to learn from.
    """
    trainer = UnigramTrainer(words, seeds)
    while True:
        for _ in range(steps):
            trainer.maximize(trainer.expect())
        trainer.prune(max(goal, int(single(single(shrinking_factor) * len(trainer.order)))))
        if len(trainer.order) <= goal:
            break
        if has_converged is not None:
            size = least_size(len(trainer.order)) - reserved
            found = trainer.best(alphabet, max(most, size), trainer.reachable())
            if has_converged(found):
                return found
    trainer.drop_unreachable()
    found = trainer.best(alphabet, most)
    if has_converged is not None:
        has_converged(found)
    return found


def goal_of(vocab_size: int) -> int:
    """Return the number of pieces at which no more are taken out."""
    return int(vocab_size * 1.1)


def least_size(pieces: int) -> int:
    """Return the least size of a vocabulary whose goal is reached with some pieces.

    >>> [(size, goal_of(size)) for size in map(least_size, (10, 11, 12))]
    [(10, 11), (10, 11), (11, 12)]
    """
    size = 10 * pieces // 11
    while goal_of(size) < pieces:
        size += 1
    return size


class UnigramTrainer:
    """The pieces while they are learned, and the words as lattices of them.

    Args:
        words, seeds: as in ``learn_unigram``.

    Raises:
        ValueError: no piece is left. So do ``maximize`` and ``prune``.
    """

    def __init__(
        self, words: Sequence[tuple[str, int]], seeds: Sequence[tuple[str, float]]
    ) -> None:
        if not seeds:
            raise ValueError(_TOO_LITTLE)
        self.pieces = [piece for piece, _ in seeds]
        total = log(sum(weight for _, weight in seeds))
        #: The score of each piece by its number; the last is that of an unknown character.
        self.scores = array("f", [log(weight) - total for _, weight in seeds])
        self.scores.append(0.0)
        #: The numbers of the pieces that are left, in the reference's order.
        self.order = list(range(len(seeds)))
        self._frequencies = array("q", [count for _, count in words])
        self._set_pieces(self.order)
        self._words = PackedEdges([word for word, _ in words], self._left)

    def _set_pieces(self, order: list[int]) -> None:
        """Keep some pieces, in their new order; their scores have been set."""
        if not order:
            raise ValueError(_TOO_LITTLE)
        before, self.order = self.order, order
        self.lowest = min(map(self.scores.__getitem__, order))
        self.scores[-1] = self.lowest - _UNKNOWN_PENALTY
        pieces = self.pieces
        self._left = PieceMatcher({pieces[number]: number for number in order}, len(pieces))
        if len(order) < len(before):
            is_kept = [False] * len(pieces) + [True]
            for number in order:
                is_kept[number] = True
            characters = {
                pieces[number]: number
                for number in before
                if not is_kept[number] and len(pieces[number]) == 1
            }
            self._words.keep(is_kept, characters)

    def expect(self) -> array[float]:
        """Return the expected count of each piece, by its number."""
        score_of = self.scores.tolist().__getitem__
        # An unknown character is counted as the first piece.
        counted = [*range(len(self.pieces)), self.order[0]]
        expected = array("f", bytes(4 * len(self.pieces)))
        rounded = array("f", [0.0])
        for (degrees, ends, numbers), count in zip(self._words, self._frequencies):
            weight = single(count)
            if len(numbers) == 1:
                expected[counted[numbers[0]]] += weight
                continue
            size = len(degrees)
            scores = list(map(score_of, numbers))
            edges = zip(ends, scores)
            before: list[float] = [inf] * (size + 1)
            before[0] = 0.0
            sums = []
            for start, degree in enumerate(degrees):
                here = before[start]
                for end, score in islice(edges, degree):
                    rounded[0] = score + here
                    score = rounded[0]
                    sums.append(score)
                    other = before[end]
                    if other == inf:
                        before[end] = score
                    elif score > other:
                        rounded[0] = other - score
                        rounded[0] = score + log1p(exp(rounded[0]))
                        before[end] = rounded[0]
                    else:
                        rounded[0] = score - other
                        rounded[0] = other + log1p(exp(rounded[0]))
                        before[end] = rounded[0]
            after = [0.0] * (size + 1)
            stop = len(scores)
            for start in range(size - 1, -1, -1):
                first = stop - degrees[start]
                rounded[0] = scores[first] + after[ends[first]]
                total = rounded[0]
                for edge in range(first + 1, stop):
                    rounded[0] = scores[edge] + after[ends[edge]]
                    score = rounded[0]
                    if score > total:
                        rounded[0] = total - score
                        rounded[0] = score + log1p(exp(rounded[0]))
                    else:
                        rounded[0] = score - total
                        rounded[0] = total + log1p(exp(rounded[0]))
                    total = rounded[0]
                after[start] = total
                stop = first
            whole = before[size]
            ways = array("f", map(add, sums, map(after.__getitem__, ends)))
            parts = array("f", [way - whole for way in ways])
            for number, part in zip(numbers, map(exp, parts)):
                expected[counted[number]] += weight * part
        return expected

    def maximize(self, expected: Sequence[float]) -> None:
        """Make expected counts scores, and drop the rarest pieces."""
        kept = [number for number in self.order if expected[number] >= _LEAST_COUNT]
        total = array("f", [0.0])
        for number in kept:
            total[0] += expected[number]
        whole = single(digamma(total[0])) if kept else 0.0
        for number in kept:
            self.scores[number] = digamma(expected[number]) - whole
        self._set_pieces(kept)

    def _best_way(self, word: WordEdges, avoided: int = -1) -> tuple[float, Sequence[int]]:
        """Return the best way through a word without one piece: its score and its pieces."""
        degrees, ends, numbers = word
        scores = self.scores
        if len(numbers) == 1 and numbers[0] != avoided:
            return scores[numbers[0]], numbers
        size = len(degrees)
        best = [-inf] * (size + 1)
        best[0] = 0.0
        back: list[tuple[int, int]] = [(0, -1)] * (size + 1)
        rounded = array("f", [0.0])
        edges = zip(ends, numbers, map(scores.__getitem__, numbers))
        for start, degree in enumerate(degrees):
            here = best[start]
            for end, number, score in islice(edges, degree):
                if number != avoided:
                    rounded[0] = here + score
                    if rounded[0] > best[end]:
                        best[end] = rounded[0]
                        back[end] = (start, number)
        way = []
        at = size
        while at and back[at][1] >= 0:
            at, last = back[at]
            way.append(last)
        return best[size], way[::-1]

    def prune(self, size: int) -> None:
        """Keep the pieces whose loss would cost most.

        Args:
            size: the number of pieces that are kept.
        """
        counts = array("f", bytes(4 * len(self.pieces)))
        counted = [*range(len(self.pieces)), self.order[0]]
        for word, frequency in zip(self._words, self._frequencies):
            for number in self._best_way(word)[1]:
                counts[counted[number]] += frequency
        total = single(sum(counts))
        log_total = single(log(total))
        kept: list[int] = []
        losses: list[tuple[float, int, int]] = []
        for place, number in enumerate(self.order):
            count = counts[number]
            if not count:
                continue
            piece = self.pieces[number]
            if len(piece) == 1:
                kept.append(number)
                continue
            score, way = self._best_way(self._left.edges(piece), number)
            if score > self.scores[number]:
                continue
            log_other = single(log(single(total + single(count * (len(way) - 1)))))
            other = 0.0
            for one in way:
                other = single(other + (log(single(counts[counted[one]] + count)) - log_other))
            present = single(log(count) - log_total)
            loss = single(single(count / total) * single(present - other))
            losses.append((-loss, place, number))
        losses.sort()
        kept += [number for _, _, number in losses[: max(0, size - len(kept))]]
        self._set_pieces(kept)

    def reachable(self) -> list[int]:
        """Return the numbers of the pieces that are better than another way to write them."""
        return [
            number
            for number in self.order
            if len(self.pieces[number]) == 1
            or self._best_way(self._left.edges(self.pieces[number]), number)[0]
            <= self.scores[number]
        ]

    def drop_unreachable(self) -> None:
        """Drop the pieces that are no better than another way to write them."""
        self._set_pieces(self.reachable())

    def best(
        self, alphabet: Mapping[str, int], most: int, order: Sequence[int] | None = None
    ) -> list[tuple[str, float]]:
        """Return the pieces and their scores, the best first.

        Args:
            alphabet: the characters that must be pieces, in order.
            most: the number of pieces.
            order: the numbers of the pieces that are left; by default all.
        """
        order = self.order if order is None else order
        if not order:
            raise ValueError(_TOO_LITTLE)
        scores = {self.pieces[number]: self.scores[number] for number in order}
        lowest = min(scores.values())
        kept: dict[str, float] = {}
        penalty = 0.0
        for char in alphabet:
            score = scores.get(char)
            if score is not None:
                kept[char] = score
            else:
                kept[char] = single(lowest + penalty)
                # So that no two have the same score.
                penalty = single(penalty + _STEP)
        for negated, piece in sorted((-score, piece) for piece, score in scores.items()):
            if len(kept) >= most:
                break
            kept.setdefault(piece, -negated)
        return sorted(kept.items(), key=lambda one: (-one[1], one[0]))
