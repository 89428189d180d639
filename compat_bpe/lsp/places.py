"""Positions and ranges of the protocol, and changes of a document that are given by them.

A position is a line and a column in the unit that client and server have agreed on. A line beyond
the last one is the end of the document, and a column beyond the end of a line is that end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..fit.document import Document, Unit
from .rpc import Params


class Change(NamedTuple):
    """A change as a client sends it: the range from one line and column to another, and the text.

    The range is None if the text is that of the whole document.
    """

    range: tuple[tuple[int, int], tuple[int, int]] | None
    text: str


def read_position(params: Params) -> tuple[int, int]:
    """Return the line and the column of a position."""
    return params.number("line"), params.number("character")


def read_range(params: Params) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two positions of a range, the first one first."""
    start, end = read_position(params.inner("start")), read_position(params.inner("end"))
    return (start, end) if start <= end else (end, start)


def read_change(params: Params) -> Change:
    """Return a change of a document."""
    text = params.text("text")
    return Change(read_range(params.inner("range")) if "range" in params else None, text)


def offset_of(document: Document, position: tuple[int, int], unit: Unit) -> tuple[int, int]:
    """Return the offset of a position in characters, and the units left over.

    Units are left over if the position is within a character, whose offset is returned then.
    """
    line, column = position
    if line >= document.lines:
        return len(document), 0
    start, end = document.line_range(line)
    before = document.units(start, unit)
    if column >= document.units(end, unit) - before:
        return end, 0
    return document.offset_of_units(before + column, unit)


def offsets_of(
    document: Document, range_: tuple[tuple[int, int], tuple[int, int]], unit: Unit
) -> tuple[int, int]:
    """Return the offsets of a range, widened to whole characters."""
    start, _ = offset_of(document, range_[0], unit)
    end, rest = offset_of(document, range_[1], unit)
    return start, end + (rest > 0)


def position_at(document: Document, offset: int, unit: Unit) -> dict[str, int]:
    """Return the position of an offset in characters, as the protocol writes it."""
    line, column = document.position(offset, unit)
    return {"line": line, "character": column}


def range_at(document: Document, start: int, end: int, unit: Unit) -> dict[str, Any]:
    """Return the range of two offsets in characters, as the protocol writes it."""
    return {
        "start": position_at(document, start, unit),
        "end": position_at(document, end, unit),
    }


def edit_of(document: Document, change: Change, unit: Unit) -> tuple[int, int, str]:
    r"""Return a change as the arguments of ``Document.replace``.

    The result is the text of the client, unit by unit. In UTF-16 a change may take half of a
    character. Two halves that meet stay as they are: they count as the character that they are.

    >>> from compat_bpe import get_encoding
    >>> document = Document(get_encoding("gpt2"), "a\U0001f600")
    >>> ascii(edit_of(document, Change(((0, 2), (0, 3)), "b"), "utf-16"))
    "(1, 2, '\\ud83db')"
    """
    new = change.text
    if change.range is None:
        return 0, len(document), new
    start, left = offset_of(document, change.range[0], unit)
    end, right = offset_of(document, change.range[1], unit)
    if unit == "utf-16":
        if right:
            new += _halves(document.slice(end, end + 1))[1]
            end += 1
        if left:
            new = _halves(document.slice(start, start + 1))[0] + new
    return start, end, new


def changing(document: Document, changes: Iterable[Change], unit: Unit) -> Iterator[None]:
    """Make changes of a document, in short steps."""
    for change in changes:
        yield from document.replacing(*edit_of(document, change, unit))


def _halves(char: str) -> tuple[str, str]:
    """Return the two surrogates of a character above U+FFFF."""
    data = char.encode("utf-16-le")
    first, last = (data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in (0, 2))
    return first, last
