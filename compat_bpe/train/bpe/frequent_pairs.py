"""The pairs of neighbours in words, counted while one after another is joined.

A *word* is text in which each character stands for a token. So a merge is ``str.split`` and
``str.join``, which find pairs from left to right, as the rule demands. A pair is a text of two
characters.

Two properties make it fast:

- *The frequency of a pair only falls* after the merge that formed the pair. New occurrences of a
  pair arise only where one of its two tokens is made, and a token is made by one merge, in all
  words at once. So the frequency of a pair in the heap is never too low. The pair on top of the
  heap is looked up; if its frequency has fallen, it is put back with the new one.
- *So rare pairs need not be followed.* Pairs less frequent than a *floor* are dropped. When the
  others are used up, the pairs of all words are counted again, and the floor is lowered to an
  eighth of the highest frequency. That happens a few times in all, while most pairs occur only
  once or twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import add
from typing import Any

from .pairs import join_pair

#: The divisor of the highest frequency that gives the floor.
_STEP = 8


class FrequentPairs:
    """The words in their present state, and the frequent pairs in them.

    A subclass says which pairs may be joined, and which of equally frequent ones comes first.

    Args:
        words: the words; a word of one token has no pair.
        frequencies: the frequency of each word.
        least: the lowest frequency of a pair that is joined; 1 or more.
    """

    def __init__(self, words: Iterable[str], frequencies: Iterable[int], least: int = 1) -> None:
        self._words = [*words]
        self._frequencies = [*frequencies]
        self._least = least
        #: The pairs that occur at least ``_floor`` times: their frequencies, and the indices of the
        #: words that they may be in. The first item of such a list is not a word.
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[int]] = {}
        #: The entries of pairs, with their present or earlier frequencies.
        self._heap: list[Any] = []
        self._floor = 0

    def _is_fit(self, pair: str) -> bool:
        """Return True if two tokens may be joined, whatever their frequency."""
        raise NotImplementedError

    def _entry(self, pair: str, count: int) -> tuple[Any, ...]:
        """Return the entry of a pair in the heap, which has the lowest one on top.

        It begins with the frequency, negated, and ends with the pair.
        """
        return -count, pair

    def _next_pair(self) -> str | None:
        """Take the most frequent pair off the heap and return it; None if there is none."""
        while True:
            heap, counts = self._heap, self._counts
            while heap:
                entry = heappop(heap)
                pair: str = entry[-1]
                now = counts[pair]
                if -entry[0] == now:
                    return pair
                if now >= self._floor:
                    heappush(heap, (-now, *entry[1:]))
                else:
                    del counts[pair], self._places[pair]
            if self._floor == self._least or not self._count_pairs():
                return None

    def _count_pairs(self) -> bool:
        """Count all pairs again and keep the frequent ones; return True if there are any."""
        every: defaultdict[str, int] = defaultdict(int)
        for word, frequency in zip(self._words, self._frequencies):
            for pair in map(add, word, word[1:]):
                every[pair] += frequency
        floor = max(every.values(), default=0) // _STEP
        while True:
            # If no frequent pair may be joined, lower the floor and look at more pairs.
            self._floor = max(self._least, floor)
            counts = {
                pair: count
                for pair, count in every.items()
                if count >= self._floor and self._is_fit(pair)
            }
            if counts or self._floor == self._least:
                break
            floor //= _STEP
        del every
        places: dict[str, list[int]] = {pair: [0] for pair in counts}
        for index, word in enumerate(self._words):
            for pair in counts.keys() & map(add, word, word[1:]):
                places[pair].append(index)
        self._counts, self._places = counts, places
        self._heap = [self._entry(pair, count) for pair, count in counts.items()]
        heapify(self._heap)
        return bool(counts)

    def _join(self, pair: str, made: str) -> int:
        """Join a pair in all words, and update the pairs beside it.

        Returns:
            The number of pairs that were joined, each with the frequency of its word.
        """
        indices = islice(self._places.pop(pair), 1, None)
        counts = self._counts
        formed, joined = join_pair(pair, made, self._words, self._frequencies, counts, indices)
        for one, known in formed.items():
            if known[0] >= self._floor and self._is_fit(one):
                counts[one] = known[0]
                self._places[one] = known
                heappush(self._heap, self._entry(one, known[0]))
        return joined
