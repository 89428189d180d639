"""The pieces of a document, by position, with their numbers of tokens; the tokens of long pieces.

``PieceTree`` is a B+ tree. ``LongPieceTokens`` has the tokens of long pieces, also after an edit.

The pieces are in the lowest nodes, and each node has the number of characters and of tokens of each
of its items. So finding an offset, and the tokens before it, visits one node of each height. A tree
is never changed: a change gives a new tree, which shares with the old one all nodes that are not on
the way to the changed pieces.

Other amounts of text that add up, such as line ends, are measured when first needed, and kept in
the nodes. So after a change only the nodes on the way to it are measured again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from typing import Any, Callable, NamedTuple

from ..pipeline.core import Core
from ..pipeline.cutter import TextEncoder
from ..unicode.text import common_length
from .long_chunk import are_neighbours

#: The most items of a node. Each node except the root has at least half as many.
WIDTH = 32

#: A function that gives an amount of a text. The amount of two pieces is that of both together.
Measure = Callable[[str], int]


class Place(NamedTuple):
    """A piece and its position.

    Args:
        piece: its text.
        start: the number of characters before it.
        tokens: the number of its tokens.
        tokens_before: the number of tokens before it.
    """

    piece: str
    start: int
    tokens: int
    tokens_before: int


class Measured(NamedTuple):
    """A piece and two amounts of the text before it, as ``PieceTree.find_amount`` finds them."""

    piece: str
    before: int
    other_before: int


class PieceTree:
    """A sequence of pieces of text, each with its number of tokens.

    Args:
        pieces: texts, each not empty.
        tokens: the number of tokens of each piece.

    >>> tree = PieceTree(["hello", " world"], [1, 1])
    >>> tree.find(7)
    Place(piece=' world', start=5, tokens=1, tokens_before=1)
    >>> list(tree.replaced(0, 5, ["good", "bye"], [1, 1]).pieces())
    ['good', 'bye', ' world']
    """

    __slots__ = ("_height", "_root", "chars", "tokens")

    def __init__(self, pieces: list[str], tokens: list[int]) -> None:
        self._grow(_Node([*pieces], list(map(len, pieces)), [*tokens]), 0)

    def _grow(self, root: _Node, height: int) -> None:
        """Set the root.

        A root with too many items gets nodes above it. A root with a single item is replaced by it.
        """
        #: The number of characters, and of tokens, of all pieces.
        self.chars, self.tokens = sum(root.chars), sum(root.tokens)
        while len(root.items) > WIDTH:
            root, height = _above(root), height + 1
        while height and len(root.items) == 1:
            root, height = root.items[0], height - 1
        self._root, self._height = root, height if root.items else 0

    def find(self, at: int) -> Place:
        """Return the piece with the character at an offset; there must be one."""
        node, index, start, before = self._descend(len, at, None)
        return Place(node.items[index], start, node.tokens[index], before)

    def find_token(self, number: int) -> Place:
        """Return the piece with a token, counted from 0; there must be one."""
        node, index, before, start = self._descend(None, number, len)
        return Place(node.items[index], start, node.tokens[index], before)

    def find_amount(self, measure: Measure, number: int, other: Measure = len) -> Measured:
        """Return the piece with a unit of an amount, such as a line end, counted from 0.

        Args:
            measure: the function that measures the amount.
            number: from 0 to the total less 1.
            other: the other amount to return for the text before the piece.

        >>> tree = PieceTree(["a\\nb", "\\n", "c"], [1, 1, 1])
        >>> tree.find_amount(lambda piece: piece.count("\\n"), 1)
        Measured(piece='\\n', before=1, other_before=3)
        """
        node, index, before, other_before = self._descend(measure, number, other)
        return Measured(node.items[index], before, other_before)

    def _descend(
        self, measure: Measure | None, number: int, other: Measure | None
    ) -> tuple[_Node, int, int, int]:
        """Return where the piece with a unit is, and the amounts of the text before it.

        Args:
            measure, number: the unit, as for ``find_amount``; None for tokens.
            other: the other amount to return for the text before the piece.

        Returns:
            The lowest node, the index of the piece in it, and the two amounts.
        """
        node = self._root
        before = other_before = 0
        for height in range(self._height, -1, -1):
            ends = list(accumulate(node.amounts(measure, height)))
            index = bisect_right(ends, number - before)
            before += ends[index - 1] if index else 0
            other_before += sum(node.amounts(other, height)[:index])
            if not height:
                break
            node = node.items[index]
        return node, index, before, other_before

    def total(self, measure: Measure) -> int:
        """Return an amount of all pieces."""
        return sum(self._root.amounts(measure, self._height))

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[str]:
        """Yield the pieces, or those with a character from ``start`` to ``end``."""
        return _pieces(self._root, self._height, start, self.chars if end is None else end)

    def replaced(self, start: int, end: int, pieces: list[str], tokens: list[int]) -> PieceTree:
        """Return a tree in which the pieces from ``start`` to ``end`` are replaced.

        Args:
            start, end: the start of a piece and the end of a piece. There is a piece between
                them, unless the tree is empty.
            pieces, tokens: the new pieces and their tokens, as for a new tree.
        """
        if start == end:
            return PieceTree(pieces, tokens)
        new = _Node(pieces, list(map(len, pieces)), tokens)
        tree = PieceTree.__new__(PieceTree)
        tree._grow(_replaced(self._root, self._height, start, end, new), self._height)
        return tree


class _Node:
    """A node: pieces, or nodes of one height, with the characters and the tokens of each."""

    __slots__ = ("_amounts", "chars", "items", "tokens")

    def __init__(self, items: list[Any], chars: list[int], tokens: list[int]) -> None:
        self.items = items
        self.chars = chars
        self.tokens = tokens
        #: Other amounts of each item, by the function that measures them; None until one is known.
        self._amounts: dict[Measure, list[int]] | None = None

    def amounts(self, measure: Measure | None, height: int) -> list[int]:
        """Return an amount of each item of a node of this height; None stands for tokens."""
        if measure is len:
            return self.chars
        if measure is None:
            return self.tokens
        if self._amounts is None:
            self._amounts = {}
        amounts = self._amounts.get(measure)
        if amounts is None:
            if height:
                amounts = [sum(node.amounts(measure, height - 1)) for node in self.items]
            else:
                amounts = list(map(measure, self.items))
            self._amounts[measure] = amounts
        return amounts

    def part(self, first: int, end: int) -> _Node:
        return _Node(self.items[first:end], self.chars[first:end], self.tokens[first:end])

    def replaced(self, first: int, end: int, new: _Node) -> _Node:
        """Return the node with some of its items replaced by those of another."""
        return _Node(
            self.items[:first] + new.items + self.items[end:],
            self.chars[:first] + new.chars + self.chars[end:],
            self.tokens[:first] + new.tokens + self.tokens[end:],
        )


_EMPTY = _Node([], [], [])

# These functions accept and return root-like nodes: any number of children; a single child is
# itself root-like. Each of several children has WIDTH // 2 to WIDTH items.


def _find(node: _Node, at: int) -> tuple[int, int]:
    """Return the index of the item with the character at an offset, and the offset of the item."""
    ends = list(accumulate(node.chars))
    index = bisect_right(ends, at)
    return index, ends[index - 1] if index else 0


def _pieces(node: _Node, height: int, start: int, end: int) -> Iterator[str]:
    for item, chars in zip(node.items, node.chars):
        if end <= 0:
            break
        if start < chars:
            if height:
                yield from _pieces(item, height - 1, start, end)
            else:
                yield item
        start -= chars
        end -= chars


def _replaced(node: _Node, height: int, start: int, end: int, new: _Node) -> _Node:
    """Return a node in which the pieces from ``start`` to ``end`` are those of ``new``."""
    first, left = _find(node, start)
    last, left_of_last = first, left
    if end > left + node.chars[first]:
        last, left_of_last = _find(node, end - 1)
    if not height:
        return node.replaced(first, last + 1, new)
    height -= 1
    if first == last:
        child = _replaced(node.items[first], height, start - left, end - left, new)
    else:
        before = _replaced(node.items[first], height, start - left, node.chars[first], new)
        after = _replaced(node.items[last], height, 0, end - left_of_last, _EMPTY)
        child = _joined(before, after, height)
    if len(child.items) < WIDTH // 2:
        if last + 1 < len(node.items):
            last += 1
            child = _joined(child, node.items[last], height)
        elif first:
            first -= 1
            child = _joined(node.items[first], child, height)
    return node.replaced(first, last + 1, _above(child))


def _joined(left: _Node, right: _Node, height: int) -> _Node:
    """Return a node with the items of both; a single item is joined to its neighbour."""
    if not left.items or not right.items:
        return left if left.items else right
    if height and (len(left.items) == 1 or len(right.items) == 1):
        seam = _above(_joined(left.items[-1], right.items[0], height - 1))
        left = left.replaced(len(left.items) - 1, len(left.items), seam)
        right = right.part(1, len(right.items))
    return left.replaced(len(left.items), len(left.items), right)


def _above(node: _Node) -> _Node:
    """Return a node whose children have the items of another, each of a proper width."""
    count = len(node.items)
    if not count:
        return _EMPTY
    parts = -(-count // WIDTH)
    bounds = [count * number // parts for number in range(parts + 1)]
    nodes = [node.part(*pair) for pair in zip(bounds, bounds[1:])] if parts > 1 else [node]
    return _Node(nodes, [sum(n.chars) for n in nodes], [sum(n.tokens) for n in nodes])


#: The length in characters from which a piece is long; a shorter one is merged in milliseconds.
LONG_PIECE = 1 << 11
#: The length in characters of the longest piece whose tokens are kept: each takes eight bytes.
_LONGEST_PIECE = 1 << 23
#: The number of pieces whose tokens are kept.
_KEPT_PIECES = 4
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
            first, last: the numbers of the first token, and of the token after the last one.

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


class LongPieceTokens:
    """The tokens of the long pieces of a document that were counted last.

    A piece is long if no cut point is near: a word of 200,000 letters, for instance. If it is one
    chunk, the ends of its tokens are kept. After an edit, only some tokens around the edit are
    merged to find the tokens of the new piece.

    Args:
        encoding: the encoding to count by.
    """

    __slots__ = ("_encoding", "_kept")

    def __init__(self, encoding: TextEncoder) -> None:
        self._encoding = encoding
        self._kept: tuple[Merged, ...] = ()

    def __reduce__(self) -> tuple[type[LongPieceTokens], tuple[TextEncoder]]:
        return LongPieceTokens, (self._encoding,)  # the tokens are found anew

    def merged(self, piece: str) -> Merged | None:
        """Return the tokens of a piece; None if it is not long, or this method does not apply.

        >>> from compat_bpe import get_encoding
        >>> pieces = LongPieceTokens(get_encoding("gpt2"))
        >>> len(pieces.merged("ab" * 2000).ids)
        2000
        """
        if not LONG_PIECE <= len(piece) <= _LONGEST_PIECE:
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
        # A piece not longer than a token may be one token, even if merging does not make it.
        if splitter is None or len(data) <= core.longest_token or splitter.chunks(piece) != [piece]:
            return None
        merged = self._edited(core, data) or _merged(core, data)
        self._kept = (merged, *self._kept[: _KEPT_PIECES - 1])
        return merged

    def _edited(self, core: Core, data: bytes) -> Merged | None:
        """Return the tokens of a piece that an edit made of a known one; None if there is none."""
        for old in self._kept:
            before = common_length(old.data, data)
            after = common_length(old.data[before:][::-1], data[before:][::-1])
            if max(len(old.data), len(data)) - before - after < LONG_PIECE:
                return _around(core, old, data, before, after)
        return None


def _merged(core: Core, data: bytes) -> Merged:
    ids = core.model.merge(data)
    return Merged(data, array("I", ids), array("I", accumulate(map(core.token_length, ids))))


def _around(core: Core, old: Merged, data: bytes, before: int, after: int) -> Merged | None:
    """Return the tokens of a piece by the tokens of another piece.

    Args:
        core: the core that merges.
        old: the other piece.
        data: the piece.
        before, after: the number of bytes that both share at the beginning, and at the end.

    Returns:
        The tokens; None if no junction is near the edit.
    """
    grown = len(data) - len(old.data)
    first = bisect_right(old.ends, before)
    last = bisect_left(old.ends, len(old.data) - after) + 1
    fit_together = partial(are_neighbours, core.model.merge, core.token_length, data)
    for beside in _BESIDE:
        left, right = max(first - beside, 0), min(last + beside, len(old.ids))
        low, high = old.start_of(left), old.start_of(right) + grown
        between = _merged(core, data[low:high])
        if not between.ids:
            continue
        if left and not fit_together(old.start_of(left - 1), low, low + between.ends[0]):
            continue
        last_start = low + between.start_of(len(between.ids) - 1)
        if right < len(old.ids) and not fit_together(last_start, high, old.ends[right] + grown):
            continue
        ends = old.ends[:left]
        ends.extend(low + end for end in between.ends)
        ends.extend(end + grown for end in old.ends[right:])
        return Merged(data, old.ids[:left] + between.ids + old.ids[right:], ends)
    return None


def _goes_on(data: bytes, place: int) -> bool:
    """Return True if a place in UTF-8 is within a character."""
    return place < len(data) and data[place] & 0xC0 == 0x80
