"""All ways to write the words of a corpus with the pieces of a Unigram vocabulary.

The *lattice* of a word has a node before each character and at the end, and an edge for each piece
that stands between two nodes. A way through it is a way to write the word, and its probability is
the product of its pieces' probabilities.

Words that begin alike share the nodes and edges of what they have in common. So the lattice of a
whole corpus is a tree of nodes (a trie of its words), and each number that depends on the beginning
of a word only is computed once for all words that begin so.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import compress
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
    """Return the length of the beginning that two strings have in common."""
    if right.startswith(left):
        return len(left)
    length = 0
    for one, other in zip(left, right):
        if one != other:
            break
        length += 1
    return length
