"""Comparing the tokens of files, and of parts of them, with the limits of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Callable, NamedTuple

from ..encodings.resolve import Answer
from ..files.documents import MarkdownSection, body_start, is_markdown, markdown_sections
from ..files.ignore import matcher
from .results import Kind, Report, Result, Status, Unmatched, status_of
from .rules import NEAR, ChosenFiles, Configuration, Limit, Rule, SectionRule, Selection
from .source import Place


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
    """Counts of sections, of front matter and of the body after it.

    Only headings and counts are kept. A text is read again when a rule needs a part that has not
    been counted.

    Args:
        count: returns the tokens of a text by an encoding or estimate.
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
        """Yield the parts of a file that a rule limits: their kind, limit, heading and tokens."""
        section_rules = rule.sections if is_markdown(path) else ()
        if not (section_rules or rule.front_matter or rule.body):
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
        for one in section_rules:
            found += [("section", one.limit, section) for section in matching(one, sections)]
        tokens = self._tokens.setdefault((rule.counted_by, path), {})
        missing = [section for _, _, section in found if section not in tokens]
        if missing:
            # The file may have changed meanwhile: then its present text at these places is counted.
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
    """Return the sections that a rule covers."""
    matches = matcher(rule.heading, is_name=True)
    return [
        section
        for section in sections
        if rule.level in (None, section.level) and matches(section.heading)
    ]


#: The tokens of each file, by encoding or estimate.
FileTokens = Mapping["Answer | None", Mapping[str, int]]


@dataclass
class Measurement:
    """Results of rules, which are added to a report.

    Args:
        report: takes the results.
        chosen: the files.
        selection: the paths that results are wanted for.
        counted: the tokens of each file.
        sections: counts sections.
        name_of: returns the name of the encoding or estimate, in reports.
        note_of: returns why its numbers are estimates; empty if they are exact.
        before: the tokens of each file in the base; None if there is no base.
    """

    report: Report
    chosen: ChosenFiles
    selection: Selection
    counted: FileTokens
    sections: SectionCounts
    name_of: Callable[[Answer | None], str]
    note_of: Callable[[Answer | None], str]
    before: FileTokens | None = None
    #: The number of the result about the growth of a file, by encoding or estimate and path.
    _growths: dict[tuple[Answer | None, str], int] = field(default_factory=dict, init=False)

    def add_all(self, configuration: Configuration) -> None:
        """Add the results of all rules; note rules and paths for which nothing was checked."""
        for rule, paths in zip(configuration.rules, self.chosen.by_rule):
            self._add_rule(rule, paths)
        self.report.unmatched = list(self._unmatched(configuration))

    def _add_rule(self, rule: Rule, paths: list[str]) -> None:
        tokens = self.counted.get(rule.counted_by, {})
        for path in paths:
            if path not in tokens or path not in self.selection:
                continue
            if rule.largest is not None:
                self._add(rule, "file", rule.largest, tokens[path], path)
            for kind, limit, (heading, line, number) in self.sections.of(rule, path):
                self._add(rule, kind, limit, number, path, heading=heading, line=line)
            self._add_growth(rule, path, tokens[path])
        if rule.total is not None and self.selection.any(paths):
            counted = [path for path in paths if path in tokens and path not in self.chosen.exempt]
            self._add(rule, "total", rule.total, sum(tokens[path] for path in counted))

    def _add_growth(self, rule: Rule, path: str, tokens: int) -> None:
        before = (self.before or {}).get(rule.counted_by, {}).get(path)
        if rule.growth is None or before is None or tokens <= before:
            return
        most, results = rule.growth.of(before), self.report.results
        # The growth of a file is reported once for all its rules: the lowest limit counts.
        number = self._growths.setdefault((rule.counted_by, path), len(results))
        if number == len(results) or most < results[number].limit:
            place, grown = rule.growth.place, tokens - before
            status = status_of(grown, most, most + 1)
            results[number : number + 1] = [
                self._result(rule, "growth", status, grown, most, place, path)
            ]

    def _add(
        self,
        rule: Rule,
        kind: Kind,
        limit: Limit,
        tokens: int,
        path: str = "",
        *,
        heading: str = "",
        line: int = 1,
    ) -> None:
        # A number of tokens is for whole files; other limits have the default share.
        part = rule.warn if kind == "file" or rule.warn.tokens is None else NEAR
        status = status_of(tokens, limit.tokens, part.of(limit.tokens))
        result = self._result(rule, kind, status, tokens, limit.tokens, limit.place, path)
        result = replace(result, heading=heading, line=line, is_share=limit.share)
        self.report.results.append(result)

    def _result(
        self,
        rule: Rule,
        kind: Kind,
        status: Status,
        tokens: int,
        limit: int,
        place: Place | None,
        path: str,
    ) -> Result:
        reason = self.chosen.exempt.get(path)
        if reason is not None:
            status = "exempt" if status == "over" else "ok"
        return Result(
            kind,
            status,
            path,
            1,
            "",
            rule.name,
            self.name_of(rule.counted_by),
            tokens,
            limit,
            place,
            reason=reason or "",
            estimate=self.note_of(rule.counted_by),
        )

    def _unmatched(self, configuration: Configuration) -> Iterator[Unmatched]:
        """Yield the rules and the paths of the command line for which nothing was checked."""
        report, selection = self.report, self.selection
        skipped = {path for path, _ in report.skipped}
        sections = {one.place for one in report.results if one.kind == "section"}
        for rule, paths in zip(configuration.rules, self.chosen.by_rule):
            if not paths:
                yield _unmatched_rule(rule.place, "the rule matches no file")
            elif skipped.issuperset(paths):
                yield _unmatched_rule(rule.place, "all files that the rule matches are binary")
            elif selection.is_all and not report.errors:
                for one in rule.sections:
                    # A heading without a section is within any limit, but may be mistyped.
                    if one.heading.strip("*") and one.limit.place not in sections:
                        yield _unmatched_rule(one.limit.place, "the limit matches no section")
        known = {path for path, _ in report.errors}.union(*self.counted.values())
        for named in selection.named:
            if named.is_around or any(map(named.has, known)):
                continue
            reason = "no rule applies to " + ("any file in it" if named.is_folder else "it")
            if any(map(named.has, skipped)):
                reason = "it is binary, so nothing is checked"
            yield Unmatched(named.path, reason, None)


def _unmatched_rule(place: Place, reason: str) -> Unmatched:
    return Unmatched(f"{place.file}:{place.line}", reason, place)
