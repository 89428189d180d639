r"""Characters that follow each other in matches; they show cut points and the reach of a match.

The property of the position automaton (Glushkov 1961): the characters of every match are on a path
of positions, each of which may follow the one before. The argument: each class in the tree is a
position. A match goes through the tree in an order that the tree allows, and takes each character
at a class. Conditions (lookaround, anchors), the order of alternatives, and the preferences of
greedy, lazy, possessive and atomic groups only ever forbid matches. So there are paths for all
matches, and for more.

The property of cut points: a position between two characters is a *cut point* if splitting the two
parts gives the same chunks as splitting the whole. Two conditions ensure this:

- in no match can the second character follow the first;
- right after the first character, the pattern has no condition on the text around it.

The argument:

1. Every match ends at the cut point or before it, or begins there or after it.
2. No match on the left has looked at text on the right.
3. A match that begins on the right never looks back.

In cl100k_base, for instance, a letter is only ever followed by another letter. So a text may be
cut before any space that follows a letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import NamedTuple

from ..caches import Memo
from ..unicode.properties import NONE, CodePoints
from .tree import (
    EMPTY,
    Alternatives,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    Repeat,
    Sequence,
    changed,
    children,
    looks_back,
)

#: The most rounds of a repeat that is written out, so that its end is known.
_WRITTEN_OUT = 16

#: The most positions before or after a join of two parts, for all joins together.
_MOST_JOINED = 200_000
#: The most positions of a running automaton. Each position has a bit for every other position.
_MOST_POSITIONS = 5_000
#: The most characters, ranges and sets of positions whose positions are kept.
_KEPT = 1 << 16


class TooManyPositions(ValueError):
    """The error for a pattern whose automaton would take too much memory."""


class _Ends(NamedTuple):
    """The positions that a node may begin and end with; ``empty`` is True if it may be empty."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


_NOTHING = _Ends(frozenset(), frozenset(), empty=True)


class Positions:
    """The positions of a tree, each with its followers.

    A condition is also a position, but takes no character.

    Attributes:
        points: the characters that each position takes; None for a condition.
        followers: the positions that may come right after each.
    """

    def __init__(self) -> None:
        self.points: list[CodePoints | None] = []
        self.followers: list[set[int]] = []
        self._joins_left = _MOST_JOINED

    def add(self, node: Node) -> _Ends:
        """Add the positions of a tree.

        Raises:
            TooManyPositions: too many follow each other.
        """
        if isinstance(node, (Chars, Anchor, Look)):
            # The characters that a condition reads ahead follow each other, as in a match.
            ahead = self.add(node.item) if isinstance(node, Look) else _NOTHING
            taken = node.points if isinstance(node, Chars) else None
            here = frozenset((len(self.points),))
            self.points.append(taken)
            self.followers.append(set(ahead.first))
            return _Ends(here, here, empty=taken is None)
        if isinstance(node, Sequence):
            ends = _NOTHING
            for item in node.items:
                ends = self._join(ends, self.add(item))
            return ends
        if isinstance(node, Alternatives):
            branches = [self.add(branch) for branch in node.branches]
            return _Ends(
                frozenset().union(*(branch.first for branch in branches)),
                frozenset().union(*(branch.last for branch in branches)),
                any(branch.empty for branch in branches),
            )
        ends = self.add(node.item)
        if isinstance(node, Atomic):
            return ends
        if node.high != 1:
            self._join(ends, ends)
        return ends._replace(empty=ends.empty or node.low == 0)

    def _join(self, left: _Ends, right: _Ends) -> _Ends:
        self._joins_left -= len(left.last) * len(right.first)
        if left.empty or right.empty:
            self._joins_left -= len(left.first) + len(right.last)
        if self._joins_left < 0:
            raise TooManyPositions("a pattern in which many characters may follow each other")
        for position in left.last:
            self.followers[position] |= right.first
        return _Ends(
            left.first | right.first if left.empty else left.first,
            left.last | right.last if right.empty else right.last,
            left.empty and right.empty,
        )


class Automaton:
    r"""The position automaton of a tree, ready to run. Repeats of few rounds are written out.

    A set of positions is an integer with a bit for each. To run, take from a set the positions
    that hold a character, and continue with those after them, until the set is empty.

    Attributes:
        all: all positions.
        first: the positions that may come first.
        last: the positions that may come last.
        holding: for each character, the positions that take it.
        holding_any: for each range of characters, the positions that take one of them.
        after: for each set of positions, the positions that may come next: the followers, and the
            followers of the conditions among them.

    Raises:
        TooManyPositions: the pattern is too large.

    >>> from compat_bpe.pattern.parser import parse
    >>> automaton = Automaton(parse("ab?(?=c)"))
    >>> following = automaton.after[automaton.first & automaton.holding["a"]]
    >>> bool(following & automaton.holding["b"]), bool(following & automaton.holding["a"])
    (True, False)
    """

    def __init__(self, tree: Node) -> None:
        positions = Positions()
        if _size_written_out(tree) <= _MOST_POSITIONS:
            tree = written_out(tree)
        ends = positions.add(tree)
        if len(positions.points) > _MOST_POSITIONS:
            raise TooManyPositions(f"a pattern of more than {_MOST_POSITIONS:,} characters")
        self._points = [NONE if points is None else points for points in positions.points]
        self._followers = list(map(_bits, positions.followers))
        self._conditions = _bits(i for i, points in enumerate(positions.points) if points is None)
        self.all = (1 << len(self._points)) - 1
        self.first = self._through_conditions(_bits(ends.first))
        self.last = _bits(ends.last)
        self.holding = Memo(self._holding, _KEPT)
        self.holding_any = Memo(self._holding_any, _KEPT)
        self.after = Memo(self._after, _KEPT)

    def _holding(self, char: str) -> int:
        number = ord(char)
        return _bits(i for i, points in enumerate(self._points) if number in points)

    def _holding_any(self, some: range) -> int:
        clipped = (points.clip(some.start, some.stop) for points in self._points)
        return _bits(i for i, points in enumerate(clipped) if points)

    def _after(self, state: int) -> int:
        return self._through_conditions(self._followers_of(state))

    def _through_conditions(self, reached: int) -> int:
        """Return these positions, and the followers of the conditions among them."""
        before = 0
        while reached != before:
            before = reached
            reached |= self._followers_of(reached & self._conditions)
        return reached

    def _followers_of(self, state: int) -> int:
        return reduce(or_, (bits for i, bits in enumerate(self._followers) if state >> i & 1), 0)


def written_out(node: Node) -> Node:
    """Return a tree with the same paths; its repeats of few rounds are written as sequences."""
    node = changed(node, written_out)
    if not isinstance(node, Repeat) or node.high is None or not 1 < node.high <= _WRITTEN_OUT:
        return node
    optional = Repeat(node.item, 0, 1, node.mode)
    return Sequence((node.item,) * node.low + (optional,) * (node.high - node.low))


def _size_written_out(tree: Node) -> int:
    """Return the number of classes and conditions of ``written_out``."""
    size = 0
    waiting = [(tree, 1)]
    while waiting:
        node, rounds = waiting.pop()
        if isinstance(node, (Chars, Anchor)):
            size += rounds
        elif isinstance(node, Repeat) and (node.high or 1) <= _WRITTEN_OUT:
            rounds *= node.high or 1
        waiting += [(child, rounds) for child in children(node)]
    return size


def without_conditions(node: Node) -> Node:
    """Return a tree without its conditions; it has all matches of the original, and more."""
    return EMPTY if isinstance(node, (Look, Anchor)) else changed(node, without_conditions)


def _bits(numbers: Iterable[int]) -> int:
    return reduce(or_, (1 << number for number in numbers), 0)


#: Characters that follow words and clauses. Cut points are searched before them.
_CANDIDATES = ' \n\t!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~、。，'
#: The sign for a space, a candidate for patterns that treat it separately.
_SPACE_SIGN = "▁"
#: Further characters to try where a long text has no other cut point.
_MORE_CANDIDATES = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + "'\r\xa0\u3000！？：；…—“”‘’《》「」『』（）【】〈〉·،؛؟।॥"
)


def cut_point_pairs(tree: Node, fine: bool = False) -> list[tuple[CodePoints, CodePoints]]:
    r"""Return pairs of sets with a cut point between any character of the first and the second.

    With ``fine`` there are more pairs, and searching a text for them takes longer. A pattern that
    looks back (``^``, ``\b``, ``(?<=…)``) has no cut points and gets no pairs. A very large
    pattern gets no pairs either.

    >>> from compat_bpe.pattern.parser import parse
    >>> pairs = cut_point_pairs(parse(r" ?[a-z]+|\s+(?!\S)|\s"))
    >>> any(ord("a") in left and ord(" ") in right for left, right in pairs)
    True
    >>> any(ord(" ") in left and ord(" ") in right for left, right in pairs)
    False
    """
    if looks_back(tree):
        return []
    positions = Positions()
    try:
        positions.add(tree)
    except TooManyPositions:
        return []
    by_left: dict[CodePoints, CodePoints] = {}
    candidates = _CANDIDATES + (_MORE_CANDIDATES if fine else "")
    if CodePoints.of(_SPACE_SIGN) in positions.points:
        candidates += _SPACE_SIGN
    for char in candidates:
        taking = {
            position
            for position, points in enumerate(positions.points)
            if points is None or ord(char) in points
        }
        before = [
            points
            for points, followers in zip(positions.points, positions.followers)
            if points is not None and not taking.isdisjoint(followers)
        ]
        left = ~CodePoints.union(*before)
        by_left[left] = by_left.get(left, NONE) | CodePoints.of(char)
    return [(left, right) for left, right in by_left.items() if left]


class Reach:
    r"""The reach of one pattern: how far a match looks into the text.

    The property: a match depends only on the characters that it was compared with. So it is the
    same in every text that has these characters at this position.

    The argument: the characters are found by following all ways through the pattern at once until
    every way has ended. A lookahead is a way of its own. ``re`` may never try some of these ways.
    Then the reach is a little longer than necessary, but still right.

    Args:
        tree: the pattern, which must not look back.

    >>> from compat_bpe.pattern.parser import parse
    >>> reach = Reach(parse(r"[0-9]{1,3}|[a-z]+|\s+(?!\S)|\s"))
    >>> reach.end("12345", 0), reach.end("ab c", 0), reach.end("  a", 0), reach.end("12", 0)
    (3, 3, 3, 3)
    """

    def __init__(self, tree: Node) -> None:
        self._automaton: Automaton | None = None
        with suppress(TooManyPositions):  # without an automaton, it may look at everything
            self._automaton = Automaton(tree)

    def end(self, text: str, start: int) -> int:
        """Return the end of the characters that a match at ``start`` looks at.

        It is one more than the length of the text if the match asks whether the text ends there.
        """
        if self._automaton is None:
            return len(text) + 1
        holding, after = self._automaton.holding, self._automaton.after
        state = self._automaton.first
        for place in range(start, len(text)):
            if not state:
                return place
            state = after[state & holding[text[place]]]
        return len(text) + bool(state)
