"""Documents with a structure: the sections of Markdown, and the source of Jupyter notebooks.

A section begins at a heading. The source of a notebook is the texts of its cells, without outputs
and metadata.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .whole import json_message

_ENDINGS = (".md", ".markdown", ".mdc", ".mdx")

#: A line with its end; Unicode's other separators do not end a line.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
#: The beginning of a line that is not a paragraph, so that no line below makes it a heading.
_NO_PARAGRAPH = re.compile(r" {4}|\t| {0,3}(?:[>|]|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|<)")


class MarkdownSection(NamedTuple):
    """A section: from its heading to the next one of its level or above.

    Args:
        heading: the text of the heading.
        level: from 1 to 6.
        line: the line of the heading, from 1.
        start, end: its place in the text, with its heading and the sections below it.
    """

    heading: str
    level: int
    line: int
    start: int
    end: int


def is_markdown(path: str) -> bool:
    """Return True if the name of a file is one of Markdown.

    >>> is_markdown("skills/SKILL.md"), is_markdown("a.txt")
    (True, False)
    """
    return path.lower().endswith(_ENDINGS)


def markdown_sections(text: str) -> list[MarkdownSection]:
    r"""Return the sections of a Markdown text.

    Headings are those with ``#`` and those with a line of ``=`` or ``-`` below them; in blocks of
    code and in front matter there are none.

    >>> [section[:3] for section in markdown_sections("# A\n\ntext\n\nB\n--\n")]
    [('A', 1, 1), ('B', 2, 5)]
    """
    lines = _LINE.findall(text)
    headings = list(_headings([line.rstrip("\r\n") for line in lines]))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    ends = [len(text)] * len(headings)
    open_sections: list[int] = []
    for number, (level, first, _) in enumerate(headings):
        while open_sections and headings[open_sections[-1]][0] >= level:
            ends[open_sections.pop()] = starts[first]
        open_sections.append(number)
    return [
        MarkdownSection(heading, level, first + 1, starts[first], end)
        for (level, first, heading), end in zip(headings, ends)
    ]


def body_start(text: str) -> int:
    r"""Return the offset behind the front matter of a text: 0 if there is none.

    >>> body_start("---\nname: a\n---\n# A\n"), body_start("# A\n---\n")
    (16, 0)
    """
    lines = _LINE.findall(text)
    return sum(map(len, lines[: _behind_front_matter([line.rstrip("\r\n") for line in lines])]))


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the level of each heading, the index of its first line, and its text."""
    at = _behind_front_matter(lines)
    fence = ""
    paragraph: int | None = None  # the index of its first line
    for index in range(at, len(lines)):
        line = lines[index]
        found = _FENCE.match(line)
        if fence:
            # The block ends at a fence of the same sign that is as long and has nothing after it.
            closes = found is not None and found[1].startswith(fence)
            if closes and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if found is not None:
            fence, paragraph = found[1], None
            continue
        heading = _ATX.match(line)
        underline = _UNDERLINE.match(line)
        if heading is not None:
            yield len(heading[1]), index, _without_closing(line[heading.end() :].strip())
            paragraph = None
        elif underline is not None and paragraph is not None:
            words = " ".join(part.strip() for part in lines[paragraph:index])
            yield (1 if underline[1][0] == "=" else 2), paragraph, words
            paragraph = None
        elif not line.strip() or (paragraph is None and _NO_PARAGRAPH.match(line)):
            paragraph = None
        elif paragraph is None and (index == at or not _goes_on(lines[index - 1])):
            paragraph = index


def _without_closing(text: str) -> str:
    """Return the text of a heading without the signs that may close it."""
    rest = text.rstrip("#")
    return rest.rstrip() if not rest or rest[-1] in " \t" else text


def _goes_on(before: str) -> bool:
    """Return True if text after a line belongs to a list or quotation that begins in the line."""
    return bool(before.strip()) and _NO_PARAGRAPH.match(before) is not None


def _behind_front_matter(lines: list[str]) -> int:
    """Return the index of the first line that is Markdown."""
    # Readers of front matter skip a byte-order mark.
    fence = lines[0].lstrip("\ufeff").rstrip() if lines else ""
    if fence in ("---", "+++"):
        for index, line in enumerate(lines[1:], 1):
            if line.rstrip() == fence:
                return index + 1
    return 0


#: The largest notebook that is read, in bytes: values of JSON may take 25 times as much memory.
LARGEST_NOTEBOOK = 1 << 26


class NotebookError(ValueError):
    """The error for a text that is not a notebook; its message gives the reason."""


def is_notebook(path: str) -> bool:
    """Return True if the name of a file is one of a notebook.

    >>> is_notebook("a/b.ipynb"), is_notebook("a.json")
    (True, False)
    """
    return os.path.splitext(path)[1].lower() == ".ipynb"


def notebook_source(text: str) -> str:
    r"""Return the sources of the cells of a notebook, with an empty line between two.

    Args:
        text: the JSON of a notebook, of any version of its format.

    Raises:
        NotebookError: the text is not a notebook.

    >>> notebook_source('{"cells": [{"source": ["# A\\n", "text"]}, {"source": "x = 1"}]}')
    '# A\ntext\n\nx = 1'
    """
    if len(text) > LARGEST_NOTEBOOK:
        raise NotebookError(f"larger than {LARGEST_NOTEBOOK:,} bytes")
    try:
        notebook = json.loads(text.lstrip("\ufeff"))
    except RecursionError:
        raise NotebookError("not JSON that can be read: nested too deeply") from None
    except ValueError as error:
        raise NotebookError(f"not JSON: {json_message(str(error))}") from None
    source = "\n\n".join(filter(None, _sources(notebook)))
    return re.sub("[\ud800-\udfff]", "\ufffd", source)  # JSON may have them, and UTF-8 not


def _sources(notebook: Any) -> Iterator[str]:
    for place, cell in _cells(notebook):
        # Before version 4, cells of code had an input.
        source = cell.get("source", cell.get("input")) if isinstance(cell, dict) else None
        lines = [source] if isinstance(source, str) else source
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise NotebookError(f"{place}: no source")
        yield "".join(lines)


def _cells(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Yield the place of each cell, and the cell."""
    sheets = [("", notebook)]
    if isinstance(notebook, dict) and "cells" not in notebook:
        # Before version 4, there were sheets of cells.
        listed = notebook.get("worksheets")
        if isinstance(listed, list) and listed:
            sheets = [(f"worksheets[{number}].", sheet) for number, sheet in enumerate(listed)]
    for place, sheet in sheets:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(cells, list):
            raise NotebookError(f"{place}cells: no list")
        yield from ((f"{place}cells[{number}]", cell) for number, cell in enumerate(cells))
