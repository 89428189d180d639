"""The results of a check: a number of tokens beside its limit."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..unicode.text import plural
from .rules import Limit
from .source import Place

Kind = Literal["file", "section", "front_matter", "body", "total", "growth"]
Status = Literal["over", "near", "ok", "exempt"]


@dataclass(frozen=True)
class Result:
    """A number of tokens beside its limit.

    Args:
        kind: the kind of limit.
        status: ``"over"``, ``"near"``, ``"ok"``, or ``"exempt"`` if an exempt file is over.
        path: the file, relative to the configuration's folder; empty for a total.
        line: the line of the section, or of the body; 1 for a file.
        heading: the heading of the section.
        rule: the name of the rule.
        encoding: the name of the encoding; of an estimate, that of the model.
        tokens: the number of tokens; with ``"growth"``, those that were added.
        limit: the most tokens.
        place: the place of the limit in the configuration; None for a limit of growth from the
            command line.
        is_share: True if the limit is a share of a context.
        reason: why it is exempt.
        estimate: why the tokens are an estimate; empty if they are not.
    """

    kind: Kind
    status: Status
    path: str
    line: int
    heading: str
    rule: str
    encoding: str
    tokens: int
    limit: int
    place: Place | None
    is_share: bool = False
    reason: str = ""
    estimate: str = ""

    @property
    def name(self) -> str:
        """The file, group or section that has the limit, in words."""
        if self.kind == "total":
            return f"total of {self.rule}"
        return self.path if self.part is None else f"{self.path} § {self.part}"

    @property
    def part(self) -> str | None:
        """The part of a file that has the limit, by its heading or kind; None for all of it."""
        if self.kind == "section":
            return self.heading
        return {"front_matter": "front matter", "body": "body"}.get(self.kind)

    @property
    def message(self) -> str:
        """The result in words, without the name of the file, group or section."""
        sign = "+" if self.kind == "growth" else ""
        since = " since the base" * (self.kind == "growth")
        words = {
            "over": f"over the limit of {sign}{self.limit:,}",
            "near": f"near the limit of {sign}{self.limit:,}",
            "ok": f"within the limit of {sign}{self.limit:,}",
            "exempt": f"exempt from the limit of {sign}{self.limit:,}: {self.reason}",
        }[self.status]
        if self.reason and self.status == "ok":
            words += f", from which it is exempt: {self.reason}"
        mark, by = "", self.encoding
        if self.estimate:
            mark, by = "≈", f"estimated for {self.encoding}"
        return f"{mark}{sign}{plural(self.tokens, 'token')}{since} ({by}), {words}"


class Change(NamedTuple):
    """A file that has changed since the base.

    Args:
        path: the file; empty if it was removed.
        before_path: its path in the base; empty if it was not there.
        before, after: the tokens in the base and now.
        encoding: the name of the encoding.
    """

    path: str
    before_path: str
    before: int
    after: int
    encoding: str

    @property
    def kind(self) -> str:
        if not self.before_path:
            return "added"
        if not self.path:
            return "removed"
        if self.path != self.before_path:
            return "renamed"
        return "grown" if self.after > self.before else "shrunk"

    @property
    def name(self) -> str:
        """The path of the file; both if it was renamed."""
        if self.kind == "renamed":
            return f"{self.before_path} → {self.path}"
        return self.path or self.before_path


class Unmatched(NamedTuple):
    """A rule or a path of the command line for which nothing was checked.

    Args:
        name: its place or its path, for people.
        reason: why nothing was checked.
        place: the place of the rule in the configuration; None for a path.
    """

    name: str
    reason: str
    place: Place | None


@dataclass
class Report:
    """All that a check found.

    Args:
        configuration: the path of the configuration.
        prefix: the prefix that makes each path one of the repository; empty, or with a slash at
            its end.
        results: the results, files in the order of their paths.
        files: the number of files that were counted.
        errors: paths that could not be counted, each with the reason.
        skipped: paths of binary files, each with the reason.
        notes: why numbers are estimates.
        unmatched: the rules and paths for which nothing was checked, unless that is allowed.
        base: the revision that was compared with; None if there was none.
        changes: the files that changed since then.
    """

    configuration: str
    prefix: str = ""
    results: list[Result] = field(default_factory=list)
    files: int = 0
    errors: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
    base: str | None = None
    changes: list[Change] = field(default_factory=list)

    def of(self, *statuses: Status) -> list[Result]:
        """Return the results of some statuses, in the order of these."""
        return [one for status in statuses for one in self.results if one.status == status]

    @property
    def status(self) -> str:
        """The worst status: ``"error"``, ``"over"``, ``"near"`` or ``"ok"``."""
        if self.errors or self.unmatched:
            return "error"
        found = {one.status for one in self.results}
        return next((status for status in ("over", "near") if status in found), "ok")

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        """Everything that was not checked: what happened, the name, and the reason."""
        problems = [("not counted", path, reason) for path, reason in self.errors]
        return problems + [("nothing checked", one.name, one.reason) for one in self.unmatched]

    def path_of(self, place: Place) -> str:
        """Return the path of a configuration's file, from the top of the repository."""
        folder = os.path.realpath(os.path.dirname(self.configuration))
        path = os.path.relpath(os.path.realpath(place.file), folder).replace(os.sep, "/")
        return posixpath.normpath(self.prefix + path)

    @property
    def summary(self) -> str:
        """The numbers of files by their worst status, and of totals, in words.

        >>> Report("a.toml", files=2).summary
        '2 files: none is over a limit'
        """
        worst = {one.path: one.status for one in reversed(self.of("over", "near", "exempt"))}
        worst.pop("", None)
        files = [*worst.values()]
        over, near, exempt = files.count("over"), files.count("near"), files.count("exempt")
        words = [f"{over:,} over a limit" if over else "none is over a limit"]
        if not self.files:
            words = ["nothing was checked"]
        words += [f"{near:,} near one"] * bool(near) + [f"{exempt:,} exempt"] * bool(exempt)
        for status in ("over", "near"):
            totals = sum(one.status == status for one in self.results if one.kind == "total")
            if totals:
                words.append(f"{plural(totals, 'total')} {status}")
        words += [f"{len(self.errors):,} not counted"] * bool(self.errors)
        if self.unmatched:
            noun = "rule or path" if len(self.unmatched) == 1 else "rules or paths"
            words.append(f"{len(self.unmatched):,} {noun} matched nothing")
        return f"{plural(self.files, 'file')}: {', '.join(words)}"


def status_of(tokens: int, limit: int, warn: int) -> Status:
    """Return the status of some tokens; from ``warn`` on they are near the limit.

    >>> status_of(11, 10, 9), status_of(10, 10, 9), status_of(9, 10, 9), status_of(8, 10, 9)
    ('over', 'near', 'near', 'ok')
    """
    if tokens > limit:
        return "over"
    return "near" if tokens >= warn and tokens else "ok"


def highest_over(results: Iterable[Result]) -> dict[Limit, int]:
    """Return the limits that are exceeded, each with the highest count."""
    highest: dict[Limit, int] = {}
    for one in results:
        if one.status == "over" and one.kind != "growth" and one.place is not None:
            limit = Limit(one.limit, one.place, one.is_share)
            highest[limit] = max(one.tokens, highest.get(limit, 0))
    return highest
