"""The tokens of the prefixes and suffixes of a long chunk, and of a text without a cut point.

The property: a sequence of tokens is the result of merging its bytes if and only if each two
neighbours in it are the result of merging these two alone. The argument: as long as no merge
crosses the edge between two tokens, the merges on each side of it take place as if there were only
these two. So the first merge that crosses an edge would cross it in the two alone, too.

Three things follow:

- The tokens of a prefix are found without merging all of it. Keep the first tokens of the whole
  chunk, merge the remaining bytes, and check that merging the two tokens at the junction alone
  gives these two. The same holds for suffixes, from the other side.
- Dropping a prefix's last token leaves a shorter prefix with one token fewer.
- After an edit, the tokens before it and after it may stay, and the bytes between are merged by
  themselves, if at both junctions the two tokens alone give these two (``piece_tree``).

``possible_ends`` and ``possible_starts`` are for a long text without a cut point, such as a number
of a thousand digits, a line of a thousand hyphens, or a page of Thai. Each offset could be tried as
the end of a prefix, but each trial takes time in proportion to the text. So most offsets are ruled
out beforehand, in two ways:

- A chunk is the same in every prefix that has all the characters which the pattern looks at when
  it matches the chunk (``reach``). So the tokens of these chunks are in every longer prefix.
- The tokens of every prefix of one long chunk are found as above, provided that every
  prefix is one chunk, too.

The property for the second way: if two adjacent prefixes are each one chunk and all later
characters are of one class, every longer prefix is one chunk too. The argument, for a run of
characters of one class and a pattern without nested endless repeats:

1. The pattern can distinguish offsets in the run by a fixed number of characters only: those that
   its parts other than endless repeats take. A condition within a repeat sees as few.
2. Further than that from the end of the run, everything before it fails or matches alike. So the
   match ends at a fixed distance, either from its start or from the end of the prefix.
3. Two adjacent prefixes that both end with their match rule out a fixed distance from the start.
   So every longer prefix ends with its match, too.

Suffixes are simpler, since a match never looks back: the match at an offset is the same, no matter
what text before it is dropped.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from ..caches import Memo
from ..pattern.tree import (
    Alternatives,
    Chars,
    Look,
    Node,
    Repeat,
    Sequence,
    children,
    project,
    walk,
)
from ..pipeline.core import Core
from ..unicode.properties import CodePoints

if TYPE_CHECKING:
    from ..pattern.splitter import Splitter


#: The number of junctions tried in a part, and of parts tried, the last merged first. If no
#: junction fits, the prefix or suffix is merged by itself.
_JUNCTIONS_TRIED = 3
_PARTS_TRIED = 2
#: The number of merged parts kept: at each edge of a part the number of tokens is known. Several
#: are needed for a run of one letter, for instance. If it is merged from the left to tokens of
#: eight letters, two suffixes have edges in common only if they begin a multiple of eight apart.
_KEPT_PARTS = 256


def are_neighbours(
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
        self._are_neighbours = partial(are_neighbours, merge, length_of, data)
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
        for edges in self._beginnings[:_PARTS_TRIED]:
            kept = bisect_right(edges, end) - 1
            for number in range(kept, max(kept - _JUNCTIONS_TRIED, 0), -1):
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
        for edges in self._ends[:_PARTS_TRIED]:
            kept = bisect_left(edges, start)
            for number in range(kept, min(kept + _JUNCTIONS_TRIED, len(edges) - 1)):
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


#: The number of characters whose kinds are kept.
_CHARACTERS = 1 << 14
#: The length in characters below which every offset of a chunk counts as possible.
_LONG_CHUNK = 256


def possible_ends(core: Core, text: str, limit: int) -> Iterator[int]:
    """Yield the ends of all prefixes that may have at most ``limit`` tokens, the longest first.

    No prefix that has at most ``limit`` tokens is left out.
    """
    splitter = core.splitter_of(text)
    if splitter is None:
        yield from range(len(text), -1, -1)
        return
    limit = max(limit, 0)
    chunks = splitter.chunks(text)
    starts = [0, *accumulate(map(len, chunks))]
    #: The first n chunks are in every prefix that ends at kept[n] or later.
    kept, tokens = [0], [0]
    long: dict[int, tuple[_LongChunkOfText, int]] = {}
    within: Iterable[int]
    last = len(text)
    for number, (start, chunk) in enumerate(zip(starts, chunks)):
        kept.append(max(kept[-1], splitter.reach.end(text, start)))
        alone = None if len(chunk) < _LONG_CHUNK else _one_chunk_from(splitter, chunk)
        if alone is None:
            tokens.append(tokens[-1] + core.count_chunk(chunk))
        else:
            long[number] = _LongChunkOfText(core, chunk), alone
            tokens.append(tokens[-1] + long[number][0].chunk.count)
        if tokens[-1] > limit and kept[-1] <= last:
            last = kept[-1] - 1
            break
    for number in reversed(range(len(kept))):
        first = kept[number]
        if first <= last:
            start, end = starts[number], starts[min(number + 1, len(chunks))]
            yield from range(last, max(first - 1, end), -1)
            if number in long:
                chunk_, alone = long[number]
                within = chunk_.possible_ends(limit - tokens[number], alone)
            else:
                within = range(end - start, -1, -1)
            for place in within:
                if start + place < first:
                    break
                if start + place <= last:
                    yield start + place
            last = first - 1


def possible_starts(core: Core, text: str, limit: int) -> Iterator[int]:
    """Yield the starts of all suffixes that may have at most ``limit`` tokens, the longest first.

    No suffix that has at most ``limit`` tokens is left out.
    """
    splitter = core.splitter_of(text)
    if splitter is None:
        yield from range(len(text) + 1)
        return
    limit = max(limit, 0)
    ends = _Ends(core, splitter, text)
    #: The start of a run, the first offset in it that is possible, and its end.
    runs: list[tuple[int, int, int]] = []
    place = len(text)
    while place:
        place -= 1
        run = ends.run_before(place)
        if run is None:
            ends.count_from(place)
        else:
            rest = max(limit - ends.count_from(run.end), 0)
            first = bisect_left(run.long.offsets, run.long.chunk.first_start_within(rest))
            runs.append((run.start, run.start + first, run.last + 1))
            place = run.start
    done = 0
    for start, first, end in [*reversed(runs), (len(text) + 1,) * 3]:
        for place in chain(range(done, start), range(first, end)):
            if ends.count_from(place) <= limit:
                yield place
        done = end


class _LongChunkOfText:
    """A ``LongChunk`` with offsets in characters."""

    def __init__(self, core: Core, text: str) -> None:
        assert core.longest_token is not None
        self.longest = core.longest_token
        self.chunk = LongChunk(text.encode(), core.model.merge, core.token_length, self.longest)
        self.offsets = list(accumulate((len(char.encode()) for char in text), initial=0))

    def possible_ends(self, limit: int, alone: int) -> Iterator[int]:
        """Yield the ends of prefixes that may fit, if each is one chunk from this length on."""
        place = bisect_right(self.offsets, self.chunk.last_end_within(limit)) - 1
        for end in range(place, alone - 1, -1):
            offset = self.offsets[end]
            # Text not longer than the longest token may be a token as a whole.
            if offset <= self.longest or self.chunk.count_to(offset) <= limit:
                yield end
        yield from range(min(place, alone - 1), -1, -1)

    def count_from(self, start: int) -> int:
        return self.chunk.count_from(self.offsets[start])


class _Run(NamedTuple):
    """The offsets ``start`` to ``last``, from each of which the text up to ``end`` is one chunk."""

    start: int
    last: int
    end: int
    long: _LongChunkOfText


class _Ends:
    """The number of tokens of every suffix of a text; ask from the last offset backwards."""

    def __init__(self, core: Core, splitter: Splitter, text: str) -> None:
        self._core = core
        self._text = text
        self._chunk_end = splitter.chunk_end(text)
        self._kinds = _Kinds(splitter, text)
        self._totals: dict[int, int] = {len(text): 0}
        self._runs: list[_Run] = []
        self._longest = max(_LONG_CHUNK, core.longest_token or 0)
        #: The end of the current run of characters of one kind.
        self._kind_end = len(text)

    def count_from(self, place: int) -> int:
        total = self._totals.get(place)
        if total is None:
            for run in self._runs:
                if run.start <= place <= run.last:
                    total = run.long.count_from(place - run.start) + self.count_from(run.end)
                    break
            else:
                end = self._chunk_end(place)
                total = self._core.count_chunk(self._text[place:end]) + self.count_from(end)
            self._totals[place] = total
        return total

    def run_before(self, place: int) -> _Run | None:
        """Return the run whose last offset is ``place``, if it is known and its chunk is long."""
        text, kinds = self._text, self._kinds
        if place + 1 < len(text) and kinds.of[text[place]] != kinds.of[text[place + 1]]:
            self._kind_end = place + 1
        # The offset must be far enough from the end of the run, and the chunk long enough.
        if kinds.bound is None or self._kind_end - place <= max(kinds.bound, self._longest):
            return None
        end = self._chunk_end(place)
        if end - place <= self._longest or not place or self._chunk_end(place - 1) != end:
            return None
        start = place
        while start and kinds.of[text[start - 1]] == kinds.of[text[place]]:
            start -= 1
        if start == place:
            return None
        run = _Run(start, place, end, _LongChunkOfText(self._core, text[start:end]))
        self._runs.append(run)
        return run


class _Kinds:
    """The kinds of the characters of a text: the classes of a pattern that each one is in."""

    def __init__(self, splitter: Splitter, text: str) -> None:
        assert splitter.tree is not None
        points = CodePoints.from_ranges((ord(char), ord(char)) for char in set(text))
        tree = project(splitter.tree, lambda other: other & points)
        classes = list({node.points for node in walk(tree) if isinstance(node, Chars)})
        #: The kind of each character.
        self.of: Memo[str, tuple[bool, ...]] = Memo(
            lambda char: tuple(ord(char) in points for points in classes), _CHARACTERS
        )
        #: More characters than the pattern, apart from its endless repeats, can distinguish
        #: offsets by; None if such repeats are nested.
        self.bound = None if _has_nested(tree) else _size(tree)


def _one_chunk_from(splitter: Splitter, chunk: str) -> int | None:
    """Return the length from which all prefixes of a chunk are one chunk; None if not known."""
    kinds = _Kinds(splitter, chunk)
    start = len(chunk) - 1
    while start and kinds.of[chunk[start - 1]] == kinds.of[chunk[-1]]:
        start -= 1
    if kinds.bound is None or start + kinds.bound + 1 > len(chunk):
        return None
    place = start + kinds.bound
    beginnings = chunk[:place], chunk[: place + 1]
    return place if all(splitter.chunks(text) == [text] for text in beginnings) else None


def _has_nested(tree: Node) -> bool:
    """Return True if an endless repeat is of more than a class, with or without conditions."""
    return any(
        isinstance(node, Repeat) and node.high is None and not _is_one_character(node.item)
        for node in walk(tree)
    )


def _is_one_character(node: Node) -> bool:
    """Return True for a class, also with conditions on a fixed number of characters before it."""
    if isinstance(node, Sequence) and node.items:
        *conditions, node = node.items
        if not all(isinstance(one, Look) and _sees_few(one.item) for one in conditions):
            return False
    return isinstance(node, Chars)


def _sees_few(node: Node) -> bool:
    """Return True if a fixed number of characters says whether a part of a pattern matches.

    An endless repeat at its end matches if it does as often as it must.
    """
    if isinstance(node, Alternatives):
        return all(map(_sees_few, node.branches))
    if isinstance(node, Sequence) and node.items:
        *before, node = node.items
        if any(map(_is_endless, before)):
            return False
    if isinstance(node, Repeat):
        node = node.item
    return not _is_endless(node)


def _is_endless(node: Node) -> bool:
    """Return True if there is an endless repeat in a part of a pattern."""
    return any(isinstance(one, Repeat) and one.high is None for one in walk(node))


def _size(node: Node) -> int:
    """Return the number of characters and conditions in a pattern, with its repeats written out."""
    rounds = max(node.low, node.high or 1) if isinstance(node, Repeat) else 1
    is_one = not isinstance(node, (Sequence, Alternatives, Repeat))
    return is_one + rounds * sum(map(_size, children(node)))
