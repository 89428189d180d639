"""Files that a command writes: none that exists is overwritten unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Callable

from ..files.text import STDIN
from .input_path import shown_name
from .output import CommandError

#: Bytes of a file from which its maker is told.
_BEGINNING = 4096


def check_new_file(
    path: str,
    *,
    force: bool = False,
    is_own: Callable[[bytes], bool] = lambda beginning: False,
) -> None:
    """Refuse to write a file that exists, or that cannot be written where it is to be.

    Call it before any work is done. A pipe or a device is written to, not overwritten, so it
    passes; so does a file that this program wrote itself.

    Args:
        path: of the file.
        force: overwrite any file.
        is_own: tells from a file's first 4,096 bytes whether it is earlier output of this kind.

    Raises:
        CommandError: the file exists, is a directory, or lies in a folder that does not exist.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise CommandError(f"{path}: it is a directory")
    if not os.path.isdir(folder):
        raise CommandError(f"{path}: there is no directory {folder}")
    if force or not os.path.lexists(path):
        return
    if os.path.exists(path) and not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            if is_own(file.read(_BEGINNING)):
                return
    except OSError:  # a broken link, or not readable: at any rate something is there
        pass
    raise CommandError(f"{path}: it exists; --force overwrites it")


def check_no_input(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse to overwrite a file that is also read, by whatever name.

    Args:
        outputs: the files that are written; those that do not exist yet are no inputs.
        inputs: the files that are read, ``-`` for standard input; of a directory, all in it.

    Raises:
        CommandError: one is among both.
    """
    # A terminal or a pipe may be both.
    written = {_identity(path): path for path in outputs if os.path.isfile(path)}
    if not written:
        return
    for path in inputs:
        for file in _files(path):
            identity = _identity(file)
            found = None if identity is None else written.get(identity)
            if found is not None:
                known_as = "" if file == found else f", as {shown_name(file)}"
                raise CommandError(
                    f"{found}: it is one of the inputs{known_as}; write elsewhere, or leave it out "
                    "of them"
                )


def _files(path: str) -> Iterator[str]:
    """A path itself, or the files of a directory."""
    try:
        names = os.listdir(path) if path != STDIN and os.path.isdir(path) else None
    except OSError:  # it cannot be read; who does will say so
        return
    if names is None:
        yield path
    else:
        yield from (os.path.join(path, name) for name in names)


def _identity(path: str) -> tuple[int, int] | None:
    """The device and the number of a file; None if there is none."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == STDIN else os.stat(path)
    except (OSError, ValueError, AttributeError):  # AttributeError: sys.stdin is None
        return None
    return status.st_dev, status.st_ino
