"""Checks of the files that a command writes: no existing file is overwritten unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Callable

from ..files.text import STDIN
from .input_path import shown_name
from .output import CommandError

#: The number of bytes that show which program wrote a file.
_BEGINNING = 4096


def check_new_file(
    path: str,
    *,
    force: bool = False,
    is_own: Callable[[bytes], bool] = lambda beginning: False,
) -> None:
    """Refuse to write a file that exists, or that cannot be written at its path.

    Call it before any work is done. A pipe or a device is written to, not overwritten, so it
    passes; so does earlier output of the same kind.

    Args:
        path: the path of the file.
        force: overwrite any file.
        is_own: returns True if a file's first 4,096 bytes are those of earlier output of this kind.

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
    except OSError:  # a broken link, or not readable: something is there in any case
        pass
    raise CommandError(f"{path}: it exists; --force overwrites it")


def check_no_input(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse to overwrite a file that is also read, by whatever name.

    Args:
        outputs: the files that are written; those that do not exist yet are no inputs.
        inputs: the files that are read; ``-`` is standard input, and a directory all files in it.

    Raises:
        CommandError: a file is among both.
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
    """Yield a path itself, or the files of a directory."""
    try:
        names = os.listdir(path) if path != STDIN and os.path.isdir(path) else None
    except OSError:  # reading it later will fail and say why
        return
    if names is None:
        yield path
    else:
        yield from (os.path.join(path, name) for name in names)


def _identity(path: str) -> tuple[int, int] | None:
    """Return the device and the inode number of a file; None if there is no file."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == STDIN else os.stat(path)
    except (OSError, ValueError, AttributeError):  # AttributeError: sys.stdin is None
        return None
    return status.st_dev, status.st_ino
