"""The parts of a document that have a count of their own: headings' and definitions'."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..files.markdown import markdown_sections
from .documents import OpenDocument

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
