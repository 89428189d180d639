"""Learning merges of characters, by the frequency or by the likelihood of pairs.

By frequency, the algorithm is that of ``learner``, on tokens with marks for the beginning or the
end of a word. The first tokens, in the order of their ids, are

1. the special tokens;
2. the alphabet: each character by itself, sorted by code point;
3. the *formed* characters: those with the prefix, which do not begin a word, and those with the
   suffix, which end one. ``dog`` is ``d ##o ##g`` with the prefix ``##``, and ``d o g</w>`` with
   the suffix ``</w>``. Those in the most different words come first; of those in equally many,
   the one that comes first in the sorted words.

A merge joins two tokens without the prefix of the second: ``##o ##g`` makes ``##og``.

The result is that of ``BpeTrainer`` of Hugging Face tokenizers 0.23.3, except for the order of the
third kind, which decides between equally frequent pairs. There it is the order of their first
occurrences in the words, and the words are in a random order. The order here is the likeliest: of
two formed characters, the one in more words mostly occurs first, and always does if it is before
the other in each word that has the other.

Two different pairs may make the same token. In ``####``, which begins as ``# ### ### ###``, the
pair ``## ###`` makes ``###``, which is also the second ``#``; and a merge may make a special token.
Then no new token is made, but the merge is learned. So a pair that was joined may come up again.
It is then joined by its frequency; in tokenizers, whose count of it is too high, at once.

**By likelihood**, the textbook's rule for WordPiece, the score of a pair is its frequency, divided
by the product of the frequencies of its two tokens. The pair of the highest score is joined, in all
words at once; of several, the one of the lowest ids. Joining it raises the likelihood of the corpus
most, if tokens are taken to be independent. With the words ``hug`` (10 times), ``pug`` (5), ``pun``
(12), ``bun`` (4) and ``hugs`` (5), ``##g ##s`` has the highest score: 5 / (20 · 5).

A score is computed as a float: the quotient of two integers, correctly rounded. So equal scores
are equal floats.

Unlike a frequency, a score rises when one of its tokens becomes rarer. So after each merge all
pairs that have a token in common with the merged pair are put on the heap anew. An entry whose
score is not the pair's present one is out of date and is passed over; the present one is there too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from operator import add
from typing import Any, NamedTuple

from .learner import MOST_TOKENS, Learner, Merge, append, too_many_tokens


class Marks(NamedTuple):
    """The marks of characters within a word; empty for none.

    Args:
        prefix: the mark before each character except the first.
        suffix: the mark after the last character.

    >>> Marks("##", "</w>").mark("g", False, True)
    '##g</w>'
    """

    prefix: str = ""
    suffix: str = ""

    def mark(self, char: str, is_first: bool, is_last: bool) -> str:
        """Return a character of a word with its marks."""
        return ("" if is_first else self.prefix) + char + (self.suffix if is_last else "")


def alphabet_of(
    words: Mapping[str, int], initial: Iterable[str] = (), limit: int | None = None
) -> list[str]:
    """Return the characters of words, sorted by code point.

    Args:
        words: words and their counts.
        initial: characters that are always in it, unless they are more than the limit.
        limit: the most characters. The most frequent ones are kept; of equally frequent ones,
            those of lower code points.

    >>> alphabet_of({"dog": 2, "god": 1, "go": 1}, "x", 3)
    ['g', 'o', 'x']
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for char in word:
            counts[char] += count
    first = dict.fromkeys(initial)
    if limit is None:
        return sorted({*counts, *first})
    for char in first:
        counts.pop(char, None)
    others = sorted(counts, key=lambda char: (-counts[char], char))
    return sorted([*sorted(first), *others][: max(limit, 0)])


def first_tokens(
    words: Iterable[str], special: Iterable[str], alphabet: Sequence[str], marks: Marks
) -> list[str]:
    """Return the tokens that learning begins with, in the order of their ids.

    >>> first_tokens(["dog"], ["[UNK]"], ["d", "g", "o"], Marks("##"))
    ['[UNK]', 'd', 'g', 'o', '##o', '##g']
    """
    tokens = dict.fromkeys(special)
    tokens.update(dict.fromkeys(alphabet))
    if not marks.prefix and not marks.suffix:
        return list(tokens)
    chars = {token for token in tokens if len(token) == 1}
    inside = {char: marks.mark(char, False, False) for char in chars if marks.prefix}
    end = {char: marks.mark(char, False, True) for char in chars}
    alone = {char: marks.mark(char, True, True) for char in chars if marks.suffix}

    def formed(word: str) -> list[str]:
        last = (end if len(word) > 1 else alone).get(word[-1])
        tokens = dict.fromkeys([*map(inside.get, word[1:-1]), last])
        return [token for token in tokens if token is not None]

    counts = Counter(chain.from_iterable(map(formed, sorted(words))))
    # Of characters in equally many words, the one in the first of the sorted words comes first.
    tokens.update(dict.fromkeys(token for token, _ in counts.most_common()))
    return list(tokens)


def spelled(words: Mapping[str, int], tokens: Sequence[str], marks: Marks) -> dict[str, int]:
    """Return words as strings of ids, and their counts; characters without a token are left out.

    Raises:
        ValueError: there are more tokens than code points.

    >>> spelled({"dog": 3}, ["d", "g", "o", "##g", "##o"], Marks("##"))
    {'\\x00\\x04\\x03': 3}
    """
    if len(tokens) > MOST_TOKENS:
        raise too_many_tokens()
    ids = {token: chr(number) for number, token in enumerate(tokens)}
    chars = {token for token in tokens if len(token) == 1}

    def table(is_first: bool, is_last: bool) -> dict[int, str | None]:
        marked = {char: marks.mark(char, is_first, is_last) for char in chars}
        return _Table({ord(char): ids[one] for char, one in marked.items() if one in ids})

    begin, inside, end = table(True, False), table(False, False), table(False, True)
    alone = table(True, True)
    words_of_ids: dict[str, int] = {}
    for word, count in words.items():
        if len(word) > 1:
            ids_of_word = (
                word[0].translate(begin) + word[1:-1].translate(inside) + word[-1].translate(end)
            )
        else:
            ids_of_word = word.translate(alone)
        if ids_of_word:
            words_of_ids[ids_of_word] = words_of_ids.get(ids_of_word, 0) + count
    return words_of_ids


class _Table(dict):  # type: ignore[type-arg]
    """A table for ``str.translate`` that drops characters without an entry."""

    def __missing__(self, key: int) -> None:
        return None


class CharacterLearner(Learner[str]):
    """Learns merges by the frequency of pairs.

    Args:
        words: the words, as ``spelled`` gives them, and their counts.
        tokens: the tokens of all ids.
        prefix: the prefix of pieces that do not begin a word.
        limits: ``min_frequency``, the lowest frequency of a pair that is joined, and
            ``max_token_length``, the length in characters, without marks, of the longest token that
            is made.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> marks = Marks("##")
    >>> tokens = first_tokens(words, [], alphabet_of(words), marks)
    >>> learner = CharacterLearner(spelled(words, tokens, marks), tokens, "##")
    >>> [(learner.step().frequency, learner.tokens[-1]) for _ in range(3)]
    [(20, '##ug'), (16, '##un'), (15, 'hug')]
    """

    def __init__(
        self, words: Mapping[str, int], tokens: Sequence[str], prefix: str = "", **limits: Any
    ) -> None:
        super().__init__(words, tokens, **limits)
        self._prefix = prefix
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._lengths = [1] * len(tokens)

    def step(self) -> Merge | None:
        before = len(self._tokens)
        merge = super().step()
        if merge is not None and len(self._tokens) == before:
            # It makes an old token: the frequency of a pair may have risen, which the heap does
            # not know.
            self._count_pairs()
        return merge

    def _number(self, left: int, right: int) -> int:
        token = joined(self._tokens[left], self._tokens[right], self._prefix)
        number = self._ids.get(token)
        if number is None:
            number = self._ids[token] = append(self._tokens, token)
            self._lengths.append(self._lengths[left] + self._lengths[right])
        return number

    def _is_fit(self, pair: str) -> bool:
        lengths = self._lengths
        return self._longest is None or sum(lengths[ord(one)] for one in pair) <= self._longest


def joined(left: str, right: str, prefix: str) -> str:
    """Return the token that two tokens make.

    >>> joined("##o", "##g", "##")
    '##og'
    """
    return left + right.removeprefix(prefix)


class LikelihoodLearner(CharacterLearner):
    """Learns merges by the score of pairs.

    Args:
        words, tokens, prefix, limits: as in ``CharacterLearner``.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> marks = Marks("##")
    >>> tokens = first_tokens(words, [], alphabet_of(words), marks)
    >>> learner = LikelihoodLearner(spelled(words, tokens, marks), tokens, "##")
    >>> learner.best(), learner.step().frequency, learner.tokens[-1]
    (('##g', '##s', 0.05), 5, '##gs')
    """

    def __init__(
        self, words: Mapping[str, int], tokens: Sequence[str], prefix: str = "", **limits: Any
    ) -> None:
        super().__init__(words, tokens, prefix, **limits)
        #: The frequencies of tokens, and of pairs.
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._counts = defaultdict(int)
        #: The words that a pair is in, or was in; and the pairs that a token is in, or was in.
        self._words_of: defaultdict[str, set[int]] = defaultdict(set)
        self._pairs: defaultdict[str, set[str]] = defaultdict(set)
        for word, count in words.items():
            for one in word:
                self._numbers[one] += count
        for number, (word, count) in enumerate(zip(self._words, self._frequencies)):
            for pair in map(add, word, word[1:]):
                self._counts[pair] += count
                self._words_of[pair].add(number)
        for pair in self._counts:
            self._pairs[pair[0]].add(pair)
            self._pairs[pair[1]].add(pair)
        self._count_pairs()

    def _count_pairs(self) -> bool:
        self._heap = [(-self._score(pair), pair) for pair in self._counts if self._is_fit(pair)]
        heapify(self._heap)
        return bool(self._heap)

    def best(self) -> tuple[str, str, float] | None:
        """Return the pair that is joined next, and its score; None if there is none."""
        heap = self._heap
        while heap:
            score, pair = heap[0]
            if self._is_fit(pair) and -score == self._score(pair):
                left, right = (self._tokens[ord(one)] for one in pair)
                return left, right, -score
            heappop(heap)
        return None

    def _next_pair(self) -> str | None:
        return None if self.best() is None else heappop(self._heap)[1]

    def _score(self, pair: str) -> float:
        numbers = self._numbers
        return self._counts[pair] / (numbers[pair[0]] * numbers[pair[1]])

    def _is_fit(self, pair: str) -> bool:
        """Return True if two tokens may be joined, at any score."""
        return self._counts.get(pair, 0) >= self._least and super()._is_fit(pair)

    def _join(self, pair: str, made: str) -> None:
        """Join a pair in all words, and update the scores of the pairs beside it."""
        words, counts, numbers = self._words, self._counts, self._numbers
        changes: Counter[str] = Counter()
        number_joined = 0
        for number in self._words_of.pop(pair):
            word = words[number]
            parts = word.split(pair)
            if len(parts) == 1:
                continue  # Other merges have used the pair's tokens.
            words[number] = now = made.join(parts)
            count = self._frequencies[number]
            number_joined += count * (len(parts) - 1)
            for old in map(add, word, word[1:]):
                changes[old] -= count
            for new in map(add, now, now[1:]):
                changes[new] += count
                self._words_of[new].add(number)
        for one in pair:
            numbers[one] -= number_joined
        numbers[made] += number_joined
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
        self.size -= number_joined
