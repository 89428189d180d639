"""Lines, columns, and offsets in UTF-8 and UTF-16 of a text in a ``PieceTree``.

Line ends, bytes and units add up over the pieces, provided that no piece ends between a carriage
return and its line feed; ``Document`` takes care of that. So a place is found by the sums in the
nodes of the tree and by a look into one piece, in logarithmic time (and that of the piece, which
is long only where a text has no cut point).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, NamedTuple

from .piece_tree import Measure, PieceTree

#: The units that columns and offsets are counted in: bytes, UTF-16 code units, or characters.
Unit = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile("\r\n|\r|\n")


class Position(NamedTuple):
    """A place in a text: a line and a column, both counted from 0."""

    line: int
    column: int


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_MEASURES: dict[Unit, Measure] = {"utf-8": _utf8, "utf-16": _utf16, "utf-32": len}


def measure_of(unit: Unit) -> Measure:
    """Return the function that counts the units of a text.

    Raises:
        ValueError: there is no such unit.

    >>> [measure_of(unit)("a\\U0001f600") for unit in ("utf-8", "utf-16", "utf-32")]
    [5, 3, 2]
    """
    measure = _MEASURES.get(unit)
    if measure is None:
        raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(_MEASURES)}")
    return measure


def line_count(tree: PieceTree) -> int:
    """Return the number of lines: one more than there are line ends."""
    return tree.total(_line_ends) + 1


def line_start(tree: PieceTree, line: int) -> int:
    """Return the offset in characters at which a line begins; there must be that line."""
    if not line:
        return 0
    place = tree.find_amount(_line_ends, line)
    ends = _LINE_END.finditer(place.piece)
    return place.other_before + next(islice(ends, line - place.before - 1, None)).end()


def line_of(tree: PieceTree, offset: int) -> int:
    """Return the line of an offset in characters.

    The offset between a carriage return and its line feed is in the line that they end.
    """
    if not offset:
        return 0
    place, before = tree.find_with(offset - 1, _line_ends)
    inside = offset - place.start
    ends = before + _line_ends(place.piece[:inside])
    return ends - (place.piece[inside - 1 : inside + 1] == "\r\n")


def units_before(tree: PieceTree, offset: int, unit: Unit) -> int:
    """Return the number of units before an offset in characters."""
    measure = measure_of(unit)
    if measure is len or not offset:
        return offset
    place, before = tree.find_with(offset - 1, measure)
    return before + measure(place.piece[: offset - place.start])


def offset_of_units(tree: PieceTree, units: int, unit: Unit) -> tuple[int, int]:
    """Return the offset in characters that a number of units is before.

    Returns:
        The offset, and the units left over: more than 0 if the place is within a character.
    """
    measure = measure_of(unit)
    if measure is len or not units:
        return units, 0
    place = tree.find_amount(measure, units)
    low, high, rest = 0, len(place.piece), units - place.before
    # Each step measures half as much, so all of them take the time of the piece.
    while low < high:
        middle = (low + high + 1) // 2
        more = measure(place.piece[low:middle])
        if more <= rest:
            low, rest = middle, rest - more
        else:
            high = middle - 1
    return place.other_before + low, rest
