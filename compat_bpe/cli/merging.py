"""``compat-bpe show --merges``: how the chunks of a text are merged, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Set
from itertools import groupby
from unicodedata import east_asian_width

import click

from .. import Encoding
from ..pipeline.chunks import chunks_of
from ..pipeline.models.bpe.explain import Pair, Step, Token, merge_steps
from ..unicode.escape import Visible, escape
from .output import can_show

#: What stands between the parts of a chunk, also in colors: here it is the edges that matter.
_SEPARATOR = "|"
#: The background of the two parts that are joined next.
_JOINED_BACKGROUND = "yellow"

#: States that are longer than this (in columns) do not push what stands beside them further.
_WIDEST = 60


def shown_merges(
    texts: Iterable[str], encoding: Encoding, allowed: Set[str], *, colored: bool
) -> Iterator[str]:
    """What is written for each chunk of some texts."""
    lines = _Lines(encoding, colored)
    lead = ""
    for chunk in _chunks(texts, encoding, allowed):
        yield lead
        yield from lines.of(chunk)
        lead = "\n"


def merges_as_json(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[str]:
    """The same as a line of JSON for each chunk."""
    core = encoding.core
    visible = Visible("\\n", "", can_show)
    for chunk in _chunks(texts, encoding, allowed):
        if isinstance(chunk, int):
            name = encoding.decode_single_token_bytes(chunk)
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


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _chunks(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[bytes | int]:
    for text in texts:
        yield from chunks_of(encoding.core, text, allowed)


class _Lines:
    """The lines that show a chunk."""

    def __init__(self, encoding: Encoding, colored: bool) -> None:
        self._encoding = encoding
        self._colored = colored
        self._quoted = Visible("\\n", '"', can_show)
        self._visible = Visible("\\n", _SEPARATOR, can_show)
        self._special = Visible("\\n", "", can_show)
        self._is_listed = encoding.core.model.merges.follows_list

    def of(self, chunk: bytes | int) -> Iterator[str]:
        core = self._encoding.core
        if isinstance(chunk, int):
            name = self._encoding.decode_single_token_bytes(chunk)
            yield f"\\[{escape(name, self._special)}\\]  a special or added token\n  = {chunk}\n"
            return
        yield f'"{escape(chunk, self._quoted)}"'
        if chunk in core.model.whole and len(chunk) > 1:
            yield "  a token as a whole, so it is not merged; if it were:"
        yield "\n"
        width = 0
        for step in merge_steps(chunk, core.model.merges) if len(chunk) > 1 else ():
            state = _SEPARATOR.join(self._part(part) for part in step.parts)
            columns = _columns(state)
            # The first has the most separators, so it is the widest.
            width = width or min(columns, _WIDEST)
            if step.pairs:
                padding = " " * max(width - columns, 0)
                yield f"  {self._state(step)}{padding}  {self._candidates(step)}\n"
            else:
                yield f"  {state}\n"
        yield f"  = {' '.join(map(str, core.model.ids_of(chunk)))}\n"

    def _part(self, part: Token) -> str:
        return escape(part.data, self._visible)

    def _state(self, step: Step) -> str:
        """The parts, the two that are joined next in color."""
        parts = list(map(self._part, step.parts))
        if self._colored:
            left = step.pairs[0].place
            joined = _SEPARATOR.join(parts[left : left + 2])
            parts[left : left + 2] = [click.style(joined, "black", _JOINED_BACKGROUND)]
        return _SEPARATOR.join(parts)

    def _candidates(self, step: Step) -> str:
        """The pairs that could be joined, from the one of the lowest rank on."""

        def name(pair: Pair) -> tuple[int, str]:
            parts = step.parts[pair.place : pair.place + 2]
            return pair.rank, _SEPARATOR.join(map(self._part, parts))

        shown = ""
        before = -1
        for (rank, text), equal in groupby(sorted(step.pairs, key=name), key=name):
            times = len(list(equal))
            one = f"{text} {'#' if self._is_listed else ''}{rank + self._is_listed}"
            if times > 1:
                one += f" x{times}"
            if self._colored and not shown:
                one = click.style(one, bold=True)
            # Two pairs can make one token.
            shown += one if not shown else f"{' = ' if rank == before else ' < '}{one}"
            before = rank
        return shown


def _columns(text: str) -> int:
    """The columns that a text takes on a terminal, combining marks aside."""
    return sum(1 + (east_asian_width(char) in "WF") for char in text)
