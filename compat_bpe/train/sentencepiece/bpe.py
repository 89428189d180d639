"""SentencePiece's BPE: learning of pieces from the frequencies of neighbouring pieces.

Each step joins the most frequent pair of neighbouring pieces in all words. Of equally frequent
pairs, the one of fewer characters is joined; of these, the first by its bytes. Occurrences of a
pair that overlap (``aaa`` has two of ``a a``) all count, though only some are joined, from the
left. A pair that makes no valid piece is not joined.

*A piece has one pair that makes it.*  What becomes of a part of a word does not depend on what is
beside it, as long as no piece reaches over its ends. So a piece stands for a pair.

The words are strings, and rare pairs are not followed: see ``bpe.frequent_pairs``, which says why
this is fast and right.

When nothing is left to join, the reference goes on with pairs that have become other pieces, whose
frequency is 0, until the vocabulary is full. They have to be found again, since they were not
followed: all words are joined once more, step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import add

from ..bpe.frequent_pairs import FrequentPairs
from .rules import Marks, PieceRules

#: The number of code points, and so the largest number of pieces.
MOST_PIECES = 0x110000


def learn_pieces(
    words: Mapping[str, int], alphabet: Iterable[str], rules: PieceRules, most: int
) -> Iterator[tuple[str, int]]:
    """Yield the pieces learned from words with their frequencies, in their order.

    Args:
        words: the words and their frequencies.
        alphabet: their characters; others are in no piece.
        rules: the rules for pieces.
        most: the number of pieces that are yielded, unless there are not so many.

    Raises:
        ValueError: there are more pieces than code points.

    >>> from .settings import SentencePieceSettings
    >>> rules = PieceRules(SentencePieceSettings(100))
    >>> list(learn_pieces({"▁hug": 10, "▁pug": 5}, "▁hugp", rules, 4))
    [('ug', 15), ('▁h', 10), ('▁hug', 10), ('▁p', 5)]
    """
    characters = list(alphabet)
    parts = rules.cut(words)
    learner = _Learner(parts, characters, rules)
    number = 0
    while number < most:
        learned_piece = learner.step()
        if learned_piece is None:
            break
        yield learned_piece
        number += 1
    if number < most:
        for piece in islice(learner.spent_pieces(parts), most - number):
            yield piece, 0


class _Learner(FrequentPairs):
    """The words in their present state, and the frequent pairs in them.

    Args:
        words, alphabet, rules: as in ``learn_pieces``; the words are cut.

    Raises:
        ValueError: as ``learn_pieces``.
    """

    def __init__(
        self, words: Mapping[str, int], alphabet: Iterable[str], rules: PieceRules
    ) -> None:
        #: The pieces so far, and their marks. In a word, a piece is the character of its number.
        self._pieces = list(alphabet)
        self._marks: list[Marks] = [rules.marks(char) for char in self._pieces]
        self._join_marks = rules.join
        self._table = {ord(char): number for number, char in enumerate(self._pieces)}
        super().__init__((word.translate(self._table) for word in words), words.values())
        #: The pairs that were joined, and what they became.
        self._joined: dict[str, str] = {}

    def step(self) -> tuple[str, int] | None:
        """Find the next piece, make it and return it with its frequency; None if there is none."""
        pair = self._next_pair()
        if pair is None:
            return None
        left, right = map(ord, pair)
        number = len(self._pieces)
        if number >= MOST_PIECES:
            raise ValueError(f"there can be no more than {MOST_PIECES:,} pieces")
        piece = self._pieces[left] + self._pieces[right]
        marks = self._join_marks(self._marks[left], self._marks[right])
        assert marks is not None
        self._pieces.append(piece)
        self._marks.append(marks)
        count = self._counts[pair]
        self._joined[pair] = chr(number)
        self._join(pair, chr(number))
        return piece, count

    def _is_fit(self, pair: str) -> bool:
        marks = self._marks
        return self._join_marks(marks[ord(pair[0])], marks[ord(pair[1])]) is not None

    def _entry(self, pair: str, count: int) -> tuple[int, int, str, str]:
        piece = self._text(pair)
        return -count, len(piece), piece, pair

    def _text(self, pair: str) -> str:
        return self._pieces[ord(pair[0])] + self._pieces[ord(pair[1])]

    def spent_pieces(self, words: Iterable[str]) -> list[str]:
        """Return the pieces that could have been made once, but are not there, in their order.

        Args:
            words: the words in their first state.
        """
        seen: set[str] = set()
        for word in words:
            word = word.translate(self._table)
            while True:
                pairs = set(map(add, word, word[1:]))
                seen |= pairs
                # What was joined first has the lowest number.
                pair = min(pairs & self._joined.keys(), key=self._joined.__getitem__, default=None)
                if pair is None:
                    break
                made = self._joined[pair]
                if pair + pair in word:
                    # The first was beside the left part of the second, until that was joined, too.
                    seen.add(made + pair[0])
                word = made.join(word.split(pair))
        spent = [pair for pair in seen - self._joined.keys() if self._is_fit(pair)]
        return sorted(map(self._text, spent), key=lambda piece: (len(piece), piece))
