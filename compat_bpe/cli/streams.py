"""Reading and writing text byte for byte: no newline is translated, and none is added."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Callable, TypeVar

import click

from ..files.text import STDIN, not_utf8, open_bytes
from ..unicode.utf8 import StreamDecodeError, Utf8Decoder
from .input_path import INPUT_PATH, announce_wait, shown_name
from .output import CommandError, is_terminal, note_bytes

#: The largest number of bytes that are read at a time.
_BLOCK = 1 << 16

#: The number of pieces of output that are written at a time.
_PORTION = 1 << 12

_Function = TypeVar("_Function", bound=Callable[..., Any])


def input_argument(function: _Function) -> _Function:
    """Give a command the argument ``file``; the default is standard input."""
    return click.argument("file", default=STDIN, type=INPUT_PATH, metavar="[FILE|-]")(function)


def check_escaped(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """Unescape the value of an option that goes into the output; this is a click callback.

    Raises:
        click.BadParameter: it is not UTF-8, or has an unknown escape.
    """
    return None if value is None else unescape(check_utf8(value))


#: The escapes in the value of an option; any other is an error.
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}


def unescape(text: str) -> str:
    r"""Replace the escapes ``\n``, ``\t``, ``\r``, ``\0`` and ``\\`` by their characters.

    Raises:
        click.BadParameter: a backslash begins none of these.

    >>> unescape(r"one\ntwo\\n")
    'one\ntwo\\n'
    """

    def replaced(escape: re.Match[str]) -> str:
        try:
            return _ESCAPES[escape[1]]
        except KeyError:
            raise click.BadParameter(
                f"unknown escape {escape[0]}; the escapes are \\n, \\t, \\r, \\0 and \\\\."
            ) from None

    return re.sub(r"\\(.?)", replaced, text, flags=re.DOTALL)


def check_utf8(argument: str) -> str:
    """Return an argument of the command if it is text.

    Raises:
        click.BadParameter: its bytes are not UTF-8.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("it is not UTF-8.") from None
    return argument


def read_blocks(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input, as they come.

    Raises:
        CommandError: it cannot be read.
    """
    if path == STDIN and sys.stdin is None:
        raise CommandError("standard input: closed")
    announce_wait(path)
    try:
        with open_bytes(path) as file:
            # Return the bytes that are there: do not wait until a block is full.
            read = getattr(file, "read1", file.read)
            yield from iter(lambda: read(_BLOCK), b"")
    except OSError as error:
        raise CommandError(f"{shown_name(path)}: {error.strerror or error}") from None


def read_pieces(path: str) -> Iterator[str]:
    """Yield the text of a file, or of standard input, as it comes.

    Raises:
        CommandError: it cannot be read, or is not UTF-8; the message says at which byte.
    """
    decoder = Utf8Decoder("strict")
    try:
        for block in read_blocks(path):
            yield decoder.feed(block)
        yield decoder.finish()
    except StreamDecodeError as error:
        reason = not_utf8(error, error.offset - error.start)
        raise CommandError(f"{shown_name(path)}: {reason}") from None


def read_all(path: str) -> str:
    """Return the whole text of a file, or of standard input; errors as in ``read_pieces``."""
    return "".join(read_pieces(path))


def portions(pieces: Iterable[str]) -> Iterator[str]:
    """Join pieces that are to be written, some thousand at a time.

    Raises:
        CommandError: raised by the pieces; the pieces before the error are yielded first.
    """
    waiting: list[str] = []
    try:
        for piece in pieces:
            waiting.append(piece)
            if len(waiting) == _PORTION:
                yield "".join(waiting)
                waiting.clear()
    except CommandError:
        yield "".join(waiting)
        raise
    yield "".join(waiting)


def write_bytes(data: bytes) -> None:
    """Write to standard output, at once.

    Raises:
        CommandError: standard output is closed.
        OSError: it cannot be written to.
    """
    if sys.stdout is None:
        raise CommandError("standard output: closed")
    rest = memoryview(data)
    while rest:
        # An unbuffered stream (python -u) may take only a part.
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
    note_bytes(data)


def write_text(text: str, *, color: bool = False) -> None:
    """Write text to standard output, at once; no newline is translated.

    A character that is not in the charset of standard output is written as an escape.

    Args:
        text: the text.
        color: its escape sequences are colors, which old consoles of Windows do not know.

    Raises:
        CommandError, OSError: as in ``write_bytes``.
    """
    charset = getattr(sys.stdout, "encoding", None) or "utf-8"
    data = text.encode(charset, "backslashreplace")
    if color and is_terminal(sys.stdout):
        click.echo(data.decode(charset), nl=False, color=True)
    else:
        write_bytes(data)
