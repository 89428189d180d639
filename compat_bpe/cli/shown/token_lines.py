"""Tokens as text for people to read, in colors or between separators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import cycle

import click

from ...unicode.text import Visible, can_show, escape
from .shown_tokens import Look
from .token_units import Unit, data_of, units

#: The backgrounds that tokens have in turn, and those of special and unknown tokens; black is
#: readable on each.
_BACKGROUNDS = ("cyan", "yellow")
_MARKED_BACKGROUNDS = {"special": "red", "unknown": "magenta"}
#: The marks around special tokens, unknown ones, and text without a token, where there is no color.
_MARKS = {"special": ("\\[", "\\]"), "unknown": ("\\<", "\\>"), "gap": ("\\(", "\\)")}
#: The marks around characters that several tokens make together; their number follows.
_SHARED = ("\\{", "\\}")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

_SEPARATOR = "|"

#: The largest number of tokens whose text is cached.
_CACHED = 1 << 14


def text_of(looks: Iterable[Look], *, colored: bool) -> Iterator[str]:
    """Yield the text that shows tokens in running text; a newline in them ends a line."""
    ordinary = Visible("\\n\n", "" if colored else _SEPARATOR, can_show)
    special = Visible("\\n", "", can_show)
    styled = _styled if colored else _marked

    @lru_cache(_CACHED)
    def shown(unit: Unit, background: str) -> str:
        kind = unit[0].kind
        text = escape(data_of(unit), special if kind == "special" else ordinary)
        return styled(text, kind, background, len(unit))

    backgrounds = cycle(_BACKGROUNDS)
    lead = ""
    for unit in units(looks):
        if unit[0].id is None:
            # No separator: it says by itself where it begins and ends.
            yield shown(unit, "")
            lead = ""
            continue
        background = next(backgrounds)
        yield lead + shown(unit, background)
        lead = "" if colored else _SEPARATOR


def lines_of(looks: Iterable[Look], width: int, *, colored: bool) -> Iterator[str]:
    """Yield a line for each token, after its id; ``width`` is that of the ids.

    A token that has only a part of a character has the whole character, then the number of the
    token among those that share it, and its own bytes.
    """
    ordinary = Visible("\\n", "" if colored else '"', can_show)
    special = Visible("\\n", "", can_show)
    quoted = Visible("\\n", '"', can_show)
    styled = _styled if colored else _quoted

    @lru_cache(_CACHED)
    def shown(unit: Unit, background: str) -> str:
        kind = unit[0].kind
        text = escape(data_of(unit), special if kind == "special" else ordinary)
        text = styled(text, kind, background, 1)
        lines = []
        for number, look in enumerate(unit, 1):
            written = escape(look.token.encode(), special) if look.token else ""
            if len(unit) > 1:
                own = written or f'"{escape(look.data, quoted)}"'
                written = f"{number}/{len(unit)}  {own}"
            shown_id = "" if look.id is None else look.id
            lines.append(f"{shown_id:>{width}}  {text}{'  ' if written else ''}{written}\n")
        return "".join(lines)

    backgrounds = cycle(_BACKGROUNDS)
    for unit in units(looks):
        yield shown(unit, "" if unit[0].id is None else next(backgrounds))


def _styled(text: str, kind: str, background: str, count: int) -> str:
    """Return text in colors; the number of tokens stands behind it if it is not 1."""
    # A background that is on at the end of a line may fill the rest of it.
    lines = text.split("\n")
    if kind == "gap":
        return "\n".join(line and click.style(line, dim=True) for line in lines)
    background = _MARKED_BACKGROUNDS.get(kind, background)
    text = "\n".join(line and click.style(line, fg="black", bg=background) for line in lines)
    return text if count == 1 else text + click.style(_superscript(count), dim=True)


def _marked(text: str, kind: str, _background: str, count: int) -> str:
    if count > 1:
        return f"{_SHARED[0]}{text}{_SHARED[1]}{count}"
    begin, end = _MARKS.get(kind, ("", ""))
    return f"{begin}{text}{end}"


def _quoted(text: str, kind: str, _background: str, _count: int) -> str:
    begin, end = _MARKS.get(kind, ('"', '"'))
    return f"{begin}{text}{end}"


def _superscript(number: int) -> str:
    text = str(number)
    raised = text.translate(_SUPERSCRIPTS)
    return raised if can_show(raised) else text
