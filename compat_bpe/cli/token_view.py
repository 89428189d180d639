"""Tokens and the steps of merging as people read them, text and HTML; and the steps as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from html import escape as escape_html
from itertools import cycle
from math import inf
from pkgutil import get_data
from unicodedata import east_asian_width

import click

from .. import Encoding
from ..pipeline.core import parts_of_text
from ..pipeline.models.explain import Explanation, Item, Row, explain
from ..unicode.text import Visible, can_show, escape
from .output import CommandError, is_terminal
from .tokens import Look, Unit, data_of, units

#: The backgrounds that tokens have in turn, and those of special and unknown tokens; black is
#: readable on each.
_BACKGROUNDS = ("cyan", "yellow")
_MARKED_BACKGROUNDS = {"special": "red", "unknown": "magenta"}
#: The marks around special tokens, unknown ones, and text without a token, where there is no color.
_MARKS = {"special": ("\\[", "\\]"), "unknown": ("\\<", "\\>"), "gap": ("\\(", "\\)")}
#: The marks around characters that several tokens make together; their number follows.
_SHARED = ("\\{", "\\}")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

#: The separator of tokens, and of the parts of a chunk: there in colors, too, since edges matter.
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
            # No separator: its marks show where it begins and ends.
            yield shown(unit, "")
            lead = ""
            continue
        background = next(backgrounds)
        yield lead + shown(unit, background)
        lead = "" if colored else _SEPARATOR


def lines_of(looks: Iterable[Look], width: int, *, colored: bool) -> Iterator[str]:
    """Yield a line for each token, after its id; ``width`` is that of the ids.

    If a token has only a part of a character, its line shows the whole character, then the number
    of the token among those that share it, and its own bytes.
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
    """Return text in colors; the number of tokens follows it if it is not 1."""
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


#: The background of the parts that a step is about.
_STEP_BACKGROUND = "yellow"

#: The largest number of columns that shorter states are padded to.
_WIDEST = 60

#: The columns that a line usually needs beside the state, with one pair.
_PAIR = 32

#: The sign for parts that are left out of a line.
_ELLIPSIS = "…"


def shown_merges(
    texts: Iterable[str], encoding: Encoding, allowed: Set[str], *, colored: bool
) -> Iterator[str]:
    """Yield the lines of each chunk of some texts, no wider than the terminal.

    Raises:
        CommandError: the vocabulary has no token for a part of a text.
    """
    lines = _Lines(colored, _width())
    lead = ""
    for found in explained(texts, encoding, allowed):
        yield lead
        yield from lines.of(found) if isinstance(found, Explanation) else lines.of_special(*found)
        lead = "\n"


def merges_as_json(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[str]:
    """Yield a line of JSON for each chunk of some texts; errors as in ``shown_merges``."""
    visible = Visible("\\n", "", can_show)

    def show(data: bytes) -> str:
        return escape(data, visible)

    for found in explained(texts, encoding, allowed):
        if isinstance(found, Explanation):
            yield _json({"chunk": show(found.chunk), **found.members(show), "ids": [*found.ids]})
        else:
            name, token = found
            yield _json({"special": show(name), "ids": [token]})


def explained(
    texts: Iterable[str], encoding: Encoding, allowed: Set[str]
) -> Iterator[Explanation | tuple[bytes, int]]:
    """Yield how each chunk of some texts becomes tokens; of a special or added token, name and id.

    Raises:
        CommandError: the vocabulary has no token for a part of a text.
    """
    core = encoding.core
    # The first name of each id.
    names = {number: name.encode() for name, number in reversed(list(core.special.items()))}
    for chunk in (part for text in texts for part in parts_of_text(core, text, allowed)):
        if isinstance(chunk, int):
            yield names[chunk], chunk
            continue
        try:
            found = explain(core.model, chunk)
        except ValueError as error:
            raise CommandError(f"{encoding.name}: {error}") from None
        yield found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _width() -> float:
    """Return the columns of the output: COLUMNS, or the terminal's; infinity if unknown."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if is_terminal(sys.stdout):
        return shutil.get_terminal_size().columns
    return inf


class _Lines:
    """A writer of the lines that show a chunk."""

    def __init__(self, colored: bool, width: float) -> None:
        self._width = width
        self._colored = colored
        self._quoted = Visible("\\n", '"', can_show)
        self._visible = Visible("\\n", _SEPARATOR, can_show)
        self._special = Visible("\\n", "", can_show)

    def of_special(self, name: bytes, token: int) -> Iterator[str]:
        """Yield the lines of a special or added token."""
        yield f"\\[{escape(name, self._special)}\\]  a special or added token\n  = {token}\n"

    def of(self, found: Explanation) -> Iterator[str]:
        """Yield the lines of a chunk."""
        note = f"  {found.note}" if found.note else ""
        yield f'"{escape(found.chunk, self._quoted)}"{note}\n'
        widest = _columns(_SEPARATOR.join(map(self._part, found.widest)))
        width = min(widest, _WIDEST) if widest <= self._room_for_state() else 0
        for row in found.rows():
            if not row.items:
                yield f"  {_SEPARATOR.join(map(self._part, row.parts))}\n"
                continue
            state, columns = self._state(row)
            width = width or min(columns, _WIDEST, self._room_for_state())
            padding = " " * max(width - columns, 0)
            room = self._width - 4 - max(width, columns)
            yield f"  {state}{padding}  {self._items(row, room)}\n"
        yield f"  = {' '.join(map(str, found.ids))}\n"

    def _part(self, part: bytes) -> str:
        return escape(part, self._visible)

    def _room_for_state(self) -> int:
        """Return the largest number of columns of a state."""
        if self._width == inf:
            return sys.maxsize
        # A state gets half of the line, but a pair and the last words must fit.
        return max(int(min(self._width // 2 - 2, self._width - _PAIR)), 1)

    def _state(self, row: Row) -> tuple[str, int]:
        """Return the parts around those that a step is about, and the columns that they take."""
        parts = list(map(self._part, row.parts))
        left, right = row.marked
        first, end = _window(list(map(_columns, parts)), left, right, self._room_for_state())
        before = [_ELLIPSIS] if first else []
        after = [_ELLIPSIS] if end < len(parts) else []
        columns = _columns(_SEPARATOR.join(before + parts[first:end] + after))
        marked = parts[left:right]
        if self._colored and marked:
            marked = [click.style(_SEPARATOR.join(marked), "black", _STEP_BACKGROUND)]
        shown = [*before, *parts[first:left], *marked, *parts[right:end], *after]
        return _SEPARATOR.join(shown), columns

    def _items(self, row: Row, room: float) -> str:
        """Return the possible next steps, as many as fit.

        The step that is taken is always listed. The number of those left out is before it, or last.
        """
        texts = list(map(self._item, row.items))
        taken = row.taken
        widths = [_columns(text) + _columns(item.lead) for text, item in zip(texts, row.items)]
        widths[0] -= _columns(row.items[0].lead)
        count = len(texts)
        if sum(widths) > room:
            count, columns = 0, 0
            # The first step is always listed, too, unless another one is taken.
            least = 1 if not taken else 0
            while count < len(texts):
                columns += widths[count]
                rest = len(f" {_ELLIPSIS} {len(texts) - count - 1} more")
                if taken is not None and taken > count:
                    rest += widths[taken]
                if count >= least and columns + rest > room:
                    break
                count += 1
        shown = ""
        for number, (text, item) in enumerate(zip(texts[:count], row.items)):
            shown += (item.lead if number else "") + self._styled(text, number == taken)
        if count == len(texts):
            return shown
        is_apart = taken is not None and taken >= count
        lead = " " if count else ""
        more = f"{lead}{_ELLIPSIS} {len(texts) - count - is_apart} more"
        if not is_apart or taken is None:
            return shown + more
        more = more if len(texts) - count - 1 else ""
        return shown + more + row.items[taken].lead + self._styled(texts[taken], True)

    def _item(self, item: Item) -> str:
        text = _SEPARATOR.join(map(self._part, item.parts))
        return f"{text} {item.figure}" if text and item.figure else text + item.figure

    def _styled(self, text: str, is_taken: bool) -> str:
        return click.style(text, bold=True) if self._colored and is_taken else text


def _window(widths: Sequence[int], left: int, right: int, room: int) -> tuple[int, int]:
    """Return the range of parts to show: the marked ones, and as many others as fit.

    Args:
        widths: the columns of each part; a separator is between each two.
        left, right: the first marked part, and the end of them.
        room: the columns, including those of an ellipsis on each side with parts left out.

    >>> _window([1] * 20, 9, 11, 11)
    (8, 12)
    >>> _window([1] * 6, 0, 2, 11)
    (0, 6)
    """
    if sum(widths) + len(widths) - 1 <= room:
        return 0, len(widths)
    first, end = left, right
    # An ellipsis and a separator on each side.
    taken = sum(widths[first:end]) + max(end - first - 1, 0) + 4
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


def page_start(title: str) -> str:
    """Return the beginning of a page, up to its title."""
    style = get_data(__package__, "tokens.css")  # also from a zip file or a frozen program
    assert style is not None  # a loader of packages has files
    title = html(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style.decode()}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n"
    )


#: The end of a page.
PAGE_END = "</main>\n</body>\n</html>\n"

#: The switch that shows the ids; it works without a script, and comes before all sections.
IDS_SWITCH = '<input type="checkbox" id="ids"> <label for="ids">Show ids</label>\n'


_VISIBLE = Visible()


def html(data: bytes | str, table: Visible = _VISIBLE) -> str:
    """Return bytes, or a name, as HTML; invisible characters and bytes not UTF-8 are escaped."""
    return escape_html(data.translate(table) if isinstance(data, str) else escape(data, table))


def section(name: str, tokens: Iterable[Look], summary: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a section with the tokens of a text.

    Args:
        name: its heading.
        tokens: the looks of the tokens, and of the text between them.
        summary: the lines that are shown above; they are asked for after the last token.

    Raises:
        CommandError: raised by ``tokens``; the elements are closed before.
    """
    ordinary = Visible("\\n\n")

    @lru_cache(_CACHED)
    def element(unit: Unit) -> str:
        look = unit[0]
        text = html(data_of(unit), _VISIBLE if look.kind == "special" else ordinary)
        if look.id is None:
            return f'<i class="gap" title="no token">{text}</i>'
        kind = f' class="{look.kind}"' if look.kind else ""
        count = f' data-tokens="{len(unit)}"' if len(unit) > 1 else ""
        ids = " ".join(str(one.id) for one in unit)
        written = " ".join(html(one.token) for one in unit if one.token)
        title = f"{ids} {written}" if written else ids
        # The ids stand before a newline at the end, not on the next line.
        line = text.rstrip("\n")
        end = text[len(line) :]
        return f'<span{kind}{count} title="{title}">{line}<small>{ids}</small>{end}</span>'

    yield f"<section>\n<h2>{html(name)}</h2>\n<pre>"
    try:
        yield from map(element, units(tokens))
    except CommandError:
        yield "</pre>\n</section>\n"
        raise
    yield "</pre>\n"
    for line in summary:
        yield f'<p class="total">{html(line)}</p>\n'
    yield "</section>\n"


#: The most ways to go on that are listed for a state.
_LISTED = 8


def merge_page(texts: Iterable[str], encoding: Encoding, allowed: Set[str]) -> Iterator[str]:
    """Yield the parts of a page with the steps of each chunk of some texts.

    Raises:
        CommandError: the vocabulary has no token for a part of a text.

    >>> from compat_bpe import get_encoding
    >>> page = "".join(merge_page(["hugs"], get_encoding("gpt2"), frozenset()))
    >>> "<b>u|g 1018</b>" in page, "<p>Ids: 71 10339</p>" in page
    (True, True)
    """
    yield page_start(f"Merges of {encoding.name}")
    for found in explained(texts, encoding, allowed):
        if isinstance(found, Explanation):
            name, note, rows, ids = found.chunk, found.note, [*found.rows()], [*found.ids]
        else:
            name, note, rows, ids = found[0], "a special or added token", [], [found[1]]
        yield f"<section>\n<h2>{html(name)}</h2>\n"
        yield f'<p class="total">{html(note)}</p>\n' if note else ""
        if rows:
            yield '<table>\n<thead><tr><th scope="col">parts</th><th scope="col">possible next '
            yield "steps, the chosen one in bold</th></tr></thead>\n<tbody>\n"
            yield from (f"<tr><td>{_parts(row)}</td><td>{_items(row)}</td></tr>\n" for row in rows)
            yield "</tbody>\n</table>\n"
        yield f"<p>Ids: {' '.join(map(str, ids))}</p>\n</section>\n"
    yield PAGE_END


def _parts(row: Row) -> str:
    marks = [' class="marked"' if at in range(*row.marked) else "" for at in range(len(row.parts))]
    return "".join(f"<span{mark}>{html(part)}</span>" for mark, part in zip(marks, row.parts))


def _items(row: Row) -> str:
    """Return the possible next steps; if there are very many, the first ones and the one taken."""
    shown = [n for n in range(len(row.items)) if n < _LISTED or n == row.taken]
    written = ""
    for number in shown:
        item = row.items[number]
        figure = html(item.figure)
        text = "|".join(map(html, item.parts))
        text += f" {figure}" if text and figure else figure
        written += html(item.lead) if number else ""
        written += f"<b>{text}</b>" if number == row.taken else text
    left_out = len(row.items) - len(shown)
    return f"{written} … {left_out:,} more" if left_out else written
