"""Tokens of the parts of files, such as sections, each counted once for all rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Callable, NamedTuple

from ..encodings.resolve import Answer
from ..files.markdown import MarkdownSection, body_start, is_markdown, markdown_sections
from ..files.wildmatch import matcher
from .results import Kind
from .rules import Limit, Rule, SectionRule


class CountedSection(NamedTuple):
    """A section and its tokens: its heading, and the line of it."""

    heading: str
    line: int
    tokens: int


class _Parts(NamedTuple):
    """The parts of a file: the one before the end of its front matter, the rest, its sections."""

    front_matter: MarkdownSection
    body: MarkdownSection
    sections: list[MarkdownSection]


class SectionCounts:
    """Counts of sections, of front matter and of what follows it.

    What is remembered of a file are its headings and numbers. Its text is read again if a rule asks
    for parts that no rule before has asked for.

    Args:
        count: returns the tokens of a text, by what counts them.
        read: returns the text of a path.
    """

    def __init__(
        self, count: Callable[[Answer | None, str], int], read: Callable[[str], str]
    ) -> None:
        self._count = count
        self._read = read
        #: The parts of each path.
        self._parts: dict[str, _Parts] = {}
        #: The tokens of the parts of a path.
        self._tokens: dict[tuple[Answer | None, str], dict[MarkdownSection, int]] = {}

    def of(self, rule: Rule, path: str) -> Iterator[tuple[Kind, Limit, CountedSection]]:
        """Yield the parts of a path that a rule is about, each with what it is, and its limit."""
        of_sections = rule.sections if is_markdown(path) else ()
        if not (of_sections or rule.front_matter or rule.body):
            return
        text = None
        if path not in self._parts:
            text = self._read(path)
            self._parts[path] = _parts(text, path)
        front_matter, body, sections = self._parts[path]
        found: list[tuple[Kind, Limit, MarkdownSection]] = []
        if rule.front_matter is not None:
            found.append(("front_matter", rule.front_matter, front_matter))
        if rule.body is not None:
            found.append(("body", rule.body, body))
        for one in of_sections:
            found += [("section", one.limit, section) for section in matching(one, sections)]
        tokens = self._tokens.setdefault((rule.counted_by, path), {})
        missing = [section for _, _, section in found if section not in tokens]
        if missing:
            # The file may have changed meanwhile; then these are counts of what it has there now.
            text = self._read(path) if text is None else text
            for section in dict.fromkeys(missing):
                part = text[section.start : section.end]
                tokens[section] = self._count(rule.counted_by, part)
        for kind, limit, section in found:
            yield kind, limit, CountedSection(section.heading, section.line, tokens[section])


def _parts(text: str, path: str) -> _Parts:
    start = body_start(text)
    # As in an editor, a carriage return alone ends a line, too.
    line = 1 + len(re.findall(r"\r\n|\r|\n", text[:start]))
    return _Parts(
        MarkdownSection("", 0, 1, 0, start),
        MarkdownSection("", 0, line, start, len(text)),
        markdown_sections(text) if is_markdown(path) else [],
    )


def matching(rule: SectionRule, sections: list[MarkdownSection]) -> list[MarkdownSection]:
    """Return the sections that a rule is about."""
    matches = matcher(rule.heading, is_name=True)
    return [
        section
        for section in sections
        if rule.level in (None, section.level) and matches(section.heading)
    ]
