"""Learning merges: which two neighbouring tokens to join next, from how often they stand together.

A *word* is a chunk of the corpus as a sequence of tokens, at first its single bytes.  Training
joins the pair of neighbours that comes most often, each word weighted by how often it comes, to a
new token wherever it stands, and so on.  With the words ``hug`` (10 times), ``pug`` (5), ``pun``
(12), ``bun`` (4) and ``hugs`` (5), ``u g`` comes 20 times and is joined first, then ``u n`` (16),
then ``h ug`` (15).

Of pairs that come equally often, that of the lower ids is joined.  The ids of single bytes are in
GPT-2's order (see ``byte_alphabet``), and new tokens are numbered on; so the merges are those of
``BpeTrainer`` in Hugging Face tokenizers with its byte-level alphabet.

It is fast by three properties:

- *A word is a string*, of a character for each token, the code point of which is the token's id.
  A merge is then ``str.split`` and ``str.join``, which find pairs from left to right as the rule
  has it; and a pair is a string of two characters, whose order among strings is that of its ids.
- *A pair comes less and less often* once the merge is done that formed it.  New places of a pair
  come about only where one of its two tokens is made, and a token is made by one merge, wherever
  it ever stands.  So what a heap says of a pair is never too low: the top of the heap is looked
  up, and if it has become less, put back.
- *So pairs far down need not be followed.*  Those that come less often than a *floor* are
  forgotten; when the others are used up, the pairs of all words are counted afresh, and the floor
  is lowered.  Each time it is an eighth of the highest count, so that happens a few times in all,
  while most pairs there ever are come but once or twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import add
from typing import NamedTuple

#: There are no more code points, and so no more ids.
MOST_TOKENS = 0x110000

#: The floor is the highest count divided by this.
_STEP = 8


class Merge(NamedTuple):
    """Two tokens that are joined, by their ids, and how often they stood together then."""

    left: int
    right: int
    frequency: int


def learn_merges(
    words: Mapping[str, int],
    tokens: Sequence[bytes],
    *,
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> Iterator[Merge]:
    r"""The merges to be learned from some words, in their order, until nothing is left to merge.

    Each makes a token whose id is the next after those there are.

    Args:
        words: the words, a character for each token, whose code point is the token's id; and how
            often each comes, which may be weighted.
        tokens: the bytes of each id.  What two tokens make is not learned if it is one of these.
        min_frequency: a pair that comes less often is not joined.
        max_token_length: a pair that would make a longer token, in bytes, is not joined.

    Raises:
        ValueError: there are more tokens than there are code points.

    >>> tokens = [bytes([byte]) for byte in range(256)]
    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> for left, right, frequency in islice(learn_merges(words, tokens), 3):
    ...     tokens.append(tokens[left] + tokens[right])
    ...     print(tokens[-1], frequency)
    b'ug' 20
    b'un' 16
    b'hug' 15
    """
    learner = Learner(words, tokens, min_frequency=min_frequency, max_token_length=max_token_length)
    return iter(learner.step, None)


class Learner:
    """The words as they are after some merges, and the pairs that come often in them.

    Args:
        words, tokens, min_frequency, max_token_length: as in ``learn_merges``.

    >>> learner = Learner({"hug": 10, "pug": 5}, [bytes([byte]) for byte in range(256)])
    >>> learner.size, learner.step(), learner.size
    (45, Merge(left=117, right=103, frequency=15), 30)
    """

    def __init__(
        self,
        words: Mapping[str, int],
        tokens: Sequence[bytes],
        *,
        min_frequency: int = 1,
        max_token_length: int | None = None,
    ) -> None:
        # What is one token has no pair.
        kept = [word for word in words if len(word) > 1]
        #: How many tokens all words have, each as often as it comes.
        self.size = sum(len(word) * frequency for word, frequency in words.items())
        self._words = kept
        self._frequencies = [words[word] for word in kept]
        self._tokens = list(tokens)
        self._known = set(tokens)
        self._min_frequency = max(min_frequency, 1)
        self._longest = max_token_length
        #: The pairs that come at least ``_floor`` times: how often, and the numbers of the words
        #: that they may be in.  The first item of a list of words is none.
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[int]] = {}
        #: Their counts, or what these were, negated, since the heap has the least on top.
        self._heap: list[tuple[int, str]] = []
        self._floor = 0

    def step(self) -> Merge | None:
        """Find the next merge and carry it out; None if there is none.

        Raises:
            ValueError: as ``learn_merges``.
        """
        pair = self._next_pair()
        if pair is None:
            return None
        left, right = map(ord, pair)
        number = len(self._tokens)
        if number >= MOST_TOKENS:
            raise ValueError(f"there can be no more than {MOST_TOKENS:,} tokens")
        token = self._tokens[left] + self._tokens[right]
        self._tokens.append(token)
        self._known.add(token)
        count = self._counts[pair]
        self._join(pair, chr(number))
        return Merge(left, right, count)

    def _next_pair(self) -> str | None:
        """The pair that comes most often, of several the one of the lowest ids."""
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
        """Count all pairs afresh, keep those that come often, and say whether there are any."""
        every: defaultdict[str, int] = defaultdict(int)
        for word, frequency in zip(self._words, self._frequencies):
            for pair in map(add, word, word[1:]):
                every[pair] += frequency
        floor = max(every.values(), default=0) // _STEP
        while True:
            # Should no pair of those that come often be fit, the others are looked at.
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
        """Whether two tokens may be joined, however often they come."""
        token = self._tokens[ord(pair[0])] + self._tokens[ord(pair[1])]
        return token not in self._known and (self._longest is None or len(token) <= self._longest)

    def _join(self, pair: str, made: str) -> None:
        """Join a pair wherever it stands, and see to the pairs beside it."""
        words, frequencies, counts = self._words, self._frequencies, self._counts
        del counts[pair]
        #: The pairs that come about: how often, and in which words.
        formed: dict[str, list[int]] = {}
        for number in islice(self._places.pop(pair), 1, None):
            parts = words[number].split(pair)
            if len(parts) == 1:
                continue  # Other merges have taken it.
            words[number] = made.join(parts)
            frequency = frequencies[number]
            self.size -= frequency * (len(parts) - 1)
            first, *others, last = parts
            found = [first[-1] + made] if first else []
            for part in others:
                found += (made + part[0], part[-1] + made) if part else (made + made,)
            if last:
                found.append(made + last[0])
            for one in found:
                known = formed.get(one)
                if known is None:
                    formed[one] = [frequency, number]
                else:
                    known[0] += frequency
                    if known[-1] != number:
                        known.append(number)
        left, right = pair[0], pair[1]
        for one, known in formed.items():
            # For each place of a new pair there is one less of the pair that was there.
            before, after = one[0], one[1]
            lost = right + (left if before == after else after) if before == made else before + left
            if lost in counts:
                counts[lost] -= known[0]
        for one, known in formed.items():
            if known[0] >= self._floor and self._is_fit(one):
                counts[one] = known[0]
                self._places[one] = known
                heappush(self._heap, (-known[0], one))
