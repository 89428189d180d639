"""Paths that a command reads: their type, globs among them, their encoding, and messages of them.

The messages say what to do where a path is a directory, a URL, a glob or a text.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
from typing import Any, Callable, TypeVar

import click

from ..files.text import STDIN
from .output import PROGRAM, Screen, is_terminal, write_message

#: The type of an argument that is a path to read, or ``-``.
#:
#: Nothing is checked beforehand: opening the file fails and says why, and other files are read.
INPUT_PATH = click.Path(allow_dash=True, readable=False)

_Function = TypeVar("_Function", bound=Callable[..., Any])

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_GLOB = re.compile(r"[*?\[{]")
#: The ending of a file's name, which a sentence does not have.
_ENDING = re.compile(r"\.\w{1,8}$")

#: Advice about a directory, by the command that reads a file.
_OF_DIRECTORY = {
    "decode": "decode takes one file",
    "encode": "encode takes one file, and count a directory",
    "show": "give the files in it, such as {path}/*",
    "split": "--files takes a directory",
    "truncate": "truncate takes one file, and split --files a directory",
}


def paths_argument(
    name: str, metavar: str, type: click.ParamType[Any] = INPUT_PATH
) -> Callable[[_Function], _Function]:
    """Return an argument of any number of paths, in which globs are expanded."""
    return click.argument(
        name,
        nargs=-1,
        type=type,
        metavar=metavar,
        callback=lambda _context, _parameter, paths: expanded_globs(paths),
    )


def file_argument(function: _Function) -> _Function:
    """Give a command the argument ``file``; the default is standard input."""
    return click.argument(
        "file", default=STDIN, type=INPUT_PATH, metavar="[FILE|-]", callback=_single_file
    )(function)


def _single_file(context: click.Context, _parameter: click.Parameter, path: str) -> str:
    paths = expanded_globs((path,))
    if len(paths) > 1:
        raise click.BadParameter(
            f"{path!r} matches {len(paths):,} files; {context.info_name} takes one."
        )
    return paths[0]


def expanded_globs(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths with the files that globs match in their place, as a shell has them.

    A path that exists is no glob, and a glob that matches nothing stays. On Windows, where shells
    expand none, click has done it.
    """
    if os.name == "nt" or not any(map(_is_glob, paths)):
        return paths
    from ..files.walk import matches_of_glob  # few commands need it

    found: list[str] = []
    for path in paths:
        found += (matches_of_glob(path) if _is_glob(path) else []) or [path]
    return tuple(found)


def _is_glob(path: str) -> bool:
    return _GLOB.search(path) is not None and not os.path.lexists(path)


def reason_of(error: OSError, path: str) -> str:
    """Return why a path cannot be read, and what to do if it is no file's.

    >>> reason_of(FileNotFoundError(2, "No such file or directory"), "https://example.com/a.txt")
    'No such file or directory; URLs are not fetched: curl -L URL | compat-bpe'
    """
    reason = error.strerror or str(error)
    hint = _hint(error, path)
    return f"{reason}; {hint}" if hint else reason


def _hint(error: OSError, path: str) -> str:
    context = click.get_current_context(silent=True)
    command = PROGRAM if context is None else context.command_path
    name = command.rpartition(" ")[2]
    if os.path.isdir(path):
        return _OF_DIRECTORY.get(name, "").format(path=path.rstrip("/"))
    if path == STDIN or isinstance(error, PermissionError) or os.path.lexists(path):
        return ""
    if name == "check":  # it reads no standard input
        return "no file matches this pattern" if _GLOB.search(path) else ""
    if _URL.match(path):
        return f"URLs are not fetched: curl -L URL | {command}"
    if " " in path.strip() and not _ENDING.search(path):
        return f"for a text, use {'-c TEXT' if name == 'count' else f'echo TEXT | {command}'}"
    return "no file matches this pattern" if _GLOB.search(path) else ""


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
            Screen.is_typed = True
    elif is_terminal(sys.stderr) and _is_pipe(path):
        write_message(f"{path}: a named pipe; waiting for what is written to it")


def size_of(path: str) -> int | None:
    """Return the size of a regular file, or of one that is standard input; else None."""
    try:
        status = os.stat(0 if path == STDIN else path)
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
