"""Reading a file that may be compressed, with progress in bytes of the file on disk."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, BinaryIO, Callable

from .text import STDIN, open_bytes

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: The number of bytes that are read at a time, and so the step of the progress through a file.
BLOCK = 1 << 16

_GZIP = ".gz"


def without_gz(path: str) -> str:
    """Return the name of a file without ``.gz`` at its end.

    >>> without_gz("a.txt.gz"), without_gz("a.txt")
    ('a.txt', 'a.txt')
    """
    return path[: -len(_GZIP)] if path.lower().endswith(_GZIP) else path


def read_blocks(path: str, advance: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the content of a file in blocks of at most ``BLOCK`` bytes.

    Args:
        path: the name of the file, which is decompressed if it ends in ``.gz``. ``-`` is standard
            input.
        advance: called with the number of bytes each time some are read, before decompression.

    Raises:
        OSError: the file cannot be read.
        ValueError: the compressed data is damaged.
    """
    with _opened(path, advance) as stream:
        yield from iter(lambda: stream.read(BLOCK), b"")


def read_lines(
    path: str, limit: int, advance: Callable[[int], None]
) -> Iterator[tuple[bytes, int]]:
    r"""Yield each line of a file with its ``b"\n"``, and its size in bytes.

    A line that is longer than ``limit`` is cut to its first ``limit + 1`` bytes. The other
    arguments and the errors are those of ``read_blocks``.
    """
    with _opened(path, advance) as stream:
        for line in iter(lambda: stream.readline(limit + 1), b""):
            size = len(line)
            rest = line
            while len(rest) > limit and not rest.endswith(b"\n"):
                rest = stream.readline(limit + 1)
                size += len(rest)
            yield line, size


@contextmanager
def _opened(
    path: str, advance: Callable[[int], None]
) -> Iterator[BufferedReader[_Told] | gzip.GzipFile]:
    with open_bytes(path) as file:
        told = _Told(file, advance)
        stream = BufferedReader(told, BLOCK)
        if path == STDIN or without_gz(path) == path:
            yield stream
            return
        try:
            yield gzip.GzipFile(fileobj=stream, mode="rb")
        except EOFError:
            raise ValueError("gzip data that is cut short") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"damaged gzip data: {error}") from None
        if told.size == 0:
            raise ValueError("gzip data that is cut short: there is none")


class _Told(RawIOBase):
    """A file that reports the number of bytes of each read."""

    def __init__(self, file: BinaryIO, advance: Callable[[int], None]) -> None:
        self._file = file
        self._advance = advance
        #: Bytes that have been read.
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        data = self._file.read(len(view))
        if data is None:
            raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
        view[: len(data)] = data
        self.size += len(data)
        self._advance(len(data))
        return len(data)
