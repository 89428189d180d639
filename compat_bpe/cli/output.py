"""Writing lines to standard output and standard error, whatever a file's name contains."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, Callable, TextIO

import click

from ..unicode.escape import CONTROLS, DISORDERING, brief

PROGRAM = "compat-bpe"

#: The most skipped files that a message names.
_NAMED = 3


class CommandError(click.ClickException):
    """An error that ends the command: one line on standard error, exit status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        write_message(self.message)


def failure(error: OSError | ValueError, path: str | os.PathLike[str]) -> CommandError:
    """Return the error to raise for an error of a file, or of its content.

    Args:
        error: the error.
        path: the file, if the error does not name one.
    """
    if isinstance(error, OSError) and error.strerror:
        return CommandError(f"{error.filename or os.fspath(path)}: {error.strerror}")
    return CommandError(str(error))


def write_line(line: str) -> None:
    """Write a line of results to standard output.

    Raises:
        CommandError: standard output is closed.
        OSError: it cannot be written to.
    """
    if sys.stdout is None:
        raise CommandError("standard output: closed")
    Screen.clear_bar()
    Screen.has_output = Screen.is_at_line_start = True
    click.echo(_encode(line, sys.stdout))


def escape_unknown(stream: IO[Any] | None) -> None:
    """Let a stream of text escape the characters that its charset does not have.

    click writes help to it as text, and some consoles know few characters. UTF-8 has them all.
    """
    charset = getattr(stream, "encoding", None) or "utf-8"
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(charset).name != "utf-8":
        with suppress(ValueError):  # it is closed
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: IO[Any] | None) -> bool:
    """Return True if a stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def plural(number: int, noun: str) -> str:
    """Return a number and a noun that agree.

    >>> plural(1, "file"), plural(2_000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def skipped_note(what: str, whats: str, paths: Sequence[str]) -> str:
    """Return a message about files that were skipped, with the names of the first ones.

    >>> skipped_note("binary file", "binary files", ["a.png"])
    '1 binary file skipped: a.png'
    >>> skipped_note("binary file", "binary files", ["a", "b", "c", "d"])
    '4 binary files skipped: a, b, c and 1 more (--verbose names them)'
    """
    note = f"{len(paths):,} {what if len(paths) == 1 else whats} skipped: "
    note += ", ".join(paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{note} and {more:,} more (--verbose names them)" if more > 0 else note


class Screen:
    """What is on the terminal that standard output and standard error may share."""

    #: True unless the last byte that was written to standard output is no newline.
    is_at_line_start = True
    #: True if anything was written to standard output.
    has_output = False
    #: True if standard input is read from somebody who types.
    is_typed = False
    #: Removes the progress bar; called before anything else is written.
    clear_bar: Callable[[], None] = staticmethod(lambda: None)

    @classmethod
    def begin(cls) -> None:
        """Begin a command."""
        cls.is_at_line_start, cls.has_output, cls.is_typed = True, False, False


def note_bytes(data: bytes) -> None:
    """Remember whether bytes of standard output end a line, for a message that follows them."""
    if data:
        Screen.has_output = True
        Screen.is_at_line_start = data.endswith(b"\n")


def write_message(message: str) -> None:
    """Write ``compat-bpe: message`` to standard error, on a line of its own."""
    if sys.stderr is None:
        return
    lead = ""
    if not Screen.is_at_line_start and _is_shared():
        lead = "\n"
        Screen.is_at_line_start = True
    Screen.clear_bar()
    click.echo(lead.encode() + _encode(brief(f"{PROGRAM}: {message}"), sys.stderr), err=True)


def _is_shared() -> bool:
    """Return True if standard output and standard error are one terminal, pipe or file."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):  # one is closed, or no file
        return False


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Write a warning as one line to standard error; for ``warnings.showwarning``."""
    write_message(f"warning: {message}")


def visible(text: str, stream: IO[Any] | None) -> str:
    r"""Escape what must not act on those who read a name or a message in a stream.

    A line feed or an escape sequence must not appear as two lines or as a color; on a terminal, a
    name must also not turn the order of what follows.

    >>> visible("a\nb\u202e", None)
    'a\\nb\u202e'
    """
    return text.translate(DISORDERING if is_terminal(stream) else CONTROLS)


def _encode(line: str, stream: TextIO) -> bytes:
    """Return a line as bytes; bytes of a file name that are not text come out as they went in.

    >>> _encode("caf\\udce9\\n", io.TextIOWrapper(io.BytesIO(), "utf-8"))
    b'caf\\xe9\\\\n'
    """
    line = visible(line, stream)
    try:
        return line.encode(stream.encoding, "surrogateescape")
    except UnicodeEncodeError:  # a terminal or a pipe that knows few characters
        return line.encode(stream.encoding, "backslashreplace")
