r"""The tokens of one long chunk, its prefixes and suffixes, and of what an edit makes of it.

The property: a sequence of tokens is the result of merging its bytes if and only if each two
neighbours in it are the result of merging these two alone. The argument: as long as no merge
crosses the edge between two tokens, the merges on each side of it take place as if there were only
these two. So the first merge that crosses an edge would cross it in the two alone, too.

Three things follow:

- The tokens of a prefix are found without merging all of it. Keep the first tokens of the whole
  chunk, merge the remaining bytes, and check that merging the two tokens at the junction alone
  gives these two. The same holds for suffixes, from the other side.
- Dropping a prefix's last token leaves a shorter prefix with one token fewer.
- After an edit, the tokens before it and those after it may stay, with what is between merged by
  itself, if at both junctions the two tokens alone give these two.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from ..pipeline.core import Core
from .boundary import TextEncoder

#: The number of junctions tried in a part, and of parts tried, the last merged first. If no
#: junction fits, the prefix or suffix is merged by itself.
_TRIES = 3
_TRIED = 2
#: The number of merged parts kept: at each edge of a part the number of tokens is known. Several
#: are needed for a run of one letter, for instance. If it is merged from the left to tokens of
#: eight letters, two suffixes have edges in common only if they begin a multiple of eight apart.
_KEPT_PARTS = 256


def _are_neighbours(
    merge: Callable[[bytes], list[int]],
    length_of: Callable[[int], int],
    data: bytes,
    start: int,
    middle: int,
    end: int,
) -> bool:
    """Return True if merging the bytes of two tokens gives these two tokens."""
    ids = merge(data[start:end])
    return len(ids) == 2 and length_of(ids[0]) == middle - start


class LongChunk:
    """A long chunk, with the number of tokens of each prefix and suffix.

    Args:
        data: its bytes.
        merge: returns the ids of some bytes by merging.
        length_of: returns the length of a token in bytes, by its id.
        longest: the length of the longest token in bytes.

    >>> from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
    >>> lengths = {0: 1, 1: 1, 2: 2, 3: 3}
    >>> merge = BytePairEncoder({b"a": 0, b"b": 1, b"ab": 2, b"aba": 3}).merge
    >>> chunk = LongChunk(b"abababab", merge, lengths.__getitem__, 3)
    >>> [chunk.count_to(end) for end in range(9)] == [len(merge(b"abababab"[:n])) for n in range(9)]
    True
    """

    def __init__(
        self,
        data: bytes,
        merge: Callable[[bytes], list[int]],
        length_of: Callable[[int], int],
        longest: int,
    ) -> None:
        self._data = data
        self._merge = merge
        self._length_of = length_of
        self._longest = longest
        self._are_neighbours = partial(_are_neighbours, merge, length_of, data)
        # The edges of tokens, from the start to the end, of merged prefixes and merged suffixes.
        self._whole = self._edges_of(data, 0)
        self._beginnings = [self._whole]
        self._ends = [self._whole]
        #: The number of tokens of the whole chunk.
        self.count = len(self._whole) - 1

    def count_to(self, end: int) -> int:
        """Return the number of tokens of the first ``end`` bytes."""
        data = self._data
        for edges in self._beginnings:
            kept = bisect_right(edges, end) - 1
            if edges[kept] == end:
                return kept
        for edges in self._beginnings[:_TRIED]:
            kept = bisect_right(edges, end) - 1
            for number in range(kept, max(kept - _TRIES, 0), -1):
                middle = edges[number]
                rest = self._merge(data[middle:end])
                if self._are_neighbours(
                    edges[number - 1], middle, middle + self._length_of(rest[0])
                ):
                    return number + len(rest)
        edges = self._edges_of(data[:end], 0)
        self._beginnings = [edges, *self._beginnings[: _KEPT_PARTS - 1]]
        return len(edges) - 1

    def count_from(self, start: int) -> int:
        """Return the number of tokens of the bytes after the first ``start``."""
        data = self._data
        for edges in self._ends:
            kept = bisect_left(edges, start)
            if edges[kept] == start:
                return len(edges) - 1 - kept
        for edges in self._ends[:_TRIED]:
            kept = bisect_left(edges, start)
            for number in range(kept, min(kept + _TRIES, len(edges) - 1)):
                middle = edges[number]
                rest = self._merge(data[start:middle])
                if self._are_neighbours(
                    middle - self._length_of(rest[-1]), middle, edges[number + 1]
                ):
                    return len(rest) + len(edges) - 1 - number
        edges = self._edges_of(data[start:], start)
        self._ends = [edges, *self._ends[: _KEPT_PARTS - 1]]
        return len(edges) - 1

    def _edges_of(self, data: bytes, start: int) -> list[int]:
        return list(accumulate(map(self._length_of, self._merge(data)), initial=start))

    def last_end_within(self, limit: int) -> int:
        """Return an offset after which no prefix of the chunk has at most ``limit`` tokens.

        The argument: without its last token, such a prefix is a prefix with fewer than ``limit``
        tokens. So if no offset within a token's length has fewer, no such prefix can follow.
        """
        size = len(self._data)
        if limit >= self.count:
            return size
        place = self._whole[limit]
        last = place + self._longest
        while place < min(last, size):
            place += 1
            if self.count_to(place) < limit:
                last = place + self._longest
        return min(last, size)

    def first_start_within(self, limit: int) -> int:
        """Return an offset before which no suffix with at most ``limit`` tokens begins."""
        if limit >= self.count:
            return 0
        place = self._whole[-1 - limit]
        first = place - self._longest
        while place > max(first, 0):
            place -= 1
            if self.count_from(place) < limit:
                first = place - self._longest
        return max(first, 0)


#: The length in characters from which a piece is long; a shorter one is merged in milliseconds.
LONG = 1 << 11
#: The length in characters of the longest piece whose tokens are kept: each takes eight bytes.
_LONGEST = 1 << 23
#: The number of pieces whose tokens are kept.
_KEPT = 4
#: The number of tokens beside an edit that are merged again, in one try after another.
_BESIDE = (4, 32, 256)


class Merged(NamedTuple):
    """A chunk and its tokens.

    Args:
        data: the chunk in UTF-8.
        ids: the ids of its tokens.
        ends: the end of each token, in bytes.
    """

    data: bytes
    ids: array[int]
    ends: array[int]

    def start_of(self, number: int) -> int:
        """Return the place in bytes at which a token begins, or the end of all tokens."""
        return self.ends[number - 1] if number else 0

    def places(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Yield tokens, each as its id and its range in characters.

        Args:
            first, last: the number of tokens before the first one, and before the one after them.

        >>> merged = Merged("aé".encode(), array("I", [5, 6]), array("I", [2, 3]))
        >>> list(merged.places(0, 2))
        [(5, 0, 2), (6, 1, 2)]
        """
        data = self.data
        at = chars = 0
        for number in range(first, last):
            start, end = self.start_of(number), self.ends[number]
            while _goes_on(data, start):
                start -= 1
            while _goes_on(data, end):
                end += 1
            chars += len(data[at:start].decode())
            at = start
            yield self.ids[number], chars, chars + len(data[start:end].decode())

    def numbers(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the tokens that have a part of the text between two characters.

        >>> merged = Merged(b"abcd", array("I", [5, 6]), array("I", [2, 4]))
        >>> merged.numbers(1, 2), merged.numbers(1, 3)
        ((0, 1), (0, 2))
        """
        text = self.data.decode()
        begin, stop = len(text[:start].encode()), len(text[:end].encode())
        return bisect_right(self.ends, begin), bisect_left(self.ends, stop) + 1


class LongPieces:
    """The tokens of the long pieces of a document that were counted last.

    A piece is long if no cut point is near: a word of 200,000 letters, for instance. If it is one
    chunk, its tokens are known by their ends, and those of the piece that an edit makes of it are
    found by merging some tokens around the edit.

    Args:
        encoding: the encoding to count by.
    """

    __slots__ = ("_encoding", "_kept")

    def __init__(self, encoding: TextEncoder) -> None:
        self._encoding = encoding
        self._kept: tuple[Merged, ...] = ()

    def __reduce__(self) -> tuple[type[LongPieces], tuple[TextEncoder]]:
        return LongPieces, (self._encoding,)  # the tokens are found anew

    def merged(self, piece: str) -> Merged | None:
        """Return the tokens of a piece; None if it is not long, or its tokens are not found so.

        >>> from compat_bpe import get_encoding
        >>> pieces = LongPieces(get_encoding("gpt2"))
        >>> len(pieces.merged("ab" * 2000).ids)
        2000
        """
        if not LONG <= len(piece) <= _LONGEST:
            return None
        core = self._encoding.core
        if self._encoding.continued is not self._encoding or core.longest_token is None:
            return None
        try:
            data = piece.encode()
        except UnicodeEncodeError:
            return None  # a surrogate, which the encoding repairs
        for merged in self._kept:
            if merged.data == data:
                return merged
        splitter = core.splitter_of(piece)
        # What is not longer than a token may be one as a whole, whatever merging gives.
        if splitter is None or len(data) <= core.longest_token or splitter.chunks(piece) != [piece]:
            return None
        merged = self._edited(core, data) or _merged(core, data)
        self._kept = (merged, *self._kept[: _KEPT - 1])
        return merged

    def _edited(self, core: Core, data: bytes) -> Merged | None:
        """Return the tokens of a piece that an edit made of a known one; None if there is none."""
        for old in self._kept:
            before = _common(old.data, data)
            after = min(_common_end(old.data, data), min(len(old.data), len(data)) - before)
            if max(len(old.data), len(data)) - before - after < LONG:
                return _around(core, old, data, before, after)
        return None


def _merged(core: Core, data: bytes) -> Merged:
    ids = core.model.merge(data)
    return Merged(data, array("I", ids), array("I", accumulate(map(core.token_length, ids))))


def _around(core: Core, old: Merged, data: bytes, before: int, after: int) -> Merged | None:
    """Return the tokens of a piece by those of another one.

    Args:
        core: the core that merges.
        old: the other piece.
        data: the piece.
        before, after: the number of bytes that both have at the beginning, and at the end.

    Returns:
        The tokens; None if no junction is near the edit.
    """
    grown = len(data) - len(old.data)
    first = bisect_right(old.ends, before)
    last = bisect_left(old.ends, len(old.data) - after) + 1
    are_neighbours = partial(_are_neighbours, core.model.merge, core.token_length, data)
    for beside in _BESIDE:
        left, right = max(first - beside, 0), min(last + beside, len(old.ids))
        low, high = old.start_of(left), old.start_of(right) + grown
        between = _merged(core, data[low:high])
        if not between.ids:
            continue
        if left and not are_neighbours(old.start_of(left - 1), low, low + between.ends[0]):
            continue
        last_start = low + between.start_of(len(between.ids) - 1)
        if right < len(old.ids) and not are_neighbours(last_start, high, old.ends[right] + grown):
            continue
        ends = old.ends[:left]
        ends.extend(low + end for end in between.ends)
        ends.extend(end + grown for end in old.ends[right:])
        return Merged(data, old.ids[:left] + between.ids + old.ids[right:], ends)
    return None


def _common(one: bytes, other: bytes) -> int:
    """Return the number of bytes that two texts begin with, by bisection: slices compare in C."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes) -> int:
    """Return the number of bytes that two texts end with."""
    return _common(one[::-1], other[::-1])


def _goes_on(data: bytes, place: int) -> bool:
    """Return True if a place in UTF-8 is within a character."""
    return place < len(data) and data[place] & 0xC0 == 0x80
