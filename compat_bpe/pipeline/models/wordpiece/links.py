"""The longest pieces of a word in one pass over it, however long the pieces are.

The plain rule goes back to where the last piece ended, and reads from there again what it had read
as the beginning of a longer piece. For a piece of a million characters that is too much.

Here the pieces are a tree of characters. Each node, which is a text read since the last piece, has
a link for the case that no longer piece comes of it: the pieces that the plain rule takes from that
text, and the node of what is left. Every text that is left is shorter, so that in one pass over a
word there are no more links followed than characters read. (This is the failure link of Aho and
Corasick, as Song et al. use it in "Fast WordPiece Tokenization", 2021.)
"""

from __future__ import annotations

from ...cache import shareable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Union

    #: Pieces to be taken: an id, or those of several one after another.
    Taken = Union[int, tuple["Taken", ...]]

#: The number of bits of a character, below that of a node in the key of an edge.
_BITS = 21
#: The link of a node from which the plain rule comes to a dead end.
_DEAD = -1


class LinkedPieces:
    """The pieces of a vocabulary as a tree with links.

    Args:
        first: the pieces that begin a word, and their ids.
        others: those that continue one, without their prefix.

    >>> LinkedPieces({"a": 0, "abcd": 1}, {"b": 2, "c": 3}).encode("abcab")
    >>> LinkedPieces({"a": 0, "abcd": 1}, {"b": 2, "c": 3}).encode("abcb")
    (0, 2, 3, 2)
    """

    def __init__(self, first: Mapping[str, int], others: Mapping[str, int]) -> None:
        #: The node at which a word begins, and the one at which it goes on.
        self._begin, self._go_on = 0, 1
        self._edges: dict[int, int] = shareable()
        #: For each node, what its text is taken as, and the node of what is left.
        self._taken: list[Taken] = [(), ()]
        self._links = [_DEAD, _DEAD]
        levels: list[list[tuple[int, int]]] = []
        for root, pieces in ((self._begin, first), (self._go_on, others)):
            for piece, token_id in pieces.items():
                self._add(root, piece, token_id, levels)
        # A link goes to a node of fewer characters, which has its own by then.
        for level in levels:
            for parent, key in level:
                self._link(parent, key)

    def _add(self, root: int, piece: str, number: int, levels: list[list[tuple[int, int]]]) -> None:
        node = root
        for depth, char in enumerate(piece):
            key = node << _BITS | ord(char)
            next_node = self._edges.get(key)
            if next_node is None:
                next_node = self._edges[key] = len(self._links)
                self._taken.append(())
                self._links.append(_DEAD)
                if depth == len(levels):
                    levels.append([])
                levels[depth].append((node, key))
            node = next_node
        self._taken[node] = number
        self._links[node] = self._go_on

    def _link(self, parent: int, key: int) -> None:
        """Link a node: as its parent is linked, and on until its last character is read."""
        node = self._edges[key]
        if self._links[node] != _DEAD:
            return  # It is a piece.
        char = key & (1 << _BITS) - 1
        taken: list[Taken] = []
        at = parent
        while self._links[at] != _DEAD:
            taken.append(self._taken[at])
            at = self._links[at]
            target = self._edges.get(at << _BITS | char)
            if target is not None:
                self._taken[node] = taken[0] if len(taken) == 1 else tuple(taken)
                self._links[node] = target
                return

    def encode(self, word: str) -> tuple[int, ...] | None:
        """Return the ids of a word's pieces; None if it comes to a dead end."""
        taken: list[Taken] = []
        node = self._begin
        for char in map(ord, word):
            next_node = self._edges.get(node << _BITS | char)
            while next_node is None:
                taken.append(self._taken[node])
                node = self._links[node]
                if node == _DEAD:
                    return None
                next_node = self._edges.get(node << _BITS | char)
            node = next_node
        while word and node != self._go_on:
            taken.append(self._taken[node])
            node = self._links[node]
            if node == _DEAD:
                return None
        return _flat(taken)


def _flat(taken: list[Taken]) -> tuple[int, ...]:
    """Return the ids in order; the nesting may be deeper than calls can be."""
    ids: list[int] = []
    left = taken[::-1]
    while left:
        last = left.pop()
        if isinstance(last, int):
            ids.append(last)
        else:
            left.extend(reversed(last))
    return tuple(ids)
