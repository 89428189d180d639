"""Comparing the tokens of files with the limits of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Callable

from ..encodings.resolve import Answer
from .files import ChosenFiles, Selection
from .results import Kind, Report, Result, Status, Unmatched, judged
from .rules import NEAR, Configuration, Limit, Place, Rule
from .section_counts import SectionCounts

#: The tokens of each file, by what counts them.
Counted = Mapping["Answer | None", Mapping[str, int]]


class Measurement:
    """Results of rules, added to a report one rule after the other.

    Args:
        report: takes the results.
        chosen: the files.
        selection: the paths that results are wanted for.
        counted: the tokens of each file.
        sections: counts sections.
        name_of: returns the name of what counts, in reports.
        note_of: returns why it makes estimates; empty if it does not.
        before: the tokens of each file in the base; None if there is no base.
    """

    def __init__(
        self,
        report: Report,
        chosen: ChosenFiles,
        selection: Selection,
        counted: Counted,
        sections: SectionCounts,
        *,
        name_of: Callable[[Answer | None], str],
        note_of: Callable[[Answer | None], str],
        before: Counted | None = None,
    ) -> None:
        self._report = report
        self._chosen = chosen
        self._selection = selection
        self._counted = counted
        self._name_of = name_of
        self._note_of = note_of
        self._sections = sections
        self._before = before
        #: The number of the result about the growth of a file, by what counts and its path.
        self._growths: dict[tuple[Answer | None, str], int] = {}

    def add(self, rule: Rule, paths: list[str]) -> None:
        """Add the results of a rule about some paths."""
        tokens = self._counted.get(rule.counted_by, {})
        for path in paths:
            if path not in tokens or path not in self._selection:
                continue
            if rule.largest is not None:
                self._add(rule, "file", rule.largest, tokens[path], path)
            self._add_sections(rule, path)
            self._add_growth(rule, path, tokens[path])
        if rule.total is not None and self._selection.any(paths):
            counted = [path for path in paths if path in tokens and path not in self._chosen.exempt]
            self._add(rule, "total", rule.total, sum(tokens[path] for path in counted))

    def _add_sections(self, rule: Rule, path: str) -> None:
        for kind, limit, (heading, line, tokens) in self._sections.of(rule, path):
            self._add(rule, kind, limit, tokens, path, heading=heading, line=line)

    def _add_growth(self, rule: Rule, path: str, tokens: int) -> None:
        before = (self._before or {}).get(rule.counted_by, {}).get(path)
        if rule.growth is None or before is None or tokens <= before:
            return
        most, results = rule.growth.of(before), self._report.results
        # A file grows once, however many rules it has: the lowest limit counts.
        number = self._growths.setdefault((rule.counted_by, path), len(results))
        if number == len(results) or most < results[number].limit:
            place, grown = rule.growth.place, tokens - before
            status = judged(grown, most, most + 1)
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
        # A number of tokens is about files; other limits have the usual share.
        part = rule.warn if kind == "file" or rule.warn.tokens is None else NEAR
        status = judged(tokens, limit.tokens, part.of(limit.tokens))
        result = self._result(rule, kind, status, tokens, limit.tokens, limit.place, path)
        result = replace(result, heading=heading, line=line, is_share=limit.share)
        self._report.results.append(result)

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
        reason = self._chosen.exempt.get(path)
        if reason is not None:
            status = "exempt" if status == "over" else "ok"
        return Result(
            kind,
            status,
            path,
            1,
            "",
            rule.name,
            self._name_of(rule.counted_by),
            tokens,
            limit,
            place,
            reason=reason or "",
            estimate=self._note_of(rule.counted_by),
        )


def unmatched(
    configuration: Configuration,
    chosen: ChosenFiles,
    selection: Selection,
    counted: Counted,
    report: Report,
) -> Iterator[Unmatched]:
    """Yield the rules and the paths of the command line of which nothing was checked.

    Args:
        configuration, chosen, selection, counted: what was checked.
        report: the results of it.
    """
    skipped = {path for path, _ in report.skipped}
    sections = {one.place for one in report.results if one.kind == "section"}
    for rule, paths in zip(configuration.rules, chosen.by_rule):
        if not paths:
            yield _unmatched_rule(rule.place, "the rule matches no file")
        elif skipped.issuperset(paths):
            yield _unmatched_rule(rule.place, "all files that the rule matches are binary")
        elif selection.is_all and not report.errors:
            for one in rule.sections:
                # Each section of files that have none is within its limit; a name may be mistyped.
                if one.heading.strip("*") and one.limit.place not in sections:
                    yield _unmatched_rule(one.limit.place, "the limit is about no section")
    known = {path for path, _ in report.errors}.union(*counted.values())
    for named in selection.named:
        if named.is_around or any(map(named.has, known)):
            continue
        reason = "no rule is about " + ("a file in it" if named.is_folder else "it")
        if any(map(named.has, skipped)):
            reason = "it is binary, so nothing is checked"
        yield Unmatched(named.path, reason, None)


def _unmatched_rule(place: Place, reason: str) -> Unmatched:
    return Unmatched(f"{place.file}:{place.line}", reason, place)
