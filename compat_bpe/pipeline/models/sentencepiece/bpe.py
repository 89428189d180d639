"""SentencePiece's BPE: two neighbours whose text together is a piece are merged, best score first.

There is no list of merges. A text begins as its characters. As long as two neighbours together
are a piece, the two whose piece has the highest score are merged, the leftmost first for equal
scores. Two kinds of pieces are special:

- A *user-defined* symbol is found before anything is merged, and is never merged.
- An *unused* piece takes part in merging. At the end it is split again into the two pieces of which
  it was made. If the text has it twice, made in two ways, the split recorded last applies to both.
  So its ids may depend on the whole text.

The fast way uses this property: each merge makes a piece, so nothing is merged across two
characters that are neighbours in no piece. The parts of a text between such places have ids of
their own. A text is cut between words before it gets here (``WordSplitter``). A word is cut again,
and so is a whole segment (``SentencePieceVocabulary.parts``), since a new word is often a known
word beside other signs. Words of letters alone seldom have such a place. A long text without spaces
is first cut into *blocks*, whose ids are cached.
"""

from __future__ import annotations

from itertools import chain, compress, repeat
from math import copysign, inf
from operator import gt, neg

from ....caches import Cache, cached_property, shareable
from ..base import Joints
from ..bpe.merging import merge_by_heap, merge_in_windows
from ..splitters import splitter_by_pieces
from .base import SPACE, UNUSED, SentencePieceBase, SentencePieceVocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from ..base import Ids

#: Longer words are cut further.
_LONG = 4
#: Longer parts are merged with a heap.
_HEAP = 48
#: The number of parts of words in the cache, and the length of the longest one.
_PARTS, _LONGEST_PART = 1 << 15, 32
#: The least length of a block, the length of the longest cached block, and the number of blocks.
_BLOCK, _LONGEST_BLOCK, _BLOCKS = 256, 1 << 11, 1 << 12
#: The number of first words that are not cut, since cutting needs a table of all pairs.
_FEW = 1 << 10
#: The greatest depth to which unused pieces are split.
_DEEPEST = 100

#: Higher than any rank, and lower than any finite score, a number of 32 bits.
_NEVER, _LOWEST = inf, -1e60


class SentencePieceBPE(SentencePieceBase):
    """A model whose pieces are merged from two other pieces.

    Args:
        pieces: the vocabulary.
    """

    def __init__(self, pieces: SentencePieceVocabulary) -> None:
        super().__init__(pieces)
        #: For each piece that can be merged, its rank: the lower, the earlier it is merged.
        self._ranks: Mapping[str, float] = _ranks(pieces)
        self._unused = (
            {text for text in pieces.ids.keys() - pieces.used.keys() if len(text) > 1}
            if UNUSED in pieces.types
            else set()
        )
        # Unknown pieces of two words are one token only if the space is unknown, too.
        are_apart = pieces.byte_fallback or SPACE in pieces.used
        if are_apart and not self._unused:
            self.splitter = splitter_by_pieces(pieces.before_space, pieces.after_space)
        self._part_ids = Cache(self._ids_of_part, _PARTS, _LONGEST_PART)
        self._block_ids = Cache(self._encode, _BLOCKS, _LONGEST_BLOCK)
        #: The number of words to be encoded before the pairs by which words are cut are built.
        self._few_left = _FEW

    @property
    def joints(self) -> Joints | None:
        """The places that no piece reaches across; None if there are unused pieces."""
        return None if self._unused else Joints(self.pieces.are_apart)

    def encode(self, chunk: str) -> Ids:
        """Return the ids of one chunk."""
        if self._unused:
            return tuple(self.pieces.ids_of(self._taken_apart(chunk)))
        size = len(chunk)
        if size <= _BLOCK:
            if size <= _LONG or (size <= _LONGEST_PART and chunk[1:].isalpha()):
                return self._part_ids[chunk]
            return self._encode(chunk)
        return tuple(
            chain.from_iterable(map(self._block_ids.__getitem__, self.pieces.blocks(chunk, _BLOCK)))
        )

    def encode_segment(self, segment: str, chunks: Callable[[str], list[str]]) -> Ids | None:
        """Return the ids of a segment, by parts that are shorter than its chunks."""
        if self._unused or self._few_left > 0 or len(segment) > _LONGEST_BLOCK:
            return None
        return None if self.pieces.find_parts is None else self._encode(segment)

    def _encode(self, text: str) -> Ids:
        if self._few_left > 0 and len(text) <= _LONGEST_PART:
            self._few_left -= 1
            return self._ids_of_part(text)
        parts = self.pieces.parts(text)
        ids = tuple(chain.from_iterable(map(self._part_ids.__getitem__, parts)))
        if self.pieces.byte_fallback or self.pieces.unk_id not in ids:
            return ids
        return tuple(self.pieces.fused(ids))

    def _ids_of_part(self, part: str) -> Ids:
        if len(part) > _LONGEST_PART:
            parts = self.pieces.apart(part)
            if len(parts) > 1:
                return tuple(chain.from_iterable(map(self._part_ids.__getitem__, parts)))
        texts = self._merged(part)
        ids = tuple(map(self.pieces.used.get, texts, repeat(self.pieces.unk_id)))
        if self.pieces.unk_id in ids:
            return tuple(self.pieces.ids_of(zip(texts, ids)))
        return ids

    def quick_split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the result of ``split``, part by part."""
        if self._unused:
            return self._taken_apart(chunk)
        texts = [*chain.from_iterable(map(self._merged, self.pieces.apart(chunk)))]
        return list(zip(texts, map(self.pieces.used.get, texts, repeat(self.pieces.unk_id))))

    def clear_cache(self) -> None:
        """Clear the caches of blocks and of parts of long chunks."""
        self._block_ids.clear()
        self._part_ids.clear()

    # The plain rule

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the pieces of one chunk and their ids: merge the best pair while there is one."""
        symbols = self.first_symbols(chunk)
        made_of: dict[str, tuple[str, str]] = {}
        ranks: list[float] = []

        def rank(at: int) -> float:
            """Return the rank of a pair, and record the parts of an unused piece."""
            if not 0 <= at < len(symbols) - 1 or symbols[at][1] or symbols[at + 1][1]:
                return _NEVER
            left, right = symbols[at][0], symbols[at + 1][0]
            if left + right in self._unused:
                made_of[left + right] = left, right
            return self._ranks.get(left + right, _NEVER)

        ranks = [rank(at) for at in range(len(symbols))]
        while ranks and min(ranks) < _NEVER:
            best = ranks.index(min(ranks))
            symbols[best : best + 2] = [(symbols[best][0] + symbols[best + 1][0], False)]
            del ranks[best + 1]
            if best:
                ranks[best - 1] = rank(best - 1)
            ranks[best] = rank(best)
        return self._finished([text for text, _ in symbols], made_of)

    def rank(self, left: str, right: str) -> int | None:
        """Return the rank of the merge of two neighbours; None if they are not merged."""
        rank = self._ranks.get(left + right)
        return None if rank is None else self._numbers[rank]

    @cached_property
    def _numbers(self) -> dict[float, int]:
        """For each rank the number that is shown: an id, or the place among all ranks."""
        if self._ranks is self.pieces.ids:
            return {number: number for number in self.pieces.ids.values()}
        return {rank: number for number, rank in enumerate(sorted(set(self._ranks.values())))}

    def first_symbols(self, chunk: str) -> list[tuple[str, bool]]:
        """Return the characters and user-defined symbols; True for those that are not merged."""
        symbols = self.pieces.symbols
        pieces: list[tuple[str, bool]] = []
        at = 0
        for start, end in symbols.spans(chunk) if symbols else ():
            pieces += [(char, False) for char in chunk[at:start]]
            pieces.append((chunk[start:end], True))
            at = end
        return pieces + [(char, False) for char in chunk[at:]]

    def _finished(
        self, texts: list[str], made_of: Mapping[str, tuple[str, str]]
    ) -> list[tuple[str, int]]:
        """Return pieces with their ids; unused pieces are split."""
        ids, used, unk_id = self.pieces.ids, self.pieces.used, self.pieces.unk_id
        pieces: list[tuple[str, int]] = []
        left = [(text, 0) for text in reversed(texts)]
        while left:
            text, depth = left.pop()
            token_id = used.get(text)
            if token_id is not None:
                pieces.append((text, token_id))
            elif depth > _DEEPEST:
                pieces.append((text, ids.get(text, unk_id)))
            elif text in made_of:
                first, second = made_of[text]
                left += [(second, depth + 1), (first, depth + 1)]
            else:
                pieces.append((text, unk_id))
        return pieces

    def sample(self, chunk: str, dropout: float, random: Random) -> list[tuple[str, int]]:
        """Return pieces of one chunk and their ids, with some merges left out (BPE-dropout).

        Args:
            chunk: a text.
            dropout: the probability that a merge is left out in its turn.
            random: the source of randomness.
        """
        made_of: dict[str, tuple[str, str]] = {}
        symbols = self.first_symbols(chunk)
        if dropout >= 1:
            return self._finished([text for text, _ in symbols], made_of)

        def is_left_out() -> bool:
            return random.random() < dropout

        return self._finished(self._merge_symbols(symbols, made_of, is_left_out), made_of)

    # The fast way

    def _merged(self, part: str) -> list[str]:
        """Return the pieces of a part, if no piece is unused."""
        symbols = self.pieces.symbols
        if symbols is None or symbols.first(part) is None:
            return self._merge(part)
        texts: list[str] = []
        at = 0
        for start, end in symbols.spans(part):
            texts += self._merge(part[at:start])
            texts.append(part[start:end])
            at = end
        return texts + self._merge(part[at:])

    def _merge(self, part: str) -> list[str]:
        """Return the texts after merging characters."""
        if len(part) > _HEAP:
            return merge_in_windows(
                len(part), lambda low, high: merge_by_heap(part[low:high], self._merge_of)
            )[0]
        texts = list(part)
        get = self._ranks.get
        ranks = [get(left + right, _NEVER) for left, right in zip(texts, texts[1:])]
        while ranks:
            best = min(ranks)
            if best == _NEVER:
                break
            at = ranks.index(best)
            merged = texts[at] = texts[at] + texts.pop(at + 1)
            del ranks[at]
            if at:
                ranks[at - 1] = get(texts[at - 1] + merged, _NEVER)
            if at < len(ranks):
                ranks[at] = get(merged + texts[at + 1], _NEVER)
        return texts

    def _merge_of(self, left: str, right: str) -> tuple[float, str] | None:
        made = left + right
        rank = self._ranks.get(made)
        return None if rank is None else (rank, made)

    def _merge_symbols(
        self,
        symbols: list[tuple[str, bool]],
        made_of: dict[str, tuple[str, str]],
        is_left_out: Callable[[], bool] | None = None,
    ) -> list[str]:
        """Return the texts after merging symbols, some of which are unused pieces.

        Args:
            symbols: the result of ``first_symbols``.
            made_of: the dictionary for the two parts of unused pieces.
            is_left_out: returns True if the next merge is not made, if given.
        """
        unused = self._unused
        get = self._ranks.get

        def merge_of(
            left: tuple[str, bool], right: tuple[str, bool]
        ) -> tuple[float, tuple[str, bool]] | None:
            made = left[0] + right[0]
            rank = get(made)
            if rank is None or left[1] or right[1]:
                return None
            # The split recorded last applies to both.
            if made in unused:
                made_of[made] = left[0], right[0]
            return rank, (made, False)

        merged, _ = merge_by_heap(symbols, merge_of, is_left_out)
        return [text for text, _ in merged]

    def _taken_apart(self, chunk: str) -> list[tuple[str, int]]:
        """Return the pieces of a whole text and their ids if some pieces are unused."""
        made_of: dict[str, tuple[str, str]] = {}
        return self._finished(self._merge_symbols(self.first_symbols(chunk), made_of), made_of)


def _ranks(pieces: SentencePieceVocabulary) -> Mapping[str, float]:
    """Return the ranks of all pieces; pieces of one character are never looked up.

    They are the ids if the score falls from each piece to the next, as the trainer writes them.
    User-defined symbols may have the highest score of all; their rank is -1 then. If there is
    another order, the ranks are the negated scores.
    """
    scores = list(map(pieces.scores.__getitem__, pieces.ids.values()))
    at = -1
    for _ in range(scores.count(0.0)):
        at = scores.index(0.0, at + 1)
        if copysign(1, scores[at]) < 0:
            scores[at] = -1e-60  # to the reference, -0.0 is less than 0.0
    if all(map(gt, scores, scores[1:])):
        return pieces.ids
    highest = max(scores)
    lower = list(filter(highest.__gt__, scores))
    ranks: dict[str, float] = shareable(pieces.ids.copy())
    if all(map(gt, lower, lower[1:])):
        ranks.update(zip(compress(ranks, map(highest.__eq__, scores)), repeat(-1)))
    else:
        # A score of -inf is merged last, but it is merged.
        ranks.update(zip(pieces.ids, map(neg, map(max, scores, repeat(_LOWEST)))))
    return ranks
