"""The pieces at all places of many words, in little memory.

The pieces that begin at one place of a word are the *edges* of that place, by their length. All
edges of all words are in two arrays, one after the other, and a third has their number at each
place. That is a tenth of the memory of lists.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, compress
from operator import sub
from typing import NamedTuple


class WordEdges(NamedTuple):
    """The edges of a word.

    Args:
        degrees: the number of edges at each place.
        ends: the place where each edge ends.
        numbers: the number of each edge's piece.
    """

    degrees: Sequence[int]
    ends: Sequence[int]
    numbers: Sequence[int]


class PieceMatcher:
    """Finds the pieces at each place of a word.

    Args:
        numbers: each piece and its number.
        unknown: the number of a character that is no piece.

    >>> PieceMatcher({"a": 0, "ab": 1}, 9).edges("ab")
    WordEdges(degrees=[2, 1], ends=[1, 2, 2], numbers=[0, 1, 9])
    """

    def __init__(self, numbers: Mapping[str, int], unknown: int) -> None:
        self.numbers = numbers
        self.unknown = unknown
        #: The length of the longest piece, by its first two characters.
        self._longest: dict[str, int] = {}
        for piece in numbers:
            if self._longest.get(piece[:2], 1) < len(piece):
                self._longest[piece[:2]] = len(piece)

    def edges(self, word: str) -> WordEdges:
        """Return the edges of a word; that of an unknown character is the last of its place."""
        find, longest, size = self.numbers.get, self._longest.get, len(word)
        degrees: list[int] = []
        ends: list[int] = []
        numbers: list[int] = []
        add_end, add_number = ends.append, numbers.append
        for start in range(size):
            before = len(ends)
            number = find(word[start])
            if number is not None:
                add_end(start + 1)
                add_number(number)
            last = min(start + longest(word[start : start + 2], 1), size)
            for end in range(start + 2, last + 1):
                longer = find(word[start:end])
                if longer is not None:
                    add_end(end)
                    add_number(longer)
            if number is None:
                add_end(start + 1)
                add_number(self.unknown)
            degrees.append(len(ends) - before)
        return WordEdges(degrees, ends, numbers)


class PackedEdges:
    """The edges of many words, in arrays.

    Args:
        words: the words.
        pieces: the pieces.

    >>> words = PackedEdges(["ab", "b"], PieceMatcher({"a": 0, "ab": 1, "b": 2}, 3))
    >>> words.keep([True, True, False, True], {"b": 2})
    >>> [word.numbers.tolist() for word in words]
    [[0, 1, 3], [3]]
    """

    def __init__(self, words: Sequence[str], pieces: PieceMatcher) -> None:
        self._words = words
        self._unknown = pieces.unknown
        # A line may be long.
        place = "H" if max(map(len, words), default=0) < 1 << 16 else "i"
        self._degrees, self._ends = array(place), array(place)
        self._numbers = array("i")
        for word in words:
            edges = pieces.edges(word)
            self._degrees.extend(edges.degrees)
            self._ends.extend(edges.ends)
            self._numbers.extend(edges.numbers)

    def __iter__(self) -> Iterator[WordEdges]:
        """Yield the edges of each word."""
        degrees, ends, numbers = self._degrees, self._ends, self._numbers
        place = edge = 0
        for word in self._words:
            of_word = degrees[place : place + len(word)]
            stop = edge + sum(of_word)
            yield WordEdges(of_word, ends[edge:stop], numbers[edge:stop])
            place += len(word)
            edge = stop

    def keep(self, is_kept: Sequence[bool], characters: Mapping[str, int]) -> None:
        """Drop the edges of pieces that are no more.

        Args:
            is_kept: True at the numbers of the pieces that are left, and of the unknown one.
            characters: the characters that are no pieces any more, and their numbers.
        """
        stays = bytearray(is_kept)
        if characters:
            becomes = array("i", range(len(is_kept)))
            for number in characters.values():
                stays[number] = True
                becomes[number] = self._unknown
            flags = bytes(map(stays.__getitem__, self._numbers))
            self._numbers = array("i", map(becomes.__getitem__, self._numbers))
        else:
            flags = bytes(map(stays.__getitem__, self._numbers))
        # The number of edges that stay before each edge, of which the degrees are differences.
        before = array("q", accumulate(flags, initial=0))
        firsts = map(before.__getitem__, accumulate(self._degrees, initial=0))
        left = array("q", firsts)
        self._degrees = array(self._degrees.typecode, map(sub, left[1:], left))
        self._ends = array(self._ends.typecode, compress(self._ends, flags))
        self._numbers = array("i", compress(self._numbers, flags))
        if characters:
            self._move_unknown(set(characters), left)

    def _move_unknown(self, characters: set[str], firsts: Sequence[int]) -> None:
        """Make the edges of some characters the last of their places."""
        ends, numbers, unknown = self._ends, self._numbers, self._unknown
        place = 0
        for word in self._words:
            if not characters.isdisjoint(word):
                for start in range(place, place + len(word)):
                    first, stop = firsts[start], firsts[start + 1]
                    if stop > first + 1 and numbers[first] == unknown:
                        numbers[first:stop] = numbers[first + 1 : stop] + numbers[first : first + 1]
                        ends[first:stop] = ends[first + 1 : stop] + ends[first : first + 1]
            place += len(word)
