"""Text in and out exactly as it is: no newline is translated, and none is added."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from typing import Any, Callable, TypeVar

import click

from ..files.text import STDIN, not_utf8, open_bytes
from .output import CommandError

#: Bytes that are read at a time, at most.
_BLOCK = 1 << 16

_Function = TypeVar("_Function", bound=Callable[..., Any])


def input_argument(function: _Function) -> _Function:
    """Give a command the argument ``file``, which is standard input unless given."""
    return click.argument(
        "file", default=STDIN, type=click.Path(allow_dash=True), metavar="[FILE|-]"
    )(function)


def check_text(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """The callback of an option whose value goes into the output."""
    return None if value is None else check_utf8(value)


def check_utf8(argument: str) -> str:
    """An argument of the command, if it is text.

    Raises:
        click.BadParameter: its bytes are not UTF-8.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("it is not UTF-8.") from None
    return argument


def read_blocks(path: str) -> Iterator[bytes]:
    """The bytes of a file, or of standard input, as they come.

    Raises:
        CommandError: it cannot be read.
    """
    try:
        with open_bytes(path) as file:
            # What is there is enough: nothing waits until a block is full.
            read = getattr(file, "read1", file.read)
            yield from iter(lambda: read(_BLOCK), b"")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None


def read_pieces(path: str) -> Iterator[str]:
    """The text of a file, or of standard input, as it comes.

    Raises:
        CommandError: it cannot be read, or is not UTF-8; the message says where.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    end = 0
    try:
        for block in read_blocks(path):
            end += len(block)
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # What it was given began with what was left of an earlier block.
        reason = not_utf8(error, end - len(error.object))
        raise CommandError(f"{path}: {reason}") from None


def read_all(path: str) -> str:
    """The whole text of a file, or of standard input; errors as in ``read_pieces``."""
    return "".join(read_pieces(path))


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
        # An unbuffered stream (python -u) may take but a part.
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def write_text(text: str, *, color: bool = False) -> None:
    """Write lines to standard output that may have colors.

    Raises:
        CommandError, OSError: as in ``write_bytes``.
    """
    if sys.stdout is None:
        raise CommandError("standard output: closed")
    click.echo(text, nl=False, color=color)
