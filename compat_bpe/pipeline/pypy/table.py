r"""A pattern as a table of states: a splitter without ``re``, for interpreters that compile loops.

A loop over the bytes of a text looks up, for each character, its kind, and for each kind the next
state. CPython runs such a loop many times more slowly than ``re``. PyPy compiles it, and then it
is several times faster than ``re`` is there.

The property: the table finds the same matches as a search by backtracking. The argument:

1. Backtracking tries the ways through a pattern in an order, and takes the first that succeeds. A
   state is the list of all ways that are still open, in this order (so in Thompson's and Pike's
   machines; RE2 and Rust's ``regex`` do the same).
2. When a way of the list has succeeded, those after it can no longer win, and are dropped; those
   before it go on, and win if they succeed later. So the last success that is seen is that of the
   first way.
3. Two ways at the same place of the pattern have the same future, so the later one is dropped.
4. A condition is decided when the next character is known, before that character is taken. It may
   ask for nothing but the kind of this character, or for the end of the text.

A pattern that needs more (looking back, looking ahead further, atomic groups that ``relax`` could
not replace) has no table, and is left to ``re``.
"""

from __future__ import annotations

from ...pattern.ast import Node, can_be_empty
from ...pattern.cut_points import Positions, TooManyPositions
from ...pattern.states import NoTable, Program
from ...unicode.code_points import END, CodePoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pattern.splitter import Splitter

#: The most states, kinds of characters, and rounds of a repeat that are written out. Published
#: patterns have some twenty states, as many kinds, and repeats of three rounds.
_MOST_STATES = 500
_MOST_KINDS = 250
_MOST_ROUNDS = 50


class Table:
    r"""The table of one pattern.

    Args:
        tree: the parsed pattern, relaxed.

    Attributes:
        kinds: the kind of each code point.
        width: the number of kinds, with that of the end of the text, which is the last.
        steps: for each state, a row with a number for each kind: the row of the next state. If no
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
        program = Program(tree, _MOST_ROUNDS)
        if program.looks_back:
            raise NoTable("it looks back")
        positions = Positions()
        try:
            positions.add(tree)
        except TooManyPositions as error:
            raise NoTable(str(error)) from None
        sets = [*program.sets, *(points for points in positions.points if points is not None)]
        bit_of = {points: 1 << index for index, points in enumerate(dict.fromkeys(sets))}
        self.kinds, members = _kinds_of(bit_of)
        self.width = len(members) + 1
        self.steps = _steps(program, members)
        self.cuts = _cuts(positions, members, bit_of)

    def bounds(self, data: bytes) -> list[int]:
        """Return the start and the end of each match in a text, one after another.

        Args:
            data: the text in UTF-8.
        """
        kinds, steps = self.kinds, self.steps
        first = self.width
        size = len(data)
        bounds: list[int] = []
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
                bounds.append(start)
                bounds.append(end)
                start = end
        return bounds

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


def table_of(splitter: Splitter) -> Table | None:
    """Return the table of a splitter's pattern; None if it has none."""
    if splitter.tree is None:
        return None
    try:
        return Table(splitter.tree)
    except NoTable:
        return None


def length_of_char(lead: int) -> int:
    """Return the length in bytes of a character in UTF-8, by its first byte."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _steps(program: Program, members: list[int]) -> list[int]:
    """Return the steps of all states that can be reached; ``members`` as in ``_kinds_of``."""
    width = len(members) + 1
    numbers: dict[tuple[int, ...], int] = {(): 0, (program.start,): 1}
    waiting = list(numbers)
    rows: list[list[tuple[int, bool]]] = []
    for state in waiting:
        row = []
        for kind in (*members, None):
            following, ends = program.step(state, kind)
            if following not in numbers:
                if len(numbers) == _MOST_STATES:
                    raise NoTable("too many states")
                numbers[following] = len(numbers)
                waiting.append(following)
            row.append((numbers[following], ends))
        rows.append(row)
    # Where a match may end before the next character, too, whatever it is, its end here does
    # not count. So a run of letters is stepped through without a look at its end.
    ends_later = [all(ends for _, ends in row) for row in rows]
    return [
        ~(2 * state * width + ends) if ends or not state else state * width
        for row in rows
        for state, ends in ((state, ends and not ends_later[state]) for state, ends in row)
    ]


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
