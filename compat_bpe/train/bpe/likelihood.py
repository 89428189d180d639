"""Learning of merges by likelihood: the textbook's rule for WordPiece.

The score of a pair is its frequency, divided by the product of the frequencies of its two tokens.
The pair of the highest score is joined, in all words at once; of several, the one of the lowest
ids. Joining it raises the likelihood of the corpus most, if tokens are taken to be independent.
With the words ``hug`` (10 times), ``pug`` (5), ``pun`` (12), ``bun`` (4) and ``hugs`` (5),
``##g ##s`` has the highest score: 5 / (20 · 5).

A score is computed as a float: the quotient of two integers, correctly rounded. So equal scores
are equal floats.

Unlike a frequency, a score rises when one of its tokens becomes rarer. So after each merge all
pairs that have a token in common with the merged pair are put on the heap anew. An entry whose
score is not the pair's present one is out of date and is passed over; the present one is there too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from operator import add

from .learner import Merge, append
from .merges_of_characters import joined


class LikelihoodLearner:
    """Learns merges by the score of pairs.

    Args:
        words, tokens, prefix, max_token_length: as in ``CharacterLearner``.
        min_frequency: the lowest frequency of a pair that is joined.

    >>> from compat_bpe.train.bpe.merges_of_characters import Marks, alphabet_of
    >>> from compat_bpe.train.bpe.merges_of_characters import first_tokens, spelled
    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> marks = Marks("##")
    >>> tokens = first_tokens(words, [], alphabet_of(words), marks)
    >>> learner = LikelihoodLearner(spelled(words, tokens, marks), tokens, "##")
    >>> learner.best(), learner.step().frequency, learner.tokens[-1]
    (('##g', '##s', 0.05), 5, '##gs')
    """

    def __init__(
        self,
        words: Mapping[str, int],
        tokens: Sequence[str],
        prefix: str = "",
        *,
        min_frequency: int = 1,
        max_token_length: int | None = None,
    ) -> None:
        #: The tokens of all ids, those that were learned included.
        self.tokens = list(tokens)
        self._prefix = prefix
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._lengths = [1] * len(tokens)
        self._least = max(min_frequency, 1)
        self._longest = max_token_length
        self._words = list(words)
        self._counts_of_words = list(words.values())
        self._frequencies: defaultdict[str, int] = defaultdict(int)
        self._counts: defaultdict[str, int] = defaultdict(int)
        #: The words that a pair is in, or was in; and the pairs that a token is in, or was in.
        self._places: defaultdict[str, set[int]] = defaultdict(set)
        self._pairs: defaultdict[str, set[str]] = defaultdict(set)
        for number, (word, count) in enumerate(words.items()):
            for one in word:
                self._frequencies[one] += count
            for pair in map(add, word, word[1:]):
                self._counts[pair] += count
                self._places[pair].add(number)
        for pair in self._counts:
            self._pairs[pair[0]].add(pair)
            self._pairs[pair[1]].add(pair)
        self._heap = [(-self._score(pair), pair) for pair in self._counts if self._is_fit(pair)]
        heapify(self._heap)

    @property
    def size(self) -> int:
        """The number of tokens of all words, each weighted by its frequency."""
        return sum(self._frequencies.values())

    def best(self) -> tuple[str, str, float] | None:
        """Return the pair that is joined next, and its score; None if there is none."""
        heap = self._heap
        while heap:
            score, pair = heap[0]
            if self._is_fit(pair) and -score == self._score(pair):
                return self.tokens[ord(pair[0])], self.tokens[ord(pair[1])], -score
            heappop(heap)
        return None

    def step(self) -> Merge | None:
        """Find the next merge, carry it out and return it; None if there is none.

        Raises:
            ValueError: there are as many tokens as code points.
        """
        if self.best() is None:
            return None
        _, pair = heappop(self._heap)
        left, right = map(ord, pair)
        token = joined(self.tokens[left], self.tokens[right], self._prefix)
        number = self._ids.get(token)
        if number is None:
            number = self._ids[token] = append(self.tokens, token)
            self._lengths.append(self._lengths[left] + self._lengths[right])
        merge = Merge(left, right, self._counts[pair], number)
        self._join(pair, chr(number))
        return merge

    def _score(self, pair: str) -> float:
        frequencies = self._frequencies
        return self._counts[pair] / (frequencies[pair[0]] * frequencies[pair[1]])

    def _is_fit(self, pair: str) -> bool:
        """Return True if two tokens may be joined, whatever their score."""
        lengths = self._lengths
        is_short = self._longest is None or sum(lengths[ord(x)] for x in pair) <= self._longest
        return is_short and self._counts.get(pair, 0) >= self._least

    def _join(self, pair: str, made: str) -> None:
        """Join a pair in all words, and update the scores of the pairs beside it."""
        words, counts, frequencies = self._words, self._counts, self._frequencies
        changes: Counter[str] = Counter()
        for number in self._places.pop(pair):
            word = words[number]
            parts = word.split(pair)
            if len(parts) == 1:
                continue  # Other merges have used the pair's tokens.
            words[number] = now = made.join(parts)
            count = self._counts_of_words[number]
            for one in pair:
                frequencies[one] -= count * (len(parts) - 1)
            frequencies[made] += count * (len(parts) - 1)
            for old in map(add, word, word[1:]):
                changes[old] -= count
            for new in map(add, now, now[1:]):
                changes[new] += count
                self._places[new].add(number)
        for one, change in changes.items():
            counts[one] += change
            if counts[one]:
                self._pairs[one[0]].add(one)
                self._pairs[one[1]].add(one)
            else:
                del counts[one]
        touched = {one for one in changes if one in counts}
        for token in (*pair, made):
            pairs = self._pairs[token] = {one for one in self._pairs[token] if one in counts}
            touched |= pairs
        for one in touched:
            if self._is_fit(one):
                heappush(self._heap, (-self._score(one), one))
