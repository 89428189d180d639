r"""The reach of a pattern: how far a match looks into the text.

The property: a match depends on the characters that it was compared with, and on no others.  So
it is the same in every text that has these characters at this position.

The characters are found by following all ways through the pattern at once until every way has
ended, as in the position automaton of ``cuts``.  A lookahead is a way of its own.  ``re`` may
never try some of these ways; then the reach is a little longer than need be, and still right.
"""

from __future__ import annotations

from .ast import Alternatives, Atomic, Look, Node, Repeat, Sequence
from .cuts import Positions

#: The most rounds for which a repeat is written out, so that its end is known.
_WRITTEN_OUT = 16


class Reach:
    r"""The reach of one pattern.

    Args:
        tree: the pattern, which must not look back.

    >>> from compat_bpe.pattern.parser import parse
    >>> reach = Reach(parse(r"[0-9]{1,3}|[a-z]+|\s+(?!\S)|\s"))
    >>> reach.end("12345", 0), reach.end("ab c", 0), reach.end("  a", 0), reach.end("12", 0)
    (3, 3, 3, 3)
    """

    def __init__(self, tree: Node) -> None:
        self._positions = Positions()
        first = self._positions.add(_written_out(tree)).first
        self._start = self._alive(first)
        self._next: dict[frozenset[int], dict[str, frozenset[int]]] = {}

    def end(self, text: str, start: int) -> int:
        """Return the end of the characters that a match at ``start`` looks at.

        It is one more than the length of the text if the match asks whether the text ends there.
        """
        state = self._start
        for place in range(start, len(text)):
            if not state:
                return place
            known = self._next.setdefault(state, {})
            following = known.get(text[place])
            if following is None:
                following = known[text[place]] = self._after(state, ord(text[place]))
            state = following
        return len(text) + bool(state)

    def _after(self, state: frozenset[int], code_point: int) -> frozenset[int]:
        positions = self._positions
        reached: set[int] = set()
        for position in state:
            points = positions.points[position]
            if points is not None and code_point in points:
                reached |= positions.followers[position]
        return self._alive(reached)

    def _alive(self, reached: set[int] | frozenset[int]) -> frozenset[int]:
        """Return these positions, and those that follow conditions among them."""
        alive: set[int] = set()
        waiting = list(reached)
        while waiting:
            position = waiting.pop()
            if position not in alive:
                alive.add(position)
                if self._positions.points[position] is None:
                    waiting += self._positions.followers[position]
        return frozenset(alive)


def _written_out(node: Node) -> Node:
    """Return a pattern in which repeats of few rounds are written as sequences."""
    if isinstance(node, Sequence):
        return Sequence(tuple(map(_written_out, node.items)))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(map(_written_out, node.branches)))
    if isinstance(node, (Atomic, Look)):
        return node._replace(item=_written_out(node.item))
    if not isinstance(node, Repeat):
        return node
    item = _written_out(node.item)
    if node.high is None or not 1 < node.high <= _WRITTEN_OUT:
        return node._replace(item=item)
    required = (item,) * node.low
    optional = (Repeat(item, 0, 1, node.mode),) * (node.high - node.low)
    return Sequence(required + optional)
