"""SentencePiece's Unigram: the way to cut a text into pieces that has the highest score.

Each piece has a score, the logarithm of its probability, and the score of a way is their sum. The
best way to each place of the text follows from the best ways to the places before it (Viterbi).

The reference sums in numbers of 32 bits. So where two ways are almost equal, rounding decides, and
that depends on the score of all text before. These are the rules of the reference:

- The score of a user-defined symbol is 0.1 for each of its bytes except the first.
- A character that is not a piece is unknown. Its score is the lowest of any normal piece, less 10.
- Among equal ways to a place, the way whose last piece begins first wins.
- If the score at a place is above 100,000 or below -100,000, it is subtracted from the scores of
  this place and of all later places that were reached.

The fast way cuts the text at places that no piece reaches across, usually before words. All ways go
through such a place, so a word's ways differ only within the word. Its best way is cached with a
limit, and is right if the score before the word is below the limit (``ways`` has the proof). Words
and *blocks* of some hundred characters are cached. A word whose score is not below its limit is
summed as in the reference. Only there the score before it must be known exactly, and it is summed
from the last place where it was known. Everywhere else a bound of it is enough.

If pieces span words, there may be no place to cut in a hundred characters or more. Such a part
hardly ever recurs, so it gets no limit, and is summed as in the reference at once.
"""

from __future__ import annotations

from array import array
from itertools import repeat
from math import inf
from operator import add

from ....caches import Cache, Memo, cached_property
from ..base import Joints
from ..scored_pieces import PieceGroups
from ..splitters import WholeSplitter, splitter_by_pieces
from .base import (
    NORMAL,
    USER_DEFINED,
    SentencePieceBase,
    SentencePieceVocabulary,
    is_mostly_ideographs,
)
from .ways import (
    BELOW_THRESHOLD,
    LONGEST,
    NOT_KNOWN,
    ROUNDING,
    THRESHOLD,
    Edge,
    PieceLattice,
    WayFinder,
    join,
    joined,
    rounded,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..base import Ids
    from .ways import Way


#: Longer words are summed part by part.
_LONG = 24
#: In ``_way_of_word``: a part that is too long for a limit.
_TOO_LONG = b"\1" * LONGEST
#: The number of words in the cache, and of parts of words.
_WORDS = 1 << 16
#: The number of unknown characters whose bytes are cached.
_CHARACTERS = 1 << 12
#: The least length of a block, the length of the longest cached block, and the number of blocks.
_BLOCK, _LONGEST_BLOCK, _BLOCKS = 256, 1 << 11, 1 << 12

#: The number of texts at first that are split before each ``▁`` only.
_FEW = 16
_UNKNOWN_PENALTY = 10.0
_LARGEST = 3.4028234663852886e38  # the largest number of 32 bits


class SentencePieceUnigram(SentencePieceBase):
    """A model that chooses the pieces with the highest total score.

    Args:
        pieces: the vocabulary.
    """

    def __init__(self, pieces: SentencePieceVocabulary) -> None:
        super().__init__(pieces)
        normal = (score for score, kind in zip(pieces.scores, pieces.types) if kind == NORMAL)
        self.unk_score = rounded(min(normal, default=_LARGEST) - _UNKNOWN_PENALTY)
        #: The best ways through parts of words with no place in them to cut, and through words.
        self._parts = Cache(lambda part: self._finder.find(part), _WORDS, LONGEST)
        self._words = Cache(self._way_of_word, _WORDS, LONGEST)
        self._blocks = Cache(self._way_of_block, _BLOCKS, _LONGEST_BLOCK)
        #: The number of texts to be split before a pattern for it is built.
        self._few_left = _FEW
        #: The ids of the bytes of an unknown character.
        self._bytes_of = Memo(self._find_bytes, _CHARACTERS)
        #: By the text of a block and the score before it: its ids and the score after it.
        self._exact_blocks = Memo(self._exact_block, _BLOCKS)

    def score(self, text: str, number: int) -> float:
        """Return the score of a piece in a sum."""
        if number == self.pieces.unk_id:
            return self.unk_score
        if self.pieces.types[number] == USER_DEFINED:
            return rounded(0.1 * (len(text.encode()) - 1))
        return self.pieces.scores[number]

    def is_user_defined(self, number: int) -> bool:
        """Return True for the id of a user-defined symbol; the unknown piece may have the id -1."""
        return number >= 0 and self.pieces.types[number] == USER_DEFINED

    # The plain rule

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the pieces of the best way and their ids, by the rules of the reference."""
        return self._split_after(chunk, 0.0)[0]

    def _split_after(self, chunk: str, score: float) -> tuple[list[tuple[str, int]], float]:
        """Return the pieces of the best way after a score, and the score after it."""
        get, unk_id = self.pieces.used.get, self.pieces.unk_id
        size = len(chunk)
        scores = [score] * (size + 1)
        #: For each place that was reached, where the last piece of the best way begins, and its id.
        last: list[tuple[int, int] | None] = [None] * (size + 1)
        reached = 0
        for start in range(size):
            if abs(scores[start]) > THRESHOLD:
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
        return pieces[::-1], scores[size]

    @cached_property
    def _longest(self) -> int:
        """The length of the longest piece in characters."""
        return max(map(len, self.pieces.ids))

    # The fast way

    def encode(self, chunk: str) -> Ids:
        """Return the ids of one chunk."""
        ids: list[int] = []
        #: The last known score, the blocks since its place, and a bound of the score here.
        score, bound = 0.0, 0.0
        since: list[str] = []
        known, exact = self._blocks, self._exact_blocks
        for block in self.pieces.blocks(chunk, _BLOCK):
            (limit, _, moves), block_ids = known[block]
            if bound >= limit and since:
                for earlier in since:
                    _, score = exact[earlier, score]
                since, bound = [], abs(score)
            if bound < limit:
                ids += block_ids
                since.append(block)
                bound += moves
            else:
                block_ids, score = exact[block, score]
                ids += block_ids
                bound = abs(score)
        return tuple(ids)

    def _way_of_block(self, block: str) -> tuple[Way, Ids]:
        way = join(list(map(self._words.__getitem__, self._split_words(block))))
        return way, tuple(self._ids(block, way[1]))

    def _way_of_word(self, word: str) -> Way:
        """Return the best way through a word.

        No piece reaches across the place between two characters that follow each other in no piece.
        So most of a Chinese text is stretches of one character, which have one way.
        """
        pairs = self.pieces.pairs
        #: For each character, 1 if it and the next one are neighbours in a piece.
        together = bytes(map(pairs.__contains__, map(add, word, word[1:])))
        if _TOO_LONG in together:
            return NOT_KNOWN
        if together and 0 not in together:
            return self._parts[word]
        numbers = list(map(self.pieces.used.get, word, repeat(self.pieces.unk_id)))
        limit, moves = inf, len(word) * self._most_moved
        together += b"\0"
        parts = self._parts
        at = grown = 0
        while (start := together.find(1, at)) >= 0:
            at = together.index(0, start) + 1
            part_limit, part_numbers, part_moves = parts[word[start:at]]
            numbers[start + grown : at + grown] = part_numbers
            grown += len(part_numbers) - at + start
            moves += part_moves
            if part_limit < limit:
                limit = part_limit
        return joined(limit, numbers, moves)

    @cached_property
    def _most_moved(self) -> float:
        """The most that a stretch of one character moves the score."""
        of_pieces = self._groups.scores.items()
        scores = [score for text, score in of_pieces if len(text) == 1]
        return max(map(abs, [*scores, self.unk_score])) + ROUNDING

    @cached_property
    def _finder(self) -> WayFinder:
        return WayFinder(self._groups, self.pieces.used, self.pieces.unk_id)

    def _exact_block(self, block: tuple[str, float]) -> tuple[Ids, float]:
        text, score = block
        (limit, numbers, moves), ids = self._blocks[text]
        if abs(score) < limit and abs(score) + moves < BELOW_THRESHOLD:
            return ids, self._sum(score, numbers)
        exact, score = self._exactly_through(text, score)
        return tuple(self._ids(text, exact)), score

    def _exactly_through(self, text: str, score: float) -> tuple[list[int], float]:
        """Return the ids of the pieces of a text, and the score after it, as the reference sums.

        Args:
            text: a part of a text between two places that no piece reaches across.
            score: the score before it.
        """
        numbers: list[int] = []
        #: The number of pieces up to where the score is known, and a bound of the score here.
        summed, bound = 0, abs(score)
        for word in self._words_of(text):
            is_remembered = len(word) <= LONGEST
            limit, of_word, moves = self._words[word] if is_remembered else NOT_KNOWN
            if bound >= limit or bound + moves >= BELOW_THRESHOLD:
                score = self._sum(score, numbers[summed:])
                summed, bound = len(numbers), abs(score)
            if bound < limit and bound + moves < BELOW_THRESHOLD:
                numbers += of_word
                bound += moves
            else:
                exact, score = self._exactly(word, score)
                numbers += exact
                summed, bound = len(numbers), abs(score)
        return numbers, self._sum(score, numbers[summed:])

    def _sum(self, score: float, numbers: Sequence[int]) -> float:
        """Return the sum of a score and the scores of some pieces, added in order in 32 bits."""
        buffer = array("f", (0.0,))
        for one in map(self._scores.__getitem__, numbers):
            buffer[0] = score + one
            score = buffer[0]
        return score

    @cached_property
    def _scores(self) -> list[float]:
        """The score of each piece in a sum, by id; the last score is the unknown piece's."""
        pieces = self.pieces
        scores = [*pieces.scores]
        for number, kind in enumerate(pieces.types):
            if kind == USER_DEFINED or number == pieces.unk_id:
                scores[number] = self.score(pieces.texts[number], number)
        return [*scores, self.unk_score]  # without an unknown piece its id is -1

    def _ids(self, text: str, numbers: Sequence[int]) -> Sequence[int]:
        """Return the ids of a text whose pieces are given."""
        unk_id = self.pieces.unk_id
        if unk_id not in numbers:
            return numbers
        if self.pieces.byte_fallback:
            texts, bytes_of = self.pieces.texts, self._bytes_of
            ids: list[int] = []
            at = 0
            for number in numbers:
                if number == unk_id:
                    ids += bytes_of[text[at]]
                    at += 1
                else:
                    ids.append(number)
                    at += len(texts[number])
            return ids
        return self.pieces.fused(numbers)

    def _find_bytes(self, char: str) -> Ids:
        return tuple(map(self.pieces.byte_ids.__getitem__, char.encode()))

    def _with_texts(self, text: str, numbers: Sequence[int]) -> list[tuple[str, int]]:
        """Return the pieces of a text, each with its id; an unknown piece is a character."""
        texts, unk_id = self.pieces.texts, self.pieces.unk_id
        pieces: list[tuple[str, int]] = []
        at = 0
        for number in numbers:
            piece = text[at] if number == unk_id else texts[number]
            pieces.append((piece, number))
            at += len(piece)
        return pieces

    @cached_property
    def joints(self) -> Joints:
        """The places that no piece reaches across."""
        return Joints(self._are_apart, self._slack, self._longest, self._knows)

    def _knows(self, char: str) -> bool:
        return self.pieces.used.get(char, self.pieces.unk_id) != self.pieces.unk_id

    def _are_apart(self, left: str, right: str) -> bool:
        return left + right not in self.pieces.pairs

    def _slack(self, chunk: str) -> int:
        """Return how many tokens a chunk can lose when the score before it changes.

        Only words whose way is not sure can lose tokens. The first word may also join a run of
        unknown characters.
        """
        slack = 1
        for word in self._words_of(chunk):
            limit, numbers, _ = self._words[word]
            if limit < inf:
                slack += len(self._ids(word, numbers)) if numbers else 4 * len(word)
        return slack

    def quick_split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the result of ``split``, word by word."""
        numbers, _ = self._exactly_through(chunk, 0.0)
        return self._with_texts(chunk, numbers)

    def _words_of(self, chunk: str) -> list[str]:
        """Return the parts of a chunk between places that no piece reaches across."""
        words = self._split_words(chunk)
        if max(map(len, words), default=0) <= _LONG:
            return words
        apart = self.pieces.apart
        return [part for word in words for part in (apart(word) if len(word) > _LONG else (word,))]

    def clear_cache(self) -> None:
        """Clear the caches of blocks, words, parts of words and unknown characters."""
        for cache in (self._blocks, self._words, self._parts, self._exact_blocks, self._bytes_of):
            cache.clear()

    def _split_words(self, text: str) -> list[str]:
        """Return parts of a text that no piece reaches over: words, or less."""
        if self._few_left > 0:
            self._few_left -= 1
            return self._splitter.chunks(text)
        find = None if is_mostly_ideographs(text) else self.pieces.find_parts
        return (find or self._splitter.chunks)(text)

    @cached_property
    def _splitter(self) -> WholeSplitter:
        return splitter_by_pieces(self.pieces.before_space, self.pieces.after_space)

    def _exactly(self, word: str, score: float) -> tuple[list[int], float]:
        """Return the ids of the pieces of a word, and the score after it, as the reference sums.

        Args:
            word: a part of a text between two places that no piece reaches across.
            score: the score before it.
        """
        if self._may_overflow:
            split, score = self._split_after(word, score)
            return [number for _, number in split], score
        return self._finder.find_exactly(word, score)

    @cached_property
    def _may_overflow(self) -> bool:
        """True if the difference of two sums may be too large for 32 bits."""
        return max(map(abs, (*self._groups.scores.values(), self.unk_score))) > 2.0**126

    def pieces_at(self, word: str, start: int) -> list[tuple[int, float, int]]:
        """Return all pieces that begin at a place: their ends, scores and ids."""
        get, unknown = self.pieces.used.get, self.pieces.unk_id
        return [
            (start + length, score, get(word[start : start + length], unknown))
            for length, score in self._groups.matches(word, start)
        ]

    def lattice(self, text: str) -> PieceLattice:
        """Return all pieces at all places of a normalized text.

        Here, the score of a user-defined symbol is 0.1 for each of its characters except the first.
        In the search for the best way alone, the reference counts bytes.
        """
        ending: list[list[Edge]] = [[] for _ in range(len(text) + 1)]
        for start in range(len(text)):
            pieces = self.pieces_at(text, start)
            # The unknown piece is added last.
            for end, score, number in sorted(pieces, key=lambda one: one[2] == self.pieces.unk_id):
                if self.is_user_defined(number):
                    score = rounded(0.1 * (end - start - 1))
                ending[end].append(Edge(number, text[start:end], start, end, score))
        return PieceLattice(ending)

    @cached_property
    def _groups(self) -> PieceGroups:
        used = self.pieces.used
        scores = dict(zip(used, map(self._scores.__getitem__, used.values())))
        return PieceGroups(scores, self.unk_score)
