r"""A pattern as a list of instructions, for the machines that take all open ways at once.

``pipeline.pypy.table`` makes all states of a program in advance. ``states`` makes a state when a
text first needs it. ``ways`` counts the ways that backtracking would try.
"""

from __future__ import annotations

from ..unicode.code_points import ALL, NONE, CodePoints
from .ast import EMPTY, Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence
from .lookahead import NoTable, asked_after, asked_of_next

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The most instructions. Those that ship need some fifty.
_MOST_INSTRUCTIONS = 1000


class Program:
    """A pattern as a list of instructions, each a tuple whose first item says what it is.

    - ``("char", bit, next)`` takes a character of a set;
    - ``("if", bit, end, next)`` goes on if the next character is in a set, or, if ``end`` is true,
      at the end of the text;
    - ``("behind", bit, start, next)`` goes on if the character before is in a set, or, if ``start``
      is true, at the start of the text;
    - ``("try", next, …)`` goes on in several ways, the first preferred;
    - ``("match",)`` is the end of the pattern.

    Args:
        tree: the parsed pattern, relaxed.
        most_rounds: the most rounds of a repeat, all of which are written out.

    Attributes:
        code: the instructions.
        start: the number of the first one.
        sets: the sets of characters that they tell apart. The bit of a set is 1 shifted by its
            index here. The kind of a character is the sum of the bits of the sets that it is in.
        looks_back: True if an instruction asks for the character before.

    Raises:
        NoTable: it needs more than such instructions.
    """

    def __init__(self, tree: Node, most_rounds: int = _MOST_INSTRUCTIONS) -> None:
        self._most_rounds = most_rounds
        self.code: list[tuple[Any, ...]] = [("match",)]
        self.start = self.add(tree, 0)
        asking = [one for one in self.code if one[0] not in ("match", "try")]
        self.sets: list[CodePoints] = list(dict.fromkeys(one[1] for one in asking))
        self.looks_back = any(one[0] == "behind" for one in asking)
        bit_of = {points: 1 << index for index, points in enumerate(self.sets)}
        self.code = [
            one if one[0] in ("match", "try") else (one[0], bit_of[one[1]], *one[2:])
            for one in self.code
        ]

    def step(
        self, state: tuple[int, ...], kind: int | None, before: int | None = None
    ) -> tuple[tuple[int, ...], bool]:
        """Return the state after a character, and True if a match ends before it.

        Args:
            state: the instructions where the open ways are, the preferred first.
            kind: the kind of the character; None at the end of the text.
            before: the kind of the character before it; None at the start of the text.
        """
        following: dict[int, None] = {}
        seen = set()
        waiting = list(reversed(state))
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            what, *rest = self.code[number]
            if what == "match":
                return tuple(following), True
            if what == "try":
                waiting += reversed(rest)
            elif what == "char":
                if kind is not None and kind & rest[0]:
                    following[rest[1]] = None
            else:
                bit, at_edge, after = rest
                beside = kind if what == "if" else before
                if at_edge if beside is None else beside & bit:
                    waiting.append(after)
        return tuple(following), False

    def put(self, *instruction: object) -> int:
        """Add an instruction, and return its number."""
        if len(self.code) == _MOST_INSTRUCTIONS:
            raise NoTable(
                f"it has more than {_MOST_INSTRUCTIONS:,} parts if its repeats are written out"
            )
        self.code.append(instruction)
        return len(self.code) - 1

    def add(self, node: Node, after: int) -> int:
        """Add the instructions of a node, and return its first; ``after`` is what comes next."""
        if isinstance(node, Chars):
            return self.put("char", node.points, after)
        if isinstance(node, Sequence):
            for item in reversed(self.in_time(node.items)):
                after = self.add(item, after)
            return after
        if isinstance(node, Alternatives):
            return self.put("try", *(self.add(branch, after) for branch in node.branches))
        if isinstance(node, Repeat) and (node.mode != "+" or isinstance(node.item, Chars)):
            return self._repeat(node, after)
        if isinstance(node, Atomic):
            return self.atomic(node, after)
        if isinstance(node, Repeat):
            raise NoTable("it has a possessive group")
        return self.condition(node, after)

    def in_time(self, items: tuple[Node, ...]) -> list[Node]:
        """Return items in which no condition asks for more than the next character."""
        return _asked_in_time(items)

    def atomic(self, node: Atomic, after: int) -> int:
        """Add the instructions of an atomic group."""
        item = node.item
        if isinstance(item, Repeat) and isinstance(item.item, Chars) and item.mode != "?":
            return self._repeat(item._replace(mode="+"), after)
        if isinstance(item, Chars):
            return self.add(item, after)
        raise NoTable("it has an atomic group")

    def condition(self, node: Look | Anchor, after: int) -> int:
        """Add the instructions of a condition."""
        asked = asked_of_next(node)
        if asked is not None:
            return self.put("if", *asked, after)
        asked = _asked_of_last(node)
        if asked is not None:
            return self.put("behind", *asked, after)
        ahead = isinstance(node, Look) and node.ahead
        raise NoTable("it looks far ahead" if ahead else "it looks far back")

    def _repeat(self, node: Repeat, after: int) -> int:
        if node.low > self._most_rounds or (node.high or 0) > self._most_rounds:
            raise NoTable("it repeats a part in many rounds")
        if node.high is None:
            first = self.put("try")  # completed when the item has its number
            again = self.add(node.item, first)
            self.code[first] = ("try", *self._choice(node, again, after))
        else:
            # The rounds are nested: one after another, lazy ones would come in another order.
            first = after
            for _ in range(node.high - node.low):
                first = self.put("try", *self._choice(node, self.add(node.item, first), after))
        for _ in range(node.low):
            first = self.add(node.item, first)
        return first

    def _choice(self, node: Repeat, again: int, after: int) -> tuple[int, int]:
        """Return the choice between one more round and none, the preferred first."""
        if node.mode == "+":
            assert isinstance(node.item, Chars)
            # It stops early only where no round is possible.
            return again, self.put("if", ~node.item.points, True, after)
        return (after, again) if node.mode else (again, after)


def _asked_of_last(node: Node) -> tuple[CodePoints, bool] | None:
    """Return the characters after which a node matches, and True if it matches at the start.

    None if it asks for more than that.
    """
    if isinstance(node, Anchor):
        return (NONE, True) if node.kind == "start" else None
    if isinstance(node, Chars):
        return node.points, False
    if node == EMPTY:
        return ALL, True
    if isinstance(node, Alternatives):
        branches = list(map(_asked_of_last, node.branches))
        known = [asked for asked in branches if asked is not None]
        if len(known) < len(branches):
            return None
        return CodePoints.union(*(points for points, _ in known)), any(start for _, start in known)
    if not isinstance(node, Look) or node.ahead:
        return None
    asked = _asked_of_last(node.item)
    if asked is None or not node.negative:
        return asked
    return ~asked[0], not asked[1]


def _asked_in_time(items: tuple[Node, ...]) -> list[Node]:
    """Return items in which conditions on two characters come after the first; see ``lookahead``.

    Raises:
        NoTable: it needs more than two.
    """
    asked: list[Node] = []
    for item in items:
        look = asked[-1] if asked else None
        if (
            isinstance(item, Chars)
            and isinstance(look, Look)
            and look.ahead
            and look.negative
            and asked_of_next(look) is None
        ):
            asked[-1] = asked_after(look, item)
        else:
            asked.append(item)
    return asked
