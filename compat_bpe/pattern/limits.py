"""The limits of a pattern, by which a hostile one is refused before anything large is made of it.

The largest published patterns have some 2,000 characters, 15,000 ranges in their classes and groups
four deep.
"""

from __future__ import annotations

from .ast import Alternatives, Atomic, Chars, Look, Node, PatternTooLarge, Repeat, Sequence

#: The most characters of a pattern.
_LONGEST = 100_000
#: The deepest nesting of groups or of classes, and of any nodes: stdlib ``re`` itself recurses.
DEEPEST = 100
_DEEPEST_NODES = 4 * DEEPEST
#: The highest count of a repeat.
HIGHEST_COUNT = 100_000
#: The most classes if all repeats are written out, the most different ones, and the most ranges of
#: all classes.
_MOST_WRITTEN_OUT = 1_000_000
_MOST_DIFFERENT = 5_000
_MOST_RANGES = 200_000
#: The most ranges of the sets that brackets join.
MOST_JOINED = 1_000_000


def check_length(pattern: str) -> None:
    """Raise an error if a pattern is too long.

    Raises:
        PatternTooLarge: it is.
    """
    if len(pattern) > _LONGEST:
        raise PatternTooLarge(pattern, 0, f"it has more than {_LONGEST:,} characters")


def check_limits(tree: Node, pattern: str) -> None:
    """Raise an error if a parsed pattern is beyond the limits.

    Raises:
        PatternTooLarge: it is; the message says in what.
    """
    written_out = ranges = 0
    different = set()
    waiting = [(tree, 1, 1)]
    while waiting:
        node, depth, rounds = waiting.pop()
        if depth > _DEEPEST_NODES:
            raise PatternTooLarge(pattern, 0, f"groups are nested more than {DEEPEST} deep")
        if isinstance(node, Chars):
            written_out += rounds
            ranges += 1 + len(node.points.bounds) // 2
            different.add(node.points)
        elif isinstance(node, Sequence):
            waiting += [(item, depth + 1, rounds) for item in node.items]
        elif isinstance(node, Alternatives):
            waiting += [(branch, depth + 1, rounds) for branch in node.branches]
        elif isinstance(node, Repeat):
            waiting.append((node.item, depth + 1, rounds * max(node.low, node.high or 1)))
        elif isinstance(node, (Atomic, Look)):
            waiting.append((node.item, depth + 1, rounds))
        for amount, most, what in (
            (written_out, _MOST_WRITTEN_OUT, "characters if its repeats are written out"),
            (ranges, _MOST_RANGES, "ranges in its classes"),
            (len(different), _MOST_DIFFERENT, "different classes"),
        ):
            if amount > most:
                raise PatternTooLarge(pattern, 0, f"it has more than {most:,} {what}")
