"""Encoding over the bytes of a text: the fast way on an interpreter that compiles loops.

CPython is fastest if one call into C does much: ``findall``, and ``map`` over a dictionary. PyPy
compiles loops, and cannot compile such a call. So on PyPy one loop over the bytes of a span finds
its chunks by a table of states, and their ids.

The plain rule is ``Core.ids_of_chunks``: the ids of a span are those of its chunks.

``Table`` is a pattern as a table of all its states: a splitter without ``re``. The loop looks up,
for each character, its kind, and for each kind the next state. CPython runs such a loop many times
more slowly than ``re``. PyPy compiles the loop, which is then several times faster than PyPy's
``re``.

The matches are those of a search by backtracking; ``pattern.states`` has the argument. In a table,
a condition may depend only on the kind of the next character, or on the end of the text. A pattern
that needs more (looking back, looking ahead further, atomic groups that ``relax`` could not
replace) has no table, and ``re`` is used.
"""

from __future__ import annotations

from ...pattern.cut_points import Positions, TooManyPositions
from ...pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT
from ...pattern.states import NoTable, Program
from ...pattern.tree import Node, can_be_empty
from ...unicode.properties import END, CodePoints, kinds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
        width: the number of kinds, including the end of the text, which is the last kind.
        steps: for each state, a row with a number for each kind: the row of the next state. If no
            more can match, or a match may end before the character, the number is negative. Then
            its inverted bits are twice the next row, or 0, plus 1 if a match may end here.
        cuts: for each kind, a row with a number for each kind: 1 if there is a cut point between
            two such characters (see ``pattern.cut_points``), else 0.

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
                row = steps[row + kinds[code_point(data, at)]]
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
            kind = kinds[code_point(data, at)]
            if row >= 0 and cuts[row + kind]:
                return at
            row = kind * self.width
            at += length_of_char(data[at])
        return -1


def code_point(data: bytes, at: int) -> int:
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
    # An end does not count if the match may also end after any next character. So a run of
    # letters is read without recording each end.
    ends_later = [all(ends for _, ends in row) for row in rows]
    return [
        ~(2 * state * width + ends) if ends or not state else state * width
        for row in rows
        for state, ends in ((state, ends and not ends_later[state]) for state, ends in row)
    ]


def _cuts(positions: Positions, members: list[int], bit_of: dict[CodePoints, int]) -> bytes:
    """Return the cut points of a pattern that does not look back, as ``Table.cuts``."""
    bits = [0 if points is None else bit_of[points] for points in positions.points]
    # A condition may depend on any character.
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
    numbers: dict[int, int] = {}
    ranges = []
    bits_by_start = dict(kinds_of(bit_of))
    ends = [*bits_by_start, END][1:]
    for (start, bits), end in zip(bits_by_start.items(), ends):
        kind = numbers.setdefault(bits, len(numbers))
        if kind == _MOST_KINDS:
            raise NoTable("too many kinds of characters")
        ranges.append(bytes((kind,)) * (end - start))
    return b"".join(ranges), list(numbers)


#: The number of slots for short chunks; a power of 2.
_SLOTS = 1 << 15
#: The length in bytes of the longest short chunk.
_SHORT = 14
#: The length in bytes from which a chunk or a segment is not cached.
_LONG_CHUNK = 256
_LONG_SEGMENT = 4 * LONGEST_SEGMENT
#: In UTF-8, characters from U+0800 on begin with this byte or a greater one.
_WIDE = 0xE0

# A chunk of 14 bytes fills two integers of 56 bits. They stay below 2**62, so that PyPy keeps them
# in registers: before they move up by a byte, the bits beyond that are cut off.


class PyPyEncoder:
    r"""An encoder of spans without added tokens.

    Short chunks have a table of slots of their own. A chunk of at most 14 bytes is two integers: a
    1 and its bytes, so each chunk has unique integers. They choose a slot, and are compared with
    the integers in it. The slot keeps the last chunk that was looked up.

    Args:
        table: the table of the pattern.
        whole: the chunks that are tokens without merging.
        merge: returns the ids of the bytes of any other chunk.

    >>> from compat_bpe.pattern.parser import parse
    >>> encoder = PyPyEncoder(Table(parse(r"\w+|\W")), {b"be": 500, b" ": 32}, list)
    >>> encoder.encode("to be")
    [116, 111, 32, 500]
    """

    def __init__(
        self, table: Table, whole: Mapping[bytes, int], merge: Callable[[bytes], list[int]]
    ) -> None:
        self._table = table
        self._whole = whole
        self._merge = merge
        self._chunks = Generations()
        self._segments = Generations()
        #: Slots that no thread uses at the moment.
        self._slots: list[_Slots] = []

    def set_limits(self, chunks: int, segments: int) -> None:
        """Set the largest number of chunks and of segments in the caches, and clear them."""
        self._chunks.set_limit(chunks)
        self._segments.set_limit(segments)
        self.clear()

    def clear(self) -> None:
        """Clear the caches."""
        self._chunks.clear()
        self._segments.clear()
        self._slots = []

    def encode(self, span: str) -> list[int]:
        """Return the ids of a span.

        Raises:
            ValueError: a byte of the span is not a token.
            UnicodeEncodeError: the span has surrogates.
        """
        data = span.encode()
        if len(data) < SHORTEST_SEGMENT:
            return self._encode(data)
        parts: list[list[int]] = []
        total = start = 0
        for end in self.segment_ends(data):
            part = self._segment_ids(data[start:end])
            total += len(part)
            parts.append(part)
            start = end
        # Allocated at once: a list that grows to megabytes is copied many times to new memory.
        ids = [0] * total
        at = 0
        for part in parts:
            ids[at : at + len(part)] = part
            at += len(part)
        return ids

    def count(self, span: str) -> int:
        """Return the number of ids of a span; errors as in ``encode``."""
        data = span.encode()
        if len(data) < SHORTEST_SEGMENT:
            return len(self._encode(data))
        total = start = 0
        for end in self.segment_ends(data):
            total += len(self._segment_ids(data[start:end]))
            start = end
        return total

    def segment_ends(
        self, data: bytes, shortest: int = SHORTEST_SEGMENT, longest: int = LONGEST_SEGMENT
    ) -> list[int]:
        """Return the ends of the segments of a text; see ``Splitter.segments``."""
        ends: list[int] = []
        start = blank = 0
        size = len(data)
        while start + longest < size:
            first, last = start + shortest, start + longest
            if blank < first:
                # The next empty line is kept, so that the bytes before it are searched once.
                blank = _find_blank(data, first)
            at = blank if blank + 2 <= last else data.find(b"\n", first, last)
            if at < 0:
                at = first
                while data[at] & 0xC0 == 0x80:  # within a character
                    at += 1
            start = self._table.next_cut(data, at)
            if start < 0:
                break
            ends.append(start)
        ends.append(size)
        return ends

    def _segment_ids(self, segment: bytes) -> list[int]:
        ids = self._segments.get(segment)
        if ids is None:
            ids = self._encode(segment)
            if len(segment) < _LONG_SEGMENT:
                self._segments.put(segment, ids)
        return ids

    def _encode(self, data: bytes) -> list[int]:
        # If another thread clears the caches meanwhile, these slots are dropped with its list.
        all_slots = self._slots
        try:
            slots = all_slots.pop()
        except IndexError:
            slots = _Slots()
        ids = self._ids(data, slots)
        all_slots.append(slots)
        return ids

    def _ids(self, data: bytes, slots: _Slots) -> list[int]:
        """Return the ids of the chunks, which are those of ``Table.bounds``.

        ``low`` and ``high`` are the bytes of a chunk so far. The loops are in one function, and
        have no function calls for a chunk that is in its slot.
        """
        table = self._table
        kinds, steps, first = table.kinds, table.steps, table.width
        numbers, lists = slots.numbers, slots.lists
        size = len(data)
        ids: list[int] = []
        start = 0
        while start < size:
            row, at, end = first, start, -1
            low, high, end_low, end_high = 1, 0, 1, 0
            while at < size:
                # PyPy compiles the rest of the loop for each of these lengths by itself.
                point = char = data[at]
                if char < 0x80:
                    bits = 8
                elif char < 0xE0:
                    bits = 16
                    char = char << 8 | data[at + 1]
                    point = (char & 0x1F00) >> 2 | char & 0x3F
                elif char < 0xF0:
                    bits = 24
                    char = char << 16 | data[at + 1] << 8 | data[at + 2]
                    point = (char & 0xF0000) >> 4 | (char & 0x3F00) >> 2 | char & 0x3F
                else:
                    bits = 32
                    char = char << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]
                    point = (char & 0x7000000) >> 6 | (char & 0x3F0000) >> 4
                    point |= (char & 0x3F00) >> 2 | char & 0x3F
                row = steps[row + kinds[point]]
                if row < 0:
                    if ~row & 1:
                        end, end_low, end_high = at, low, high
                    row = ~row >> 1
                    if not row:
                        break
                high = (high & (1 << 62 - bits) - 1) << bits | low >> 56 - bits
                low = (low & (1 << 56 - bits) - 1) << bits | char
                at += bits >> 3
            else:
                if ~steps[row + first - 1] & 1:
                    end, end_low, end_high = size, low, high
            if end < 0:
                # No match begins here.
                start += length_of_char(data[start])
                continue
            if end - start > _SHORT:
                chunk = data[start:end]
                token_id = self._whole.get(chunk, -1)
                if token_id < 0:
                    ids += self._merged(chunk)
                else:
                    ids.append(token_id)
                start = end
                continue
            place = end_low ^ end_high ^ end_high >> 19
            place ^= place >> 30
            place ^= place >> 13
            place = (place & _SLOTS - 1) << 2
            if numbers[place] != end_low or numbers[place + 1] != end_high:
                chunk = data[start:end]
                token_id = self._whole.get(chunk, -1)
                if token_id < 0:
                    merged = self._merged(chunk)
                    # Without ``whole``, a token is merged like any chunk.
                    token_id = merged[0] if len(merged) == 1 else -1
                    lists[place >> 2] = merged
                numbers[place] = end_low
                numbers[place + 1] = end_high
                numbers[place + 2] = token_id
            token_id = numbers[place + 2]
            if token_id < 0:
                ids += lists[place >> 2]
            else:
                ids.append(token_id)
            start = end
        return ids

    def _merged(self, chunk: bytes) -> list[int]:
        if len(chunk) > _SHORT and chunk[1] >= _WIDE:
            # A clause of Chinese, for instance, hardly ever recurs.
            return self._merge(chunk)
        ids = self._chunks.get(chunk)
        if ids is None:
            ids = self._merge(chunk)
            if len(chunk) < _LONG_CHUNK:
                self._chunks.put(chunk, ids)
        return ids


def _find_blank(data: bytes, start: int) -> int:
    """Return the place of the first empty line from ``start`` on, or the length if there is none.

    ``data.find(b"\\n\\n", start)`` takes four times as long on PyPy. Here only every second
    byte is read, which is always one of the two.
    """
    size = len(data)
    at = start + 1
    while at < size:
        if data[at] == 10:
            if data[at - 1] == 10:
                return at - 1
            if at + 1 < size and data[at + 1] == 10:
                return at
        at += 2
    return size


class _Slots:
    """The slots for short chunks, of one thread at a time.

    Attributes:
        numbers: four numbers for each slot: the two integers of a chunk; its only id, or -1; 0.
        lists: the ids of the chunk in each slot, if they are several.
    """

    __slots__ = ("lists", "numbers")

    def __init__(self) -> None:
        # Two integers of a chunk are never both 0.
        self.numbers = [0] * (4 * _SLOTS)
        self.lists: list[list[int]] = [[]] * _SLOTS


class Generations:
    """A cache from the bytes of a text to its ids, in two generations. Its limit is 0 at first.

    It is like ``caches.Cache``, but not a dictionary itself, since PyPy cannot optimize
    ``__missing__``.

    Threads may share it: each operation on a dictionary is atomic, and two threads that store the
    ids of the same text store equal ones.

    >>> cache = Generations()
    >>> cache.set_limit(4)
    >>> for number in range(6):
    ...     cache.put(bytes([number]), [number])
    >>> [cache.get(bytes([number])) for number in (5, 4, 3, 1)]
    [[5], [4], [3], None]
    """

    __slots__ = ("_half", "_older", "_younger")

    def __init__(self) -> None:
        self._half = 0
        self._younger: dict[bytes, list[int]] = {}
        self._older: dict[bytes, list[int]] = {}

    def get(self, key: bytes) -> list[int] | None:
        """Return the ids for a text, or None. They belong to the cache."""
        value = self._younger.get(key)
        if value is None:
            value = self._older.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: bytes, ids: list[int]) -> None:
        """Store the ids of a text."""
        if self._half:
            if len(self._younger) >= self._half:
                # With a limit of 1 there is no room for an older generation.
                self._older = self._younger if self._half > 1 else {}
                self._younger = {}
            self._younger[key] = ids

    def set_limit(self, limit: int) -> None:
        """Set the largest number of texts held, and clear the cache."""
        self._half = limit // 2 or limit
        self.clear()

    def clear(self) -> None:
        """Remove all texts."""
        self._younger = {}
        self._older = {}
