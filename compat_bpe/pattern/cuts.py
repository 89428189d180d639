r"""Where a text may be cut before it is split.

A cut between two characters is *safe* when splitting the two parts gives the same chunks as
splitting the whole.  It is, if in no match the second character can follow the first, and if
the pattern asks nothing about the text around a place right after the first character.  For
then every match ends at the cut or before it, or begins there or after it; nothing on the left
saw what is on the right; and a match that begins on the right never looks back.

Which characters may follow each other in a match is read off the pattern's tree as for the
position automaton of Glushkov (1961): each class in it is a position, and a position's
followers are the positions that may come right after it.

In cl100k_base, for instance, a letter is only ever followed by another letter, so a text may be
cut before any space that follows a letter.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import NamedTuple

from ..unicode.code_points import NONE, CodePoints
from .ast import Alternatives, Anchor, Atomic, Chars, Look, Node, Sequence
from .writer import looks_back

#: Characters before which a cut is looked for: what words and clauses are followed by.
_CANDIDATES = ' \n\t!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~、。，'
#: Those before which it is looked for as well where there is none for long.
_MORE_CANDIDATES = (
    digits + ascii_letters + "'\r\xa0\u3000！？：；…—“”‘’《》「」『』（）【】〈〉·،؛؟।॥"
)


class _Ends(NamedTuple):
    """The positions a node may begin and end with, and whether it may be empty."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


_NOTHING = _Ends(frozenset(), frozenset(), empty=True)


class Positions:
    """The positions of a tree and who may follow whom."""

    def __init__(self) -> None:
        self.points: list[CodePoints | None] = []
        self.followers: list[set[int]] = []

    def add(self, node: Node) -> _Ends:
        if isinstance(node, (Chars, Anchor, Look)):
            # A condition is a position too, one that takes no character; what it reads ahead
            # of that place follows each other just as in a match.
            ahead = self.add(node.item) if isinstance(node, Look) else _NOTHING
            taken = node.points if isinstance(node, Chars) else None
            here = frozenset((len(self.points),))
            self.points.append(taken)
            self.followers.append(set(ahead.first))
            return _Ends(here, here, empty=taken is None)
        if isinstance(node, Sequence):
            ends = _NOTHING
            for item in node.items:
                ends = self.join(ends, self.add(item))
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
            self.join(ends, ends)
        return ends._replace(empty=ends.empty or node.low == 0)

    def join(self, left: _Ends, right: _Ends) -> _Ends:
        for position in left.last:
            self.followers[position] |= right.first
        return _Ends(
            left.first | right.first if left.empty else left.first,
            left.last | right.last if right.empty else right.last,
            left.empty and right.empty,
        )


def safe_breaks(tree: Node, fine: bool = False) -> list[tuple[CodePoints, CodePoints]]:
    r"""Pairs of sets: between a character of the first and one of the second a cut is safe.

    With ``fine`` there are more, which it takes longer to look for.  There are none for a pattern
    that looks back (``^``, ``\b``, ``(?<=…)``), where no cut can be.

    >>> from compat_bpe.pattern.parser import parse
    >>> pairs = safe_breaks(parse(r" ?[a-z]+|\s+(?!\S)|\s"))
    >>> any(ord("a") in left and ord(" ") in right for left, right in pairs)
    True
    >>> any(ord(" ") in left and ord(" ") in right for left, right in pairs)
    False
    """
    if looks_back(tree):
        return []
    positions = Positions()
    positions.add(tree)
    by_left: dict[CodePoints, CodePoints] = {}
    for char in _CANDIDATES + (_MORE_CANDIDATES if fine else ""):
        before = [
            points
            for points, followers in zip(positions.points, positions.followers)
            if points is not None
            and any(
                after is None or ord(char) in after
                for after in map(positions.points.__getitem__, followers)
            )
        ]
        left = ~CodePoints.union(*before)
        by_left[left] = by_left.get(left, NONE) | CodePoints.of(char)
    return [(left, right) for left, right in by_left.items() if left]
