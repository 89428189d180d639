"""Learning merges from the frequencies of neighbouring tokens.

The words of byte-level BPE are the chunks of the corpus, at first as single bytes. Each step of
training finds the most frequent pair of neighbours, with each word weighted by its frequency, and
joins the pair to a new token in all words. With the words ``hug`` (10 times), ``pug`` (5), ``pun``
(12), ``bun`` (4) and ``hugs`` (5), ``u g`` occurs 20 times and is joined first, then ``u n`` (16),
then ``h ug`` (15).

Of equally frequent pairs, the one of the lower ids is joined. The ids of single bytes are in
GPT-2's order (``growing.BYTES``), and new tokens are numbered on. So the merges are those of
``BpeTrainer`` in Hugging Face tokenizers with its byte-level alphabet.

A *word* is text in which each character stands for a token. So a merge is ``str.split`` and
``str.join``, which find pairs from left to right, as the rule demands. A pair is a text of two
characters. Two properties make it fast:

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
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import add
from typing import Any, AnyStr, Callable, Generic, NamedTuple


def join_pair(
    pair: str,
    made: str,
    words: list[str],
    frequencies: Sequence[int],
    counts: dict[str, int],
    numbers: Iterable[int],
) -> tuple[dict[str, list[int]], int]:
    """Join a pair in all words, and subtract the pairs that this removes from the counts.

    Args:
        pair: the pair.
        made: the character of the token that it makes.
        words: all words, which are changed.
        frequencies: the frequency of each word.
        counts: the frequency of each pair, which is changed.
        numbers: the numbers of the words that had the pair once.

    Returns:
        The new pairs, each with its frequency and then the numbers of its words; and the number of
        pairs that were joined, with the frequencies of their words.

    >>> words, counts = ["abab"], {"ab": 6, "ba": 3}
    >>> join_pair("ab", "X", words, [3], counts, [0]), words, counts
    (({'XX': [3, 0]}, 6), ['XX'], {'ba': 0})
    """
    del counts[pair]
    formed: dict[str, list[int]] = {}
    joined = 0
    for number in numbers:
        parts = words[number].split(pair)
        if len(parts) == 1:
            continue  # Other merges have used the pair's tokens.
        words[number] = made.join(parts)
        frequency = frequencies[number]
        joined += frequency * (len(parts) - 1)
        first, *others, last = parts
        new_pairs = [first[-1] + made] if first else []
        for part in others:
            new_pairs += (made + part[0], part[-1] + made) if part else (made + made,)
        if last:
            new_pairs.append(made + last[0])
        for one in new_pairs:
            known = formed.get(one)
            if known is None:
                formed[one] = [frequency, number]
            else:
                known[0] += frequency
                if known[-1] != number:
                    known.append(number)
    left, right = pair[0], pair[1]
    for one, known in formed.items():
        # Each occurrence of a new pair replaces one of the pair that was there before.
        before, after = one[0], one[1]
        lost = right + (left if before == after else after) if before == made else before + left
        if lost in counts:
            counts[lost] -= known[0]
    return formed, joined


#: The divisor of the highest frequency that gives the floor.
_STEP = 8

#: The number of code points, and so the largest number of ids.
MOST_TOKENS = 0x110000


class Merge(NamedTuple):
    """Two joined tokens, the frequency of the pair when it was joined, and the token it makes.

    Tokens are given by their ids.
    """

    left: int
    right: int
    frequency: int
    made: int


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
    """Learns merges one after another; each makes a token with the next free id.

    Subclasses decide otherwise which pairs may be joined, and the order of equally frequent ones.

    Args:
        words: the words and their frequencies, which may be weighted. A word has one character
            for each token; its code point is the token's id.
        tokens: the bytes of each id. A merge that would make one of these tokens is not learned.
        min_frequency: the lowest frequency of a pair that is joined.
        max_token_length: the length in bytes of the longest token that is made.
        allow: returns False for a token that must not be made; None if all may.

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
        allow: Callable[[AnyStr], bool] | None = None,
    ) -> None:
        # A word of one token has no pair.
        self._words = [word for word in words if len(word) > 1]
        self._frequencies = [*map(words.__getitem__, self._words)]
        self._least = max(min_frequency, 1)
        #: The pairs that occur at least ``_floor`` times: their frequencies, and the indices of the
        #: words that they may be in. The first item of such a list is not a word.
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[int]] = {}
        #: The entries of pairs, with their present or earlier frequencies.
        self._heap: list[Any] = []
        self._floor = 0
        #: The number of tokens of all words, each weighted by its frequency.
        self.size = sum(len(word) * frequency for word, frequency in words.items())
        self._tokens: list[AnyStr] = list(tokens)
        self._known: set[AnyStr] = set(tokens)
        self._longest = max_token_length
        self._allow: Callable[[AnyStr], bool] | None = allow

    @property
    def tokens(self) -> list[AnyStr]:
        """The tokens of all ids, those that were learned included."""
        return self._tokens

    def step(self) -> Merge | None:
        """Find the next merge, carry it out and return it; None if there is none.

        Raises:
            ValueError: there are as many tokens as code points.
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

    def _is_fit(self, pair: str) -> bool:
        """Return True if two tokens may be joined, at any frequency."""
        token = self._tokens[ord(pair[0])] + self._tokens[ord(pair[1])]
        if token in self._known or (self._longest is not None and len(token) > self._longest):
            return False
        return self._allow is None or self._allow(token)

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
                entry: tuple[Any, ...] = heappop(heap)
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

    def _join(self, pair: str, made: str) -> None:
        """Join a pair in all words, and update the pairs beside it."""
        indices = islice(self._places.pop(pair), 1, None)
        counts = self._counts
        formed, joined = join_pair(pair, made, self._words, self._frequencies, counts, indices)
        for one, known in formed.items():
            if known[0] >= self._floor and self._is_fit(one):
                counts[one] = known[0]
                self._places[one] = known
                heappush(self._heap, self._entry(one, known[0]))
        self.size -= joined
