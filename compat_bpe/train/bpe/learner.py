"""Learning of merges from the frequencies of neighbouring tokens.

A *word* is a chunk of the corpus as a sequence of tokens, at first its single bytes. Each step of
training finds the most frequent pair of neighbours, with each word weighted by its frequency, and
joins the pair to a new token in all words. With the words ``hug`` (10 times), ``pug`` (5), ``pun``
(12), ``bun`` (4) and ``hugs`` (5), ``u g`` occurs 20 times and is joined first, then ``u n`` (16),
then ``h ug`` (15).

Of equally frequent pairs, the one of the lower ids is joined. The ids of single bytes are in
GPT-2's order (see ``byte_level``), and new tokens are numbered on. So the merges are those of
``BpeTrainer`` in Hugging Face tokenizers with its byte-level alphabet.

``FrequentPairs`` says how the pairs are counted and found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import AnyStr, Callable, Generic, NamedTuple

from .frequent_pairs import FrequentPairs

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

    >>> from itertools import islice
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


class Learner(FrequentPairs, Generic[AnyStr]):
    """The words in their present state, and the frequent pairs in them.

    Args:
        words, tokens, min_frequency, max_token_length: as in ``learn_merges``.
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
        self._allow: Callable[[AnyStr], bool] | None = allow
        kept = [word for word in words if len(word) > 1]
        super().__init__(kept, map(words.__getitem__, kept), max(min_frequency, 1))
        #: The number of tokens of all words, each weighted by its frequency.
        self.size = sum(len(word) * frequency for word, frequency in words.items())
        self._tokens: list[AnyStr] = list(tokens)
        self._known: set[AnyStr] = set(tokens)
        self._longest = max_token_length

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

    def _is_fit(self, pair: str) -> bool:
        token = self._tokens[ord(pair[0])] + self._tokens[ord(pair[1])]
        if token in self._known or (self._longest is not None and len(token) > self._longest):
            return False
        return self._allow is None or self._allow(token)

    def _join(self, pair: str, made: str) -> int:
        joined = super()._join(pair, made)
        self.size -= joined
        return joined
