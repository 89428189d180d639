"""The files that a configuration is about."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..encodings.resolve import Answer
from ..files.walk import Found, Walk
from ..files.whole import NotRegularError
from .rules import Configuration, FileGlobs, Rule
from .source import ConfigurationError

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

    As in ``count``, what git ignores is left out and symbolic links are not followed, but what is
    named is taken.

    Args:
        configuration: the configuration.
        named: the paths that the command line names.
        ignore: leave out what is ignored.

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
                "put the configuration further down"
            )
    if len(tops) > 1:
        found = dict(sorted(found.items(), key=lambda item: item[0].split("/")))
    return choose(configuration, found)


def choose(configuration: Configuration, found: dict[str, Found]) -> ChosenFiles:
    """Return what the rules choose of some files."""
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


class Selection:
    """The paths that the command line names: files, or all below a directory.

    Args:
        folder: the configuration's folder.
        paths: the paths; none of them means all files.

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
    """Return the absolute path of what is named, which may itself be a symbolic link."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def groups_to_count(
    rules: Sequence[Rule], chosen: ChosenFiles, selection: Selection
) -> dict[Answer | None, list[str]]:
    """Return the paths that each answer counts: those that are named, and groups with a total."""
    wanted: dict[Answer | None, dict[str, None]] = {}
    for rule, paths in zip(rules, chosen.by_rule):
        group = wanted.setdefault(rule.counted_by, {})
        if rule.total is None:
            paths = [path for path in paths if path in selection]
        elif not selection.any(paths):
            continue
        group.update(dict.fromkeys(paths))
    return {answer: list(paths) for answer, paths in wanted.items() if paths}
