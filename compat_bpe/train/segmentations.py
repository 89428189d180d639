"""The ways to write words with pieces, and the expected number of each piece.

The *lattice* of a word has a node before each character and at the end, and an edge for each piece
between two nodes. A way through it is a way to write the word, and its probability is
the product of its pieces' probabilities.

Words share the nodes and edges of a common beginning. The lattice of a whole corpus is thus a tree
of nodes (a trie of its words), and each number that depends only on the beginning of a word is
computed once for all words with that beginning.

**The plain rule** is the textbook's for one word: forward and backward, in logarithms. The
operations and their order are those of tokenizers, so for one word the numbers have the same
bits. It is several times slower than ``SharedLattice.expect``, which shares what words have in
common and multiplies probabilities. It is used for words so long that these are too small for
floats, and for numbers so near to a limit that the last bits decide.

**A long word**, such as a line of Chinese or a text without pre-tokenizer, hardly ever comes back.
But between many of its characters is a *joint*: no piece has the two next to each other, so every
way to write the word goes through there. Then the word's probability is the product of those of its
parts, and its expected numbers and its best way are those of its parts together. So the parts are
treated as words. They are short and recur, and as pieces are dropped, there are more joints.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from math import exp, log
from operator import add
from typing import NamedTuple

#: The least probability of a word that is not too near to the least float.
_LEAST = 1e-250
_NEVER = float("-inf")


class Best(NamedTuple):
    """The best ways to all nodes of a lattice.

    Args:
        edges: of each node, the last edge of the best way there; -1 at node 0.
        others: of each node, the last edge of the best way that has more than one piece; -1 if
            there is none.
        is_whole: of each node, True if the best way there is one piece.
    """

    edges: list[int]
    others: list[int]
    is_whole: list[bool]


class SharedLattice:
    """The lattice of words that share their beginnings.

    Args:
        words: different words, in the order of ``sorted``, none of them empty.
        ids: each piece and its id. All characters of the words are pieces.

    The edges are ordered by the node where they end, then by that where they begin. Node 0 is the
    beginning of all words, and a node has a greater number than those before it.

    >>> lattice = SharedLattice(["ab", "abc"], {"a": 0, "b": 1, "c": 2, "bc": 3})
    >>> lattice.size, list(lattice.ends)
    (4, [2, 3])
    >>> list(zip(lattice.starts, lattice.pieces, lattice.stops))
    [(0, 0, 1), (1, 1, 2), (1, 3, 3), (2, 2, 3)]
    """

    def __init__(self, words: Sequence[str], ids: Mapping[str, int]) -> None:
        self.words = words
        #: The node at the end of each word.
        self.ends = array("i")
        #: Of each edge: the node where it begins, its piece, and the node where it ends.
        self.starts = array("i")
        self.pieces = array("i")
        self.stops = array("i")
        find = ids.get
        find_longest = _longest_by_end(ids).get
        add_start, add_piece = self.starts.append, self.pieces.append
        add_stop, add_end = self.stops.append, self.ends.append
        path = [0]
        node = 0
        before = ""
        for word in words:
            shared = _common(before, word)
            del path[shared + 1 :]
            for end in range(shared + 1, len(word) + 1):
                node += 1
                first = end - find_longest(word[end - 2 : end], 1) if end > 1 else 0
                for start in range(first if first > 0 else 0, end):
                    piece = find(word[start:end])
                    if piece is not None:
                        add_start(path[start])
                        add_piece(piece)
                        add_stop(node)
                path.append(node)
            add_end(node)
            before = word
        #: The number of nodes.
        self.size = node + 1

    def keep(self, live: Sequence[bool]) -> None:
        """Drop the edges of all pieces but those that are True at their ids."""
        kept = bytes(map(live.__getitem__, self.pieces))
        self.starts = array("i", compress(self.starts, kept))
        self.pieces = array("i", compress(self.pieces, kept))
        self.stops = array("i", compress(self.stops, kept))

    def expect(
        self, counts: Sequence[float], probabilities: Sequence[float], expected: list[float]
    ) -> tuple[list[float], list[int]]:
        """Add the expected number of each piece to ``expected``.

        With Z the probability of a word, the sum of all its ways, the expected number of a piece is
        the derivative of ``sum(count * log(Z))`` by the logarithm of the piece's probability. It
        is computed like any derivative: forward for the probability of each node, backward for what
        a node adds to the sum.

        Args:
            counts: the count of each word.
            probabilities: the probability of each piece.
            expected: the numbers of the pieces so far, by id.

        Returns:
            The probability of each word, and the indices of words whose probability is too small
            for floats; these have been left out.

        >>> lattice = SharedLattice(["ab"], {"a": 0, "b": 1, "ab": 2})
        >>> expected = [0.0, 0.0, 0.0]
        >>> lattice.expect([4], [0.5, 0.25, 0.375], expected)
        ([0.5], [])
        >>> expected
        [1.0, 1.0, 3.0]
        """
        forward = [0.0] * self.size
        forward[0] = 1.0
        for start, piece, stop in zip(self.starts, self.pieces, self.stops):
            forward[stop] += forward[start] * probabilities[piece]
        totals = [forward[end] for end in self.ends]
        backward = [0.0] * self.size
        left_out = []
        for index, (end, total) in enumerate(zip(self.ends, totals)):
            if total > _LEAST:
                backward[end] = counts[index] / total
            else:
                left_out.append(index)
        for start, piece, stop in zip(
            reversed(self.starts), reversed(self.pieces), reversed(self.stops)
        ):
            part = backward[stop] * probabilities[piece]
            backward[start] += part
            expected[piece] += forward[start] * part
        return totals, left_out

    def best(self, scores: Sequence[float]) -> Best:
        """Return the best ways to all nodes.

        A later way must be better, not only as good, and sums are added up from the left, as in
        tokenizers.

        Args:
            scores: the logarithms of the pieces' probabilities.
        """
        size = self.size
        best = [_NEVER] * size
        best[0] = 0.0
        edges = [-1] * size
        other = [_NEVER] * size
        others = [-1] * size
        for edge, (start, piece, stop) in enumerate(zip(self.starts, self.pieces, self.stops)):
            total = best[start] + scores[piece]
            if total > best[stop]:
                best[stop] = total
                edges[stop] = edge
            if start and total > other[stop]:
                other[stop] = total
                others[stop] = edge
        starts = self.starts
        return Best(edges, others, [edge >= 0 and not starts[edge] for edge in edges])

    def best_counts(self, counts: Sequence[float], scores: Sequence[float]) -> list[float]:
        """Return the number of each piece, by id, if each word is written in its best way.

        Args:
            counts, scores: as above.
        """
        edges = self.best(scores).edges
        numbers = [0.0] * len(scores)
        through = [0.0] * self.size
        for end, count in zip(self.ends, counts):
            through[end] += count
        starts, pieces = self.starts, self.pieces
        for node in range(self.size - 1, 0, -1):
            if through[node]:
                edge = edges[node]
                numbers[pieces[edge]] += through[node]
                through[starts[edge]] += through[node]
        return numbers

    def way(self, edges: Sequence[int], edge: int) -> list[int]:
        """Return the pieces of a way, by its last edge and the last edges of ways to nodes."""
        pieces = []
        while edge >= 0:
            pieces.append(self.pieces[edge])
            edge = edges[self.starts[edge]]
        return pieces[::-1]


def _longest_by_end(pieces: Mapping[str, int]) -> dict[str, int]:
    """Return, by the last two characters, the length of the longest piece that ends with them."""
    longest: dict[str, int] = {}
    for piece in pieces:
        end = piece[-2:]
        if longest.get(end, 0) < len(piece):
            longest[end] = len(piece)
    return longest


def _common(left: str, right: str) -> int:
    """Return the length of the common beginning of two strings."""
    if right.startswith(left):
        return len(left)
    length = 0
    for one, other in zip(left, right):
        if one != other:
            break
        length += 1
    return length


#: A number whose logarithm is less by this does not change a sum.
_NEGLIGIBLE = 50.0


class PlainModel:
    """Pieces and the logarithms of their probabilities.

    Args:
        ids: each piece and its id.
        scores: their scores; -inf for a piece that is not used.
        unknown: the score that marks an unknown character; tokenizers takes it after the longer
            pieces that begin with it.

    >>> scores = [log(0.5), log(0.25), log(0.375)]
    >>> model = PlainModel({"a": 0, "b": 1, "ab": 2}, scores)
    >>> expected = [0.0, 0.0, 0.0]
    >>> round(exp(model.expect("ab", 4, expected)), 9), [round(number, 9) for number in expected]
    (0.5, [1.0, 1.0, 3.0])
    >>> model.best("ab")
    [2]
    """

    def __init__(
        self, ids: Mapping[str, int], scores: Sequence[float], unknown: float | None = None
    ) -> None:
        self._ids = {piece: number for piece, number in ids.items() if scores[number] > _NEVER}
        self._scores = scores
        self._unknown = unknown
        self._longest = max(map(len, self._ids), default=1)

    def edges(self, word: str, start: int) -> list[tuple[int, int, float]]:
        """Return the pieces that begin at a place: where they end, their ids and their scores."""
        find = self._ids.get
        edges = []
        for stop in range(start + 1, min(start + self._longest, len(word)) + 1):
            piece = find(word[start:stop])
            if piece is not None:
                edges.append((stop, piece, self._scores[piece]))
        if edges[0][2] == self._unknown:
            edges.append(edges.pop(0))
        return edges

    def expect(self, word: str, count: float, expected: list[float]) -> float:
        """Add the expected number of each piece to ``expected``.

        Args:
            word: a word all of whose characters are pieces.
            count: its count.
            expected: the numbers so far, by id.

        Returns:
            The logarithm of the word's probability.
        """
        size = len(word)
        # Every character is a piece, so every place is reached.
        forward = [0.0] + [_NEVER] * size
        for start in range(size):
            # All edges that end here began at earlier nodes.
            for stop, _, score in self.edges(word, start):
                forward[stop] = add_logs(forward[stop], score + forward[start])
        backward = [_NEVER] * size + [0.0]
        for start in range(size - 1, -1, -1):
            for stop, _, score in self.edges(word, start):
                backward[start] = add_logs(backward[start], score + backward[stop])
        total = forward[size]
        for start in range(size):
            for stop, piece, score in self.edges(word, start):
                part = forward[start] + score + backward[stop] - total
                expected[piece] += count * exp(part)
        return total

    def best(self, word: str) -> list[int]:
        """Return the pieces of the best way to write a word; see ``SharedLattice.best``."""
        size = len(word)
        best = [0.0] + [_NEVER] * size
        last = [(0, 0)] * (size + 1)
        for start in range(size):
            for stop, piece, score in self.edges(word, start):
                total = best[start] + score
                if total > best[stop]:
                    best[stop] = total
                    last[stop] = (start, piece)
        way = []
        place = size
        while place:
            place, piece = last[place]
            way.append(piece)
        return way[::-1]


def add_logs(left: float, right: float) -> float:
    """Return the logarithm of the sum of two numbers, given theirs; the second is not 0.

    >>> round(exp(add_logs(log(2.0), log(3.0))), 9)
    5.0
    """
    low, high = (right, left) if left > right else (left, right)
    if high > low + _NEGLIGIBLE:
        return high
    return high + log(exp(low - high) + 1.0)


#: The length in characters above which words are split at joints.
_LONG = 16
#: The length above which a part does not share a lattice with others.
_TOO_LONG = 1000
#: A new lattice is made if the words are shortened to less than this part.
_WORTH = 0.8
#: A number that is as near as this to a limit is computed again as in the reference.
_NEAR = 1e-9


class Segmentations:
    """Counted words, and all ways to write them with pieces.

    Args:
        counts: the words and their counts.
        pieces: all pieces; the index is the id. All characters of the words are among them.

    >>> words = Segmentations({"ab": 4}, ["a", "b", "ab"])
    >>> scores = [log(0.5), log(0.25), log(0.375)]
    >>> [round(number, 9) for number in words.expect(scores, 0.5)[0]]
    [1.0, 1.0, 3.0]
    >>> words.best_counts(scores)
    [0.0, 0.0, 4.0]
    """

    def __init__(self, counts: Mapping[str, float], pieces: Sequence[str]) -> None:
        #: The sum of all counts.
        self.total = float(sum(counts.values()))
        self._pieces = pieces
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self._live = set(range(len(pieces)))
        self._prepare(_split(counts, pieces))

    def _prepare(self, counts: Mapping[str, float]) -> None:
        """Take words, or parts of them."""
        #: The number of characters.
        self._size = sum(map(len, counts))
        #: True if it may be worth while to split anew when pieces are dropped.
        self._is_long = sum(len(word) for word in counts if len(word) > _LONG) * 4 > self._size
        short = sorted(word for word in counts if len(word) <= _TOO_LONG)
        self._counts = array("d", map(counts.__getitem__, short))
        self._long = {word: counts[word] for word in sorted(counts) if len(word) > _TOO_LONG}
        live = map(self._pieces.__getitem__, sorted(self._live))
        self._lattice = SharedLattice(short, {piece: self._ids[piece] for piece in live})

    def keep(self, live: Iterable[int]) -> None:
        """Drop all pieces but those of the given ids; all characters must be among them."""
        left = set(live)
        if len(left) == len(self._live):
            return
        self._live = left
        if self._is_long:
            parts = _split(dict(self._all()), map(self._pieces.__getitem__, self._live))
            if sum(map(len, parts)) < self._size * _WORTH:
                self._prepare(parts)
                return
        self._lattice.keep([number in self._live for number in range(len(self._pieces))])

    def expect(
        self, scores: Sequence[float], limit: float, unknown: float | None = None
    ) -> tuple[list[float], float]:
        """Return the expected number of each piece, by id, and the words' log probability.

        Args:
            scores: the logarithms of the pieces' probabilities, by id.
            limit: numbers near to it are computed again, with the reference's operations.
            unknown: the score that marks unknown characters.
        """
        expected = [0.0] * len(scores)
        totals, left_out = self._lattice.expect(self._counts, list(map(exp, scores)), expected)
        rest = [(self._lattice.words[index], self._counts[index]) for index in left_out]
        for index in left_out:
            totals[index] = 1.0
        objective = 0.0
        for total, count in zip(totals, self._counts):
            objective += log(total) * count
        rest += self._long.items()
        if rest:
            model = PlainModel(self._ids, scores, unknown)
            for word, count in rest:
                objective += count * model.expect(word, count, expected)
        near = [piece for piece in self._live if abs(expected[piece] - limit) < _NEAR]
        if near:
            again = self._expect_again(near, PlainModel(self._ids, scores, unknown))
            for piece in near:
                expected[piece] = again[piece]
        return expected, objective

    def _expect_again(self, pieces: Sequence[int], model: PlainModel) -> list[float]:
        """Return the expected numbers of some pieces, with the reference's operations."""
        expected = [0.0] * len(self._pieces)
        texts = [self._pieces[piece] for piece in pieces]
        for word, count in self._all():
            if any(text in word for text in texts):
                model.expect(word, count, expected)
        return expected

    def best_counts(self, scores: Sequence[float]) -> list[float]:
        """Return the number of each piece, by id, if each word is written in its best way."""
        numbers = self._lattice.best_counts(self._counts, scores)
        if self._long:
            model = PlainModel(self._ids, scores)
            for word, count in self._long.items():
                for piece in model.best(word):
                    numbers[piece] += count
        return numbers

    def _all(self) -> Iterator[tuple[str, float]]:
        yield from zip(self._lattice.words, self._counts)
        yield from self._long.items()


def _split(counts: Mapping[str, float], pieces: Iterable[str]) -> dict[str, float]:
    """Return words, long ones as their parts between joints."""
    parts = {word: count for word, count in counts.items() if len(word) <= _LONG}
    if len(parts) == len(counts):
        return parts
    pairs: set[str] = set()
    for piece in pieces:
        pairs.update(map(add, piece, piece[1:]))
    for word, count in counts.items():
        if len(word) <= _LONG:
            continue
        start = 0
        for end, pair in enumerate(map(add, word, word[1:]), 1):
            if pair not in pairs:
                part = word[start:end]
                parts[part] = parts.get(part, 0) + count
                start = end
        part = word[start:]
        parts[part] = parts.get(part, 0) + count
    return parts
