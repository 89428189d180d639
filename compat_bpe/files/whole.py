"""Files that are read whole. The module is separate from ``text``: every ``load`` imports it."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
from typing import BinaryIO, Callable

#: The largest vocabulary, or file of settings beside one, in bytes. Today's files have at
#: most a tenth of this size.
SIZE_LIMIT = 1 << 28

#: The largest ignore file, or file of git's configuration, in bytes.
GITS_LIMIT = 1 << 20

# Opening a pipe that nobody writes to would wait.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class NotRegularError(OSError):
    """The error for a pipe, a device or the like where a regular file is needed."""


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading.

    Pipes and devices are refused: they may have no end, and opening them may wait.

    Args:
        path: the file; a symbolic link is followed.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
    """
    file = open(path, "rb", opener=_opened_at_once)  # noqa: SIM115 (the caller closes it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotRegularError(errno.EINVAL, "Not a regular file", os.fspath(path))
    return file


def read_whole(path: str | os.PathLike[str], limit: int = SIZE_LIMIT) -> bytes:
    """Return the content of a regular file.

    Args:
        path: the file; a symbolic link is followed.
        limit: the largest size, in bytes.

    Raises:
        OSError: the file cannot be read, or is not a regular file.
        ValueError: ``{file}: larger than {limit} bytes``.
    """
    with open_regular(path) as file:
        data = read_at_most(file.read, limit + 1)
    if len(data) > limit:
        raise ValueError(f"{os.fspath(path)}: larger than {limit:,} bytes")
    return data


def read_at_most(read: Callable[[int], bytes], most: int) -> bytes:
    """Return the rest of a file, but at most ``most`` bytes.

    ``read(most)`` would make a buffer of ``most`` bytes before it reads: PyPy fills it, and
    WebAssembly never gives it back.
    """
    blocks = []
    size = 1 << 16
    while block := read(min(size, most)):
        blocks.append(block)
        most -= len(block)
        size *= 2
    return b"".join(blocks)


def read_gits(path: str, limit: int = GITS_LIMIT) -> bytes | None:
    """Return the content of a file of git's: an ignore file, its configuration, its index.

    It is None if there is no such file, or if the path is not a regular file.

    Raises:
        OSError: the file cannot be read, or is larger than ``limit``.
    """
    try:
        return read_whole(path, limit)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, NotRegularError):
        return None
    except ValueError:
        raise OSError(errno.EFBIG, f"Larger than {limit:,} bytes", path) from None


def read_gits_text(path: str) -> str:
    """Return the text of an ignore file, or of git's configuration.

    It is empty where ``read_gits`` returns None. A byte-order mark is left out. Bytes that are not
    text become surrogates, as in names of files.

    Raises:
        OSError: the file cannot be read, or is larger than ``GITS_LIMIT``.
    """
    data = (read_gits(path) or b"").removeprefix(codecs.BOM_UTF8)
    return data.decode(sys.getfilesystemencoding(), "surrogateescape")


def _opened_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | _AT_ONCE)


def utf8_text(data: bytes, source: str) -> str:
    """Return the text of a file of UTF-8; ``source`` is its name in messages.

    Raises:
        ValueError: ``{file}: line {n}: not UTF-8: {reason}``.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{source}: line {line}: not UTF-8: {error.reason}") from None


def json_message(message: str) -> str:
    r"""Return a message of ``json``, repaired where PyPy spoils it.

    PyPy puts a single byte of a character that is not ASCII into the message, as if that byte were
    ASCII. Printing such a string, or putting it into another one, raises ``SystemError``; encoding
    it does not.

    >>> json_message("Unexpected 'é'")
    "Unexpected 'é'"
    """
    return message.encode("utf-8", "backslashreplace").decode("utf-8", "backslashreplace")
