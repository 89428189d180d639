"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack, suppress

from .lock import locked
from .replace import beside, errors_named, is_special, open_part, put_in_place


def write_files(
    files: Iterable[tuple[str | os.PathLike[str], bytes]], *, is_new: bool = False
) -> None:
    """Write files, or replace them, once all of them are on the disk under other names.

    On an error, or when it is interrupted, all files are as they were, and nothing is left behind.
    If two write at once, the files are those of one of them. ``replace.put_in_place`` says what
    a reader sees meanwhile, how modes and links change, and what a killed process leaves.
    A device or a pipe is written to, not replaced.

    Args:
        files: the path and the content of each.
        is_new: True if an existing file is an error.

    Raises:
        OSError: one cannot be written, or is a directory or write-protected; its ``filename`` is
            the path.
    """
    parts: list[tuple[str, str]] = []
    streams: list[tuple[str, bytes]] = []
    try:
        for name, data in files:
            path = os.fspath(name)
            with errors_named(path):
                if is_special(path):
                    streams.append((path, data))
                    continue
                parts.append((beside(path, "tmp"), path))
                with open_part(*parts[-1]) as file:
                    file.write(data)
        for path, data in streams:
            with errors_named(path), open(path, "wb") as stream:
                stream.write(data)
        with ExitStack() as held:
            if len(parts) > 1:
                held.enter_context(locked(os.path.dirname(path) or "." for _, path in parts))
            put_in_place(parts, is_new=is_new)
    finally:
        for part, _ in parts:
            with suppress(OSError):  # mostly it is in place, and gone from here
                os.remove(part)
