"""Reading and writing text byte for byte: no newline is translated, and none is added."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import wraps
from typing import Any, Callable, Literal, NamedTuple

import click

from ..files.text import STDIN, check_mark, may_become_mark, not_utf8, open_bytes, recoded
from ..unicode.utf8 import StreamDecodeError, Utf8Decoder
from .input_path import announce_wait, encoding_of_file, reason_of, shown_name, size_of
from .output import CommandError, Screen, is_terminal, note_bytes
from .progress import FileProgress

#: The largest number of bytes that are read at a time.
_BLOCK = 1 << 16

#: The number of pieces of output that are written at a time.
_PORTION = 1 << 12


class Reading(NamedTuple):
    """How the bytes of an input are read as text.

    Args:
        errors: the treatment of bytes that are not UTF-8. ``"keep"`` reads them as Python's
            ``"surrogateescape"`` does.
        encoding: the encoding of the input; None for UTF-8.
    """

    errors: Literal["strict", "replace", "keep"] = "strict"
    encoding: str | None = None

    @property
    def handler(self) -> str:
        """The error handler of this treatment."""
        return "surrogateescape" if self.errors == "keep" else self.errors


#: UTF-8 and nothing else.
STRICT = Reading()


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--errors`` and ``--encoding-of-file``, as the parameter ``reading``."""
    errors = click.option(
        "--errors",
        type=click.Choice(["keep", "replace", "strict"]),
        default="keep",
        show_default=True,
        help="Keep bytes that are not UTF-8 as they are (keep), read them as U+FFFD (replace), or "
        "take them for an error (strict).",
    )

    @wraps(function)
    def with_reading(errors: Any, encoding_of_file: str | None, **options: Any) -> Any:
        return function(reading=Reading(errors, encoding_of_file), **options)

    return errors(encoding_of_file(with_reading))


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


def read_blocks(path: str, reading: Reading = STRICT) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input, as they come.

    Args:
        path: the file, or ``-``.
        reading: the encoding of its text; if it is not UTF-8, the bytes are those of UTF-8.

    Raises:
        CommandError: it cannot be read, or is not in this encoding.
    """
    if path == STDIN and sys.stdin is None:
        raise CommandError("standard input: closed")
    announce_wait(path)
    try:
        with open_bytes(path) as file:
            if reading.encoding is not None:
                file = recoded(file, reading.encoding, replace=reading.errors == "replace")
            # Return the bytes that are there: do not wait until a block is full.
            read = getattr(file, "read1", file.read)
            with FileProgress(1, size_of(path), until_output=True) as progress:
                for block in iter(lambda: read(_BLOCK), b""):
                    yield block
                    progress.advance(len(block))
    except OSError as error:
        raise CommandError(f"{shown_name(path)}: {reason_of(error, path)}") from None
    except ValueError as error:
        raise CommandError(f"{shown_name(path)}: {error}") from None


def read_pieces(path: str, reading: Reading = STRICT) -> Iterator[str]:
    """Yield the text of a file, or of standard input, as it comes.

    Args:
        path: the file, or ``-``.
        reading: how it is read.

    Raises:
        CommandError: it cannot be read, or is not UTF-8; the message says at which byte. Or it
            begins as UTF-16, unless what is not UTF-8 is to be replaced.
    """
    decoder = Utf8Decoder(reading.handler)
    try:
        for block in _checked(read_blocks(path, reading), reading):
            yield decoder.feed(block)
        yield decoder.finish()
    except StreamDecodeError as error:
        reason = not_utf8(error, error.offset - error.start)
        raise CommandError(f"{shown_name(path)}: {reason}") from None
    except ValueError as error:
        raise CommandError(f"{shown_name(path)}: {error}") from None


def _checked(blocks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Yield the same blocks, after a check of the beginning.

    Raises:
        ValueError: there is the byte-order mark of another encoding.
    """
    if reading.errors != "replace":
        beginning = b""
        while may_become_mark(beginning):
            block = next(blocks, b"")
            beginning += block
            if not block:
                break
        check_mark(beginning)
        yield beginning
    yield from blocks


def read_all(path: str, reading: Reading = STRICT) -> str:
    """Return the whole text of a file, or of standard input; as in ``read_pieces``."""
    return "".join(read_pieces(path, reading))


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
    Screen.clear_bar()
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
        Screen.clear_bar()
        click.echo(data.decode(charset), nl=False, color=True)
    else:
        write_bytes(data)
