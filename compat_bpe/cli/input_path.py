"""Paths that a command reads: their type, their encoding, their names, and a note before a wait."""

from __future__ import annotations

import codecs
import os
import stat
import sys

import click

from ..files.text import STDIN
from .output import is_terminal, write_message

#: The type of an argument that is a path to read, or ``-``.
#:
#: Nothing is checked beforehand: opening the file fails and says why, and other files are read.
INPUT_PATH = click.Path(allow_dash=True, readable=False)


def _check_encoding(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    if value is None:
        return None
    try:
        codec = codecs.lookup(value)
    except (LookupError, ValueError):
        codec = None
    # Python has codecs of bytes to bytes, too.
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise click.BadParameter(
            f"unknown encoding of text {value!r}; Python's names are known: utf-16, latin-1, "
            "cp1252, shift_jis and so on."
        )
    return None if codec.name == "utf-8" else codec.name


#: The option for the encoding of the text in files; its value is None for UTF-8.
encoding_of_file = click.option(
    "--encoding-of-file",
    metavar="NAME",
    callback=_check_encoding,
    help="Read a file as text in this encoding (utf-16, latin-1, cp1252, …), not as UTF-8.",
)


def shown_name(path: str) -> str:
    """Return the name of an input in messages.

    >>> shown_name("-"), shown_name("a.txt")
    ('standard input', 'a.txt')
    """
    return "standard input" if path == STDIN else path


def complaint(path: str, reason: str) -> str:
    """Return a message about an input: its name and what is wrong.

    >>> complaint("a.txt", "not UTF-8"), complaint("-", "standard input is closed")
    ('a.txt: not UTF-8', 'standard input is closed')
    """
    name = shown_name(path)
    return reason if path == STDIN and reason.startswith(name) else f"{name}: {reason}"


def announce_wait(path: str) -> None:
    """Say on standard error that a read waits for someone: a person, or a pipe's other end.

    Call it just before the path is opened. It says nothing about input that is there already: a
    file, or standard input that is not a terminal.
    """
    if path == STDIN:
        if is_terminal(sys.stdin):
            key = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
            write_message(f"reading standard input; {key} on an empty line ends it")
    elif is_terminal(sys.stderr) and _is_pipe(path):
        write_message(f"{path}: a named pipe; waiting for what is written to it")


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
