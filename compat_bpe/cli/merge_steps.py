"""``compat-bpe show --merges``: show step by step how the chunks of a text are merged."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby
from math import inf
from unicodedata import east_asian_width

import click

from .. import Encoding
from ..pipeline.chunks import chunks_of
from ..pipeline.models.bpe.explain import Pair, Step, Token, merge_steps
from ..unicode.escape import Visible, can_show, escape
from .options.encoding import check_decodes

#: The separator of the parts of a chunk, in colors, too: here the edges matter.
_SEPARATOR = "|"
#: The background of the two parts that are merged next.
_JOINED_BACKGROUND = "yellow"

#: The largest number of columns that shorter states are padded to.
_WIDEST = 60

#: The columns that a line usually needs beside the state, with one pair.
_PAIR = 32

#: The sign for parts that are left out of a line.
_ELLIPSIS = "…"


def shown_merges(
    texts: Iterable[str], encoding: Encoding, allowed: Set[str], *, colored: bool
) -> Iterator[str]:
    """Yield the lines of each chunk of some texts, no wider than the terminal."""
    lines = _Lines(encoding, colored, _width())
    lead = ""
    for chunk in _chunks(texts, encoding, allowed):
        yield lead
        yield from lines.of(chunk)
        lead = "\n"


def merges_as_json(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[str]:
    """Yield a line of JSON for each chunk of some texts."""
    core = encoding.core
    visible = Visible("\\n", "", can_show)
    for chunk in _chunks(texts, encoding, allowed):
        if isinstance(chunk, int):
            name = _name_of(encoding, chunk)
            yield _json({"special": escape(name, visible), "ids": [chunk]})
            continue
        steps = [
            {
                "parts": [escape(part.data, visible) for part in parts],
                "pairs": [
                    {"place": pair.place, "rank": pair.rank, "id": pair.made.id} for pair in pairs
                ],
            }
            for parts, pairs in merge_steps(chunk, core.model.merges)
        ]
        yield _json(
            {
                "chunk": escape(chunk, visible),
                "is_token": chunk in core.model.whole,
                "steps": steps,
                "ids": core.model.ids_of(chunk),
            }
        )


def _name_of(encoding: Encoding, token: int) -> bytes:
    """Return the name of a special or added token."""
    check_decodes(encoding)
    return encoding.decode_single_token_bytes(token)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _chunks(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[bytes | int]:
    for text in texts:
        yield from chunks_of(encoding.core, text, allowed)


def _width() -> float:
    """Return the columns of the output: COLUMNS, or the terminal's; infinity if unknown."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return inf


class _Lines:
    """A writer of the lines that show a chunk."""

    def __init__(self, encoding: Encoding, colored: bool, width: float) -> None:
        self._width = width
        self._encoding = encoding
        self._colored = colored
        self._quoted = Visible("\\n", '"', can_show)
        self._visible = Visible("\\n", _SEPARATOR, can_show)
        self._special = Visible("\\n", "", can_show)
        self._is_listed = encoding.core.model.merges.follows_list

    def of(self, chunk: bytes | int) -> Iterator[str]:
        core = self._encoding.core
        if isinstance(chunk, int):
            name = _name_of(self._encoding, chunk)
            yield f"\\[{escape(name, self._special)}\\]  a special or added token\n  = {chunk}\n"
            return
        yield f'"{escape(chunk, self._quoted)}"'
        if chunk in core.model.whole and len(chunk) > 1:
            yield "  a token as a whole, so it is not merged; if it were:"
        yield "\n"
        width = 0
        for step in merge_steps(chunk, core.model.merges) if len(chunk) > 1 else ():
            parts = list(map(self._part, step.parts))
            if not step.pairs:
                yield f"  {_SEPARATOR.join(parts)}\n"
                continue
            state, columns = self._state(parts, step.pairs[0].place)
            # The first state has the most separators, so it is the widest.
            width = width or min(columns, _WIDEST, self._room_for_state())
            padding = " " * max(width - columns, 0)
            room = self._width - 4 - max(width, columns)
            yield f"  {state}{padding}  {self._candidates(step, room)}\n"
        yield f"  = {' '.join(map(str, core.model.ids_of(chunk)))}\n"

    def _part(self, part: Token) -> str:
        return escape(part.data, self._visible)

    def _room_for_state(self) -> int:
        """Return the largest number of columns of a state."""
        if self._width == inf:
            return sys.maxsize
        # A state gets half of the line, but there must be room for a pair and the last words.
        return max(int(min(self._width // 2 - 2, self._width - _PAIR)), 1)

    def _state(self, parts: list[str], left: int) -> tuple[str, int]:
        """Return the parts around the two that are merged next, and the columns that they take."""
        first, end = _window([_columns(part) for part in parts], left, self._room_for_state())
        before = [_ELLIPSIS] if first else []
        after = [_ELLIPSIS] if end < len(parts) else []
        columns = _columns(_SEPARATOR.join(before + parts[first:end] + after))
        joined = _SEPARATOR.join(parts[left : left + 2])
        if self._colored:
            joined = click.style(joined, "black", _JOINED_BACKGROUND)
        shown = [*before, *parts[first:left], joined, *parts[left + 2 : end], *after]
        return _SEPARATOR.join(shown), columns

    def _candidates(self, step: Step, room: float) -> str:
        """Return the pairs that could be merged, lowest rank first, as far as there is room.

        The first pair is always there. The last words say how many pairs are left out.
        """

        def name(pair: Pair) -> tuple[int, str]:
            parts = step.parts[pair.place : pair.place + 2]
            return pair.rank, _SEPARATOR.join(map(self._part, parts))

        pairs = [(key, len(list(equal))) for key, equal in groupby(sorted(map(name, step.pairs)))]
        shown = ""
        columns = 0
        before = -1
        for number, ((rank, text), times) in enumerate(pairs):
            one = f"{text} {'#' if self._is_listed else ''}{rank + self._is_listed}"
            if times > 1:
                one += f" x{times}"
            # Two pairs can make one token.
            lead = "" if not number else " = " if rank == before else " < "
            more = f" {_ELLIPSIS} {len(pairs) - number} more"
            rest = len(f" {_ELLIPSIS} {len(pairs) - number - 1} more")
            columns += _columns(lead + one)
            if number and columns + (rest if number + 1 < len(pairs) else 0) > room:
                return shown + more
            if self._colored and not number:
                one = click.style(one, bold=True)
            shown += lead + one
            before = rank
        return shown


def _window(widths: Sequence[int], left: int, room: int) -> tuple[int, int]:
    """Return the range of parts to show: the two at ``left``, and others as far as there is room.

    Args:
        widths: the columns of each part; a separator is between each two.
        left: the first of the two parts.
        room: the columns, those of an ellipsis on each side with parts left out included.

    >>> _window([1] * 20, 9, 11)
    (8, 12)
    >>> _window([1] * 6, 0, 11)
    (0, 6)
    """
    if sum(widths) + len(widths) - 1 <= room:
        return 0, len(widths)
    first, end = left, left + 2
    taken = sum(widths[first:end]) + 1 + 4  # an ellipsis and a separator on each side
    while True:
        grown = taken
        if first and taken + widths[first - 1] + 1 <= room:
            first -= 1
            taken += widths[first] + 1
        if end < len(widths) and taken + widths[end] + 1 <= room:
            taken += widths[end] + 1
            end += 1
        if taken == grown:
            return first, end


def _columns(text: str) -> int:
    """Return the columns that a text takes on a terminal; combining marks count as one."""
    return sum(1 + (east_asian_width(char) in "WF") for char in text)
