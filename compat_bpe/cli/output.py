"""The output of commands: lines, messages and files; any file name is shown safely.

Results are written byte for byte: no newline is translated, and none is added. No existing file is
overwritten unasked.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Callable, TextIO

import click

from ..files.text import STDIN
from ..unicode.text import CONTROLS, DISORDERING, brief
from ..unicode.text import plural as plural

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


@contextmanager
def command_errors(path: str | os.PathLike[str] = "") -> Iterator[None]:
    """Raise a ``CommandError`` for an error of a file, or of its content; as in ``failure``."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise failure(error, path) from None


def write_line(*cells: str, separator: str = "") -> None:
    """Write a line of results to standard output; cells are escaped, what separates them is not.

    Raises:
        CommandError: standard output is closed.
        OSError: it cannot be written to.
    """
    if sys.stdout is None:
        raise CommandError("standard output: closed")
    Screen.clear_bar()
    Screen.has_output = Screen.is_at_line_start = True
    click.echo(separator.encode().join(_encode(cell, sys.stdout) for cell in cells))


def escape_unknown(stream: IO[Any] | None) -> None:
    """Let a stream of text escape the characters that its charset does not have.

    click writes help to it as text, and some consoles know few characters. UTF-8 has them all.
    """
    charset = getattr(stream, "encoding", None) or "utf-8"
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(charset).name != "utf-8":
        with suppress(ValueError):  # it is closed
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: IO[Any] | None) -> bool:
    """Return True if a stream is a terminal; a closed stream is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


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
    """The state of the terminal that standard output and standard error may share."""

    #: True if the last byte written to standard output is a newline, or none was written.
    is_at_line_start = True
    #: True if anything was written to standard output.
    has_output = False
    #: True if standard input is a person who types.
    is_typed = False
    #: Removes the progress bar; called before anything else is written.
    clear_bar: Callable[[], None] = staticmethod(lambda: None)

    @classmethod
    def begin(cls) -> None:
        """Begin a command."""
        cls.is_at_line_start, cls.has_output, cls.is_typed = True, False, False


def write_message(message: str) -> None:
    """Write ``compat-bpe: message`` to standard error, if possible, on a line of its own."""
    if sys.stderr is None:
        return
    lead = ""
    if not Screen.is_at_line_start and _is_shared():
        lead = "\n"
        Screen.is_at_line_start = True
    Screen.clear_bar()
    with suppress(OSError):  # nobody reads it: the results and the status stay as they are
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
    r"""Escape the characters of a name or a message that would change how a stream is shown.

    A line feed must not begin a line, nor an escape sequence a color. On a terminal, no character
    may reverse the order of the text that follows.

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


def shown_name(path: str) -> str:
    """Return the name of an input in messages.

    >>> shown_name("-"), shown_name("a.txt")
    ('standard input', 'a.txt')
    """
    return "standard input" if path == STDIN else path


def complaint(path: str, reason: str) -> str:
    """Return a message about an input: its name and the fault.

    >>> complaint("a.txt", "not UTF-8"), complaint("-", "standard input is closed")
    ('a.txt: not UTF-8', 'standard input is closed')
    """
    name = shown_name(path)
    return reason if path == STDIN and reason.startswith(name) else f"{name}: {reason}"


#: The number of pieces of output that are written at a time.
_PORTION = 1 << 12


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
    if data:
        Screen.has_output = True
        Screen.is_at_line_start = data.endswith(b"\n")


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


#: The number of bytes that show which program wrote a file.
_BEGINNING = 4096

#: The files that are read together with one that is named, if they are in its folder.
_BESIDE = tuple(
    """
        added_tokens.json chat_template.jinja config.json encoder.json manifest.json merges.txt
        special_tokens_map.json tokenizer_config.json vocab.bpe vocab.json
    """.split()
)


def check_new_file(
    path: str, *, force: bool = False, is_own: Callable[[bytes], bool] = lambda beginning: False
) -> None:
    """Refuse to write a file that exists, or that cannot be written at its path.

    Call it before any work is done. A pipe or a device is written to, not overwritten, so it
    passes, and so does earlier output of the same kind.

    Args:
        path: the path of the file.
        force: overwrite any file.
        is_own: returns True if a file's first 4,096 bytes are those of earlier output of this kind.

    Raises:
        CommandError: the file exists, is a directory, or lies in a folder that does not exist.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise CommandError(f"{path}: the path is a directory")
    if not os.path.isdir(folder):
        raise CommandError(f"{path}: there is no directory {folder}")
    if not os.path.exists(path) and not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{path}: the directory {folder} is write-protected")
    if force or not os.path.lexists(path):
        return
    if os.path.exists(path) and not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            if is_own(file.read(_BEGINNING)):
                return
    except OSError:  # a broken link, or a file that cannot be read: it exists, too
        pass
    raise CommandError(f"{path}: the file exists; --force overwrites it")


def check_outputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse to write to a file that is also read, under any name, or that cannot be replaced.

    Each command that writes files calls it before any work is done, with all files that it writes
    and reads. Standard input is always an input.

    Args:
        outputs: the files that are written; a file that does not exist yet cannot be an input.
        inputs: the files that are read; ``-`` is standard input, and a directory all files in it.

    Raises:
        CommandError: a file is among both, standard output or standard error goes there, or it is
            a directory or write-protected.
    """
    written = {}
    for path in outputs:
        if os.path.isdir(path):
            raise CommandError(f"{path}: the path is a directory")
        # A terminal or a pipe may be read and written.
        if os.path.isfile(path):
            if not os.access(path, os.W_OK):
                raise CommandError(f"{path}: the file is write-protected")
            written[_identity(path)] = path
    if not written:
        return
    for stream, name in ((sys.stdout, "standard output"), (sys.stderr, "standard error")):
        path = written.get(_identity(stream), "")
        if path:
            raise CommandError(f"{path}: {name} goes to this file, too; write to another file")
    for given in (STDIN, *inputs):
        for file in _files(given):
            # None is not a key.
            path = written.get(_identity(sys.stdin if file == STDIN else file), "")
            if path:
                known_as = "" if file == path else f", as {shown_name(file)}"
                raise CommandError(
                    f"{path}: the file is one of the inputs{known_as}; write to another file, or "
                    "remove this one from the inputs"
                )


def vocabulary_inputs(path: str | None) -> list[str]:
    """Return the files that may be read with the file of a vocabulary: those beside it.

    A ``tokenizer.json`` of any name needs no other file.

    >>> [os.path.basename(name) for name in vocabulary_inputs("own/merges.txt")][:3]
    ['merges.txt', 'added_tokens.json', 'chat_template.jinja']
    >>> vocabulary_inputs(None)
    []
    """
    if path is None:
        return []
    folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)
    if name.endswith(".json") and name not in _BESIDE:
        return [path]
    return [path, *(os.path.join(folder, name) for name in _BESIDE)]


def _files(path: str) -> Iterator[str]:
    """Yield a path itself, or the files of a directory."""
    try:
        names = os.listdir(path) if path != STDIN and os.path.isdir(path) else None
    except OSError:  # reading it later will fail and say why
        return
    if names is None:
        yield path
    else:
        yield from (os.path.join(path, name) for name in names)


def _identity(file: str | IO[Any] | None) -> tuple[int, int] | None:
    """Return the device and the inode number of a path or an open file; None if there is none."""
    if file is None:
        return None
    try:
        status = os.stat(file) if isinstance(file, str) else os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
