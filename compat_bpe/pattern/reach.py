r"""The reach of a pattern: how far a match looks into the text.

The property: a match depends on the characters that it was compared with, and on no others. So
it is the same in every text that has these characters at this position.

The argument: the characters are found by following all ways through the pattern at once until
every way has ended (``automaton``). A lookahead is a way of its own. ``re`` may never try some of
these ways; then the reach is a little longer than need be, and still right.
"""

from __future__ import annotations

from contextlib import suppress

from .ast import Node
from .automaton import Automaton, TooManyPositions


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
        self._automaton: Automaton | None = None
        with suppress(TooManyPositions):  # otherwise it may look at everything
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
