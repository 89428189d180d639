r"""Cut points of a pattern: positions at which a text may be cut before it is split.

The property: a position between two characters is a *cut point* if splitting the two parts
gives the same chunks as splitting the whole.  Two conditions ensure this:

- in no match can the second character follow the first;
- right after the first character, the pattern asks nothing about the text around it.

The argument:

1. Every match ends at the cut point or before it, or begins there or after it.
2. No match on the left has looked at text on the right.
3. A match that begins on the right never looks back.

The characters that may follow each other in a match are read off the pattern's tree, as in the
position automaton of Glushkov (1961).  Each class in the tree is a position.  The followers of a
position are the positions that may come right after it.

In cl100k_base, for instance, a letter is only ever followed by another letter.  So a text may be
cut before any space that follows a letter.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import NamedTuple

from ..unicode.code_points import NONE, CodePoints
from .ast import Alternatives, Anchor, Atomic, Chars, Look, Node, Sequence
from .writer import looks_back

#: Characters that follow words and clauses; cut points are looked for before them.
_CANDIDATES = ' \n\t!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~、。，'
#: Further characters to try where a long text has no other cut point.
_MORE_CANDIDATES = (
    digits + ascii_letters + "'\r\xa0\u3000！？：；…—“”‘’《》「」『』（）【】〈〉·،؛؟।॥"
)


class _Ends(NamedTuple):
    """The positions that a node may begin and end with; ``empty`` is True if it may be empty."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


_NOTHING = _Ends(frozenset(), frozenset(), empty=True)


class Positions:
    """The positions of a tree, each with its followers."""

    def __init__(self) -> None:
        self.points: list[CodePoints | None] = []
        self.followers: list[set[int]] = []

    def add(self, node: Node) -> _Ends:
        if isinstance(node, (Chars, Anchor, Look)):
            # A condition is a position, too, one that takes no character.  The characters that
            # it reads ahead follow each other just as in a match.
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
    r"""Return pairs of sets with a cut point between any character of the first and the second.

    With ``fine`` there are more pairs, and they take longer to look for in a text.  A pattern
    that looks back (``^``, ``\b``, ``(?<=…)``) has no cut points and gets no pairs.

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
