"""Tokens of the sections of Markdown files, each counted once for all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable, NamedTuple

from ..files.markdown import MarkdownSection, is_markdown, markdown_sections
from ..files.wildmatch import matcher
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
        #: The sections of each path.
        self._sections: dict[str, list[MarkdownSection]] = {}
        #: The tokens of the sections of a path, by their lines.
        self._tokens: dict[tuple[str | None, str], dict[int, int]] = {}

    def of(self, rule: Rule, path: str) -> Iterator[tuple[SectionRule, CountedSection]]:
        """Yield the sections of a path that a rule is about, each with the limit that it has."""
        if not rule.sections or not is_markdown(path):
            return
        text = None
        if path not in self._sections:
            text = self._read(path)
            self._sections[path] = markdown_sections(text)
        found = [(one, matching(one, self._sections[path])) for one in rule.sections]
        tokens = self._tokens.setdefault((rule.encoding, path), {})
        wanted = {section for _, sections in found for section in sections}
        missing = [section for section in wanted if section.line not in tokens]
        if missing:
            # The file may have changed meanwhile; then these are counts of what it has there now.
            text = self._read(path) if text is None else text
            for section in missing:
                part = text[section.start : section.end]
                tokens[section.line] = self._count(rule.encoding, part)
        for one, sections in found:
            for section in sections:
                yield one, CountedSection(section.heading, section.line, tokens[section.line])


def matching(rule: SectionRule, sections: list[MarkdownSection]) -> list[MarkdownSection]:
    """Return the sections that a rule is about."""
    matches = matcher(rule.heading, is_name=True)
    return [
        section
        for section in sections
        if rule.level in (None, section.level) and matches(section.heading)
    ]
