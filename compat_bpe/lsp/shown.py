"""The counts that an editor shows: lenses, hints, hovers, and colors of the tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from ..files.documents import markdown_sections
from ..fit.edited_document import Document, Unit
from ..unicode.text import fence
from .documents import (
    OpenDocument,
    diagnostics,
    offset_of,
    offsets_of,
    position_at,
    range_at,
    read_position,
    read_range,
)
from .rpc import CONTENT_MODIFIED, Params, RpcError
from .session import Session

#: The longest document in characters that is searched for headings and definitions.
_LONGEST_SEARCHED = 1 << 22

#: Definitions at the beginning of a line, in the languages that have a word for them.
_DEFINITION = re.compile(
    r"^(?:(?:export|default|pub(?:\([^)\n]*\))?|public|private|internal|protected|static|abstract"
    r"|final|sealed|open|data|async|unsafe|extern|const|inline|local|declare) +)*"
    r"(?:def|class|fn|func|fun|function|struct|enum|union|trait|impl|interface|module|mod"
    r"|namespace|object|protocol|record|type|macro_rules!|defmodule|sub)\b[^\n]*",
    re.MULTILINE,
)
_COMMENT = r"#|//|/\*|--|;"
#: The quotes of a text of several lines, or the beginning of a line that is outside a definition:
#: it is not indented, no comment, and neither closes the definition nor goes on with its head.
_QUOTE_OR_OUTSIDE = re.compile(
    rf"\"{{3}}|'{{3}}|^(?![\s{{}})\]]|{_COMMENT}"
    r"|(?:end|where|begin|rescue|ensure)\b|(?:public|private|protected):)",
    re.MULTILINE,
)
#: A line that is blank, or a comment that is not indented.
_BLANK_OR_COMMENT = re.compile(rf"\s*$|{_COMMENT}")


def parts(opened: OpenDocument) -> Iterator[tuple[int, int]]:
    """Yield the section of each heading, or the part of each top-level definition.

    A definition's part ends where the lines are no longer indented.
    """
    if len(opened.document) > _LONGEST_SEARCHED:
        return
    text = opened.document.text
    if opened.is_markdown:
        for section in markdown_sections(text):
            yield section.start, section.end
    else:
        yield from _definitions(text)


def _definitions(text: str) -> Iterator[tuple[int, int]]:
    starts = [match.start() for match in _DEFINITION.finditer(text)]
    for start, limit in zip(starts, [*starts[1:], len(text)]):
        yield start, _end_of_definition(text, start, limit)


def _end_of_definition(text: str, start: int, limit: int) -> int:
    """Return the end of the last line of a definition, which is at most the limit."""
    end, quote = limit, ""
    for match in _QUOTE_OR_OUTSIDE.finditer(text, start + 1, limit):
        if match[0]:
            quote = "" if match[0] == quote else quote or match[0]
        elif not quote:
            end = match.start()
            break
    stripped = start + len(text[start:end].rstrip())
    end = text.find("\n", stripped, end) + 1 or end
    lines = text[start:end].splitlines(keepends=True)
    while _BLANK_OR_COMMENT.match(lines[-1]):
        end -= len(lines.pop())
    return end


#: The types of the two kinds of tokens, which every theme of colors knows.
TOKEN_TYPES = ("string", "keyword")
#: The most parts of a document with a count, tokens that a hover names, and tokens in colors.
MOST_PARTS = 500
_MOST_NAMED = 8
_MOST_COLORED = 20_000


def lenses(session: Session, params: Params) -> list[dict[str, Any]] | None:
    """Return a lens with the count of each heading's or definition's part.

    The first one has the count of the document, unless the client's status has it.
    """
    opened = session.document(params)
    if not session.settings.shown["codeLens"]:
        return None
    refuse_if_outdated(session, opened)
    document = opened.document
    shown = []
    if not session.client.has_status:
        shown.append(_lens(document, 0, f"{opened.in_words()}{share(opened)}", session.unit))
    for start, end in islice(parts(opened), MOST_PARTS):
        shown.append(_lens(document, start, opened.in_words(start, end), session.unit))
    return shown


def hints(session: Session, params: Params) -> list[dict[str, Any]] | None:
    """Return the hints in a range: the document's count on its first line, and its parts'."""
    opened = session.document(params)
    if not session.settings.shown["inlayHints"]:
        return None
    refuse_if_outdated(session, opened)
    document = opened.document
    start, end = offsets_of(document, read_range(params.inner("range")), session.unit)
    places = [(0, len(document)), *islice(parts(opened), MOST_PARTS)]
    shown = []
    for number, (first, last) in enumerate(places):
        at = document.line_range(document.position(first).line)[1]
        if start <= at <= end:
            count = opened.in_words(first, last)
            label = count if number else f"file: {count}{share(opened)}"
            place = position_at(document, at, session.unit)
            shown.append({"position": place, "label": label, "paddingLeft": True})
    return shown


def pulled_diagnostics(session: Session, params: Params) -> dict[str, Any]:
    """Return the diagnostics of a document, for a client that asks for them."""
    opened = session.document(params)
    is_shown = session.settings.shown["diagnostics"]
    return {"kind": "full", "items": diagnostics(opened, session.unit) if is_shown else []}


def hover(session: Session, params: Params) -> dict[str, Any] | None:
    """Return the counts of the selection, the line and the document, and the tokens at a place.

    A client may send the selection as ``range``. Otherwise it is the range of the last request for
    code actions, if the place is in it.
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
        lines.append(f"Selection: **{opened.in_words(start, end)}**")
    line = document.position(at).line
    lines.append(f"Line: {opened.in_words(*document.line_range(line))}")
    lines.append(f"Document: {opened.in_words()}{share(opened)}")
    if opened.answer.note:
        lines.append(f"An estimate: {opened.answer.note}")
    here = [] if opened.answer.note else document.tokens(at, min(at + 1, len(document)))
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
    if opened.answer.note:
        return {"data": []}
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

    A character of several tokens is in the first one. The numbers are those in the document, so
    that a token keeps its type when the range moves.
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
    """Refuse a request about a document that has changed since; the client asks again."""
    if session.is_outdated(opened.uri):
        raise RpcError(CONTENT_MODIFIED, "the document has changed")


def _lens(document: Document, at: int, title: str, unit: Unit) -> dict[str, Any]:
    return {"range": range_at(document, at, at, unit), "command": {"title": title, "command": ""}}


def share(opened: OpenDocument) -> str:
    """Return the part of its budget that a document takes, to be put after its count."""
    if not opened.budget:
        return ""
    return f" · {opened.count() * 100 / opened.budget:.0f} % of {opened.budget:,}"


def _code(data: bytes) -> str:
    """Return the bytes of a token as code in Markdown."""
    text = ascii(data)[2:-1]
    with suppress(UnicodeDecodeError):
        text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in data.decode())
    mark = fence(text)
    blank = " " if text[:1] in "` " or text[-1:] in "` " else ""
    return f"{mark}{blank}{text}{blank}{mark}"
