"""Lists of paths, as ``find`` and ``git ls-files`` print them."""

from __future__ import annotations

import os
from typing import Callable

from ..files.text import STDIN, open_bytes
from .input_path import complaint, shown_name
from .output import CommandError


def read_list(path: str, *, is_null: bool, announce: Callable[[str], None]) -> list[str]:
    """Return the paths that a file lists; empty lines are left out.

    Args:
        path: the path of the list, or ``-`` for standard input.
        is_null: a NUL byte ends each path; else a line end does.
        announce: called with the path before it is opened.

    Raises:
        CommandError: the list cannot be read, or names the standard input that it is read from.
    """
    announce(path)
    try:
        with open_bytes(path) as file:
            data = file.read()
    except OSError as error:
        raise CommandError(complaint(path, error.strerror or str(error))) from None
    if is_null:
        lines = data.split(b"\0")
    elif b"\0" in data:
        raise CommandError(f"{shown_name(path)}: there is a NUL byte in the list: give --null, too")
    else:
        lines = (data.replace(b"\r\n", b"\n") if os.name == "nt" else data).split(b"\n")
    paths = [os.fsdecode(line) for line in lines if line]
    if path == STDIN and STDIN in paths:
        raise CommandError("standard input: it has the list of files, so it cannot be one of them")
    return paths
