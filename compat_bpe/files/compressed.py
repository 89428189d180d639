"""Reading a file that may be compressed, with progress in bytes of the file on disk.

The ending of the name determines the compression: ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. A file
may have several streams one after the other, and zero bytes after each, which xz allows and tapes
leave. Data that ends within a stream, or has anything else after a stream, is an error.

Memory is bounded for any data, since the output comes in blocks.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, NamedTuple, Protocol

from .text import open_bytes
from .whole import SIZE_LIMIT, read_at_most, utf8_text

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: The number of bytes that are read at a time, and so the step of the progress through a file.
BLOCK = 1 << 16

#: The most bytes of memory for a window of xz and of Zstandard. The presets of xz need 65 MiB at
#: most, Zstandard needs 128 MiB with ``--ultra --long=27``.
_XZ_MEMORY = 1 << 28
_ZSTD_WINDOW_LOG = 27


class DamagedError(ValueError):
    """The error for compressed data that is damaged, or needs too much memory."""


class _Decompressor(Protocol):
    """A decompressor of one stream, as ``bz2``, ``lzma`` and ``compression.zstd`` have them."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


#: A function that makes a decompressor of one stream; the errors that it raises for damaged data.
_Maker = tuple[Callable[[], _Decompressor], tuple[type[Exception], ...]]


class _Codec(NamedTuple):
    """A form of compression.

    Args:
        name: its name.
        magic: a pattern of the first bytes of its data, with which no text begins.
        maker: imports the module, and returns the function and the errors.
    """

    name: str
    magic: bytes
    maker: Callable[[], _Maker]

    def opened(self, file: BinaryIO) -> Any:
        """Open data for reading.

        Damage is a ``DamagedError``, or an ``EOFError`` at the end of the data.

        Raises:
            ImportError: this Python lacks the module; the message gives the reason.
        """
        return BufferedReader(_Streams(file, self.name, *self.maker()), BLOCK)


class _GzipDecompressor:
    """A decompressor of one stream of gzip.

    ``gzip.GzipFile`` reads the name in the header, and zeros after a stream, a byte at a time.
    """

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
        #: True if the last call could not return all the output.
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not (self._is_full or self._stream.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        content = self._stream.decompress(self._stream.unconsumed_tail or data, max_length)
        self._is_full = len(content) == max_length
        return content


def _gzip() -> _Maker:
    return _GzipDecompressor, (zlib.error,)


def _bzip2() -> _Maker:
    try:
        import bz2
    except ImportError:
        raise ImportError("this Python was built without bz2", name="bz2") from None
    return bz2.BZ2Decompressor, (OSError,)


def _xz() -> _Maker:
    try:
        import lzma
    except ImportError:
        raise ImportError("this Python was built without lzma", name="lzma") from None
    make = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    return make, (lzma.LZMAError,)


def _zstd() -> _Maker:
    zstd = _import_zstd()
    options = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    return partial(zstd.ZstdDecompressor, options=options), (zstd.ZstdError,)


def _import_zstd() -> Any:
    """Return ``compression.zstd`` of Python 3.14 and later, or its backport."""
    try:
        from compression import zstd
    except ImportError:
        pass
    else:
        return zstd
    try:
        from backports import zstd
    except ImportError:
        raise ImportError(
            "Zstandard needs Python 3.14 or a package: "
            "pip install '.[zstd]' in a checkout of compat-bpe",
            name="backports.zstd",
        ) from None
    return zstd


_CODECS = {
    ".gz": _Codec("gzip", rb"\x1f\x8b", _gzip),
    ".bz2": _Codec("bzip2", rb"BZh[1-9]1AY&SY", _bzip2),
    ".xz": _Codec("xz", rb"\xfd7zXZ\0", _xz),
    ".zst": _Codec("zstd", rb"\x28\xb5\x2f\xfd", _zstd),
}


def uncompressed_name(path: str) -> str:
    """Return the name of a file without the ending of its compression.

    >>> uncompressed_name("a.txt.gz"), uncompressed_name("a.ZST"), uncompressed_name("a.txt")
    ('a.txt', 'a', 'a.txt')
    """
    return path[: -len(_ending(path))] if is_compressed(path) else path


def is_compressed(path: str) -> bool:
    """Return True if the name of a file has an ending of a compression; ``-`` has none."""
    return _ending(path) in _CODECS


def _ending(path: str) -> str:
    dot = path.rfind(".")
    return path[dot:].lower() if dot >= 0 else ""


def kind_of_compression(beginning: bytes) -> tuple[str, str] | None:
    """Return the compression and its ending by the first bytes of a file, or None.

    >>> kind_of_compression(b"BZh91AY&SY"), kind_of_compression(b"text")
    (('bzip2', '.bz2'), None)
    """
    for ending, codec in _CODECS.items():
        if re.match(codec.magic, beginning):
            return codec.name, ending
    return None


def read_blocks(path: str, advance: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the content of a file in blocks of at most ``BLOCK`` bytes.

    Args:
        path: the name of the file, which is decompressed if its ending says so. ``-`` is standard
            input.
        advance: called with the number of bytes each time some are read, before decompression.

    Raises:
        OSError: the file cannot be read.
        DamagedError: the compressed data is damaged, or needs too much memory.
        ImportError: the module for this compression is missing; the message gives the reason.
    """
    with opened(path, advance) as stream:
        yield from iter(lambda: stream.read(BLOCK), b"")


def read_lines(
    path: str, limit: int, advance: Callable[[int], None]
) -> Iterator[tuple[bytes, int]]:
    r"""Yield each line of a file with its ``b"\n"``, and its size in bytes.

    A line that is longer than ``limit`` is cut to its first ``limit + 1`` bytes. The other
    arguments and the errors are those of ``read_blocks``.
    """
    with opened(path, advance) as stream:
        for line in iter(lambda: stream.readline(limit + 1), b""):
            size = len(line)
            rest = line
            while len(rest) > limit and not rest.endswith(b"\n"):
                rest = stream.readline(limit + 1)
                size += len(rest)
            yield line, size


@contextmanager
def opened(path: str, advance: Callable[[int], None]) -> Iterator[BinaryIO]:
    """Open a file for reading as ``read_blocks`` does; ``read(n)`` is short only at the end."""
    with open_bytes(path) as file:
        stream = told(file, advance)
        if not is_compressed(path):
            yield stream
            return
        codec = _CODECS[_ending(path)]
        try:
            yield codec.opened(stream)
        except EOFError:
            raise DamagedError(f"{codec.name} data that is cut short") from None


def told(file: BinaryIO, advance: Callable[[int], None]) -> Any:
    """Return a file that reports the number of bytes of each read of another file."""
    return BufferedReader(_Told(file, advance), BLOCK)


class _Streams(RawIOBase):
    """The content of compressed streams that follow each other in a file.

    Args:
        file: the file.
        name: the name of the compression.
        make: makes a decompressor of one stream.
        errors: the errors that a decompressor raises for damaged data.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        make: Callable[[], _Decompressor],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self._file = file
        self._name = name
        self._make = make
        self._errors = errors
        self._stream = make()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        while True:
            data = b""
            if self._stream.eof:
                data = self._next_stream()
                if not data:
                    return 0
                self._stream = self._make()
            elif self._stream.needs_input:
                data = self._file.read(BLOCK)
                if not data:
                    raise EOFError
            try:
                content = self._stream.decompress(data, len(view))
            except self._errors as error:
                raise DamagedError(f"damaged {self._name} data: {error}") from None
            if content:
                view[: len(content)] = content
                return len(content)

    def _next_stream(self) -> bytes:
        """Return the beginning of the next stream; empty at the end of the file."""
        data = self._stream.unused_data or self._file.read(BLOCK)
        # No stream begins with a zero byte.
        while data and not (data := data.lstrip(b"\0")):
            data = self._file.read(BLOCK)
        return data


class _Told(RawIOBase):
    """A file that reports the number of bytes of each read."""

    def __init__(self, file: BinaryIO, advance: Callable[[int], None]) -> None:
        self._file = file
        self._advance = advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        data = self._file.read(len(view))
        if data is None:
            raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
        view[: len(data)] = data
        self._advance(len(data))
        return len(data)


def text_lines(data: bytes, source: str) -> list[str]:
    """Return the lines of a file of UTF-8, without the line feeds.

    Args:
        data: the content of the file, which may be a gzip.
        source: its name in messages.

    Raises:
        ValueError: ``{file}: {place}: {reason}``. The file is damaged, or too large.
    """
    if data.startswith(b"\x1f\x8b"):
        try:
            with _CODECS[".gz"].opened(io.BytesIO(data)) as unpacked:
                data = read_at_most(unpacked.read, SIZE_LIMIT + 1)
        except EOFError:
            raise ValueError(f"{source}: damaged gzip data: it is cut short") from None
        except DamagedError as error:
            raise ValueError(f"{source}: {error}") from None
        if len(data) > SIZE_LIMIT:
            raise ValueError(f"{source}: larger than {SIZE_LIMIT:,} bytes when it is unpacked")
    lines = utf8_text(data, source).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
