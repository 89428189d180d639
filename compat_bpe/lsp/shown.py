"""The counts that an editor shows in a document: lenses, hovers, and colors of the tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..fit.document import Document
from ..fit.positions import Unit
from .documents import OpenDocument
from .errors import CONTENT_MODIFIED, RpcError
from .params import Params
from .places import offset_of, offsets_of, range_at, read_position, read_range
from .session import Session

#: The types of the two kinds of tokens, which every theme of colors knows.
TOKEN_TYPES = ("string", "keyword")
#: The most lenses of a document, the most tokens that a hover names, and the most that are colored.
_MOST_LENSES = 500
_MOST_NAMED = 8
_MOST_COLORED = 20_000

#: The longest document in characters that is searched for headings and definitions.
_LONGEST_SEARCHED = 1 << 22

#: A line of Markdown with a fence of code and what follows it, or with a heading.
_MARK = re.compile(r"^ {0,3}(?:(`{3,}|~{3,})(.*)|(#{1,6})(?:[ \t].*)?$)", re.MULTILINE)
#: Definitions at the beginning of a line, in the languages that have a word for them.
_DEFINITION = re.compile(
    r"^(?:(?:export|default|pub(?:\([^)\n]*\))?|public|private|internal|protected|static|abstract"
    r"|final|sealed|open|data|async|unsafe|extern|const|inline|local|declare) +)*"
    r"(?:def|class|fn|func|fun|function|struct|enum|union|trait|impl|interface|module|mod"
    r"|namespace|object|protocol|record|type|macro_rules!|defmodule|sub)\b[^\n]*",
    re.MULTILINE,
)


def lenses(session: Session, params: Params) -> list[dict[str, Any]] | None:
    """Return a lens with the count of the document, and of each heading's or definition's part."""
    opened = session.document(params)
    if not session.settings.shown["codeLens"]:
        return None
    refuse_if_outdated(session, opened)
    document = opened.document
    shown = [_lens(document, 0, f"{_tokens(document.count)}{_share(opened)}", session.unit)]
    for start, end in _parts(opened):
        if len(shown) > _MOST_LENSES:
            break
        title = _tokens(document.count_range(start, end))
        shown.append(_lens(document, start, title, session.unit))
    return shown


def hover(session: Session, params: Params) -> dict[str, Any] | None:
    """Return the counts of the selection, the line and the document, and the tokens at a place.

    A client that has a selection may give it as ``range``. Else it is that for which code actions
    were last asked, if the place is in it.
    """
    opened = session.document(params)
    if not session.settings.shown["hover"]:
        return None
    refuse_if_outdated(session, opened)
    document, unit = opened.document, session.unit
    at, _ = offset_of(document, read_position(params.inner("position")), unit)
    start, end = opened.selection
    if "range" in params:
        start, end = offsets_of(document, read_range(params.inner("range")), unit)
    elif not start <= at <= end:
        start = end = at
    lines = []
    if start < end:
        lines.append(f"Selection: **{_tokens(document.count_range(start, end))}**")
    line = document.position(at).line
    lines.append(f"Line: {_tokens(document.count_range(*document.line_range(line)))}")
    lines.append(f"Document: {_tokens(document.count)}{_share(opened)}")
    here = document.tokens(at, min(at + 1, len(document)))
    if here:
        decode = document.encoding.decode_bytes
        names = [f"{_code(decode([one.id]))} {one.id}" for one in here[:_MOST_NAMED]]
        more = " …" if len(here) > _MOST_NAMED else ""
        lines.append(f"Here: {', '.join(names)}{more}")
    answer: dict[str, Any] = {"contents": {"kind": "markdown", "value": "  \n".join(lines)}}
    if here:
        answer["range"] = range_at(document, here[0].start, here[-1].end, unit)
    return answer


def colors(session: Session, params: Params) -> dict[str, Any] | None:
    """Return the tokens of a range, alternately of two types."""
    opened = session.document(params)
    if not session.settings.shown["semanticTokens"]:
        return None
    refuse_if_outdated(session, opened)
    document, unit = opened.document, session.unit
    range_ = offsets_of(document, read_range(params.inner("range")), unit)
    data: list[int] = []
    last_line = last_column = 0
    for number, start, end in _stretches(document, *range_):
        line, column = document.position(start, unit)
        length = document.units(end, unit) - document.units(start, unit)
        from_column = column - (last_column if line == last_line else 0)
        data += [line - last_line, from_column, length, number % len(TOKEN_TYPES), 0]
        last_line, last_column = line, column
    return {"data": data}


def _stretches(document: Document, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the parts of tokens in a range, each within a line, with the tokens' numbers.

    A character of several tokens is in the first one. By the number in the document, a token
    keeps its type when the range moves.
    """
    covered = start
    for token in document.tokens(start, end)[:_MOST_COLORED]:
        begin, stop = max(token.start, covered), min(token.end, end)
        if begin >= stop:
            continue
        covered = stop
        line = document.position(begin).line
        while begin < stop:
            content = min(document.line_range(line)[1], stop)
            if begin < content:
                yield token.number, begin, content
            line += 1
            begin = document.line_range(line)[0] if line < document.lines else stop


def refuse_if_outdated(session: Session, opened: OpenDocument) -> None:
    """Give up work that the next messages outdate: the client asks again."""
    if session.is_outdated(opened.uri):
        raise RpcError(CONTENT_MODIFIED, "the document has changed")


def _parts(opened: OpenDocument) -> Iterator[tuple[int, int]]:
    """Yield the part of each heading, or of each top-level definition.

    A heading's part goes on to the next one that is not below it, a definition's to the next one.
    """
    if len(opened.document) > _LONGEST_SEARCHED:
        return
    text = opened.document.text
    if not opened.is_markdown:
        starts = [match.start() for match in _DEFINITION.finditer(text)]
        yield from zip(starts, [*starts[1:], len(text)])
        return
    headings = list(_headings(text))
    ends: list[int] = []
    open_ones: list[tuple[int, int]] = []  # from the last heading back, those not above another
    for start, level in reversed(headings):
        while open_ones and open_ones[-1][1] > level:
            open_ones.pop()
        ends.append(open_ones[-1][0] if open_ones else len(text))
        open_ones.append((start, level))
    yield from zip((start for start, _ in headings), reversed(ends))


def _headings(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place and the level of each heading that is not within a fence."""
    fence = ""
    for match in _MARK.finditer(text):
        mark, rest = match[1] or "", match[2]
        if fence:
            if mark.startswith(fence) and not rest.strip():
                fence = ""
        elif not mark:
            yield match.start(), len(match[3])
        elif mark[0] == "~" or "`" not in rest:
            fence = mark


def _lens(document: Document, at: int, title: str, unit: Unit) -> dict[str, Any]:
    return {
        "range": range_at(document, at, at, unit),
        "command": {"title": title, "command": ""},
    }


def _tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"


def _share(opened: OpenDocument) -> str:
    if not opened.budget:
        return ""
    return f" · {opened.document.count * 100 / opened.budget:.0f} % of {opened.budget:,}"


def _code(data: bytes) -> str:
    """Return the bytes of a token as code in Markdown."""
    text = ascii(data)[2:-1]
    with suppress(UnicodeDecodeError):
        text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in data.decode())
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text[:1] in "` " or text[-1:] in "` " else ""
    return f"{fence}{blank}{text}{blank}{fence}"
