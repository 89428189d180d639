r"""Cut points of a pattern: positions at which a text may be cut before it is split.

The property: a position between two characters is a *cut point* if splitting the two parts
gives the same chunks as splitting the whole. Two conditions ensure this:

- in no match can the second character follow the first;
- right after the first character, the pattern asks nothing about the text around it.

The argument:

1. Every match ends at the cut point or before it, or begins there or after it.
2. No match on the left has looked at text on the right.
3. A match that begins on the right never looks back.

The characters that may follow each other in a match are those of positions that may follow each
other (``automaton``).

In cl100k_base, for instance, a letter is only ever followed by another letter. So a text may be
cut before any space that follows a letter.
"""

from __future__ import annotations

from ..unicode.code_points import NONE, CodePoints
from .ast import Node
from .automaton import Positions, TooManyPositions
from .writer import looks_back

#: Characters that follow words and clauses; cut points are looked for before them.
_CANDIDATES = ' \n\t!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~、。，'
#: The sign for a space, which is a candidate for patterns that treat it by itself.
_SPACE_SIGN = "▁"
#: Further characters to try where a long text has no other cut point.
_MORE_CANDIDATES = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + "'\r\xa0\u3000！？：；…—“”‘’《》「」『』（）【】〈〉·،؛؟।॥"
)


def cut_point_pairs(tree: Node, fine: bool = False) -> list[tuple[CodePoints, CodePoints]]:
    r"""Return pairs of sets with a cut point between any character of the first and the second.

    With ``fine`` there are more pairs, and they take longer to look for in a text. A pattern
    that looks back (``^``, ``\b``, ``(?<=…)``) has no cut points and gets no pairs. A very large
    one gets none either.

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
