"""Text files: opening one by its name, decoding it, and the parts of its path."""

from __future__ import annotations

import codecs
import os
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = "-"

# To git, a file is binary if there is a NUL in its first 8,000 bytes (buffer_is_binary in
# xdiff-interface.c). ASCII in UTF-16 is full of NULs, and would pass for UTF-8.
_BINARY_LOOKAHEAD = 8000

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}

#: The advice about a file in another encoding.
_CONVERT = "convert it to UTF-8"


class NotTextError(ValueError):
    """The error for a file that is not text in UTF-8.

    Args:
        reason: the reason, for the message.
        advice: the advice for the user; may be empty.
    """

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(f"{reason}; {advice}" if advice else reason)
        self.reason = reason
        self.advice = advice


class BinaryError(NotTextError):
    """The error for a file with a NUL byte at its beginning."""


def read_text(path: str, *, allow_nul: bool = False) -> tuple[str, int]:
    """Return the text of a file and its size in bytes.

    The bytes are decoded as UTF-8 without changes: line ends are not translated, and a
    byte-order mark is a character.

    Args:
        path: the name of a file, or ``-`` for standard input.
        allow_nul: read a file with NUL bytes at its beginning, too.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is binary, or not UTF-8; the message gives the place.
    """
    with open_bytes(path) as file:
        data = file.read()
    check_beginning(data, allow_nul=allow_nul)
    try:
        return data.decode(), len(data)
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None


def open_bytes(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file for reading; ``-`` is standard input, which stays open.

    Raises:
        OSError: the file cannot be opened.
    """
    if path != STDIN:
        return open(path, "rb")
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return nullcontext(sys.stdin.buffer)


def check_beginning(
    data: bytes, *, allow_nul: bool = False, any_bytes: bool = False, advice: str = ""
) -> None:
    """Check that a file may be UTF-8 text, by its beginning.

    Args:
        data: its first 8,000 bytes or more, or the whole file if it is shorter.
        allow_nul: allow NUL bytes.
        any_bytes: allow bytes that are not UTF-8.
        advice: advice about NUL bytes, for the message if nothing else is wrong.

    Raises:
        ValueError: it is not UTF-8 text; the message gives the reason. A ``BinaryError`` if there
            is a NUL byte.
    """
    if not any_bytes:
        check_mark(data)
    nul = -1 if allow_nul else data.find(0, 0, _BINARY_LOOKAHEAD)
    if nul >= 0:
        is_text = any_bytes or _begins_as_utf8(data)
        raise BinaryError(f"binary: NUL byte at offset {nul}", advice if is_text else "")


def check_mark(data: bytes) -> None:
    """Raise ``ValueError`` if data begins with the byte-order mark of UTF-16 or UTF-32."""
    for mark, name in _OTHER_MARKS.items():
        if data.startswith(mark):
            raise NotTextError(f"not UTF-8: {name} byte-order mark at offset 0", _CONVERT)


def may_become_mark(data: bytes) -> bool:
    """Return True if data is the beginning of such a mark, so that more must be read."""
    return any(len(data) < len(mark) and mark.startswith(data) for mark in _OTHER_MARKS)


def _begins_as_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def not_utf8(error: UnicodeDecodeError, before: int = 0) -> NotTextError:
    """Return the error for bytes that are not UTF-8, with their offset in the file.

    Args:
        error: the error of the decoder.
        before: the number of bytes in the file before those that the decoder was given.
    """
    byte, offset = error.object[error.start], before + error.start
    return NotTextError(f"not UTF-8: byte 0x{byte:02x} at offset {offset}", _CONVERT)


def recoded(file: BinaryIO, encoding: str, *, replace: bool = False) -> Any:
    r"""Return a file whose content is the text of another file, in UTF-8.

    Its ``read`` raises ``ValueError`` for data that is not in the encoding, with the place.

    Args:
        file: the other file.
        encoding: the encoding of its text, by one of Python's names.
        replace: put U+FFFD for data that is not in this encoding, instead of an error.

    >>> import io
    >>> recoded(io.BytesIO("naïve".encode("utf-16")), "utf-16").read()
    b'na\xc3\xafve'
    """
    return BufferedReader(_Recoded(file, encoding, replace))


class _Recoded(RawIOBase):
    def __init__(self, file: BinaryIO, encoding: str, replace: bool) -> None:
        self._file = file
        self._encoding = encoding
        self._replace = replace
        errors = "replace" if replace else "strict"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._is_at_end = False
        self._size = 0
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        while not self._waiting and not self._is_at_end:
            # Use the available bytes, without waiting until a block is full.
            data = getattr(self._file, "read1", self._file.read)(len(view))
            if data is None:
                raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
            self._is_at_end = not data
            self._size += len(data)
            self._waiting = self._utf8(data)
        count = min(len(view), len(self._waiting))
        view[:count], self._waiting = self._waiting[:count], self._waiting[count:]
        return count

    def _utf8(self, data: bytes) -> bytes:
        try:
            text = self._decoder.decode(data, not data)
        except UnicodeDecodeError as error:
            at = self._size - len(error.object) + error.start
            reason = f"byte 0x{error.object[error.start]:02x} at offset {at}"
        except ValueError as error:  # codecs without places
            reason = str(error)
        else:
            if self._replace:  # some codecs give lone surrogates
                text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            try:
                return text.encode()
            except UnicodeEncodeError:
                reason = "a lone surrogate"
        raise ValueError(f"not {self._encoding}: {reason}; is it another encoding?")


#: Names that no file on Windows can have: names of devices, with any ending, and names with certain
#: characters. (A colon stands before a part of a file that no listing shows.)
_NOT_ON_WINDOWS = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³])\s*(?:\..*)?"
    r'|.*[<>:"/\\|?*\x00-\x1f].*|.*[. ]',
    re.IGNORECASE | re.DOTALL,
)


def parts_of_path(path: str) -> list[str]:
    """Return the names in a path, in order; a slash at its beginning or end gives an empty name.

    On Windows a path may be typed with slashes and end with the backslashes that a search adds.

    >>> parts_of_path("corpus/zh/a.txt")
    ['corpus', 'zh', 'a.txt']
    """
    if os.altsep is not None:
        path = path.replace(os.altsep, os.sep)
    return path.split(os.sep)


def is_name_on_windows(name: str) -> bool:
    """Return True if Windows can make a file of exactly this name.

    The rules are those of Microsoft's page "Naming Files, Paths, and Namespaces".

    >>> [name for name in ("a.b", "nul.txt", "a:b", "a.", "console") if is_name_on_windows(name)]
    ['a.b', 'console']
    """
    return _NOT_ON_WINDOWS.fullmatch(name) is None


def path_of_uri(uri_path: str) -> str:
    """Return the path of a file from the path of a ``file:`` URI, with its escapes decoded.

    On Windows a URI has a slash before the drive.

    >>> path_of_uri("/home/me/a b.py")
    '/home/me/a b.py'
    """
    if os.altsep is not None and re.match("/[A-Za-z]:", uri_path):
        return uri_path[1:]
    return uri_path
