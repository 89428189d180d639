"""Checks of the files that a command writes: no existing file is overwritten unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, Callable

from ..files.text import STDIN
from .input_path import shown_name
from .output import CommandError

#: The number of bytes that show which program wrote a file.
_BEGINNING = 4096

#: The files that are read together with one that is named, if they are in its folder.
_BESIDE = (
    *("added_tokens.json", "chat_template.jinja", "config.json", "encoder.json", "manifest.json"),
    *("merges.txt", "special_tokens_map.json", "tokenizer_config.json", "vocab.bpe", "vocab.json"),
)


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
    except OSError:  # a broken link, or not readable: something is there in any case
        pass
    raise CommandError(f"{path}: it exists; --force overwrites it")


def check_outputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse to write to a file that is also read, by whatever name, or that cannot be replaced.

    Each command that writes files calls it, before any work is done, for all that it writes and
    reads. Standard input is always an input.

    Args:
        outputs: the files that are written; those that do not exist yet are no inputs.
        inputs: the files that are read; ``-`` is standard input, and a directory all files in it.

    Raises:
        CommandError: a file is among both, standard output or standard error goes there, or it is
            a directory or write-protected.
    """
    written = {}
    for path in outputs:
        if os.path.isdir(path):
            raise CommandError(f"{path}: it is a directory")
        # A terminal or a pipe may be read and written.
        if os.path.isfile(path):
            if not os.access(path, os.W_OK):
                raise CommandError(f"{path}: it is write-protected")
            written[_identity(path)] = path
    if not written:
        return
    for stream, name in ((sys.stdout, "standard output"), (sys.stderr, "standard error")):
        path = written.get(_identity(stream), "")
        if path:
            raise CommandError(f"{path}: {name} goes there, too; write elsewhere")
    for given in (STDIN, *inputs):
        for file in _files(given):
            # None is no key.
            path = written.get(_identity(sys.stdin if file == STDIN else file), "")
            if path:
                known_as = "" if file == path else f", as {shown_name(file)}"
                raise CommandError(
                    f"{path}: it is one of the inputs{known_as}; write elsewhere, or leave it out "
                    "of them"
                )


def vocabulary_inputs(path: str | None) -> list[str]:
    """Return the files that may be read with the file of a vocabulary: those beside it.

    A ``tokenizer.json``, by whatever name, has all that it needs in itself.

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
