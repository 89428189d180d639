"""Learning of merges from the frequencies of neighbouring tokens.

A *word* is a chunk of the corpus as a sequence of tokens, at first its single bytes. Each step of
training finds the most frequent pair of neighbours, with each word weighted by its frequency, and
joins the pair to a new token in all words. With the words ``hug`` (10 times), ``pug`` (5), ``pun``
(12), ``bun`` (4) and ``hugs`` (5), ``u g`` occurs 20 times and is joined first, then ``u n`` (16),
then ``h ug`` (15).

Of equally frequent pairs, the one of the lower ids is joined. The ids of single bytes are in
GPT-2's order (see ``byte_level``), and new tokens are numbered on. So the merges are those of
``BpeTrainer`` in Hugging Face tokenizers with its byte-level alphabet.

Three properties make it fast:

- *A word is a string*, with one character for each token; its code point is the token's id. So a
  merge is ``str.split`` and ``str.join``, which find pairs from left to right, as the rule demands.
  A pair is a string of two characters, and pairs sort as strings in the order of their ids.
- *The frequency of a pair only falls* after the merge that formed the pair. New occurrences of a
  pair arise only where one of its two tokens is made, and a token is made by one merge, in all
  words at once. So the frequency of a pair in the heap is never too low. The pair on top of the
  heap is looked up; if its frequency has fallen, it is put back with the new one.
- *So rare pairs need not be followed.*  Pairs less frequent than a *floor* are dropped. When the
  others are used up, the pairs of all words are counted again, and the floor is lowered to an
  eighth of the highest frequency. That happens a few times in all, while most pairs occur only
  once or twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import add
from typing import AnyStr, Generic, NamedTuple

from .pairs import join_pair

#: The number of code points, and so the largest number of ids.
MOST_TOKENS = 0x110000

#: The divisor of the highest frequency that gives the floor.
_STEP = 8


class Merge(NamedTuple):
    """Two joined tokens, the frequency of the pair when it was joined, and the token it makes.

    Tokens are given by their ids.
    """

    left: int
    right: int
    frequency: int
    made: int


def learn_merges(
    words: Mapping[str, int],
    tokens: Sequence[bytes],
    *,
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> Iterator[Merge]:
    r"""Yield the merges learned from words, in their order, until there is nothing more to merge.

    Each merge makes a token with the next free id.

    Args:
        words: the words and their frequencies, which may be weighted. A word has one character
            for each token; its code point is the token's id.
        tokens: the bytes of each id. A merge that would make one of these tokens is not learned.
        min_frequency: the lowest frequency of a pair that is joined.
        max_token_length: the length in bytes of the longest token that is made.

    Raises:
        ValueError: there are more tokens than there are code points.

    >>> tokens = [bytes([byte]) for byte in range(256)]
    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> for left, right, frequency, _ in islice(learn_merges(words, tokens), 3):
    ...     tokens.append(tokens[left] + tokens[right])
    ...     print(tokens[-1], frequency)
    b'ug' 20
    b'un' 16
    b'hug' 15
    """
    learner = Learner(words, tokens, min_frequency=min_frequency, max_token_length=max_token_length)
    return iter(learner.step, None)


def too_many_tokens() -> ValueError:
    """Return the error where there would be more tokens than code points."""
    return ValueError(f"there can be no more than {MOST_TOKENS:,} tokens")


def append(tokens: list[AnyStr], token: AnyStr) -> int:
    """Add a token to those of all ids, and return its id.

    Raises:
        ValueError: there are as many tokens as code points.
    """
    number = len(tokens)
    if number >= MOST_TOKENS:
        raise too_many_tokens()
    tokens.append(token)
    return number


class Learner(Generic[AnyStr]):
    """The words in their present state, and the frequent pairs in them.

    Args:
        words, tokens, min_frequency, max_token_length: as in ``learn_merges``.

    >>> learner = Learner({"hug": 10, "pug": 5}, [bytes([byte]) for byte in range(256)])
    >>> learner.size, learner.step(), learner.size
    (45, Merge(left=117, right=103, frequency=15, made=256), 30)
    """

    def __init__(
        self,
        words: Mapping[str, int],
        tokens: Sequence[AnyStr],
        *,
        min_frequency: int = 1,
        max_token_length: int | None = None,
    ) -> None:
        # A word of one token has no pair.
        kept = [word for word in words if len(word) > 1]
        #: The number of tokens of all words, each weighted by its frequency.
        self.size = sum(len(word) * frequency for word, frequency in words.items())
        self._words = kept
        self._frequencies = [words[word] for word in kept]
        self._tokens: list[AnyStr] = list(tokens)
        self._known: set[AnyStr] = set(tokens)
        self._min_frequency = max(min_frequency, 1)
        self._longest = max_token_length
        #: The pairs that occur at least ``_floor`` times: their frequencies, and the numbers of the
        #: words that they may be in. The first item of such a list is not a word.
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[int]] = {}
        #: Their present or earlier frequencies, negated, since the heap has the lowest on top.
        self._heap: list[tuple[int, str]] = []
        self._floor = 0

    def step(self) -> Merge | None:
        """Find the next merge, carry it out and return it; None if there is none.

        Raises:
            ValueError: as ``learn_merges``.
        """
        pair = self._next_pair()
        if pair is None:
            return None
        left, right = map(ord, pair)
        number = self._number(left, right)
        count = self._counts[pair]
        self._join(pair, chr(number))
        return Merge(left, right, count, number)

    def _number(self, left: int, right: int) -> int:
        """Return the id of the new token that two tokens make."""
        token = self._tokens[left] + self._tokens[right]
        number = append(self._tokens, token)
        self._known.add(token)
        return number

    def _next_pair(self) -> str | None:
        """Return the most frequent pair; of several, the one of the lowest ids."""
        heap, counts = self._heap, self._counts
        while True:
            while heap:
                count, pair = heap[0]
                now = counts[pair]
                if -count == now:
                    heappop(heap)
                    return pair
                heappop(heap)
                if now >= self._floor:
                    heappush(heap, (-now, pair))
                else:
                    del counts[pair], self._places[pair]
            if self._floor == self._min_frequency or not self._count_pairs():
                return None
            heap, counts = self._heap, self._counts

    def _count_pairs(self) -> bool:
        """Count all pairs again and keep the frequent ones; return True if there are any."""
        every: defaultdict[str, int] = defaultdict(int)
        for word, frequency in zip(self._words, self._frequencies):
            for pair in map(add, word, word[1:]):
                every[pair] += frequency
        floor = max(every.values(), default=0) // _STEP
        while True:
            # If no frequent pair may be joined, lower the floor and look at more pairs.
            self._floor = max(self._min_frequency, floor)
            counts = {
                pair: count
                for pair, count in every.items()
                if count >= self._floor and self._is_fit(pair)
            }
            if counts or self._floor == self._min_frequency:
                break
            floor //= _STEP
        del every
        places: dict[str, list[int]] = {pair: [0] for pair in counts}
        for number, word in enumerate(self._words):
            for pair in counts.keys() & map(add, word, word[1:]):
                places[pair].append(number)
        self._counts, self._places = counts, places
        self._heap = [(-count, pair) for pair, count in counts.items()]
        heapify(self._heap)
        return bool(counts)

    def _is_fit(self, pair: str) -> bool:
        """Return True if two tokens may be joined, whatever their frequency."""
        token = self._tokens[ord(pair[0])] + self._tokens[ord(pair[1])]
        return token not in self._known and (self._longest is None or len(token) <= self._longest)

    def _join(self, pair: str, made: str) -> None:
        """Join a pair in all words, and update the pairs beside it."""
        numbers = islice(self._places.pop(pair), 1, None)
        counts = self._counts
        formed, joined = join_pair(pair, made, self._words, self._frequencies, counts, numbers)
        self.size -= joined
        for one, known in formed.items():
            if known[0] >= self._floor and self._is_fit(one):
                counts[one] = known[0]
                self._places[one] = known
                heappush(self._heap, (-known[0], one))
