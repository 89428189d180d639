"""The rules of a configuration, the files that their globs choose, and those to be counted."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..encodings.resolve import Answer
from ..files.ignore import Globs
from ..files.walk import Found, Walk
from ..files.whole import NotRegularError
from .source import ConfigurationError, Place


class FileGlobs:
    """Globs, as in a ``.gitignore`` of the configuration's folder.

    Args:
        globs: the globs.
        all_names: match names that begin with a dot like any others; otherwise only globs with
            such a name in them match these.

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
    """A number of tokens, or a share of a whole; exactly one of the two is set.

    Args:
        tokens: the number.
        share: the share.
        place: its place in the configuration; None if it is from elsewhere.

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


#: The part of a limit at which a result begins to be near it, unless the configuration sets it.
NEAR = Part(None, 0.9)


@dataclass(frozen=True)
class SectionRule:
    """A limit for sections of Markdown files, chosen by their headings.

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
    """A rule: some files and their limits.

    Args:
        name: its name in reports.
        files, exclude: the globs of its files, and of those that are left out.
        counted_by: the encoding or estimate that counts tokens; None for that of the command line.
        largest: the limit of each file.
        warn: the part of a limit at which a result begins to be near it.
        total: the limit of all files together.
        growth: the most by which a file may grow, as a part of its former tokens.
        sections: the limits of sections.
        front_matter, body: the limits of the front matter, and of the text after it.
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
        """Return the paths that the rule covers, in their order."""
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
    """A configuration, with those that it extends.

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


class Named(NamedTuple):
    """A path that the command line names.

    Args:
        path: the path.
        relative: the path from the configuration's folder on, with slashes between names.
        is_folder: True if it is a folder.
    """

    path: str
    relative: str
    is_folder: bool

    @property
    def is_around(self) -> bool:
        """True if it is the configuration's folder, or one above it."""
        return self.is_folder and set(self.relative.split("/")) <= {".", ".."}

    @property
    def is_within(self) -> bool:
        """True if it is below the configuration's folder."""
        return not self.is_around and not self.relative.startswith("../")

    def has(self, path: str) -> bool:
        """Return True if a file is this one, or below it."""
        return path == self.relative or (self.is_folder and path.startswith(f"{self.relative}/"))


#: The most files below the folder of a configuration.
MOST_FOUND = 1_000_000


class ChosenFiles(NamedTuple):
    """Files, by their paths relative to the configuration's folder, with slashes between names.

    Args:
        found: each file, by its path.
        by_rule: the paths of each rule, in the order of the rules.
        exempt: the reason for each path that is exempt.
        unused: the exemptions that no file matches, by index.
    """

    found: dict[str, Found]
    by_rule: list[list[str]]
    exempt: dict[str, str]
    unused: list[int]


def chosen_files(
    configuration: Configuration, named: Sequence[Named] = (), *, ignore: bool = True
) -> ChosenFiles:
    """Return the files of all rules.

    As in ``count``, files that git ignores are left out and symbolic links are not followed, unless
    they are named.

    Args:
        configuration: the configuration.
        named: the paths that the command line names.
        ignore: leave out ignored files.

    Raises:
        ConfigurationError: there are too many files, or a directory cannot be read.
    """
    found: dict[str, Found] = {}
    walk = Walk(hidden=configuration.needs_hidden, ignore=ignore)
    tops = [Named(configuration.folder, ".", True), *(one for one in named if one.is_within)]
    for file in walk.find([top.path for top in tops]):
        if file.problem:
            raise ConfigurationError(f"{file.path}: {file.problem}")
        top = tops[file.argument]
        path = os.path.relpath(file.path, top.path).replace(os.sep, "/")
        if file.argument:
            path = posixpath.normpath(f"{top.relative}/{path}")
        found.setdefault(path, file)
        if len(found) > MOST_FOUND:
            raise ConfigurationError(
                f"{configuration.path}: more than {MOST_FOUND:,} files in {configuration.folder}; "
                "put the configuration in a folder below"
            )
    if len(tops) > 1:
        found = dict(sorted(found.items(), key=lambda item: item[0].split("/")))
    return choose(configuration, found)


def choose(configuration: Configuration, found: dict[str, Found]) -> ChosenFiles:
    """Return the files that the rules choose from those that were found."""
    paths = list(found)
    by_rule = [rule.chosen(paths) for rule in configuration.rules]
    matched = set().union(*by_rule)
    exempt: dict[str, str] = {}
    unused = []
    for number, exemption in enumerate(configuration.exemptions):
        globs = FileGlobs(exemption.files, all_names=True)
        covered = [path for path in paths if path in matched and globs.match(path)]
        exempt.update(dict.fromkeys(covered, exemption.reason))
        if not covered:
            unused.append(number)
    return ChosenFiles(
        {path: found[path] for path in paths if path in matched}, by_rule, exempt, unused
    )


class Selection:
    """The paths that the command line names: files, or all below a directory.

    Args:
        folder: the configuration's folder.
        paths: the paths; without any, all files are selected.

    Raises:
        OSError: a path does not exist, or is a pipe or a device.
    """

    def __init__(self, folder: str, paths: Sequence[str]) -> None:
        self.named: list[Named] = []
        for path in paths:
            mode = os.stat(path).st_mode
            if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                raise NotRegularError(errno.EINVAL, "Not a regular file", path)
            relative = os.path.relpath(_real(path), os.path.realpath(folder)).replace(os.sep, "/")
            self.named.append(Named(path, relative, stat.S_ISDIR(mode)))
        #: True if all files are wanted.
        self.is_all = not paths or any(one.is_around for one in self.named)
        self._exact = {one.relative for one in self.named if not one.is_folder}
        self._folders = tuple(f"{one.relative}/" for one in self.named if one.is_folder)

    def __contains__(self, path: str) -> bool:
        return self.is_all or path in self._exact or path.startswith(self._folders)

    def any(self, paths: Iterable[str]) -> bool:
        """Return True if one of some paths is named."""
        return any(path in self for path in paths)


def _real(path: str) -> str:
    """Return an absolute path without symbolic links, except the last name if it is one."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def groups_to_count(
    rules: Sequence[Rule], chosen: ChosenFiles, selection: Selection
) -> dict[Answer | None, list[str]]:
    """Return the paths to count, by encoding or estimate: selected ones, and groups with a total.

    A group with a total is counted if one of its files is selected.
    """
    wanted: dict[Answer | None, dict[str, None]] = {}
    for rule, paths in zip(rules, chosen.by_rule):
        group = wanted.setdefault(rule.counted_by, {})
        if rule.total is None:
            paths = [path for path in paths if path in selection]
        elif not selection.any(paths):
            continue
        group.update(dict.fromkeys(paths))
    return {answer: list(paths) for answer, paths in wanted.items() if paths}
