"""The common parts of all calls of tools: bounds, time, files they may read, and the encoding.

An agent may name built-in encodings, but no files: a vocabulary's path is for the command line.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

from ..corpus.count_cache import CountCache, cache_folder
from ..encodings.encoding import Encoding
from ..encodings.registry import encoding_of
from ..encodings.resolve import Answer, Terms, UnresolvedError, resolve
from ..files.text import check_beginning, not_utf8, path_of_uri
from ..files.whole import open_regular, read_at_most
from ..pipeline.cutter import portions
from ..pipeline.stream import StreamCounter

#: JSON: the arguments of a call, or its result.
Json = dict[str, Any]

#: True if each folder on the way to a file can be opened from the one before.
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


class CallError(Exception):
    """An error that is the answer to a call: a sentence for the agent."""


class Bounds(NamedTuple):
    """The most that a call may take.

    Args:
        text: the characters of all texts in its arguments, as JSON.
        file: the bytes of a file.
        files: the number of files.
        total: the bytes of all files; the characters of all parts, which may overlap.
        parts: the parts of a text that is split.
        tools: the tools of a list.
        seconds: the time.
    """

    text: int = 4_000_000
    file: int = 16_000_000
    files: int = 20_000
    total: int = 64_000_000
    parts: int = 10_000
    tools: int = 1_000
    seconds: float = 60.0


#: The most characters of a name, a path or a glob.
LONGEST = 4096

#: The largest number in arguments and results.
LARGEST = 10**12

#: The bounds of the server.
BOUNDS = Bounds()


class Clock:
    """The time that a call has left; another thread may stop it.

    Args:
        seconds: the time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = False

    def stop(self) -> None:
        """Let the next check fail: nothing waits for the result."""
        self._stopped = True

    def check(self) -> None:
        """Raise ``CallError`` if the time is over."""
        if self._stopped or time.monotonic() > self._end:
            raise self.error()

    def error(self) -> CallError:
        """Return the error for a call whose time is over."""
        return CallError(f"this takes more than {self._seconds:g} s: give less text or fewer files")


class Roots:
    """Folders that files are read from.

    A link is followed if its target is in one of them. The target is opened folder by folder
    without following links, so that no link can be put there in between.

    Args:
        folders: the folders; relative ones count from the current directory.

    Raises:
        CallError: one is not a folder.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(dict.fromkeys(map(os.path.realpath, folders)))
        for given, folder in zip(folders, map(os.path.realpath, folders)):
            if not os.path.isdir(folder):
                raise CallError(f"root {given!r}: no such folder")

    def resolve(self, path: str) -> str:
        """Return the real path of a file or folder in a root.

        Args:
            path: the path; a relative one is looked for in each root.

        Raises:
            CallError: it is outside the roots, or does not exist.
        """
        if not self.folders:
            raise CallError(
                "no files can be read: the client names no roots; start the server with "
                "compat-bpe mcp --root FOLDER"
            )
        if "\0" in path:
            raise CallError("a path has a NUL character")
        is_inside = False
        for folder in self.folders:
            try:
                real = os.path.realpath(os.path.join(folder, path))
            except OSError as error:  # a part of it is moved at this very moment
                raise CallError(f"{path}: {_reason(error)}") from None
            if self._root_of(real) is not None:
                is_inside = True
                if os.path.lexists(real):
                    return real
        if is_inside:
            raise CallError(f"{path}: there is no such file or folder in the roots")
        raise CallError(f"{path}: outside the roots ({', '.join(self.folders)})")

    def open(self, path: str) -> BinaryIO:
        """Open a regular file in a root for reading.

        Raises:
            CallError: it is outside the roots, is not a regular file, or cannot be read.
        """
        real = self.resolve(path)
        root = self._root_of(real)
        assert root is not None
        try:
            if _STEPWISE:
                return _open_stepwise(root, os.path.relpath(real, root))
            return self._open_checked(real)
        except OSError as error:
            raise CallError(f"{path}: {_reason(error)}") from None

    def shown(self, real: str) -> str:
        """Return a real path for people: relative to the root if there is only one."""
        if len(self.folders) == 1:
            return os.path.relpath(real, self.folders[0])
        return real

    def _root_of(self, real: str) -> str | None:
        for folder in self.folders:
            if real == folder or real.startswith(os.path.join(folder, "")):
                return folder
        return None

    def _open_checked(self, real: str) -> BinaryIO:
        """Open a file, then check where it is: Windows cannot open a path folder by folder."""
        file = open_regular(real)
        now = os.path.realpath(real)
        if self._root_of(now) is None or not os.path.samestat(
            os.fstat(file.fileno()), os.lstat(now)
        ):
            file.close()
            raise OSError(errno.ELOOP, "It was moved while being opened", real)
        return file


def folders_of(uris: Sequence[str]) -> list[str]:
    """Return the folders that a client names as roots, without those that are not folders.

    >>> folders_of(["file:///", "https://example.com/", "file:///no/such%20folder"])
    ['/']
    """
    folders = []
    for uri in uris:
        try:
            parts = urlsplit(uri)
        except ValueError:
            continue
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            path = path_of_uri(unquote(parts.path))
            if os.path.isabs(path) and "\0" not in path and os.path.isdir(path):
                folders.append(path)
    return folders


def _open_stepwise(root: str, relative: str) -> BinaryIO:
    """Open a regular file from its root on; a link on the way is an error."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(root, flags | os.O_DIRECTORY)
    try:
        *parents, name = relative.split(os.sep)
        for parent in parents:
            inner = os.open(parent, flags | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Opening a pipe that nobody writes to would wait.
        number = os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "Not a regular file")
    return os.fdopen(number, "rb")


def _reason(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "it was moved while being opened"
    return (error.strerror or str(error)).lower()


@dataclass(frozen=True)
class Call:
    """The circumstances of a call, beside its arguments.

    Args:
        roots: the folders that it may read.
        default: the encoding unless the arguments name one.
        bounds: the most that it may take.
        clock: its time.
    """

    roots: Roots
    default: str = "o200k_base"
    bounds: Bounds = BOUNDS
    clock: Clock = field(default_factory=lambda: Clock(BOUNDS.seconds))


def read_text(path: str, call: Call) -> str:
    """Return the text of a file in the roots.

    Raises:
        CallError: it is outside of them, cannot be read, is too large, or is not UTF-8.
    """
    limit = call.bounds.file
    call.clock.check()
    with call.roots.open(path) as file:
        try:
            data = read_at_most(file.read, limit + 1)
        except OSError as error:
            raise CallError(f"{path}: {error.strerror or error}") from None
    if len(data) > limit:
        raise CallError(f"{path}: larger than {limit:,} bytes; count it with compat-bpe count")
    try:
        check_beginning(data)
        return data.decode()
    except UnicodeDecodeError as error:
        raise CallError(f"{path}: {not_utf8(error)}") from None
    except ValueError as error:
        raise CallError(f"{path}: {error}") from None


#: The advice in errors for agents; only the user can give a path.
TERMS = Terms(
    'give the model "{}"',
    'give the encoding "{}"',
    "start the server with compat-bpe mcp -e {}",
    listing="the resource compat-bpe://models lists known models",
)


@dataclass(frozen=True)
class Chosen:
    """An encoding that counts, or an estimate by a maker's number of characters per token."""

    answer: Answer
    encoding: Encoding

    def count(self, text: str, call: Call) -> int:
        """Return the tokens of a text.

        Raises:
            CallError: the vocabulary has no token for a part of it, or the time is over.
        """
        return self.answer.tokens(self._count(text, call))

    def count_cached(self, text: str, call: Call, cache: CountCache) -> int:
        """Return the tokens of a text, which a cache may know."""
        return self.answer.tokens(cache.count(text, lambda text: self._count(text, call)))

    def cache(self) -> CountCache:
        """Return the user's cache for the counts of this encoding."""
        is_quick = self.encoding.reference == "baseline"
        return CountCache(None if is_quick else cache_folder(), [self.encoding], b"strict")

    def _count(self, text: str, call: Call) -> int:
        counter = StreamCounter(self.encoding)
        try:
            for portion in portions(text):
                call.clock.check()
                counter.feed(portion)
            return counter.finish()
        except ValueError as error:
            raise CallError(str(error)) from None


def chosen(model: str | None, name: str | None, call: Call) -> Chosen:
    """Return the encoding or estimate of a call, by a model or the name of a built-in encoding.

    If the call names neither, it is the encoding that the server was started with. A file is loaded
    at the first call that needs it, and not again.

    Raises:
        CallError: model or encoding is unknown, or both are given; a file cannot be loaded.
    """
    if model is not None and name is not None:
        raise CallError("model and encoding exclude each other: give one of them")
    try:
        if model is not None:
            answer = resolve(model, "model", files=False, estimate=True)
        elif name is not None:
            answer = resolve(name, files=False, estimate=True)
        else:
            answer = resolve(call.default)
            return Chosen(answer, _loaded(answer))
        return Chosen(answer, encoding_of(answer))
    except UnresolvedError as error:
        raise CallError(error.message(TERMS)) from None
    except OSError as error:
        raise CallError(f"{call.default}: {error.strerror or error}") from None
    except ValueError as error:
        raise CallError(str(error)) from None


_loaded = lru_cache(maxsize=1)(encoding_of)
