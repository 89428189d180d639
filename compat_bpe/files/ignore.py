"""Rules of ignore files, and globs; ``wildmatch`` reads their patterns.

The first file with a rule that matches decides. As in ripgrep, the ``.ignore`` files of the
directory and those above it come first. Then, as in git: the ``.gitignore`` of the directory, those
of the directories above it, the repository's ``info/exclude``, the user's ``core.excludesFile``;
these are not about files that git tracks.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Callable, NamedTuple

from .whole import read_gits_text
from .wildmatch import InvalidPatternError, alternatives, as_bytes, lowered, matcher

if TYPE_CHECKING:
    from .git import TrackedFiles

#: The files in a directory with the rules for everything below it: of git, of ripgrep and others.
GIT_IGNORE = ".gitignore"
DOT_IGNORE = ".ignore"
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


class Scope(NamedTuple):
    """The rules for what is in a directory, nearest first; the first that match decide.

    Args:
        dotted: the rules of ``.ignore`` files, which come before all others.
        git: the rules of git.
        tracked: what git tracks in the repository around; None outside of one.
        is_ignored: git ignores the directory itself: only tracked files of it are taken.
    """

    dotted: tuple[Rules, ...] = ()
    git: tuple[Rules, ...] = ()
    tracked: TrackedFiles | None = None
    is_ignored: bool = False

    def below(self, path: str, is_directory: bool) -> Scope | None:
        """Return the scope for what is below a path, or for the file; None if it is ignored.

        Git ignores no file that it tracks, and enters a directory that has one.

        Raises:
            OSError: git's index cannot be read.
        """
        verdict = _verdict(self.dotted, path, is_directory)
        if verdict:
            return None
        by_git = self.is_ignored or (verdict is None and _verdict(self.git, path, is_directory))
        if not by_git:
            return self
        if self.tracked is None or not self.tracked.has(path, is_directory):
            return None
        return self._replace(is_ignored=True)

    def inside(self, directory: str, names: Container[str] | None = None) -> Scope:
        """Return the scope for the entries of a directory: with its own rules first.

        A repository within another has only its own rules of git, and the user's.

        Args:
            directory: an absolute path.
            names: the names in it, in lower case, if they are known.

        Raises:
            OSError: an ignore file or git's configuration cannot be read.
        """
        scope = self
        if (names is None or GIT in names) and os.path.lexists(os.path.join(directory, GIT)):
            scope = _scope_of_repository(directory)._replace(dotted=self.dotted)
        any_case = scope.tracked is not None and scope.tracked.ignores_case
        if rules := _rules_in(directory, GIT_IGNORE, names, any_case):
            scope = scope._replace(git=(rules, *scope.git))
        if rules := _rules_in(directory, DOT_IGNORE, names):
            scope = scope._replace(dotted=(rules, *scope.dotted))
        return scope


def _rules_in(
    directory: str, name: str, names: Container[str] | None, any_case: bool = False
) -> Rules | None:
    """Return the rules of an ignore file in a directory, if there are any.

    As in git, a link is not followed: it might lead out of the repository.
    """
    path = os.path.join(directory, name)
    if (names is not None and name not in names) or os.path.islink(path):
        return None
    lines = _lines(path)
    return Rules(directory, lines, any_case) if lines else None


def _verdict(chain: Iterable[Rules], path: str, is_directory: bool) -> bool | None:
    """Return what the first of some rules that match a path say; None if none of them do."""
    for rules in chain:
        verdict = rules.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return None


def scope_around(directory: str) -> Scope:
    """Return the scope that a directory has from those above it.

    ``.gitignore`` files count from the top of the repository on, and not outside of one;
    ``.ignore`` files count from the root on.

    Args:
        directory: an absolute path without symbolic links.

    Raises:
        OSError: an ignore file or git's configuration cannot be read.
    """
    above = [directory]
    while above[-1] != os.path.dirname(above[-1]):
        above.append(os.path.dirname(above[-1]))
    in_git = (at for at, one in enumerate(above) if os.path.lexists(os.path.join(one, GIT)))
    top = next(in_git, 0)
    scope = Scope()
    for at in range(len(above) - 1, 0, -1):
        scope = scope.inside(above[at], None if at <= top else (DOT_IGNORE,))
    return scope


def _scope_of_repository(top: str) -> Scope:
    """Return the scope at the top of a working tree, but for the ignore files there."""
    from .git import TrackedFiles, read_settings  # only repositories need these

    own, shared = _git_directories(top)
    settings = read_settings(shared, top)
    paths = (os.path.join(shared, "info", "exclude"), settings.excludes_file)
    rules = tuple(
        Rules(top, lines, settings.ignores_case)
        for path in paths
        if path and (lines := _lines(path))
    )
    return Scope(git=rules, tracked=TrackedFiles(top, own, settings))


def _git_directories(top: str) -> tuple[str, str]:
    """Return the directory of a working tree's index, and that of its configuration.

    Worktrees and submodules have them elsewhere; a worktree shares its repository's configuration.
    """
    own = os.path.join(top, GIT)
    if os.path.isfile(own):
        for line in _lines(own)[:1]:
            own = os.path.join(top, line.removeprefix("gitdir:").strip())
    shared = own
    for line in _lines(os.path.join(own, "commondir"))[:1]:
        shared = os.path.join(own, line.strip())
    return own, shared


def _lines(path: str) -> list[str]:
    """Return the lines of a file; none if there is no such file, or a device, as in git."""
    lines = read_gits_text(path).split("\n")
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
