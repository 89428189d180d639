"""The bytes of a file, decompressed, with the progress through it as it lies there."""

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

#: Bytes that are read at a time; so far the progress through a file lags behind.
BLOCK = 1 << 16

_GZIP = ".gz"


def without_gz(path: str) -> str:
    """The name that a compressed file has without that; any other stays as it is.

    >>> without_gz("a.txt.gz"), without_gz("a.txt")
    ('a.txt', 'a.txt')
    """
    return path[: -len(_GZIP)] if path.lower().endswith(_GZIP) else path


def read_blocks(path: str, advance: Callable[[int], None]) -> Iterator[bytes]:
    """The content of a file in blocks of at most ``BLOCK`` bytes.

    Args:
        path: its name; it is decompressed if that ends in ``.gz``. ``-`` is standard input.
        advance: called with the number of bytes each time some are read, before decompression.

    Raises:
        OSError: it cannot be read.
        ValueError: what is compressed is damaged.
    """
    with _opened(path, advance) as stream:
        yield from iter(lambda: stream.read(BLOCK), b"")


def read_lines(
    path: str, limit: int, advance: Callable[[int], None]
) -> Iterator[tuple[bytes, int]]:
    r"""The lines of a file, each with its ``b"\n"``, and what they take in bytes.

    Of a line that is longer than the limit come so many bytes and one.  Arguments and errors are
    otherwise those of ``read_blocks``.
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
    """A file of whose reading something is told."""

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
