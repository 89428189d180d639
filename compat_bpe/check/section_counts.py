"""Tokens of the sections of Markdown files, each counted once for all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable, NamedTuple

from .markdown_sections import MarkdownSection, is_markdown, markdown_sections, matching
from .rules import Rule, SectionRule


class CountedSection(NamedTuple):
    """A section and its tokens: its heading, and the line of it."""

    heading: str
    line: int
    tokens: int


class SectionCounts:
    """Counts of sections.

    What is remembered of a file are its headings and numbers. Its text is read again if a rule asks
    for sections that no rule before has asked for.

    Args:
        count: returns the tokens of a text by an encoding.
        read: returns the text of a path.
    """

    def __init__(self, count: Callable[[str | None, str], int], read: Callable[[str], str]) -> None:
        self._count = count
        self._read = read
        #: The sections of each path, without their texts.
        self._sections: dict[str, list[MarkdownSection]] = {}
        #: The tokens of the sections of a path, by their lines.
        self._tokens: dict[tuple[str | None, str], dict[int, int]] = {}

    def of(self, rule: Rule, path: str) -> Iterator[tuple[SectionRule, CountedSection]]:
        """Yield the sections of a path that a rule is about, each with the limit that it has."""
        if not rule.sections or not is_markdown(path):
            return
        whole = None if path in self._sections else markdown_sections(self._read(path))
        if whole is not None:
            self._sections[path] = [section._replace(text="") for section in whole]
        found = [(one, matching(one, self._sections[path])) for one in rule.sections]
        tokens = self._tokens.setdefault((rule.encoding, path), {})
        lines = {section.line for _, sections in found for section in sections} - tokens.keys()
        if lines:
            for section in whole or markdown_sections(self._read(path)):
                if section.line in lines:
                    tokens[section.line] = self._count(rule.encoding, section.text)
        for one, sections in found:
            for heading, _, line, _ in sections:
                # The file may have changed meanwhile.
                yield one, CountedSection(heading, line, tokens.get(line, 0))
