"""Comparing the tokens of files with the limits of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Callable

from .files import ChosenFiles, Selection
from .results import Kind, Report, Result, Status, judged
from .rules import Limit, Part, Place, Rule
from .section_counts import SectionCounts

#: The tokens of each file, by the name of the encoding.
Counted = Mapping["str | None", Mapping[str, int]]


class Measurement:
    """Results of rules, added to a report one rule after the other.

    Args:
        report: takes the results.
        chosen: the files.
        selection: the paths that results are wanted for.
        counted: the tokens of each file.
        sections: counts sections.
        name_of: returns the name of an encoding in reports.
        before: the tokens of each file in the base, by encoding; None if there is no base.
    """

    def __init__(
        self,
        report: Report,
        chosen: ChosenFiles,
        selection: Selection,
        counted: Counted,
        sections: SectionCounts,
        *,
        name_of: Callable[[str | None], str],
        before: Counted | None = None,
    ) -> None:
        self._report = report
        self._chosen = chosen
        self._selection = selection
        self._counted = counted
        self._name_of = name_of
        self._sections = sections
        self._before = before

    def add(self, rule: Rule, paths: list[str]) -> None:
        """Add the results of a rule about some paths."""
        tokens = self._counted.get(rule.encoding, {})
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
        for one, (heading, line, tokens) in self._sections.of(rule, path):
            self._add(rule, "section", one.limit, tokens, path, heading=heading, line=line)

    def _add_growth(self, rule: Rule, path: str, tokens: int) -> None:
        before = (self._before or {}).get(rule.encoding, {}).get(path)
        if rule.growth is None or before is None or tokens <= before:
            return
        limit = Limit(rule.growth.of(before), Place(rule.place.file, rule.place.line, ()))
        self._add(rule, "growth", limit, tokens - before, path, warn=limit.tokens + 1)

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
        warn: int | None = None,
    ) -> None:
        if warn is None:
            # A number of tokens is about files; other limits have the usual share.
            part = rule.warn if kind == "file" or rule.warn.tokens is None else Part(None, 0.9)
            warn = part.of(limit.tokens)
        status: Status = judged(tokens, limit.tokens, warn)
        name = self._name_of(rule.encoding)
        result = Result(
            kind,
            status,
            path,
            line,
            heading,
            rule.name,
            name,
            tokens,
            limit.tokens,
            limit.place,
            limit.share,
        )
        reason = self._chosen.exempt.get(path)
        if reason is not None:
            status = "exempt" if status == "over" else "ok"
            result = replace(result, status=status, reason=reason)
        self._report.results.append(result)
