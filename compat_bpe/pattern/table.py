r"""A pattern as a table of states: a splitter without ``re``, for interpreters that compile loops.

A loop over the bytes of a text looks up, for each character, its kind, and for each kind the next
state.  CPython runs such a loop many times more slowly than ``re``.  PyPy compiles it, and then it
is several times faster than ``re`` is there.

The property: the table finds the same matches as a search by backtracking.  The argument:

1. Backtracking tries the ways through a pattern in an order, and takes the first that succeeds.  A
   state is the list of all ways that are still open, in this order (so in Thompson's and Pike's
   machines; RE2 and Rust's ``regex`` do the same).
2. When a way of the list has succeeded, those after it can no longer win, and are dropped; those
   before it go on, and win if they succeed later.  So the last success that is seen is that of the
   first way.
3. Two ways at the same place of the pattern have the same future, so the later one is dropped.
4. A condition is decided when the next character is known, before that character is taken.  It may
   ask for nothing but the kind of this character, or for the end of the text.

A pattern that needs more (looking back, looking ahead further, atomic groups that ``relax`` could
not replace) has no table, and is left to ``re``.
"""

from __future__ import annotations

from ..unicode.code_points import END, CodePoints
from .ast import Alternatives, Anchor, Chars, Look, Node, Repeat, Sequence
from .automaton import Positions
from .lookahead import NoTable as NoTable
from .lookahead import asked_after, asked_of_next
from .writer import can_be_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The most states, kinds of characters, and rounds of a repeat that are written out.  Published
#: patterns have some twenty states, as many kinds, and repeats of three rounds.
_MOST_STATES = 500
_MOST_KINDS = 250
_MOST_ROUNDS = 50
_MOST_INSTRUCTIONS = 5000


class Table:
    r"""The table of one pattern.

    Args:
        tree: the parsed pattern, relaxed.

    Attributes:
        kinds: the kind of each code point.
        width: the number of kinds, with that of the end of the text, which is the last.
        steps: for each state, a row with a number for each kind: the row of the next state.  If no
            more can match, or a match may end before the character, it is negative: then its bits
            are inverted, and it is twice the next row, or 0, plus 1 if a match may end here.
        cuts: for each kind, a row with 1 for each kind that a cut point comes before (see
            ``cuts``), if the first is before that cut point; 0 for others.

    Raises:
        NoTable: the pattern has no table.

    >>> from compat_bpe.pattern.parser import parse
    >>> Table(parse(r"[a-z]+|\s+(?!\S)|\s")).bounds("dog  gone!".encode())
    [0, 3, 3, 4, 4, 5, 5, 9]
    """

    def __init__(self, tree: Node) -> None:
        if can_be_empty(tree):
            raise NoTable("it may match without taking a character")
        program = _Program(tree)
        positions = Positions()
        positions.add(tree)
        sets = [*program.sets, *(points for points in positions.points if points is not None)]
        bit_of = {points: 1 << number for number, points in enumerate(dict.fromkeys(sets))}
        self.kinds, members = _kinds_of(bit_of)
        self.width = len(members) + 1
        self.steps = program.table(members, bit_of)
        self.cuts = _cuts(positions, members, bit_of)

    def bounds(self, data: bytes) -> list[int]:
        """Return the start and the end of each match in a text, one after another.

        Args:
            data: the text in UTF-8.
        """
        kinds, steps = self.kinds, self.steps
        first = self.width
        size = len(data)
        found: list[int] = []
        start = 0
        while start < size:
            row, at, end = first, start, -1
            while at < size:
                row = steps[row + kinds[_code_point(data, at)]]
                if row < 0:
                    if ~row & 1:
                        end = at
                    row = ~row >> 1
                    if not row:
                        break
                at += length_of_char(data[at])
            else:
                if ~steps[row + first - 1] & 1:
                    end = size
            if end < 0:
                # No match begins here.
                start += length_of_char(data[start])
            else:
                found.append(start)
                found.append(end)
                start = end
        return found

    def next_cut(self, data: bytes, start: int) -> int:
        """Return the first cut point after the character at ``start``; -1 if there is none."""
        kinds, cuts = self.kinds, self.cuts
        row = -1
        size = len(data)
        at = start
        while at < size:
            kind = kinds[_code_point(data, at)]
            if row >= 0 and cuts[row + kind]:
                return at
            row = kind * self.width
            at += length_of_char(data[at])
        return -1


def _code_point(data: bytes, at: int) -> int:
    """Return the code point of the character that begins at a place."""
    lead = data[at]
    if lead < 0x80:
        return lead
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | data[at + 1] & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | data[at + 2] & 0x3F
    point = (lead & 0x07) << 18 | (data[at + 1] & 0x3F) << 12
    return point | (data[at + 2] & 0x3F) << 6 | data[at + 3] & 0x3F


def length_of_char(lead: int) -> int:
    """Return the length in bytes of a character in UTF-8, by its first byte."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


class _Program:
    """A pattern as a list of instructions, each a tuple whose first item says what it is.

    - ``("char", set, next)`` takes a character of a set;
    - ``("if", set, end, next)`` goes on if the next character is in a set, or, if ``end`` is true,
      at the end of the text;
    - ``("try", next, …)`` goes on in several ways, the first preferred;
    - ``("match",)`` is the end of the pattern.
    """

    def __init__(self, tree: Node) -> None:
        self._code: list[tuple[Any, ...]] = [("match",)]
        self._start = self._add(tree, 0)
        #: The sets of characters that it tells apart.
        self.sets = list(dict.fromkeys(one[1] for one in self._code if one[0] in ("char", "if")))
        self._bit_of: dict[CodePoints, int] = {}

    def _put(self, *instruction: object) -> int:
        if len(self._code) == _MOST_INSTRUCTIONS:
            raise NoTable("a long pattern")
        self._code.append(instruction)
        return len(self._code) - 1

    def _add(self, node: Node, after: int) -> int:
        """Add the instructions of a node, and return its first; ``after`` is what comes next."""
        if isinstance(node, Chars):
            return self._put("char", node.points, after)
        if isinstance(node, Sequence):
            for item in reversed(_asked_in_time(node.items)):
                after = self._add(item, after)
            return after
        if isinstance(node, Alternatives):
            return self._put("try", *(self._add(branch, after) for branch in node.branches))
        if isinstance(node, Repeat) and node.mode != "+":
            return self._repeat(node, after)
        asked = asked_of_next(node) if isinstance(node, (Anchor, Look)) else None
        if asked is None:
            raise NoTable("it looks back, or far ahead, or has an atomic group")
        return self._put("if", *asked, after)

    def _repeat(self, node: Repeat, after: int) -> int:
        if node.low > _MOST_ROUNDS or (node.high or 0) > _MOST_ROUNDS:
            raise NoTable("a repeat of many rounds")
        if node.high is None:
            first = self._put("try")  # completed when the item has its number
            self._choose(node, self._add(node.item, first), after, first)
        else:
            # The rounds are nested: one after another, lazy ones would come in another order.
            first = after
            for _ in range(node.high - node.low):
                first = self._choose(node, self._add(node.item, first), after)
        for _ in range(node.low):
            first = self._add(node.item, first)
        return first

    def _choose(self, node: Repeat, again: int, after: int, number: int | None = None) -> int:
        """Add the choice between one more round and none, or complete it."""
        ways = (after, again) if node.mode else (again, after)
        if number is None:
            return self._put("try", *ways)
        self._code[number] = ("try", *ways)
        return number

    def table(self, members: list[int], bit_of: dict[CodePoints, int]) -> list[int]:
        """Return the steps of all states that can be reached.

        Args:
            members, bit_of: as in ``_kinds_of``.
        """
        self._bit_of = bit_of
        width = len(members) + 1
        numbers: dict[tuple[int, ...], int] = {(): 0, (self._start,): 1}
        waiting = list(numbers)
        found: list[list[tuple[int, bool]]] = []
        for state in waiting:
            row = []
            for kind in (*members, None):
                following, ends = self._step(state, kind)
                if following not in numbers:
                    if len(numbers) == _MOST_STATES:
                        raise NoTable("too many states")
                    numbers[following] = len(numbers)
                    waiting.append(following)
                row.append((numbers[following], ends))
            found.append(row)
        # Where a match may end before the next character, too, whatever it is, its end here does
        # not count.  So a run of letters is stepped through without a look at its end.
        ends_later = [all(ends for _, ends in row) for row in found]
        return [
            ~(2 * state * width + ends) if ends or not state else state * width
            for row in found
            for state, ends in ((state, ends and not ends_later[state]) for state, ends in row)
        ]

    def _step(self, state: tuple[int, ...], kind: int | None) -> tuple[tuple[int, ...], bool]:
        """Return the state after a character, and True if a match ends before it.

        Args:
            state: the instructions where the open ways are, the preferred first.
            kind: the sets that the character is in, as bits; None at the end of the text.
        """
        following: dict[int, None] = {}
        seen = set()
        waiting = list(reversed(state))
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            what, *rest = self._code[number]
            if what == "match":
                return tuple(following), True
            if what == "try":
                waiting += reversed(rest)
            elif what == "if":
                points, end, after = rest
                if end if kind is None else kind & self._bit_of[points]:
                    waiting.append(after)
            elif kind is not None and kind & self._bit_of[rest[0]]:
                following[rest[1]] = None
        return tuple(following), False


def _asked_in_time(items: tuple[Node, ...]) -> list[Node]:
    """Return items in which what needs two characters is asked after the first; see ``lookahead``.

    Raises:
        NoTable: it needs more than two.
    """
    found: list[Node] = []
    for item in items:
        look = found[-1] if found else None
        if (
            isinstance(item, Chars)
            and isinstance(look, Look)
            and look.ahead
            and look.negative
            and asked_of_next(look) is None
        ):
            found[-1] = asked_after(look, item)
        else:
            found.append(item)
    return found


def _cuts(positions: Positions, members: list[int], bit_of: dict[CodePoints, int]) -> bytes:
    """Return the cut points of a pattern that does not look back, as ``Table.cuts``."""
    bits = [0 if points is None else bit_of[points] for points in positions.points]
    # A condition may ask for any character.
    following = [
        -1 if any(not bits[other] for other in followers) else sum({bits[o] for o in followers})
        for followers in positions.followers
    ]
    rows = []
    for left in members:
        after = 0
        for bit, followers in zip(bits, following):
            if left & bit:
                after |= followers
        rows += [after != -1 and not right & after for right in members] + [False]
    return bytes(rows)


def _kinds_of(bit_of: dict[CodePoints, int]) -> tuple[bytes, list[int]]:
    """Return the kind of each code point, and for each kind the sets that it is in, as bits.

    Args:
        bit_of: the sets, with a bit for each.
    """
    changes: dict[int, int] = {0: 0}
    for points, bit in bit_of.items():
        for bound in points.bounds:
            changes[bound] = changes.get(bound, 0) ^ bit
    numbers: dict[int, int] = {}
    stretches = []
    inside = 0
    starts = sorted(changes)
    for start, end in zip(starts, [*starts[1:], END]):
        inside ^= changes[start]
        kind = numbers.setdefault(inside, len(numbers))
        if kind == _MOST_KINDS:
            raise NoTable("too many kinds of characters")
        stretches.append(bytes((kind,)) * (end - start))
    return b"".join(stretches), list(numbers)
