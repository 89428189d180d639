"""Rules of ignore files, and globs; ``wildmatch`` reads their patterns.

As in git, the first file with a rule that matches decides: the ``.gitignore`` of the directory,
those of the directories above it, the repository's ``info/exclude``, the user's
``core.excludesFile``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Callable, NamedTuple

from .whole import read_gits
from .wildmatch import InvalidPatternError, alternatives, as_bytes, lowered, matcher

#: The file in a directory with the rules for everything below it.
IGNORE_FILE = ".gitignore"
#: The entry at the top of a repository: its directory, or a file that says where this is.
GIT = ".git"


class _Rule(NamedTuple):
    matches: Callable[[str], bool]
    ignores: bool
    only_directories: bool
    #: True if it is matched against the last part of a path alone.
    only_name: bool


class Rules:
    """The rules of one ignore file, or some globs.

    Args:
        base: the absolute path of the directory that the rules are for.
        lines: patterns, as in a ``.gitignore``.
        any_case: the patterns match in upper and lower case, as with git's ``core.ignoreCase``.

    >>> rules = Rules("/src", ["*.log", "!keep.log", "build/"])
    >>> rules.verdict("/src/a.log", False), rules.verdict("/src/keep.log", False)
    (True, False)
    >>> rules.verdict("/src/build", True), rules.verdict("/src/build", False)
    (True, None)
    """

    def __init__(self, base: str, lines: Iterable[str], any_case: bool = False) -> None:
        self.any_case = any_case
        self._skip = len(base.rstrip(os.sep)) + 1
        rules = [rule for line in lines for rule in _parse(line, any_case)]
        # The last rule that matches decides.
        self._rules = rules[::-1]

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """Return True if a path below the base is ignored; None if no rule matches it.

        Only the path itself is looked at, since a walk does not enter ignored directories.
        """
        relative = path[self._skip :]
        if os.sep != "/":
            relative = relative.replace(os.sep, "/")
        relative = as_bytes(relative)
        if self.any_case:
            relative = lowered(relative)
        name = relative.rpartition("/")[2]
        for matches, ignores, only_directories, only_name in self._rules:
            if only_directories and not is_directory:
                continue
            if matches(name if only_name else relative):
                return ignores
        return None


class Globs:
    """The patterns of ``--include`` and ``--exclude``.

    A glob is a pattern as in a ``.gitignore`` of the current directory, except that ``{a,b}`` is
    either, and that ``!`` and ``#`` are characters like others.

    >>> globs = Globs(["*.{py,pyi}", "docs/"], ["test_*"])
    >>> globs.include("docs/api/a.md"), globs.include("a.md")
    (True, False)
    >>> globs.exclude("src/test_a.py", False), globs.exclude("test_data/a.py", False)
    (True, False)
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = Rules(os.sep, _patterns(include))
        self._exclude = Rules(os.sep, _patterns(exclude))
        self._all = not include

    def include(self, path: str) -> bool:
        """Return True if a file matches ``--include``, or a directory that it is in does."""
        return self._all or _any_part(self._include, path)

    def exclude(self, path: str, is_directory: bool) -> bool:
        """Return True if a path matches ``--exclude``; a walk does not enter such a directory."""
        return bool(self._exclude.verdict(os.sep + path, is_directory))


def _patterns(globs: Iterable[str]) -> Iterator[str]:
    for glob in globs:
        for pattern in alternatives(glob):
            yield "\\" + pattern if pattern.startswith(("!", "#")) else pattern


def _any_part(rules: Rules, path: str) -> bool:
    """Return True if some rules match a file, or a directory that it is in."""
    is_directory = False
    while path:
        if rules.verdict(os.sep + path, is_directory):
            return True
        path, is_directory = os.path.dirname(path), True
    return False


def ignored(chain: Sequence[Rules], path: str, is_directory: bool) -> bool:
    """Return True if a path is ignored by the first of some rules that match it."""
    for rules in chain:
        verdict = rules.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return False


def rules_around(directory: str) -> tuple[Rules, ...]:
    """Return the rules for a directory from those above it, up to the top of its repository.

    There are none if the directory is in no repository, or is the top of one.

    Args:
        directory: an absolute path without symbolic links.

    Raises:
        OSError: an ignore file or git's configuration cannot be read.
    """
    above = []
    while not os.path.lexists(os.path.join(directory, GIT)):
        directory, before = os.path.dirname(directory), directory
        if directory == before:
            return ()
        above.append(directory)
    chain: tuple[Rules, ...] = ()
    for directory in reversed(above):
        chain = rules_within(directory, chain)
    return chain


def rules_within(directory: str, chain: tuple[Rules, ...]) -> tuple[Rules, ...]:
    """Return the rules for the entries of a directory: its own, then those of the ones above.

    A repository within another has only its own rules, and the user's.

    Args:
        directory: an absolute path.
        chain: the rules for the directory itself.

    Raises:
        OSError: an ignore file or git's configuration cannot be read.
    """
    if os.path.lexists(os.path.join(directory, GIT)):
        from .git_config import read_settings  # only repositories need it

        git = _git_directory(directory)
        settings = read_settings(git, directory)
        paths = (os.path.join(git, "info", "exclude"), settings.excludes_file)
        chain = tuple(
            Rules(directory, lines, settings.ignores_case)
            for path in paths
            if path and (lines := _lines(path))
        )
        if settings.ignores_case:  # the last ones say it to the directories below
            chain += (Rules(directory, (), any_case=True),)
    path = os.path.join(directory, IGNORE_FILE)
    # As in git, a link is not followed: it might lead out of the repository.
    lines = [] if os.path.islink(path) else _lines(path)
    any_case = bool(chain) and chain[-1].any_case
    return (Rules(directory, lines, any_case), *chain) if lines else chain


def _git_directory(top: str) -> str:
    """Return the repository of a working tree; worktrees and submodules have it elsewhere."""
    path = os.path.join(top, GIT)
    if os.path.isfile(path):
        for line in _lines(path)[:1]:
            path = os.path.join(top, line.removeprefix("gitdir:").strip())
        # A worktree shares the files of the repository that it belongs to.
        for line in _lines(os.path.join(path, "commondir"))[:1]:
            path = os.path.join(path, line.strip())
    return path


def _lines(path: str) -> list[str]:
    """Return the lines of a file; none if there is no such file, or a device, as in git."""
    data = read_gits(path)
    # Bytes that are no text become surrogates, as in the names of files.
    lines = data.decode(sys.getfilesystemencoding(), "surrogateescape").split("\n")
    return [line.removesuffix("\r") for line in lines if line.removesuffix("\r")]


def _parse(line: str, any_case: bool) -> list[_Rule]:
    """Return the rule of a line; none for a comment or an invalid pattern, as in git."""
    if line.startswith("#"):
        return []
    # Git reads a pattern as a string of C, which ends at a NUL.
    pattern = as_bytes(_without_spaces_behind(line.partition("\0")[0]))
    ignores = not pattern.startswith("!")
    pattern = pattern[not ignores :]
    only_directories = pattern.endswith("/")
    if only_directories:
        pattern = pattern[:-1]
    only_name = "/" not in pattern
    try:
        matches = matcher(pattern.removeprefix("/"), is_name=only_name, any_case=any_case)
    except InvalidPatternError:
        return []
    return [_Rule(matches, ignores, only_directories, only_name)]


def _without_spaces_behind(line: str) -> str:
    """Return a line without the spaces at its end; a backslash keeps the one after it."""
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return line[: len(stripped) + backslashes % 2]
