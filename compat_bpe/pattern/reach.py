r"""How far a pattern looks when it is matched at a place.

A match depends on the characters that it was compared with, and on no others.  So it is the same in
every text that has these characters there.  They are found by following all ways through the
pattern at once, as in the position automaton of ``breaks``, with lookaheads as ways of their own,
until none is left.  (Some of these ways ``re`` may never try; then a little more is taken into
account than need be.)
"""

from __future__ import annotations

from .ast import Alternatives, Atomic, Look, Node, Repeat, Sequence
from .cuts import Positions

#: Repeats of at most so many rounds are written out, so that it is known when they are done.
_WRITTEN_OUT = 16


class Reach:
    r"""Says how far a pattern looks.

    Args:
        tree: the pattern.  It must not look back.

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
        """The end of what a match at ``start`` looks at.

        One more than the length of the text if it asks whether that is its end.
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
        """These positions, and those that come after conditions among them."""
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
    """A pattern with repeats of few rounds written one after the other."""
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
