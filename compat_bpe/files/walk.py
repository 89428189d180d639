"""The files that the paths on a command line stand for."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .ignore import GIT, Globs, Rules, ignored, rules_around, rules_within
from .text import STDIN


class Found(NamedTuple):
    """A file to be counted, or what could not be looked into."""

    path: str
    #: The path on the command line that it was found by; the same if it was named itself.
    root: str
    #: Which of the paths on the command line that is.
    argument: int
    #: In bytes; None if that is not known, as with a pipe.
    size: int | None = None
    #: Whether it is the same file to another process, which standard input is not.
    is_regular: bool = False
    #: Why there is nothing to count.
    problem: str = ""

    @property
    def is_named(self) -> bool:
        """Whether it was named on the command line itself."""
        return self.path == self.root


class Walk:
    """How directories are searched for files.

    What is in a directory comes in the order of names, so that it is the same everywhere. Symbolic
    links in it are not followed, and what is no file (a named pipe, a device) is passed over.

    Args:
        hidden: whether names that begin with a dot are searched. ``.git`` never is.
        ignore: whether what ``.gitignore`` files name is left out.
        include: globs; if there are any, only files that match one are found.
        exclude: globs; what matches one is left out.
    """

    def __init__(
        self,
        *,
        hidden: bool = False,
        ignore: bool = True,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> None:
        self._hidden = hidden
        self._ignore = ignore
        self._globs = Globs(include, exclude) if include or exclude else None

    def find(self, paths: Sequence[str]) -> Iterator[Found]:
        """The files that some paths stand for, in their order; what is a file is one itself.

        Ignore files say nothing of the paths themselves; globs do.
        """
        for argument, path in enumerate(paths):
            if path == STDIN:
                yield _named(path, argument)
            elif os.path.isdir(path):
                yield from self._below(path, argument)
            elif self._globs is None or self._globs.want(_relative(path)):
                yield _named(path, argument)

    def _below(self, top: str, argument: int) -> Iterator[Found]:
        # What is still to be looked at, the next one last: directories, and files with their sizes.
        waiting: list[_Directory | tuple[str, int]] = []
        try:
            waiting += self._start(top)
        except OSError as error:
            yield Found(top, top, argument, problem=_reason(error))
        is_regular = not _is_own(top)
        while waiting:
            item = waiting.pop()
            if isinstance(item, _Directory):
                try:
                    waiting += [*self._entries(item)][::-1]
                except OSError as error:
                    # It may be an ignore file that cannot be read.
                    path = item.path if error.filename is None else os.fspath(error.filename)
                    yield Found(path, top, argument, problem=_reason(error))
            else:
                path, size = item
                yield Found(path, top, argument, size, is_regular)

    def _start(self, top: str) -> list[_Directory]:
        absolute = os.path.realpath(top)
        relative = _relative(top) if self._globs else ""
        if self._globs and self._globs.exclude(relative, True):
            return []
        chain = rules_around(absolute) if self._ignore else ()
        return [_Directory(top, absolute, relative, chain)]

    def _entries(self, directory: _Directory) -> Iterator[_Directory | tuple[str, int]]:
        """What there is to look at in a directory, in the order of names."""
        with os.scandir(directory.path) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        chain = rules_within(directory.absolute, directory.chain) if self._ignore else ()
        for entry in entries:
            name = entry.name
            if name == GIT or (name.startswith(".") and not self._hidden):
                continue
            is_directory = entry.is_dir(follow_symlinks=False) and not _is_junction(entry)
            if not is_directory and not entry.is_file(follow_symlinks=False):
                continue
            absolute = os.path.join(directory.absolute, name)
            if chain and ignored(chain, absolute, is_directory):
                continue
            relative = os.path.join(directory.relative, name)
            if is_directory:
                if self._globs is None or not self._globs.exclude(relative, True):
                    yield _Directory(entry.path, absolute, relative, chain)
            elif self._globs is None or self._globs.want(relative):
                yield entry.path, _size(entry)


class _Directory(NamedTuple):
    path: str
    #: Without symbolic links.
    absolute: str
    #: What globs are compared with.
    relative: str
    chain: tuple[Rules, ...]


def _relative(path: str) -> str:
    """What globs are compared with: the path from the current directory, if it is below that.

    Elsewhere it is what is below a directory that was named, or a file's name alone.
    """
    absolute = os.path.abspath(path)
    here = os.path.join(os.getcwd(), "")
    if absolute.startswith(here):
        return absolute[len(here) :]
    return "" if os.path.isdir(path) else os.path.basename(path)


def _named(path: str, argument: int) -> Found:
    """A file that is named on the command line."""
    try:
        status = os.stat(0 if path == STDIN else path)
        # A link may lead to what is one process's own.
        is_regular = path != STDIN and stat.S_ISREG(os.lstat(path).st_mode) and not _is_own(path)
    except (OSError, ValueError):
        return Found(path, path, argument, 0)  # whoever opens it will say what is wrong
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    return Found(path, path, argument, size, is_regular)


def _is_own(path: str) -> bool:
    """Whether a path may mean another file in another process, as ``/dev/stdin`` does."""
    return os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Whether it is what Windows has for a link to a directory; Python 3.12 tells them apart."""
    return bool(getattr(entry, "is_junction", bool)())


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0  # whoever opens it will say what is wrong


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
