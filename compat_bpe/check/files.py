"""The files that a configuration is about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..files.walk import Found, Walk
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


def chosen_files(configuration: Configuration) -> ChosenFiles:
    """Return the files of all rules.

    As in ``count``, what git ignores is left out and symbolic links are not followed.

    Raises:
        ConfigurationError: there are too many files, or a directory cannot be read.
    """
    found: dict[str, Found] = {}
    walk = Walk(hidden=configuration.needs_hidden)
    for file in walk.find([configuration.folder]):
        if file.problem:
            raise ConfigurationError(f"{file.path}: {file.problem}")
        path = os.path.relpath(file.path, configuration.folder).replace(os.sep, "/")
        found[path] = file
        if len(found) > MOST_FOUND:
            raise ConfigurationError(
                f"{configuration.path}: more than {MOST_FOUND:,} files in {configuration.folder}; "
                "put the configuration further down"
            )
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


class Selection:
    """The paths that the command line names: files, or all below a directory.

    Args:
        folder: the configuration's folder.
        paths: the paths; none of them means all files.

    Raises:
        OSError: a path does not exist.
    """

    def __init__(self, folder: str, paths: Sequence[str]) -> None:
        self._all = not paths
        self._exact: set[str] = set()
        self._folders: list[str] = []
        for path in paths:
            os.stat(path)
            relative = os.path.relpath(_real(path), os.path.realpath(folder)).replace(os.sep, "/")
            if os.path.isdir(path):
                self._all = self._all or set(relative.split("/")) <= {".", ".."}
                self._folders.append(relative + "/")
            else:
                self._exact.add(relative)

    def __contains__(self, path: str) -> bool:
        return self._all or path in self._exact or path.startswith(tuple(self._folders))

    def any(self, paths: Iterable[str]) -> bool:
        """Return True if one of some paths is named."""
        return any(path in self for path in paths)


def _real(path: str) -> str:
    """Return the absolute path of what is named, which may itself be a symbolic link."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def groups_to_count(
    rules: Sequence[Rule], chosen: ChosenFiles, selection: Selection
) -> dict[str | None, list[str]]:
    """Return the paths to count by each encoding: those that are named, and groups with a total."""
    wanted: dict[str | None, dict[str, None]] = {}
    for rule, paths in zip(rules, chosen.by_rule):
        group = wanted.setdefault(rule.encoding, {})
        if rule.total is None:
            paths = [path for path in paths if path in selection]
        elif not selection.any(paths):
            continue
        group.update(dict.fromkeys(paths))
    return {encoding: list(paths) for encoding, paths in wanted.items() if paths}
