"""SentencePiece's Unigram: of all ways to cut a text into pieces, the one of highest score.

Each piece has a score, the logarithm of its probability, and the score of a way is their sum. The
best way to each place of the text follows from the best ways to the places before it (Viterbi).

The reference sums in numbers of 32 bits. So where two ways are almost equal, it is rounding that
decides, and rounding depends on the score of all text before. These are its rules:

- The score of a user-defined symbol is 0.1 for each of its bytes but the first.
- A character that is no piece is unknown. Its score is the lowest of any normal piece, less 10.
- Of equal ways to a place, the one whose last piece begins first wins.
- Once the score at a place is beyond 100,000 on either side, it is subtracted from the scores of
  this place and of all places that were reached after it.

The fast way cuts the text where no piece reaches over, mostly before words. All ways go through
such a place. So a word's ways differ only by what is in the word, and the score before it, s,
matters by rounding only. Its best way is remembered with a limit: it is right if |s| is below.

Proof. Let n be the characters of the word, m the highest absolute score of any piece in it, and
A = n·m. A way to a place has k ≤ n pieces, and all its sums are at most M = |s| + A. Rounding a
sum to 32 bits changes it by at most u = 2^-24 of itself. So after k sums the error is at most
M·((1 + u)^k - 1) ≤ M·n·u·(1 + 2^-14) = B, for n ≤ 256. Let d be the least difference, at any place
of the best way, between its score there and that of the best way that comes by another last piece.
By induction along the best way, if d > 2·B, the reference's sum for it is the greatest at each
place: what it has for another last piece is the sum of some way, which is at most the exact one
plus B; and its sum for the best way is at least the exact one less B. That is |s| < d/(2·n·u·(1 +
2^-14)) - A. Nothing is subtracted within the word if M + B < 100,000, which |s| < 99,990 - A
ensures. The scores here are summed in 64 bits, whose error is below n·A·2^-50; d is taken less by
that.

A word that is not below its limit is summed as the reference does it.

A way is *sure* if it is right at any s. Then no sum is beyond 100,001 + 2·A, and beside k sums
there are at most n subtractions: twice as many roundings. So it is sure if d/(2·n·u·(1 + 2^-14))
is above 2·(100,001 + 2·A).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import NamedTuple

from ....parallel.lazy import cached_property
from ...cache import Cache
from ...lookup import shareable
from ..joints import Joints
from ..text_model import common_length
from .base import SentencePieceBase
from .splitter import splitter_by_pieces
from .vocabulary import NORMAL, USER_DEFINED, SentencePieceVocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..base import Ids

    #: The memory of a word: its limit, its ids, the scores of its pieces, and if its way is sure.
    Remembered = tuple[float, Sequence[int], Sequence[float], bool]

#: Longer words are cut where no piece reaches over.
_LONG = 24
#: Longer words are not remembered.
_LONGEST_WORD = 48
#: The number of words that are remembered.
_WORDS = 1 << 16
#: The length in characters from which a chunk is compared with the one before, the greatest length
#: of one that is kept for that, and the number of words after which a mark is made in it.
_COMPARED, _LONGEST_KEPT, _MARKED = 1 << 9, 1 << 22, 32

#: The score beyond which the reference subtracts it, and one below which it surely does not.
_THRESHOLD, _BELOW_THRESHOLD = 100_000.0, 99_990.0
_UNKNOWN_PENALTY = 10.0
_NOTHING = float("-inf")
_LARGEST = 3.4028234663852886e38  # of 32 bits


class _Mark(NamedTuple):
    """A place in a chunk that no piece reaches over.

    Args:
        at: the place, in characters.
        ids: the number of ids before it; each unknown piece has its own.
        score: the score there.
    """

    at: int
    ids: int
    score: float


class SentencePieceUnigram(SentencePieceBase):
    """A model that takes the pieces with the highest score.

    Args:
        pieces: the vocabulary.
    """

    def __init__(self, pieces: SentencePieceVocabulary) -> None:
        super().__init__(pieces)
        normal = (score for score, kind in zip(pieces.scores, pieces.types) if kind == NORMAL)
        self.unk_score = rounded(min(normal, default=_LARGEST) - _UNKNOWN_PENALTY)
        #: The last long chunk, its marks and its ids.
        self._last: tuple[str, list[_Mark], list[int]] = "", [], []
        self._words = Cache(self._remembered, _WORDS, _LONGEST_WORD)
        #: Trees of the pieces, by their first two characters: a dictionary by the next character,
        #: and under "" the score and the id of the piece that ends there.
        self._trees: dict[str, Any] = shareable()

    def score(self, text: str, number: int) -> float:
        """Return the score of a piece in a sum."""
        if number == self.pieces.unk_id:
            return self.unk_score
        if self.pieces.types[number] == USER_DEFINED:
            return rounded(0.1 * (len(text.encode()) - 1))
        return self.pieces.scores[number]

    def is_user_defined(self, number: int) -> bool:
        """Return True for the id of a user-defined symbol; that of the unknown piece may be -1."""
        return number >= 0 and self.pieces.types[number] == USER_DEFINED

    # The plain rule

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the pieces of the best way and their ids, by the rules of the reference."""
        get, unk_id = self.pieces.used.get, self.pieces.unk_id
        size = len(chunk)
        scores = [0.0] * (size + 1)
        #: For each place that was reached, where the last piece of the best way begins, and its id.
        last: list[tuple[int, int] | None] = [None] * (size + 1)
        reached = 0
        for start in range(size):
            if abs(scores[start]) > _THRESHOLD:
                less = scores[start]
                for place in range(start, reached + 1):
                    if place == start or last[place] is not None:
                        scores[place] = rounded(scores[place] - less)
            ends = range(start + 1, min(start + self._longest, size) + 1)
            candidates = [(end, get(chunk[start:end])) for end in ends]
            if candidates[0][1] is None:
                candidates[0] = (start + 1, unk_id)
            for end, token_id in candidates:
                if token_id is None:
                    continue
                score = rounded(scores[start] + self.score(chunk[start:end], token_id))
                if last[end] is None or score > scores[end]:
                    scores[end] = score
                    last[end] = start, token_id
                reached = max(reached, end)
        pieces: list[tuple[str, int]] = []
        end = size
        while end:
            step = last[end]
            assert step is not None, "each character is a piece or unknown"
            pieces.append((chunk[step[0] : end], step[1]))
            end = step[0]
        return pieces[::-1]

    @cached_property
    def _longest(self) -> int:
        """The length of the longest piece in characters."""
        return max(map(len, self.pieces.ids))

    # The fast way

    def encode(self, chunk: str) -> Ids:
        """Return the ids of one chunk.

        Its beginning may be that of the last long one. Of one text, often many beginnings are
        encoded one after the other, to find the one that has room.
        """
        pieces = self.pieces
        ids: list[int] = []
        marks = [_Mark(0, 0, 0.0)]
        if len(chunk) > _COMPARED:
            begun, known, before = self._last
            # Both characters beside a mark must be the same.
            kept = bisect_left(known, (common_length(chunk, begun),))
            marks = known[:kept] or marks
            ids = before[: marks[-1].ids]
        at, _, score = marks[-1]
        words = self._words_of(chunk[at:])
        buffer = array("f", (0.0,))
        remembered = self._words
        for first in range(0, len(words), _MARKED):
            group = words[first : first + _MARKED]
            for word in group:
                limit, word_ids, scores, _ = remembered[word]
                if -limit < score < limit:
                    ids += word_ids
                    for one in scores:
                        buffer[0] = score + one
                        score = buffer[0]
                else:
                    exact, score = self._exactly(word, score)
                    ids += pieces.ids_of(exact)
            at += sum(map(len, group))
            marks.append(_Mark(at, len(ids), score))
        if _COMPARED < len(chunk) <= _LONGEST_KEPT:
            self._last = chunk, marks, ids
        if not pieces.byte_fallback and pieces.unk_id in ids:
            unk_id = pieces.unk_id
            ids = [one for one, before in zip(ids, [-1, *ids]) if one != unk_id or before != unk_id]
        return tuple(ids)

    @cached_property
    def joints(self) -> Joints:
        """The places that no piece reaches over."""
        return Joints(self._are_apart, self._slack, self._longest, self._knows)

    def _knows(self, char: str) -> bool:
        return self.pieces.used.get(char, self.pieces.unk_id) != self.pieces.unk_id

    def _are_apart(self, left: str, right: str) -> bool:
        return left + right not in self.pieces.pairs

    def _slack(self, chunk: str) -> int:
        """Return the most tokens that a chunk may have fewer, whatever the score before it.

        Only words may whose way is not sure. The first one may join a run of unknown characters.
        """
        slack = 1
        for word in self._words_of(chunk):
            _, word_ids, _, is_sure = self._words[word]
            if not is_sure:
                slack += len(word_ids) if word_ids else 4 * len(word)
        return slack

    def quick_split(self, chunk: str) -> list[tuple[str, int]]:
        """Return what ``split`` returns, word by word."""
        split: list[tuple[str, int]] = []
        score = 0.0
        for word in self._words_of(chunk):
            pieces, score = self._exactly(word, score)
            split += pieces
        return split

    def _words_of(self, chunk: str) -> list[str]:
        """Return the parts of a chunk between places that no piece reaches over."""
        words = self._split_words(chunk)
        if max(map(len, words), default=0) <= _LONG:
            return words
        apart = self.pieces.apart
        return [part for word in words for part in (apart(word) if len(word) > _LONG else (word,))]

    def clear_cache(self) -> None:
        """Clear the cache of words."""
        self._words.clear()
        self._last = "", [], []

    @cached_property
    def _split_words(self) -> Callable[[str], list[str]]:
        return splitter_by_pieces(self.pieces.before_space, self.pieces.after_space).chunks

    def _remembered(self, word: str) -> Remembered:
        """Return what is remembered of a word; the limit is below 0 if that is nothing."""
        size = len(word)
        if size > _LONGEST_WORD:
            return -1.0, (), (), False
        best, second = [0.0] * (size + 1), [_NOTHING] * (size + 1)
        #: For each place, where the last piece of the best way begins, its id and its score.
        last: list[tuple[int, int, float] | None] = [None] * (size + 1)
        largest = 0.0
        for start in range(size):
            here = best[start]
            for end, score, token_id in self.pieces_at(word, start):
                largest = max(largest, abs(score))
                total = here + score
                if last[end] is None or total > best[end]:
                    if last[end] is not None:
                        second[end] = best[end]
                    best[end] = total
                    last[end] = start, token_id, score
                elif total > second[end]:
                    second[end] = total
        end = size
        pieces: list[tuple[str, int]] = []
        scores: list[float] = []
        least = -_NOTHING
        while end:
            step = last[end]
            assert step is not None, "each character is a piece or unknown"
            least = min(least, best[end] - second[end])
            pieces.append((word[step[0] : end], step[1]))
            scores.append(step[2])
            end = step[0]
        reach = size * largest
        limit = (least - reach * size * 2.0**-50) / (size * 2.0**-23 * (1 + 2.0**-13))
        is_sure = limit > 2 * (_THRESHOLD + 1 + 2 * reach)
        limit = min(limit, _BELOW_THRESHOLD) - reach
        return limit, self.pieces.ids_of(pieces[::-1]), scores[::-1], is_sure

    def _exactly(self, word: str, score: float) -> tuple[list[tuple[str, int]], float]:
        """Return the pieces of a word, and the score after it, as the reference sums.

        Args:
            word: a part of a text between two places that no piece reaches over.
            score: the score before it.
        """
        size = len(word)
        scores = [score] * (size + 1)
        last: list[tuple[int, int] | None] = [None] * (size + 1)
        reached = 0
        buffer = array("f", (0.0,))
        for start in range(size):
            here = scores[start]
            if here > _THRESHOLD or here < -_THRESHOLD:
                for place in range(start + 1, reached + 1):
                    scores[place] = rounded(scores[place] - here)
                here = 0.0
            for end, one, token_id in self.pieces_at(word, start):
                buffer[0] = here + one
                total = buffer[0]
                if last[end] is None or total > scores[end]:
                    scores[end] = total
                    last[end] = start, token_id
                if end > reached:
                    reached = end
        pieces: list[tuple[str, int]] = []
        end = size
        while end:
            step = last[end]
            assert step is not None, "each character is a piece or unknown"
            pieces.append((word[step[0] : end], step[1]))
            end = step[0]
        return pieces[::-1], scores[size]

    def pieces_at(self, word: str, start: int) -> list[tuple[int, float, int]]:
        """Return all pieces that begin at a place: their ends, scores and ids."""
        single = self._singles.get(word[start])
        if single is None:
            candidates = [(start + 1, self.unk_score, self.pieces.unk_id)]
        else:
            candidates = [(start + 1, single[0], single[1])]
        first = word[start : start + 2]
        tree = self._trees.get(first)
        if tree is None:
            tree = self._trees[first] = self._tree(first)
        end, size = start + 2, len(word)
        while tree:
            piece = tree.get("")
            if piece is not None:
                candidates.append((end, piece[0], piece[1]))
            if end == size:
                break
            tree = tree.get(word[end])
            end += 1
        return candidates

    @cached_property
    def _singles(self) -> dict[str, tuple[float, int]]:
        """The scores and ids of the pieces of one character."""
        return shareable(
            (text, (self.score(text, token_id), token_id))
            for text, token_id in self.pieces.used.items()
            if len(text) == 1
        )

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        """The longer pieces by their first two characters."""
        groups: dict[str, list[str]] = shareable()
        for text in self.pieces.used:
            if len(text) > 1:
                groups.setdefault(text[:2], []).append(text)
        return groups

    def _tree(self, first: str) -> dict[str, Any]:
        """Return the tree of the pieces that begin with two characters."""
        root: dict[str, Any] = shareable()
        for text in self._groups.get(first, ()):
            node = root
            for char in text[2:]:
                node = node.setdefault(char, shareable())
            token_id = self.pieces.used[text]
            node[""] = self.score(text, token_id), token_id
        return root


def rounded(number: float) -> float:
    """Return a number rounded to 32 bits."""
    return array("f", (number,))[0]
