"""Files that a command writes: none that exists is overwritten unasked."""

from __future__ import annotations

import os
from typing import Callable

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
