"""The rules of a configuration, and the globs by which they choose files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..encodings.resolve import Answer
from ..files.ignore import Globs
from .source import Place


class FileGlobs:
    """Globs, as in a ``.gitignore`` of the configuration's folder.

    Args:
        globs: the globs.
        all_names: match names that begin with a dot as any others; otherwise they are matched only
            by a glob that has such a name in it.

    >>> globs = FileGlobs(["*.md", ".github/*.md"])
    >>> [globs.match(path) for path in ("a/b.md", ".github/c.md", ".cache/d.md")]
    [True, True, False]
    """

    def __init__(self, globs: Sequence[str], *, all_names: bool = False) -> None:
        dotted = [glob for glob in globs if all_names or is_dotted(glob)]
        self._all = Globs(globs, ()) if globs else None
        self._dotted = Globs(dotted, ()) if dotted else None

    def match(self, path: str) -> bool:
        """Return True if a path, relative to the configuration's folder, matches a glob."""
        globs = self._dotted if is_dotted(path) else self._all
        return globs is not None and globs.include(path.replace("/", os.sep))


def is_dotted(path: str) -> bool:
    """Return True if a name in a path or a glob begins with a dot."""
    return any(name.startswith(".") for name in path.split("/"))


class Limit(NamedTuple):
    """The most tokens of something.

    Args:
        tokens: the limit.
        place: its place in the configuration.
        share: True if it is written as a share of a model's context.
    """

    tokens: int
    place: Place
    share: bool = False


class Part(NamedTuple):
    """A number of tokens, or a share of some: exactly one of the two.

    Args:
        tokens: the number.
        share: the share.
        place: its place in the configuration; None for one that is not from there.

    >>> Part(None, 0.9).of(5000), Part(100, None).of(5000)
    (4500, 100)
    """

    tokens: int | None
    share: float | None
    place: Place | None = None

    def of(self, whole: int) -> int:
        """Return the number of tokens that the part is of a whole."""
        # Rounded first: 0.29 * 100 is a little less than 29.
        return self.tokens if self.tokens is not None else int(round(whole * (self.share or 0), 6))


#: The part of a limit from which on a result is near it, unless the configuration says another.
NEAR = Part(None, 0.9)


@dataclass(frozen=True)
class SectionRule:
    """A limit of the sections of Markdown files that have a heading.

    Args:
        heading: the text of the heading, in which ``*`` stands for anything.
        level: the level of the heading; None for all.
        limit: the most tokens of the section, with the sections below it.
    """

    heading: str
    level: int | None
    limit: Limit


@dataclass(frozen=True)
class Rule:
    """A rule: some files, and the limits of them.

    Args:
        name: its name in reports.
        files, exclude: the globs of its files, and of those that are left out.
        counted_by: what counts tokens; None for what is given on the command line.
        largest: the limit of each file.
        warn: the part of a limit from which on a result is near it.
        total: the limit of all files together.
        growth: the most by which a file may grow, as a part of what it was.
        sections: the limits of sections.
        front_matter, body: the limits of what is before and after the end of the front matter.
        place: its place in the configuration.
    """

    name: str
    files: tuple[str, ...]
    exclude: tuple[str, ...]
    counted_by: Answer | None
    largest: Limit | None
    warn: Part
    total: Limit | None
    growth: Part | None
    sections: tuple[SectionRule, ...]
    front_matter: Limit | None
    body: Limit | None
    place: Place

    def chosen(self, paths: Sequence[str]) -> list[str]:
        """Return the paths that the rule is about, in their order."""
        files, exclude = FileGlobs(self.files), FileGlobs(self.exclude, all_names=True)
        return [path for path in paths if files.match(path) and not exclude.match(path)]


@dataclass(frozen=True)
class Exemption:
    """Files to which no limit applies, and why."""

    files: tuple[str, ...]
    reason: str
    place: Place


@dataclass(frozen=True)
class Configuration:
    """A configuration, with what it extends.

    Args:
        path: its file.
        folder: the folder that globs are relative to.
        rules, exemptions: those of the files that it extends come first.
    """

    path: str
    folder: str
    rules: tuple[Rule, ...]
    exemptions: tuple[Exemption, ...]

    @property
    def needs_hidden(self) -> bool:
        """True if a glob has a name that begins with a dot."""
        return any(is_dotted(glob) for rule in self.rules for glob in rule.files)
