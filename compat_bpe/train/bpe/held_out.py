"""Held-out words while merges are learned: their number of tokens, without encoding all anew.

The number is that of the tokenizer with the vocabulary so far.

``CharacterWords`` is for BPE over characters. It counts by ``MergedWords``, with two exceptions:
words with unknown characters, and all words after a merge that makes an existing token. These are
encoded by the model.

``GreedyWords`` is for WordPiece, whose tokenizer takes the longest piece that fits at each place.
Let a new piece *t* change a word, first at some place. There it fits, and a shorter piece was
taken: the longest beginning of *t* that is a piece, since all beginnings of *t* fit there, too. So
only the words that have this piece are encoded again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add

from .learner import Merge, join_pair
from .merges_of_characters import Marks


class MergedWords:
    """Words as strings of ids, and their number of tokens while merges are learned.

    It joins the pair of each new merge in all words. The tokenizer joins the pair of the lowest
    rank first. That is the same, since no merge makes an earlier one possible again: a token is
    made by one pair alone, so the two tokens that an earlier merge joins were made before it.

    >>> words = MergedWords({"aab": 2, "b": 1})
    >>> words.join("aa", "X")
    >>> words.size
    5
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        #: The number of tokens.
        self.size = sum(len(word) * count for word, count in words.items())
        self._words = [word for word in words if len(word) > 1]
        self._counts = [words[word] for word in self._words]
        #: The words that have a pair, or had it.
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._words):
            for pair in {*map(add, word, word[1:])}:
                self._places[pair].append(number)

    def join(self, pair: str, made: str) -> None:
        """Join a pair of tokens to another token, in all words."""
        numbers = self._places.pop(pair, ())
        formed, joined = join_pair(pair, made, self._words, self._counts, {pair: 0}, numbers)
        self.size -= joined
        for one, known in formed.items():
            self._places[one] += known[1:]


#: Encodes a word.
Encode = Callable[[str], Sequence[int]]


class CharacterWords:
    """Words of BPE over characters.

    Args:
        words: the words and their counts.
        tokens: the tokens before any merge.
        marks: the marks of characters.
        looks_up: True if the tokenizer takes a word that is a token as that token.
        model: makes the model with some tokens and merges, and returns what encodes a word with it.
    """

    def __init__(
        self,
        words: Mapping[str, int],
        tokens: Sequence[str],
        marks: Marks,
        model: Callable[[Sequence[str], Iterable[tuple[str, str]]], Encode],
        *,
        looks_up: bool = False,
    ) -> None:
        ids = {token: chr(number) for number, token in enumerate(tokens)}
        self._model = model
        self._all = words
        known: dict[str, int] = {}
        #: The words that the model itself encodes.
        self._others: dict[str, int] = {}
        # With marks, a word may look like a token that it does not become.
        is_odd = looks_up and any(marks)
        for word, count in words.items():
            last = len(word) - 1
            chars = [ids.get(marks.mark(c, not i, i == last)) for i, c in enumerate(word)]
            known_chars = [char for char in chars if char is not None]
            if is_odd or len(known_chars) < len(chars) or (looks_up and word in ids):
                self._others[word] = count
            else:
                spelled = "".join(known_chars)
                known[spelled] = known.get(spelled, 0) + count
        self._merged = MergedWords(known)

    def learn(self, merge: Merge, token: str, *, is_new: bool) -> None:
        """Take a merge, the token that it makes, and if that is a new one."""
        if not is_new:
            # The token has two pairs now, and the earlier merges of its own come too late.
            self._others = dict(self._all)
            self._merged = MergedWords({})
        self._merged.join(chr(merge.left) + chr(merge.right), chr(merge.made))

    def size(self, tokens: Sequence[str], merges: Iterable[tuple[str, str]]) -> int:
        """Return the number of tokens of the words, with these tokens and merges."""
        if not self._others:
            return self._merged.size
        encode = self._model(tokens, merges)
        others = sum(len(encode(word)) * count for word, count in self._others.items())
        return self._merged.size + others


class GreedyWords:
    """Words of WordPiece.

    Args:
        words: the words and their counts.
        tokens: the pieces to begin with.
        prefix: the mark of a piece that does not begin a word.
        longest_word: the most characters of a word that is not unknown.

    >>> words = GreedyWords({"hugs": 2}, ["h", "##u", "##g", "##s"], "##")
    >>> before = words.size([], [])
    >>> words.learn(Merge(1, 2, 2, 4), "##ug", is_new=True)
    >>> before, words.size([], [])
    (8, 6)
    """

    def __init__(
        self, words: Mapping[str, int], tokens: Iterable[str], prefix: str, longest_word: int = 100
    ) -> None:
        self._pieces = set(tokens)
        self._longest = max(map(len, self._pieces), default=1)
        self._prefix = prefix
        # A word that is too long always stays one unknown token.
        self._size = sum(count for word, count in words.items() if len(word) > longest_word)
        self._words = [word for word in words if len(word) <= longest_word]
        self._counts = [words[word] for word in self._words]
        self._lengths = [0] * len(self._words)
        #: The words that have a piece, or had it: by its place, and by the piece. The piece of a
        #: place where none fits is empty.
        self._places: defaultdict[tuple[bool, str], set[int]] = defaultdict(set)
        for number in range(len(self._words)):
            self._encode(number)

    def learn(self, merge: Merge, token: str, *, is_new: bool) -> None:
        """Take a merge, the piece that it makes, and if that is a new one."""
        if not is_new or token in self._pieces:
            return
        prefix = self._prefix
        indices = self._having(True, token, 0)
        if token.startswith(prefix):
            indices |= self._having(False, token, len(prefix))
        self._pieces.add(token)
        self._longest = max(self._longest, len(token))
        inside = token.removeprefix(prefix)
        for number in indices:
            if inside in self._words[number]:
                self._encode(number)

    def size(self, tokens: Sequence[str], merges: Iterable[tuple[str, str]]) -> int:
        """Return the number of tokens of the words; the arguments are not needed here."""
        return self._size

    def _having(self, is_first: bool, token: str, least: int) -> set[int]:
        """Return the words that have the longest proper beginning of a token that is a piece."""
        beginnings = (token[:end] for end in range(len(token) - 1, least, -1))
        beginning = next((one for one in beginnings if one in self._pieces), "")
        return set(self._places.get((is_first, beginning), ()))

    def _encode(self, number: int) -> None:
        """Encode a word, and note its pieces and its length."""
        word, prefix, pieces = self._words[number], self._prefix, self._pieces
        length = start = 0
        while start < len(word):
            mark = prefix if start else ""
            end = min(len(word), start + self._longest)
            while end > start and mark + word[start:end] not in pieces:
                end -= 1
            piece = mark + word[start:end] if end > start else ""
            self._places[not start, piece].add(number)
            if not piece:
                length = 1  # The whole word is unknown.
                break
            length += 1
            start = end
        self._size += (length - self._lengths[number]) * self._counts[number]
        self._lengths[number] = length
