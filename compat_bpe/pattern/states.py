r"""A matcher in bounded time, for patterns with which ``re`` might try too many ways.

``(?:a+)+b`` matches a run of *n* letters in 2ⁿ ways, and ``re`` tries them all where no ``b``
follows. ``ways`` tells which patterns are of that kind. Here all ways are taken at once, as in
``pipeline.pypy.table``, whose docstring says why the matches are the same. There are two
differences:

- A state is made when a text first needs it, and states are forgotten when there are many. So it
  takes little time and memory however many states a pattern has.
- A state knows the character before, so conditions may ask for that one, too (``\b``, ``^``).

The property: a search for a match at one position takes at most as many steps as the text has
characters, and a step takes at most as long as the pattern has instructions.
"""

from __future__ import annotations

from collections.abc import Iterator

from .ast import Node
from .program import Program

#: The most ways and steps of all states that are kept, and the most characters whose kind is kept.
_MOST_KEPT = 2_000_000
_MOST_CHARACTERS = 1 << 14


class States:
    r"""The states of one pattern, as far as they were needed.

    Args:
        tree: the parsed pattern, relaxed.

    Attributes:
        kept: the number of ways in all states that are kept, and of their steps.

    Raises:
        NoTable: the pattern needs more than states; the message says what.

    >>> from compat_bpe.pattern.parser import parse
    >>> states = States(parse(r"(?:a+)+b|\b\w"))
    >>> states.end("aaab", 0), states.end("aaaa", 0), states.end("aaaa", 1)
    (4, 1, -1)
    """

    def __init__(self, tree: Node) -> None:
        self._program = Program(tree)
        self._kinds: dict[str, int] = {}
        self._clear()

    def _clear(self) -> None:
        self._states: dict[tuple[tuple[int, ...], int | None], _State] = {}
        self.kept = 0

    def end(self, text: str, start: int) -> int:
        """Return the end of the match that begins at a position; -1 if there is none."""
        before = self._kind(text[start - 1]) if start and self._program.looks_back else None
        state = self._state((self._program.start,), before)
        end = -1
        kinds = self._kinds
        for at in range(start, len(text)):
            kind = kinds.get(text[at])
            if kind is None:
                kind = self._kind(text[at])
            following, ends = state.get(kind) or self._follow(state, kind)
            if ends:
                end = at
            if following is None:
                return end
            state = following
        _, ends = state.get(None) or self._follow(state, None)
        return len(text) if ends else end

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return the start and end of each match in a text; see ``Splitter.spans``."""
        at, last = 0, -1
        while at <= len(text):
            end = self.end(text, at)
            if end > at:
                yield at, end
                at = last = end
                continue
            if end == at != last:
                yield at, at
            at += 1

    def _kind(self, char: str) -> int:
        """Return the kind of a character (see ``Program``)."""
        kind = self._kinds.get(char)
        if kind is None:
            if len(self._kinds) == _MOST_CHARACTERS:
                self._kinds.clear()
            point = ord(char)
            sets = enumerate(self._program.sets)
            kind = sum(1 << index for index, points in sets if point in points)
            self._kinds[char] = kind
        return kind

    def _state(self, ways: tuple[int, ...], before: int | None) -> _State:
        state = self._states.get((ways, before))
        if state is None:
            if self.kept > _MOST_KEPT:
                self._clear()
            state = self._states[ways, before] = _State(ways, before)
            self.kept += len(ways)
        return state

    def _follow(self, state: _State, kind: int | None) -> tuple[_State | None, bool]:
        """Return the state after a character, and True if a match ends before it."""
        ways, ends = self._program.step(state.ways, kind, state.before)
        before = kind if self._program.looks_back else None
        following = self._state(ways, before) if ways else None
        state[kind] = following, ends
        self.kept += 1
        return following, ends


class _State(dict["int | None", "tuple[_State | None, bool]"]):
    """The steps from a state, by the kind of the next character.

    Attributes:
        ways: the instructions where the open ways are, the preferred first.
        before: the kind of the character before.
    """

    __slots__ = ("before", "ways")

    def __init__(self, ways: tuple[int, ...], before: int | None) -> None:
        super().__init__()
        self.ways = ways
        self.before = before
