"""The files for the paths on a command line: a file itself, or the files in a directory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import Callable, NamedTuple

from .ignore import (
    GIT,
    Globs,
    InvalidPatternError,
    Scope,
    alternatives,
    as_bytes,
    matcher,
    scope_around,
)
from .text import STDIN


class Found(NamedTuple):
    """A file to read; or a directory or an ignore file that cannot be read, with the reason."""

    path: str
    #: The path on the command line that led to it; ``path`` itself if the file was named there.
    root: str
    #: The index of that path among those on the command line.
    argument: int
    #: The size in bytes; None if it is not known, as with a pipe.
    size: int | None = None
    #: True if another process may open it, too: a regular file, not standard input or a pipe.
    is_regular: bool = False
    #: The reason for which it cannot be read.
    problem: str = ""

    @property
    def is_named(self) -> bool:
        """True if it was named on the command line itself."""
        return self.path == self.root


class Walk:
    """A search of directories for files.

    Names in a directory come in sorted order, the same on every system. Symbolic links in it are
    not followed, and special files (named pipes, devices) are skipped.

    Paths named on the command line are never left out: globs and ignore files apply only to the
    entries of a directory.

    Args:
        hidden: search names that begin with a dot, too, except ``.git``.
        ignore: leave out the paths that git and ``.ignore`` files ignore.
        include: globs; if there are any, only files that match one are found.
        exclude: globs; files and directories that match one are left out.
        globs_from: the directory that globs are relative to; by default, the current one.
        before_each: called before each directory is searched. An exception from it ends the search.
    """

    def __init__(
        self,
        *,
        hidden: bool = False,
        ignore: bool = True,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        globs_from: str | None = None,
        before_each: Callable[[], object] = lambda: None,
    ) -> None:
        self._hidden = hidden
        self._ignore = ignore
        self._globs = Globs(include, exclude) if include or exclude else None
        self._globs_from = globs_from
        self._left_out = LeftOut(include, exclude)
        self._before_each = before_each

    def find(self, paths: Sequence[str]) -> Iterator[Found]:
        """Yield the files that some paths name, in the order of the paths."""
        for argument, path in enumerate(paths):
            if path != STDIN and os.path.isdir(path):
                yield from self._below(path, argument)
            else:
                yield _named(path, argument)

    def why_nothing(self) -> str:
        """Return the reasons why no files were found; empty if nothing was left out.

        >>> walk = Walk(include=["*.nope"])
        >>> list(walk.find([])), walk.why_nothing()
        ([], "nothing matches --include '*.nope'")
        """
        return self._left_out.reasons()

    def _below(self, top: str, argument: int) -> Iterator[Found]:
        """Yield the files in a directory, and in those below it."""
        # The directories, and files with their sizes, that are still to come; the next one is last.
        waiting: list[_Directory | tuple[str, int]] = []
        try:
            absolute = os.path.realpath(top)
            relative = _relative(top, self._globs_from) if self._globs else ""
            scope = scope_around(absolute) if self._ignore else Scope()
            waiting.append(_Directory(top, absolute, relative, scope))
        except OSError as error:
            yield _problem(error, top, top, argument)
        is_regular = not _is_own(top)
        while waiting:
            item = waiting.pop()
            if isinstance(item, _Directory):
                self._before_each()
                try:
                    waiting += [*self._entries(item)][::-1]
                except OSError as error:
                    yield _problem(error, item.path, top, argument)
            else:
                path, size = item
                yield Found(path, top, argument, size, is_regular)

    def _entries(self, directory: _Directory) -> Iterator[_Directory | tuple[str, int]]:
        """Yield the directories and files of a directory that are not left out, sorted by name."""
        with os.scandir(directory.path) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        scope = directory.scope
        if self._ignore:
            scope = scope.inside(directory.absolute, {entry.name.lower() for entry in entries})
        left_out = self._left_out
        for entry in entries:
            name = entry.name
            if name == GIT:
                continue
            if name.startswith(".") and not self._hidden:
                left_out.hidden += 1
                continue
            # A junction is Windows's link to a directory; Python 3.12 and later knows it.
            is_junction = getattr(entry, "is_junction", bool)
            is_directory = entry.is_dir(follow_symlinks=False) and not is_junction()
            if not is_directory and not entry.is_file(follow_symlinks=False):
                left_out.special += 1
                continue
            absolute = os.path.join(directory.absolute, name)
            inner = scope.below(absolute, is_directory)
            if inner is None:
                left_out.ignored += 1
                continue
            relative = os.path.join(directory.relative, name)
            if self._globs is not None and self._globs.exclude(relative, is_directory):
                left_out.excluded += 1
            elif is_directory:
                yield _Directory(entry.path, absolute, relative, inner)
            elif self._globs is None or self._globs.include(relative):
                yield entry.path, _size(entry)


def matches_of_glob(glob: str) -> list[str]:
    """Return the files and directories that a glob matches, as in a shell, sorted.

    Patterns of names are those of ignore files, with braces; ``**`` matches any number of
    directories, and follows no symbolic links. Only a pattern that begins with a dot matches a name
    that begins with a dot. The content of a matched directory is left out.
    """
    try:
        patterns = alternatives(glob)
        return [path for pattern in patterns for path in _matches(pattern)]
    except InvalidPatternError:
        return []


def _matches(glob: str) -> Iterator[str]:
    """Yield the sorted matches of a glob without braces."""
    names = [name for name in glob.split("/") if name]
    found: set[str] = set()
    waiting = [("/" if glob.startswith("/") else "", 0)]
    seen = set(waiting)
    while waiting:
        folder, at = waiting.pop()
        is_last = at + 1 == len(names)
        steps = [(folder, at + 1)] if names[at] == "**" and not is_last else []
        for path, is_directory, is_link in _matching(folder, names[at]):
            if is_last:
                found.add(path)
            elif is_directory and not (is_link and names[at] == "**"):
                steps.append((path, at if names[at] == "**" else at + 1))
        waiting += [step for step in steps if step not in seen]
        seen.update(steps)
    for path in sorted(found):
        parents = {path[: place.start()] for place in re.finditer("/", path)}
        if parents.isdisjoint(found):
            yield path


def _matching(folder: str, pattern: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield each match of a pattern of a name: its path; is it a directory; is it a link."""
    if not re.search(r"[*?\[\\]", pattern):
        path = os.path.join(folder, pattern)
        if os.path.lexists(path):
            yield path, os.path.isdir(path), False
        return
    matches = matcher(as_bytes(pattern), is_name=True)
    try:
        with os.scandir(folder or os.curdir) as scan:
            for entry in scan:
                is_hidden = entry.name.startswith(".") and not pattern.startswith(".")
                if not is_hidden and matches(as_bytes(entry.name)):
                    path = os.path.join(folder, entry.name)
                    yield path, entry.is_dir(), entry.is_symlink()
    except OSError:  # as in a shell, a directory that cannot be searched has no matches
        return


class LeftOut:
    """The numbers of entries that a search left out, by reason; a directory counts as one."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = include
        self._exclude = exclude
        self.hidden = self.ignored = self.excluded = self.special = 0

    def reasons(self) -> str:
        """Return the reasons in words, joined by semicolons."""
        parts = []
        if self.excluded:
            parts.append(f"{self.excluded:,} left out by --exclude {_quoted(self._exclude)}")
        if self.hidden:
            parts.append(f"{self.hidden:,} hidden (see --hidden)")
        if self.ignored:
            parts.append(f"{self.ignored:,} ignored (see --no-ignore)")
        if self.special:
            parts.append(f"{self.special:,} passed over (symbolic links, pipes and devices)")
        if self._include:
            nothing = "nothing else" if parts else "nothing"
            endings = [glob for glob in self._include if re.fullmatch(r"\.\w+", glob)]
            meant = f"; to match by ending: {_quoted([f'*{glob}' for glob in endings])}"
            parts.append(
                f"{nothing} matches --include {_quoted(self._include)}{meant if endings else ''}"
            )
        return "; ".join(parts)


def _quoted(globs: Sequence[str]) -> str:
    return " or ".join(f"'{glob}'" for glob in globs)


class _Directory(NamedTuple):
    """A directory that is still to be searched."""

    path: str
    #: The absolute path, without symbolic links.
    absolute: str
    #: The path that globs are matched against.
    relative: str
    #: The ignore rules that it has from the directories above it.
    scope: Scope


def _relative(path: str, start: str | None) -> str:
    """Return the path of a directory relative to another; empty if it is not below it.

    Args:
        path: the directory.
        start: the other; None for the current one.
    """
    absolute = os.path.abspath(path)
    here = os.path.join(os.path.abspath(start or os.curdir), "")
    return absolute[len(here) :] if absolute.startswith(here) else ""


def _named(path: str, argument: int) -> Found:
    """Return the result for a path on the command line, without opening the file."""
    try:
        status = os.stat(0 if path == STDIN else path)
        # A link may lead to a file that only this process has.
        is_regular = path != STDIN and stat.S_ISREG(os.lstat(path).st_mode) and not _is_own(path)
    except (OSError, ValueError):
        return Found(path, path, argument, 0)  # opening it will fail and say why
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    return Found(path, path, argument, size, is_regular)


def _problem(error: OSError, path: str, top: str, argument: int) -> Found:
    """Return the result for a directory that cannot be searched."""
    # The file that cannot be read may be an ignore file, or git's configuration.
    path = path if error.filename is None else os.fspath(error.filename)
    return Found(path, top, argument, problem=error.strerror or str(error))


def _is_own(path: str) -> bool:
    """Return True if a path may be another file in another process, as ``/dev/stdin`` is."""
    return os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0  # opening it will fail and say why
